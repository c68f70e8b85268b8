"""What stands in a field, by its name and its cells: a small linear head."""
