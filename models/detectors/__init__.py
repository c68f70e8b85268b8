"""Any GLiNER model of the gliner library, by choice."""
