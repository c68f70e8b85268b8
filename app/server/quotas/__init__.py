"""How much a caller may ask for, and how much is done at once."""
