"""Thresholds fitted on a user's own documents."""
