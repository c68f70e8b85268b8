"""Sanitized documents to passages, vectors, answers."""
