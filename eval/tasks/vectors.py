"""Stored vectors as a task: does the vector of each passage say what its text says, and nothing else?

``eval.measures.vectors`` folds the rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eval.attacks.vectors import STORED_VECTORS, compared, described, found_among
from eval.experiment import SanitizedCorpus, Shelf
from eval.measures import vectors as measured
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.passages import cut

CUT_OTHERWISE = "stored in other passages than its text is cut into"
"""The failure of a document whose vectors cannot be made again."""
AMONG = 64
"""Documents among whose originals that of a vector is looked for, in the order of the documents."""


@dataclass(frozen=True, slots=True)
class VectorsTask:
    """One row per document, with numbers only; a failure if it could not be sanitized.

    The vectors are made again from the stored text, without the descriptors that the ledger names. Give it
    the same ``eval.targets.reading_once`` as other tasks, and no text is encoded twice.

    Raises:
        ConfigurationError: Two documents have the same id.
    """

    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder

    name = STORED_VECTORS.name
    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        if len(set(self.cases)) < len(self.documents):
            raise ConfigurationError("Two documents have the same id: give each its own.")

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case.

        Raises:
            ConfigurationError: The corpus has no stored vectors.
        """
        if kept.shelf is None:
            raise ConfigurationError(f"{kept.system} has no stored vectors: measure a collection.")
        shelf, phase = kept.shelf(self.encoder), f"comparing vectors in {kept.system}"
        there, wanted = {each.doc_id: each for each in kept.documents}, set(cases)
        for first in range(0, len(self.documents), AMONG):
            batch = self.cases[first : first + AMONG]
            if wanted.isdisjoint(batch):
                continue
            progress(phase, first, len(self.documents))
            figures = self._compared(shelf, [there[case] for case in batch if case in there])
            for case in batch:
                if case not in wanted:
                    continue
                row = kept.row(self.name, case, figures.get(case), self.encoder.name)
                otherwise = case in there and figures[case] is None
                yield row.model_copy(update={"failure": CUT_OTHERWISE}) if otherwise else row
        progress(phase, len(self.documents), len(self.documents))

    def _compared(
        self, shelf: Shelf, documents: Sequence[SanitizedDocument]
    ) -> dict[str, dict[str, float] | None]:
        """The figures of each document by its id, None where its passages cannot be told apart."""
        texts = {each.doc_id: each.text for each in self.documents}
        ids = [next(iter(shelf.store.documents_called([each.doc_id])), each.doc_id) for each in documents]
        said = [described(each, shelf.store.treated(own)) for each, own in zip(documents, ids, strict=True)]
        bare = [replace(each, text=texts[each.doc_id], decisions=(), places=()) for each in documents]
        expected, originals = (
            cut(each, self.encoder, shelf.passage_tokens, shelf.search) for each in (said, bare)
        )
        pool = np.concatenate([each.vectors for each in originals])
        owners = np.repeat(np.arange(len(originals)), [len(each.vectors) for each in originals])
        figures: dict[str, dict[str, float] | None] = {}
        for place, (doc_id, own, original) in enumerate(zip(ids, expected, originals, strict=True)):
            passages = shelf.store.passages_of(doc_id)
            if [each.text for each in passages] != [each.text for each in own.passages]:
                figures[own.document.doc_id] = None
                continue
            found: dict[str, float] = {measured.PASSAGES: len(passages)}
            if passages:
                _, stored = shelf.store.vectors_of([each.passage_id for each in passages])
                cosines = compared(stored, own.vectors, original.vectors)
                found |= {
                    measured.FLAGGED: cosines.flagged,
                    measured.NEARER: cosines.nearer,
                    measured.LOWEST: float(cosines.own.min()),
                    measured.INVERTED: found_among(stored, pool, owners == place),
                    measured.BY_TEXT: found_among(own.vectors, pool, owners == place),
                }
            figures[own.document.doc_id] = found
        return figures
