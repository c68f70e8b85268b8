"""What a judge says of each sanitized text, beside its original: coherence, or what it is still good for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document
from models.packs import packs

MISSING = "not judged"
_ASKED_AT_ONCE = 32


class Judge(Protocol):
    """Scores pairs of an original and what became of it; None where it gave none."""

    @property
    def name(self) -> str: ...

    def scores(self, texts: Sequence[tuple[str, str]]) -> list[Mapping[str, float] | None]: ...


@dataclass(frozen=True, slots=True)
class Judged:
    """One row per document with the judge's scores, or ``MISSING``; a failure if it was not sanitized.

    An empty text is not judged: there is nothing to read.
    """

    documents: Sequence[Document] = field(repr=False)
    judge: Judge

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        """With the judge."""
        return f"judged, {self.judge.name}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case, in order."""
        originals = {each.doc_id: each.text for each in self.documents}
        written = {each.doc_id: each.text for each in kept.documents}
        asked = [(originals[case], written[case]) for case in cases if written.get(case, "").strip()]
        given = (each for pack in packs(asked, _ASKED_AT_ONCE) for each in self.judge.scores(pack))
        for number, case in enumerate(cases):
            progress(f"judging {kept.system}", number, len(cases))
            figures: Mapping[str, float] | None = None
            if case in written:
                found = next(given) if written[case].strip() else None
                figures = {MISSING: 1.0} if found is None else found
            yield kept.row(self.name, case, figures, self.judge.name)
