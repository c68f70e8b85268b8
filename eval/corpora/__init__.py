"""Corpora with questions for benchmarks of a whole question-answering system, one layout a function."""
