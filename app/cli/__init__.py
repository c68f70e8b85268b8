"""The command line: results on standard output as JSON lines, messages on standard error."""
