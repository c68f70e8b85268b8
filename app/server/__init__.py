"""A small HTTP server over the same parts as the command line."""
