"""One generator a file, all with the shape of ``retrieval.protocols.Generator``."""
