"""The HTTP server, over the same parts as the command line: routes, what every request passes, and quotas."""
