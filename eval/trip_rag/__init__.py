"""The tables of TRIP-RAG, measured."""
