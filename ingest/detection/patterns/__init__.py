"""Patterns for rigid identifiers, dates and ages: one family per file, all run by ``find.py``."""
