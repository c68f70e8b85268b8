"""What a few known claims lead to in a sanitized corpus, under each method."""
