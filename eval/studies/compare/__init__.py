"""Sanitizing methods compared on one corpus, with TRIP-RAG's tables."""
