"""One sanitizing method a file, all with the shape of ``ingest.protocols.Sanitizer``."""
