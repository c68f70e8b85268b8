"""The tasks of an experiment, one per file."""
