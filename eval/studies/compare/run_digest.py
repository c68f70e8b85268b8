"""A digest of everything that the figures of a comparison depend on, so that runs are not mixed."""

from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import version

from eval.corpora.corpus import Corpus
from eval.provenance import provenance_here, source_digest


def run_digest(
    corpus: Corpus, made_with: str, options: object, encoders: Sequence[str], source: str | None = None
) -> str:
    """A digest of the inputs of a run, 32 hexadecimal digits.

    ``made_with`` is the digest of settings and model files, ``source`` that of the code, None for this
    process.
    """
    found = blake2b(digest_size=16)
    said = (
        made_with,
        list(encoders),
        options,
        sorted(provenance_here({}).versions.items()),
        version("lethe"),
        source or source_digest(),
        (corpus.name, corpus.split, corpus.source),
    )
    found.update(repr(said).encode())
    for document in corpus.documents:
        found.update(repr((document.doc_id, document.text)).encode())
    for question in corpus.questions:
        found.update(repr((question.question_id, question.text, question.answer, question.about)).encode())
    for doc_id, rows in (corpus.gold or {}).items():
        found.update(repr((doc_id, [dict(row) for row in rows])).encode())
    return found.hexdigest()
