"""Vector indexes: FAISS in a file, and tables of vector databases."""
