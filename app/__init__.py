"""Settings, the composition root, the command line and the server."""
