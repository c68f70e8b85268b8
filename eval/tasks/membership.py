"""Membership inference on each system, with one generator as the victim.

A score is judged by its order alone: what is at least a threshold is called a member. Equal scores fall
together, so no threshold lies between them, and the area under the curve counts a tie as half.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from eval.attacks import membership as attack
from eval.attacks.judging import attempts
from eval.documents import AttackPrompt, Target
from eval.experiment import NOT_SANITIZED, SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.uncertainty import RESAMPLES, Drawn, Estimate, Floats, bootstrap, holding, wilson
from eval.progress import Progress
from eval.provenance import Frozen
from eval.rows import Row
from eval.targets import HavingFound, RagTarget
from ingest.documents import Document
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from models.vectors import Vectors
from retrieval.documents import Answer
from retrieval.protocols import Generator

MEMBER, HELD_OUT = "member", "held out"
"""The kinds of the rows."""
LIMITS = (0.01, 0.05, 0.1)
"""The rates of false positives at which the rate of true positives is read."""
CHANCE_AUC = 0.5
DIGITS = 9
"""Scores are rounded to these: the order of a sum decides between no equals."""
_PERMUTATIONS = 2_000
MASKS, PERTURBED = 10, 0.3
"""Masked words of a version of a text, and the share of words that another version has otherwise."""


class ScoreFigures(Frozen):
    """How well a score tells members from others, among the ``members`` and ``others`` that have it.

    ``tpr`` has the rate of true positives by the highest rate of false ones that is allowed.
    ``oracle_accuracy`` is at the best threshold, which is chosen with the labels in sight: no attacker knows
    it. Chance is 0.5 for ``auc``; ``chance_tpr`` and ``chance_accuracy`` are means over random labels.
    ``failures`` counts candidates by the error that a question ran into, ``unread`` those of whose answers
    none could be read.
    """

    score: str
    members: int
    others: int
    auc: Estimate = Estimate()
    tpr: dict[float, Estimate] = dict.fromkeys(LIMITS, Estimate())
    oracle_accuracy: Estimate = Estimate()
    chance_tpr: dict[float, float] = {}
    chance_accuracy: float | None = None
    failures: dict[str, int] = {}
    unread: int = 0

    @property
    def above_chance(self) -> bool:
        """Whether the interval of the area lies above that of a score that knows nothing."""
        return self.auc.low is not None and self.auc.low > CHANCE_AUC


def membership(rows: Iterable[Row], score: str, seed: int = 0) -> ScoreFigures:
    """The figures of a score; none if no member or no other document has it."""
    given = list(rows)
    scored = [(row.figures[score], row.kind == MEMBER) for row in given if score in row.figures]
    members, others = ([value for value, member in scored if member is inside] for inside in (True, False))
    counts = {
        "failures": dict(Counter(row.failure for row in given if not row.measured)),
        "unread": sum(row.measured and score not in row.figures for row in given),
    }
    return figures_of(score, members, others, seed).model_copy(update=counts)


def figures_of(score: str, members: Sequence[float], others: Sequence[float], seed: int = 0) -> ScoreFigures:
    """The figures, given the scores of both groups, with bootstrap intervals over candidates."""
    sizes = len(members), len(others)
    if not all(sizes):
        return ScoreFigures(score=score, members=sizes[0], others=sizes[1])
    # Sorted, so that intervals do not depend on the order of the rows.
    values = np.round(np.array([*sorted(members), *sorted(others)], dtype=np.float64), DIGITS)
    distinct, levels = np.unique(values, return_inverse=True)
    inside = np.arange(len(values)) < sizes[0]

    def measured(drawn: Drawn, is_member: NDArray[np.bool_]) -> Floats:
        return _measures(*(_counts(levels[drawn], group, len(distinct)) for group in (is_member, ~is_member)))

    own = np.arange(len(values))[None, :]
    value = measured(own, inside[own])[0]
    cells = 4 * len(distinct) + len(values)
    redraws = bootstrap(lambda drawn: measured(drawn, inside[drawn]), len(values), seed, RESAMPLES, cells)

    rng = np.random.default_rng(seed)

    def permuted(drawn: Drawn) -> Floats:
        labels = rng.permuted(np.broadcast_to(inside, drawn.shape), axis=1)
        return measured(np.broadcast_to(own, drawn.shape), labels)

    chance = bootstrap(permuted, len(values), seed, _PERMUTATIONS, cells).mean(axis=0).tolist()
    trials = [min(sizes), *[sizes[0]] * len(LIMITS), len(values)]
    auc, *rates, accuracy = (
        _estimate(float(value[place]), redraws[:, place], n) for place, n in enumerate(trials)
    )
    return ScoreFigures(
        score=score,
        members=sizes[0],
        others=sizes[1],
        auc=auc,
        tpr=dict(zip(LIMITS, rates, strict=True)),
        oracle_accuracy=accuracy,
        chance_tpr=dict(zip(LIMITS, chance[1:-1], strict=True)),
        chance_accuracy=chance[-1],
    )


def _estimate(value: float, redraws: Floats, trials: int) -> Estimate:
    """With the bootstrap interval; with Wilson's where no resample varies, as if ``value`` were a share."""
    found = holding(value, redraws)
    if found.interval is None:
        low, high = wilson(value * trials, trials)
        found = replace(found, low=min(low, value), high=max(high, value))
    return replace(found, n=trials)


