"""Attribute protection: rewriting a text until its author's age, sex, place and the like cannot be inferred."""
