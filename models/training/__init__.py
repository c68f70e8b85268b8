"""Training of the embedded models and of users' own; in a checkout only.

``commands`` has one function per command. A detector is trained on ``models.corpora`` and the ``synthetic``
texts, a risk model on scored snippets. Word lists, frames and tables are in ``data``.
"""
