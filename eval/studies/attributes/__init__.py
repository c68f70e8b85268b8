"""What is inferred of the people of texts, before and after protection, and what stays of the texts."""
