"""Settings from files, environment and arguments, validated."""
