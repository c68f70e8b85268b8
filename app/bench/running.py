"""Arms of a benchmark, made, asked and attacked one after the other, so that one index is held at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial

from app.arms import Arm, in_memory
from app.bench.methods import REDACTED, TRIP, Compared
from app.bench.options import Options
from app.compose import Services
from app.corpus import Phases
from app.scored import ScoredCorpus
from eval.attacks.anchor import AnchorAttack
from eval.attacks.suite import extraction_suite
from eval.corpora.bench_corpus import BenchCorpus
from eval.measures.answers import answer_scorer
from eval.measures.leakage import SensitiveIndex
from eval.protocols import Attack
from eval.targets import RagTarget, RememberingEncoder
from eval.trip_rag.asking import Asked, answer_rows, figures_of
from eval.trip_rag.attacking import aims_of, attack_figures, guess_figures
from eval.trip_rag.report import AnswerRow, AttackFigures, GuessFigures, MethodFigures
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Generator

DEPTH, SHALLOW = 5, 2
"""Passages that a victim is given: TRIP-RAG's number, and Zeng's."""
GUESSED_DOCUMENTS = 60
"""Entity inference compares every slot with a pool of candidates, which takes seconds a document."""


class Running:
    """One corpus and the methods on it; keeps the rows of the methods, and what was attacked.

    The unsanitized arm has to come first: usefulness is measured against it.
    """

    def __init__(
        self,
        services: Services,
        scored: ScoredCorpus,
        bench: BenchCorpus,
        sensitive: SensitiveIndex,
        options: Options,
        told: Phases,
    ) -> None:
        self.encoder = RememberingEncoder(services.encoder)
        asking = copy(services)
        asking.encoder = self.encoder
        self.generator: Generator = asking.generator
        self.rows: list[AnswerRow] = []
        self.attacks: list[AttackFigures] = []
        self.guesses: list[GuessFigures] = []
        self._passage_tokens = services.settings.retrieval.passage_tokens
        self._scored = scored
        self._bench = bench
        self._sensitive = sensitive
        self._options = options
        self._told = told
        self._answers = answer_scorer()

    def method(self, compared: Compared) -> MethodFigures:
        """A method at its default: asked, attacked, and its rows kept."""
        with self._arm(compared) as arm:
            rows = self._rows(compared, arm)
            self.rows += rows
            self._attack(compared, arm)
            return self._figures(compared, arm, rows)

    def variant(self, compared: Compared) -> MethodFigures:
        """One strength or ablation: asked, and what its index shows."""
        with self._arm(compared) as arm:
            return self._figures(compared, arm, self._rows(compared, arm))

    @contextmanager
    def _arm(self, compared: Compared) -> Iterator[Arm]:
        with ExitStack() as stack:
            yield in_memory(
                self._bench.documents,
                compared.make(),
                self.encoder,
                self._passage_tokens,
                stack,
                partial(self._told, f"sanitizing {compared.name}"),
            )

    def _asked(self, compared: Compared, arm: Arm) -> Asked:
        return Asked(
            compared.name, self.encoder.name, arm.retriever, arm.documents, arm.failed, compared.strength
        )

    def _rows(self, compared: Compared, arm: Arm) -> list[AnswerRow]:
        told = partial(self._told, f"asking {compared.name}")
        asked = self._asked(compared, arm)
        return answer_rows(asked, self._bench.questions, self.generator, self._answers, told)

    def _figures(self, compared: Compared, arm: Arm, rows: list[AnswerRow]) -> MethodFigures:
        return figures_of(
            self._asked(compared, arm),
            rows,
            self.rows[: len(self._bench.questions)],
            self._sensitive,
            self._bench.questions,
            self._options.seed,
        )

    def _attack(self, compared: Compared, arm: Arm) -> None:
        seed, prompts = self._options.seed, self._options.prompts
        aims = aims_of(self._bench.name)
        suite = extraction_suite(list(aims), prompts, seed)
        anchor = AnchorAttack(aims[0], n=prompts, seed=seed)
        verbatim = VerbatimGenerator()
        planned: list[tuple[Attack, Generator, int]] = [
            (suite, verbatim, DEPTH),
            (suite, verbatim, SHALLOW),
            (anchor, verbatim, 1),
            (suite, self.generator, DEPTH),
        ]
        for number, (attack, generator, k) in enumerate(planned):
            self._told(f"attacking {compared.name}", number, len(planned))
            target = RagTarget(arm.retriever, generator, k)
            self.attacks.append(attack_figures(compared.name, target, attack, self._sensitive))
        self._told(f"attacking {compared.name}", len(planned), len(planned))
        if compared.name in (REDACTED, TRIP):
            few = arm.documents[:GUESSED_DOCUMENTS]
            self.guesses.append(
                guess_figures(compared.name, self._bench.documents, few, self.encoder, self._sensitive, seed)
            )
