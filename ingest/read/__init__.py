"""Files in, documents out: the only place where bytes become text."""
