"""One attack a file."""
