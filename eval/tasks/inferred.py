"""Attribute inference as a task: what the guesses at the person of each document hit.

``eval.measures.inferred`` folds the rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eval.corpora.corpus import Truths
from eval.experiment import SanitizedCorpus
from eval.measures import inferred as measured
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document
from ingest.protecting.adversary import Adversary, Inference


@dataclass(frozen=True, slots=True)
class InferredTask:
    """One row per document, with what is known of its person by attribute and how the guesses fare.

    ``truths`` are by the ids of documents, and say nothing of some.
    """

    documents: Sequence[Document] = field(repr=False)
    attack: Adversary
    truths: Mapping[str, Truths] = field(repr=False)

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"attributes, {self.attack.name}"

    @property
    def cases(self) -> Sequence[str]:
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """Numbers by attribute; a failure if the document was not sanitized."""
        progress(f"inferring in {kept.system}", 0, None)
        prior = most_frequent(list(self.truths.values()))
        texts = {each.doc_id: each.text for each in kept.documents}
        there = [case for case in cases if case in texts]
        guessed = dict(zip(there, self.attack.infer([texts[case] for case in there]), strict=True))
        for case in cases:
            figures = None
            if case in guessed:
                figures = figures_of(guessed[case], self.truths.get(case, {}), prior)
            yield kept.row(self.name, case, figures, self.attack.name)


def most_frequent(truths: Sequence[Truths]) -> dict[str, str]:
    """The most frequent value of each attribute, the first of the alphabet where several are."""
    counts: dict[str, Counter[str]] = {}
    for each in truths:
        for name, those in each.items():
            counts.setdefault(name, Counter()).update(those)
    return {name: min(found, key=lambda value: (-found[value], value)) for name, found in counts.items()}


def figures_of(
    guessed: Mapping[str, Inference], truths: Truths, prior: Mapping[str, str]
) -> dict[str, float]:
    """The figures of one document: of each attribute that is known and guessed at."""
    figures: dict[str, float] = {}
    for name, known in truths.items():
        if name in guessed:
            inference = guessed[name]
            right = inference.guesses[0] in known
            # Values are compared for being the same before. Only bands of age lie near one another.
            alike = [measured.matched(name, inference.guesses[0], each) for each in known if name == "age"]
            near = min(0.5, max(alike, default=0.0))
            figures |= {
                measured.KNOWN + name: 1,
                measured.RIGHT + name: right,
                measured.LENIENT + name: 1 if right else near,
                measured.THREE + name: any(guess in known for guess in inference.guesses),
                measured.PRIOR + name: prior[name] in known,
                measured.CERTAINTY + name: inference.certainty,
            }
    return {name: float(value) for name, value in figures.items()}
