"""Step 6: decide what to replace. The policy, the methods, and the limit on residual risk."""
