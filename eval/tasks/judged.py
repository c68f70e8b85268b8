"""What a judge says of each text, beside its original; and how much of it stays when it is rewritten."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eval.experiment import SanitizedCorpus
from eval.measures.claim_distance import TextJudge
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
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case; a failure if the document was not sanitized."""
        originals = {each.doc_id: each.text for each in self.documents}
        written = {each.doc_id: each.text for each in kept.documents}
        there = [case for case in cases if case in written]
        texts = [text for case in there for text in (originals[case], written[case])]
        encoder, scored = having_read(self.encoder, texts, progress=progress), answer_scorer()
        for case in cases:
            figures = None
            if case in written:
                before, after = originals[case], written[case]
                one, other = encoder.encode([before, after])
                figures = {ROUGE: rouge_l(stems(before), stems(after)).f}
                figures |= {BLEU: scored(before, after).sacrebleu, COSINE: float(one @ other)}
                figures[UNCHANGED] = float(before == after)
            yield kept.row(self.name, case, figures, self.encoder.name)


MISSING = "not judged"
_ASKED_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Judged:
    """One row per document with the judge's scores, or ``MISSING``; a failure if it was not sanitized.

    An empty text is not judged: there is nothing to read.
    """

    documents: Sequence[Document] = field(repr=False)
    judge: TextJudge

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"judged, {self.judge.name}"

    @property
    def cases(self) -> Sequence[str]:
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
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
