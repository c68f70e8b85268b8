"""Experiments and what is made of their rows: one study a file or folder."""
