"""Benchmarks of whole methods on a corpus."""
