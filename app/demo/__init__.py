"""Where the bundled demo corpus lies, and what to ask of it.

The corpus is JSON lines, every document in it invented. A record holds ``id``, ``kind`` (``clinic``,
``office``, ``tribunal``; ``about`` for the first), ``text``, ``entities`` (each distinct surface form
once, with ``label``, ``identifier`` and the ``subject`` it belongs to; every mention of the form is
meant), and a ``question`` with its ``answer``, both answerable from the sanitized text.
"""

from pathlib import Path


def corpus_path() -> Path:
    """The JSON lines file beside this module: 1 record about the corpus, then 72 documents."""
    return Path(__file__).with_name("corpus.jsonl")


def questions() -> tuple[str, ...]:
    """Three questions without a name in them: one for each kind, clinic, office, tribunal."""
    return (
        "Why was gliclazide replaced by empagliflozin for the night worker?",
        "Why was the second tool for the crate three weeks late, and what was proposed?",
        "What happens at the docks if a lorry is not there within two minutes of being called?",
    )
