"""Guards: what may leave in an answer, and what may reach a model that is not ours."""
