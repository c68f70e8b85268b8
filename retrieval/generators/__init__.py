"""One generator per file, each implementing ``retrieval.protocols.Generator``."""
