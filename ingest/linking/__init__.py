"""The grammar of linking: when two mentions name the same person, organization, date or number."""
