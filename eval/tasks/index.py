"""The index reader: which sensitive entities remain in the sanitized text of their document.

This is the strongest attacker on an index: a question can only extract what is in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval.experiment import SanitizedCorpus
from eval.measures.leakage import SensitiveIndex
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Action

MENTIONS, KEPT = "mentions", "mentions kept"


@dataclass(frozen=True, slots=True)
class IndexReader:
    """One row per document of the corpus; a failure if it could not be sanitized."""

    doc_ids: Sequence[str] = field(repr=False)
    sensitive: SensitiveIndex = field(repr=False)

    name = "index"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.doc_ids

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """``leaked`` are the entities that remain in the document; figures count its mentions."""
        there = {document.doc_id: document for document in kept.documents}
        for case in cases:
            if case not in there:
                yield kept.row(self.name, case, None)
                continue
            document = there[case]
            left = sum(decision.action is Action.KEEP for decision in document.decisions)
            figures = {MENTIONS: float(len(document.decisions)), KEPT: float(left)}
            leaked = self.sensitive.leaked([case], document.text, "")
            yield kept.row(self.name, case, figures).model_copy(update={"leaked": leaked})
