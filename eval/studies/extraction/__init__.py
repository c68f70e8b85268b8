"""Attacks on a corpus as it is, redacted, and as Lethe keeps it."""
