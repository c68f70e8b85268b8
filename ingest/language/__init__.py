"""Language utilities for every step: words, sentences, names, disguises, language identification."""
