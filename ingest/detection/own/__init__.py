"""Users' own entities: allow and deny lists, patterns, and the detector that applies them."""
