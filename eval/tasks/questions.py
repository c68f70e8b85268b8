"""Question answering: which documents are found, and how close answers are to references."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from eval.corpora.corpus import Question
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE, SensitiveIndex, answerable, share_present
from eval.measures.overlap import rouge_l, stems
from eval.progress import Progress
from eval.rows import Row
from ingest.protocols import Encoder
from retrieval.documents import RetrievedPassage
from retrieval.protocols import Generator
from retrieval.writing import whole


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Each in [0, 1]; ``rouge_l`` is the F measure with stems."""

    bleu1: float
    sacrebleu: float
    rouge_l: float


def answer_scorer() -> Callable[[str, str], AnswerScores]:
    """A function from reference and answer to scores; it caches tokens.

    Papers write "BLEU" for different things. BLEU-1 here is what the code of SAGE (Zeng et al. 2025), from
    which TRIP-RAG took its baselines, computes: lower case, white space between tokens, unigram precision
    with the brevity penalty. sacreBLEU is the standard one (Post 2018), of single sentences, on a scale from
    0 to 1.
    """
    from sacrebleu.metrics import BLEU

    standard = BLEU(effective_order=True)

    def scored(reference: str, answer: str) -> AnswerScores:
        return AnswerScores(
            bleu1(reference, answer),
            standard.sentence_score(answer, [reference]).score / 100,
            rouge_l(stems(reference), stems(answer)).f,
        )

    return scored


def sacrebleu_signature() -> str:
    """The signature that sacreBLEU figures are reported with."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True)
    metric.sentence_score("a", ["a"])
    return str(metric.get_signature())


def bleu1(reference: str, answer: str) -> float:
    """Clipped unigram precision times the brevity penalty; 0 for an empty answer."""
    wanted, said = reference.lower().split(), answer.lower().split()
    shared = (Counter(wanted) & Counter(said)).total()
    if not shared:
        return 0.0
    penalty = 1.0 if len(said) > len(wanted) else math.exp(1 - len(wanted) / len(said))
    return penalty * shared / len(said)


DEPTHS = (1, 5, 10)
ANSWERED_WITH = 5
"""Passages per answer, as in the paper."""
FACTS = "facts present"
"""The share of the facts of the reference answer, of those that the document asked about states, that both
the answer and what was found of that document say."""
RANK = "rank of the document asked about"
"""The rank from 1; 0 if the document is not among the passages."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Each question asked once, with one encoder and generator.

    Systems of one experiment often retrieve the same passages, so answers are cached.
    """

    questions: Sequence[Question] = field(repr=False)
    encoder: Encoder
    generator: Generator
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Original texts by id, for the facts that answers can state."""
    sensitive: SensitiveIndex = field(default=NOTHING_SENSITIVE, repr=False)
    _scorer: Callable[[str, str], AnswerScores] = field(default_factory=answer_scorer, repr=False)
    _known: dict[bytes, Mapping[str, float]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return f"questions, {self.encoder.name}"

    @property
    def cases(self) -> Sequence[str]:
        return [question.question_id for question in self.questions]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """``doc_ids`` of the first ten passages, ``RANK`` and the scores of the answer."""
        asked = [question for question in self.questions if question.question_id in set(cases)]
        retriever = kept.retriever(self.encoder)
        found = retriever.retrieve([question.text for question in asked], max(DEPTHS))
        for number, (question, passages) in enumerate(zip(asked, found, strict=True)):
            progress(f"asking questions, {kept.system}", number, len(asked))
            figures = self._figures(question, passages[:ANSWERED_WITH])
            doc_ids = tuple(each.passage.doc_id for each in passages)
            rank = doc_ids.index(question.about) + 1 if question.about in doc_ids else 0
            yield Row(
                system=kept.system,
                task=self.name,
                case=question.question_id,
                doc_ids=doc_ids,
                figures={RANK: rank, **figures},
            )
        progress(f"asking questions, {kept.system}", len(asked), len(asked))

    def _figures(self, question: Question, passages: Sequence[RetrievedPassage]) -> Mapping[str, float]:
        own = [each.passage.text for each in passages if each.passage.doc_id == question.about]
        said = [question.question_id, *own, "", *(each.passage.text for each in passages)]
        key = blake2b(repr(said).encode(), digest_size=16).digest()
        if key not in self._known:
            answer = whole(self.generator.write(question.text, passages)).text
            scores = self._scorer(question.answer, answer)
            facts = answerable(question.answer, self.sources.get(question.about, ""), question.text)
            self._known[key] = {
                "BLEU-1": scores.bleu1,
                "sacreBLEU": scores.sacrebleu,
                "ROUGE-L": scores.rouge_l,
                **({FACTS: share_present(facts, answer, " ".join(own))} if facts else {}),
            }
        return self._known[key]
