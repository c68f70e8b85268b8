"""Synthetic documents: drawn from a model of many documents, synthetic and not truthful."""
