"""Thresholds fitted to a user's own documents."""
