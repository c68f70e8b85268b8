"""The bundled demo: an invented corpus, and questions to ask of it."""
