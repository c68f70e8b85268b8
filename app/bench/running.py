"""Arms of a benchmark, made, asked and attacked one after the other, so that one index is held at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial

from app.arms import Arm, in_memory, indexed
from app.bench.methods import ORIGIN, REDACTED, TRIP, Compared
from app.bench.options import Options
from app.bench.parts import Part, Parts
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
from eval.trip_rag.comparing import DEFAULT, part_name
from eval.trip_rag.report import AnswerRow, AttackFigures, AttackRow, GuessFigures, MethodFigures
from ingest.protocols import Encoder
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Generator, Retriever

DEPTH, SHALLOW = 5, 2
"""Passages that a victim is given: TRIP-RAG's number, and Zeng's."""
GUESSED_DOCUMENTS = 60
"""Entity inference compares every slot with a pool of candidates, which takes seconds a document."""
SUMMED_UP = (ORIGIN, REDACTED, TRIP)
"""What the summary compares."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What every arm shares: documents with their scores, what is asked, and what must not come out.

    The first of ``encoders`` answers and is attacked, the others only retrieve.
    """

    services: Services = field(repr=False)
    scored: ScoredCorpus
    bench: BenchCorpus
    sensitive: SensitiveIndex = field(repr=False)
    encoders: Sequence[RememberingEncoder] = field(repr=False)


def ground_of(
    services: Services,
    scored: ScoredCorpus,
    bench: BenchCorpus,
    sensitive: SensitiveIndex,
    further: Sequence[Encoder],
) -> Ground:
    """The ground with encoders that read every text once."""
    encoders = [RememberingEncoder(each) for each in (services.encoder, *further)]
    asking = copy(services)
    asking.encoder = encoders[0]
    return Ground(asking, scored, bench, sensitive, encoders)


class Running:
    """One corpus and the methods on it, each a part that is measured once.

    The unsanitized arm has to come first: usefulness is measured against it. ``planned`` is how many parts
    there will be, for those who watch.
    """

    def __init__(self, ground: Ground, options: Options, parts: Parts, planned: int, told: Phases) -> None:
        self._ground = ground
        self._planned = planned
        self._options = options
        self._parts = parts
        self._told = told
        self._answers = answer_scorer()
        self._original: dict[str, Sequence[AnswerRow]] = {}

    @property
    def generator(self) -> Generator:
        """What writes the answers."""
        return self._ground.services.generator

    def method(self, compared: Compared) -> Part:
        """A method at its default: asked with every encoder, attacked, and its rows kept."""
        key = part_name(DEFAULT, compared.name, None)
        part = self.part(key, partial(self._method, key, compared))
        if compared.name == ORIGIN:
            self._original = _by_encoder(part.rows)
        return part

    def variant(self, kind: str, compared: Compared) -> Part:
        """One strength or ablation: asked, and what its index shows."""
        key = part_name(kind, compared.name, compared.strength)
        return self.part(key, partial(self._variant, key, compared))

    def part(self, key: str, measure: Callable[[], Part]) -> Part:
        """A part, measured if it is not there yet, and told of."""
        part = self._parts.part(key, measure)
        self._told("measured", len(self._parts), self._planned)
        return part

    def _method(self, key: str, compared: Compared) -> Part:
        first, *further = self._ground.encoders
        with self._arm(compared) as arm:
            rows = self._rows(key, compared, first, arm, arm.retriever)
            figures = [self._figures(key, compared, first, arm, rows)]
            for encoder in further:
                with ExitStack() as stack:
                    retriever = indexed(arm.documents, encoder, self._passage_tokens, stack)
                    found = self._rows(key, compared, encoder, arm, retriever)
                rows += found
                figures.append(self._figures(key, compared, encoder, arm, found))
            attacked = list(self._attacks(compared, arm))
            return Part(
                key=key,
                figures=tuple(figures),
                rows=tuple(rows),
                attacks=tuple(each for each, _ in attacked),
                guesses=tuple(self._guesses(compared, arm)),
                attempts=tuple(attempt for _, attempts in attacked for attempt in attempts),
            )

    def _variant(self, key: str, compared: Compared) -> Part:
        encoder = self._ground.encoders[0]
        with self._arm(compared) as arm:
            rows = self._rows(key, compared, encoder, arm, arm.retriever)
            return Part(
                key=key, figures=(self._figures(key, compared, encoder, arm, rows),), rows=tuple(rows)
            )

    @property
    def _passage_tokens(self) -> int:
        return self._ground.services.settings.retrieval.passage_tokens

    @contextmanager
    def _arm(self, compared: Compared) -> Iterator[Arm]:
        with ExitStack() as stack:
            yield in_memory(
                self._ground.bench.documents,
                compared.make(),
                self._ground.encoders[0],
                self._passage_tokens,
                stack,
                partial(self._told, f"sanitizing {compared.name}"),
            )

    def _rows(
        self, key: str, compared: Compared, encoder: Encoder, arm: Arm, retriever: Retriever
    ) -> list[AnswerRow]:
        told = partial(self._told, f"asking {compared.name}")
        asked = _asked(key, compared, encoder, arm, retriever)
        return answer_rows(asked, self._ground.bench.questions, self.generator, self._answers, told)

    def _figures(
        self, key: str, compared: Compared, encoder: Encoder, arm: Arm, rows: Sequence[AnswerRow]
    ) -> MethodFigures:
        return figures_of(
            _asked(key, compared, encoder, arm, arm.retriever),
            rows,
            self._original.get(encoder.name, rows),
            self._ground.sensitive,
            self._ground.bench.questions,
            self._options.seed,
        )

    def _attacks(self, compared: Compared, arm: Arm) -> Iterator[tuple[AttackFigures, list[AttackRow]]]:
        seed, prompts, thorough = self._options.seed, self._options.prompts, self._options.thorough
        if not thorough and compared.name not in SUMMED_UP:
            return
        aims = aims_of(self._ground.bench.name)
        suite = extraction_suite(list(aims), prompts, seed)
        verbatim = VerbatimGenerator()
        planned: list[tuple[Attack, Generator, int]] = [(suite, verbatim, DEPTH)]
        if thorough:
            planned += [
                (suite, verbatim, SHALLOW),
                (suite, self.generator, DEPTH),
                (AnchorAttack(aims[0], n=prompts, seed=seed), verbatim, 1),
                (AnchorAttack(aims[0], n=prompts, seed=seed), self.generator, DEPTH),
            ]
        for number, (attack, generator, k) in enumerate(planned):
            self._told(f"attacking {compared.name}", number, len(planned))
            target = RagTarget(arm.retriever, generator, k)
            yield attack_figures(compared.name, target, attack, self._ground.sensitive)
        self._told(f"attacking {compared.name}", len(planned), len(planned))

    def _guesses(self, compared: Compared, arm: Arm) -> Iterator[GuessFigures]:
        if not self._options.thorough or compared.name not in (REDACTED, TRIP):
            return
        few = arm.documents[:GUESSED_DOCUMENTS]
        ground = self._ground
        yield guess_figures(
            compared.name,
            ground.bench.documents,
            few,
            ground.encoders[0],
            ground.sensitive,
            self._options.seed,
        )


def _asked(key: str, compared: Compared, encoder: Encoder, arm: Arm, retriever: Retriever) -> Asked:
    return Asked(key, compared.name, encoder.name, retriever, arm.documents, arm.failed, compared.strength)


def _by_encoder(rows: Sequence[AnswerRow]) -> dict[str, Sequence[AnswerRow]]:
    found: dict[str, list[AnswerRow]] = {}
    for row in rows:
        found.setdefault(row.encoder, []).append(row)
    return dict(found)
