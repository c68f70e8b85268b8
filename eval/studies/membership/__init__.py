"""Membership inference on documents of the user, under three systems."""
