"""The three scores, and the engines that measure them: obviously right, batched, and estimating."""
