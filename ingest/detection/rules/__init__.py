"""Rule and word-list detection, for machines without a learned detector."""
