"""Privacy-risk models: how strongly each mention exposes a person, in nats. A small one is embedded."""
