"""The claim-support model: how far a text tells a claim, over the embedded text encoder."""
