"""Entities found by hand-written rules and word lists, for machines without a learned detector."""
