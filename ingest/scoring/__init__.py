"""Step 4: privacy risk, knowledge divergence and topical relevance of each linked entity."""
