"""Documents in, sanitized documents out."""
