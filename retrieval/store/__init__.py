"""The database of a collection: documents, passages, decisions without text, jobs, the audit log."""
