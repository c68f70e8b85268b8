"""What each cell of a search over weights and thresholds does: sanitized, indexed in memory, asked."""

from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from app.arms import Arm, in_memory
from app.compose import Services
from app.corpus import Phases
from app.scored import ScoredCorpus
from eval.corpora.bench_corpus import BenchCorpus
from eval.measures.answers import answer_scorer
from eval.measures.leakage import SensitiveIndex
from eval.targets import RememberingEncoder
from eval.trip_rag.asking import Asked, answer_rows, figures_of
from eval.trip_rag.report import AnswerRow
from eval.trip_rag.tuning import Half, TunedFigures
from ingest.policy import Policy
from models.errors import LetheError
from retrieval.documents import Answer, RetrievedPassage
from retrieval.protocols import Generator

Halved = tuple[TunedFigures, TunedFigures]
"""On the half to choose on, and on the one held out."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy and what it decides; ``share`` is what its threshold aims at, None for the one in force."""

    share: float | None
    policy: Policy
    decisions: str = field(repr=False)


class Measuring:
    """One corpus and its halves; sanitizes by a policy, asks, and folds what came back for each half."""

    def __init__(
        self,
        services: Services,
        scored: ScoredCorpus,
        bench: BenchCorpus,
        sensitive: SensitiveIndex,
        parts: Sequence[Half],
        seed: int,
    ) -> None:
        asking = copy(services)
        asking.encoder = RememberingEncoder(services.encoder)
        self._encoder = asking.encoder
        self.generator: Generator = _RememberingGenerator(asking.generator)
        self._passage_tokens = services.settings.retrieval.passage_tokens
        self._scored, self._bench, self._sensitive = scored, bench, sensitive
        self._parts, self._seed = parts, seed
        self._scores = answer_scorer()

    def all(self, candidates: Sequence[Candidate], told: Phases) -> dict[str, Halved]:
        """The figures of each digest of decisions; usefulness is measured against no sanitizing."""
        distinct = {each.decisions: each.policy for each in candidates}
        told("measuring", 0, len(distinct))
        _, original = self._asked(replace(self._scored.services.policy, name="origin"))
        found = {}
        for number, (decisions, policy) in enumerate(distinct.items()):
            told("measuring", number, len(distinct))
            asked, rows = self._asked(policy)
            first, second = (self._figures(asked, rows, original, half) for half in self._parts)
            found[decisions] = (first, second)
        told("measuring", len(distinct), len(distinct))
        return found

    def _asked(self, policy: Policy) -> tuple[Asked, list[AnswerRow]]:
        sanitizer = self._scored.sanitizer(self._scored.method(policy))
        documents, questions = self._bench.documents, self._bench.questions
        with ExitStack() as stack:
            arm = in_memory(documents, sanitizer, self._encoder, self._passage_tokens, stack, _quiet)
            _check_whole(arm)
            asked = Asked("tuning", policy.name, self._encoder.name, arm.retriever, arm.documents, arm.failed)
            return asked, answer_rows(asked, questions, self.generator, self._scores, _quiet)

    def _figures(
        self, asked: Asked, rows: Sequence[AnswerRow], original: Sequence[AnswerRow], half: Half
    ) -> TunedFigures:
        own = replace(asked, documents=[each for each in asked.documents if each.doc_id in half.documents])
        now, before = (
            [row for row in each if row.question_id in half.questions] for each in (rows, original)
        )
        found = figures_of(own, now, before, self._sensitive, self._bench.questions, self._seed)
        return TunedFigures.of(found)


def _quiet(done: int, total: int) -> None:
    """What takes part of a cell is not told of: there are hundreds."""


def _check_whole(arm: Arm) -> None:
    if arm.failed:
        raise LetheError(
            f"{arm.failed} of {arm.failed + arm.kept} documents could not be sanitized, and a cell without "
            "them would seem to leak less: `lethe sanitize` names them. Leave them out."
        )


class _RememberingGenerator:
    """A generator that answers a question from the same passages once: cells differ in few of them."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._known: dict[bytes, Answer] = {}
        self.name = generator.name

    def generate(self, question: str, passages: Sequence[RetrievedPassage]) -> Answer:
        """The words of the answer; passages and citations are left out, for they may be another cell's."""
        said = [question, *(each.passage.text for each in passages)]
        key = blake2b(repr(said).encode(), digest_size=16).digest()
        if key not in self._known:
            answer = self._generator.generate(question, passages)
            self._known[key] = Answer(answer.text, (), (), answer.engine)
        return self._known[key]
