"""What a judge says of each text, beside its original; and how much of it stays when it is rewritten."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.overlap import rouge_l, stems
from eval.progress import Progress
from eval.rows import Row
from eval.targets import having_read
from eval.tasks.questions import answer_scorer
from ingest.documents import Document
from ingest.protocols import Encoder
from models.packs import packs

ROUGE, BLEU, COSINE, UNCHANGED = "ROUGE-L", "BLEU", "cosine", "unchanged"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One row per document: ROUGE-L (F, stems), BLEU and cosine with its original, and whether it changed."""

    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder

    name = "rewritten"
    sensitive = NOTHING_SENSITIVE

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case; a failure if the document was not sanitized."""
        originals = {each.doc_id: each.text for each in self.documents}
        written = {each.doc_id: each.text for each in kept.documents}
        there = [case for case in cases if case in written]
        texts = [text for case in there for text in (originals[case], written[case])]
        encoder, scored = having_read(self.encoder, texts, progress=progress), answer_scorer()
        for case in cases:
            if case not in written:
                yield kept.row(self.name, case, None, self.encoder.name)
                continue
            one, other = encoder.encode([originals[case], written[case]])
            figures = {
                ROUGE: rouge_l(stems(originals[case]), stems(written[case])).f,
                BLEU: scored(originals[case], written[case]).sacrebleu,
                COSINE: float(one @ other),
                UNCHANGED: float(originals[case] == written[case]),
            }
            yield kept.row(self.name, case, figures, self.encoder.name)


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
