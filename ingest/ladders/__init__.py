"""What stands in place of a mention: true words, from specific to general (INTACT, section 3)."""
