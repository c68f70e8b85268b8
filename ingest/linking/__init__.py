"""Step 3: link the mentions of a document that refer to the same person, organization, date or number."""
