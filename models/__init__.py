"""Everything learned: loaders for encoders, detectors, risk models and language models."""