def _counts(levels: NDArray[np.int64], chosen: NDArray[np.bool_], n: int) -> Floats:
    """How many of the chosen have each level, one row per resample."""
    rows = np.repeat(np.arange(len(levels)), chosen.sum(axis=1))
    flat = np.bincount(rows * n + levels[chosen], minlength=len(levels) * n)
    counts: Floats = flat.reshape(len(levels), n).astype(np.float64)
    return counts


def _measures(members: Floats, others: Floats) -> Floats:
    """Area, rates of true positives and best accuracy, one row per resample; NaN without both groups.

    Columns of the counts are levels of the score, lowest first.
    """
    m, n = members.sum(axis=1), others.sum(axis=1)
    below = others.cumsum(axis=1) - others
    # Called members from each threshold up, and none at all.
    none = np.zeros((len(m), 1))
    true = np.concatenate([members[:, ::-1].cumsum(axis=1)[:, ::-1], none], axis=1)
    false = np.concatenate([others[:, ::-1].cumsum(axis=1)[:, ::-1], none], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = (members * (below + others / 2)).sum(axis=1) / (m * n)
        rates = [
            np.where(false <= limit * n[:, None] + 1e-9, true, 0).max(axis=1) / m + 0 * n / n
            for limit in LIMITS
        ]
        accuracy = (true + n[:, None] - false).max(axis=1) / (m + n) + 0 * (m * n) / (m * n)
    return np.stack([auc, *rates, accuracy], axis=1)


@dataclass(frozen=True, slots=True)
class MembershipTask:
    """A row for each candidate, with its scores; members and non-members differ in ``Row.kind``.

    ``members`` are among the documents of the experiment. ``held_out`` and ``references`` are originals that
    its ``documents`` must leave out, copies too: this task alone holds them, and they are never sanitized or
    indexed (``eval.attacks.membership.members_and_others`` draws them). ``references`` are texts that the
    attacker knows to be outside. A candidate whose question fails is not measured, and one whose answers
    cannot be read has not that score. Each of the ``scores`` asks one question about each version of a text,
    but an interrogation those of ``interrogations``, by the text: without any of versions or references they
    calibrate none.
    """

    members: Sequence[Document] = field(repr=False)
    held_out: Sequence[Document] = field(repr=False)
    generator: Generator
    encoder: Encoder
    k: int
    references: Sequence[Document] = field(default=(), repr=False)
    perturbations: int = 2
    seed: int = 0
    scores: Sequence[str] = attack.SCORES
    interrogations: Mapping[str, Sequence[attack.YesNo]] = field(default_factory=dict, repr=False)

    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        known = (*attack.SCORES, *attack.YES_OR_NO)
        if not self.scores or not {*self.scores} <= {*known}:
            raise ConfigurationError(f"membership is inferred by one or more of: {', '.join(known)}")
        ids = [each.doc_id for each in (*self.members, *self.held_out, *self.references)]
        if not self.members or not self.held_out:
            raise ConfigurationError(
                "membership needs members and held-out documents: give at least one each"
            )
        if len(set(ids)) < len(ids):
            raise ConfigurationError(
                "a document is given twice as member, held out or reference: give each id once"
            )

    @property
    def name(self) -> str:
        return f"membership by {' and '.join(self.scores)}, {self.generator.name}, k {self.k}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of members, then of held-out documents."""
        return [each.doc_id for each in (*self.members, *self.held_out)]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case, with every score and its calibrated forms.

        Raises:
            ConfigurationError: A held-out document or a reference is in the index.
        """
        there = {each.doc_id for each in kept.documents}
        inside = sum(each.doc_id in there for each in (*self.held_out, *self.references))
        if inside:
            raise ConfigurationError(
                f"{inside} held-out documents or references are in the index: leave them out of the "
                "documents of the experiment"
            )
        # Without documents in memory the index is a collection, whose members are taken as given.
        members = {each.doc_id for each in self.members}
        missing = {each for each in members if each in kept.failed or (there and each not in there)}
        originals = {each.doc_id: each.text for each in (*self.members, *self.held_out)}
        measurable = [originals[case] for case in cases if case not in missing]
        scored = self._scored(kept, measurable, progress)
        for case in cases:
            kind = MEMBER if case in members else HELD_OUT
            begun = Row(system=kept.system, task=self.name, case=case, kind=kind, doc_ids=(case,))
            found = kept.failed.get(case, NOT_SANITIZED) if case in missing else next(scored)
            if isinstance(found, str):
                yield begun.model_copy(update={"failure": found})
            else:
                engine = f"{self.generator.name}; {self.encoder.name}"
                yield begun.model_copy(update={"engine": engine, "figures": found})

    def _scored(
        self, kept: SanitizedCorpus, texts: Sequence[str], progress: Progress
    ) -> Iterator[dict[str, float] | str]:
        """The scores of each text, or the type of the error that its questions ran into.

        References are asked about first, and then one text after the other: a run that was interrupted asks
        again about references and about the text that it was at.
        """
        references = [each.text for each in self.references]
        versions: list[list[str]] = []
        for text in texts:
            # The same for every system and selection of cases.
            rng = random.Random(f"{self.seed}:{text}")
            others = [attack.perturbed(text, PERTURBED, rng) for _ in range(self.perturbations)]
            versions.append([text, *others])
        asked = [
            attack.questions_about(each, MASKS, self.interrogations.get(each, ()))
            for each in chain(references, *versions)
        ]
        phase = f"inferring members of {kept.system}"
        progress(phase, 0, len(asked))
        questions = [question for each in asked for score in self.scores for question in each.asked[score]]
        retriever = HavingFound(kept.retriever(self.encoder), questions, self.k)
        target = RagTarget(retriever, self.generator, self.k)
        found = self._answered(target, asked, phase, progress)
        vectors = self.encoder.encode(references)
        of_references = zip(islice(found, len(references)), vectors, strict=True)
        known = [(each, vector) for each, vector in of_references if not isinstance(each, str)]
        for text, own in zip(texts, versions, strict=True):
            scores = _above_perturbed(list(islice(found, len(own))))
            yield scores if isinstance(scores, str) else scores | self._above_references(text, scores, known)

    def _above_references(
        self, text: str, scores: Mapping[str, float], known: Sequence[tuple[dict[str, float], Vectors]]
    ) -> dict[str, float]:
        """The scores of a text above those of the references that have them."""
        above = dict[str, float]()
        for name in self.scores:
            if name in scores and (those := [(each[name], other) for each, other in known if name in each]):
                of_references, vectors = zip(*those, strict=True)
                (own,) = self.encoder.encode([text])
                found = attack.above_references(scores[name], own, of_references, np.array(vectors))
                above[name + attack.BY_REFERENCES] = found
        return above

    def _answered(
        self, target: Target, asked: Sequence[attack.Questions], phase: str, progress: Progress
    ) -> Iterator[dict[str, float] | str]:
        """The scores of each text that is asked about, or the type of the error of a question."""
        for number, each in enumerate(asked, start=1):
            prompts = [
                AttackPrompt(turn, score, question)
                for score in self.scores
                for turn, question in enumerate(each.asked[score])
            ]
            answers: dict[str, list[Answer]] = {score: [] for score in self.scores}
            failure = ""
            for attempt in attempts(target, prompts):
                if attempt.answer is None:
                    failure = attempt.failure
                    break
                answers[attempt.prompt.kind].append(attempt.answer)
            progress(phase, number, len(asked))
            yield failure or attack.scores_of(each, answers)


def _above_perturbed(found: Sequence[dict[str, float] | str]) -> dict[str, float] | str:
    failure = next((each for each in found if isinstance(each, str)), None)
    if failure is not None:
        return failure
    own, *others = (each for each in found if not isinstance(each, str))
    above = {
        name + attack.BY_PERTURBED: value - float(np.mean([each[name] for each in others]))
        for name, value in own.items()
        if others and all(name in each for each in others)
    }
    return own | above
