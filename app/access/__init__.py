"""Who may do what: API keys with scopes and grants."""
