"""Detectors: a text to the spans of asked labels. Our own GLiNER is embedded; any GLiNER model by choice.

``network`` has the arithmetic, ``embedded`` runs it over texts, ``words`` turns words into spans and
``new_labels`` names mentions by meaning.
"""
