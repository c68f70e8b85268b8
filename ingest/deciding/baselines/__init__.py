"""Baseline methods for comparison, one per file."""
