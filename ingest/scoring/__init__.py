"""The three scores, and two engines that compute them: one obviously right, one fast."""
