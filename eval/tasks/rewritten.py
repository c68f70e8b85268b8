"""How much of its wording and meaning each document keeps when it is rewritten."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.overlap import rouge_l, stems
from eval.progress import Progress
from eval.rows import Row
from eval.targets import having_read
from eval.tasks.questions import answer_scorer
from ingest.documents import Document
from ingest.protocols import Encoder

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
