"""What annotators marked, under each method: the yardstick that no detector made."""
