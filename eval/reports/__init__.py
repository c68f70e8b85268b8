"""Measurements as pages, tables and plots."""
