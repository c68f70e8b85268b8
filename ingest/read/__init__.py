"""Step 1: files in, documents out. The only place where bytes become text."""
