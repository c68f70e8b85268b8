"""The search over weights and thresholds."""
