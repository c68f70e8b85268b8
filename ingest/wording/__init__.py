"""What stands in place of an item: words that are true of it, in a form that its sentence takes."""
