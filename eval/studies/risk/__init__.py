"""How well a privacy-risk model orders the entities of scored snippets, and how well two passes agree."""
