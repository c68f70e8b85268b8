"""The routes, one family a file."""
