"""Step 5: replace entities by other words."""
