"""Pure functions, one family of measures a file."""
