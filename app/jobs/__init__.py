"""Long work that the server is given: documents to ingest, done by a process of its own."""
