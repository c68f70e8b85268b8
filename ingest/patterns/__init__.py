"""Rigid identifiers, dates and ages found by rule: one family a file, all run by ``find.py``."""
