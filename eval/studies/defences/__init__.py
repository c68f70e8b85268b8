"""What each defence of a server takes from attackers, and what it costs its users."""
