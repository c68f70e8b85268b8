"""Benchmark commands; their results are data for docs and code."""
