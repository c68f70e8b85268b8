"""Language models, in this process or behind a server, and the identification of languages."""
