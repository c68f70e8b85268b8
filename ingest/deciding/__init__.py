"""Step 6: decide what to replace: the policy and the methods."""
