"""Commands that measure; what they write is data that docs and code read."""
