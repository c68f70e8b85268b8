"""How the embedded models were made, and how a user makes their own."""
