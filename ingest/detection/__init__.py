"""Step 2: which spans of a text are entities, by patterns, rules, a learned model and users' own lists."""
