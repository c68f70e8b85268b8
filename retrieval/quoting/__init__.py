"""What can be quoted from passages: its units, and the vectors that are kept of them."""
