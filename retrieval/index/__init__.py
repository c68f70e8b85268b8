"""Vector indexes: exact search in FAISS, and the NumPy reference that it is held to."""
