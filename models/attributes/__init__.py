"""What a reader can infer about the person of a text: small heads over the frozen MiniLM."""
