"""Attribute protection: rewriting a text until attributes of its author cannot be inferred."""
