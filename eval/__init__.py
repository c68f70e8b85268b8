"""Attacks, measures, reports."""
