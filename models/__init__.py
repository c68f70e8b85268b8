"""Everything learned: the catalog of models, and loaders for encoders, detectors, risk and language models.

Nothing here depends on documents or collections, and only ``models.pull`` downloads. ``models.training``
trains the embedded models and does not ship.
"""
