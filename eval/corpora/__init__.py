"""Corpora with questions for benchmarks of question answering, one function per layout."""
