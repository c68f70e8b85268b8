"""The report of INTACT's comparison: figures by method and kind, no word of a corpus."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from eval.measures.agreement import estimated, weighted_kappa
from eval.measures.truthful import Judgement, judged
from eval.measures.uncertainty import Estimate, clustered_share
from eval.provenance import Frozen, Provenance
from models.corpora.records import Row, parsed_lines

Half = Literal["chosen on", "reported"]
Question = Literal["truthful", "less specific"]
QUESTIONS: tuple[Question, ...] = ("truthful", "less specific")


@dataclass(frozen=True, slots=True)
class JudgedReplacement:
    """A replacement of one system, with what a person said of it."""

    doc_id: str
    system: str
    kind: str
    people: Judgement
    original: str = field(repr=False)
    replacement: str = field(repr=False)


Answered = tuple[JudgedReplacement, Judgement]
"""A replacement and what the proxy says of it."""


class AgreementFigure(Frozen):
    """How often the proxy answers a question as people do, for all replacements, a type or a system.

    ``majority`` is the agreement of always giving the answer that people give more often in this part.
    """

    question: Question
    part: str
    documents: int
    agreement: Estimate
    kappa: Estimate
    majority: float
    both_yes: int
    only_proxy_yes: int
    only_people_yes: int
    both_no: int


class Validation(Frozen):
    """The proxy against people on one half of the documents."""

    half: Half
    replacements: int
    documents: int
    figures: tuple[AgreementFigure, ...]

    def figure(self, question: Question, part: str = "all") -> AgreementFigure:
        """The figure of one question for one part; raises KeyError where there is none."""
        found = [each for each in self.figures if (each.question, each.part) == (question, part)]
        if not found:
            raise KeyError(f"{question}, {part}")
        return found[0]


def half_of(doc_id: str) -> Half:
    """The half in which a document lies."""
    odd = int(hashlib.sha256(doc_id.encode()).hexdigest(), 16) % 2
    return "reported" if odd else "chosen on"


def read_judgements(path: Path, half: Half = "reported") -> list[JudgedReplacement]:
    """The judgements about the documents of one half; what was deleted has an empty replacement.

    Raises:
        ConfigurationError: The file is missing or is not in the layout of the judgements.
    """
    return [each for each in parsed_lines(path, _parsed) if half_of(each.doc_id) == half]


def _parsed(row: Row, number: int) -> JudgedReplacement:
    return JudgedReplacement(
        row["doc_id"],
        row["system"],
        row["entity_type"],
        Judgement(bool(row["truthful"]), bool(row["less_specific"])),
        row["span_text"],
        row["replacement"] or "",
    )


def validated(replacements: Sequence[JudgedReplacement], half: Half = "reported") -> Validation:
    """Agreement of the proxy with people: over all replacements, by type and by system.

    The documents are split in two by a digest of their ids. The rules of the proxy were chosen on one half
    alone; the other is the one to report. One person judged each replacement, so nobody knows what agreement
    two people would reach.

    Raises:
        ValueError: There are no replacements.
    """
    if not replacements:
        raise ValueError("there are no judgements to hold the proxy against")
    answered = [(each, judged(each.original, each.replacement, each.kind)) for each in replacements]
    parts: dict[str, list[Answered]] = {"all": answered}
    for name in ("kind", "system"):
        for part in sorted({getattr(each, name) for each in replacements}):
            parts[part] = [pair for pair in answered if getattr(pair[0], name) == part]
    return Validation(
        half=half,
        replacements=len(replacements),
        documents=len({each.doc_id for each in replacements}),
        figures=tuple(_figure(question, part, parts[part]) for question in QUESTIONS for part in parts),
    )


def _figure(question: Question, part: str, answered: Sequence[Answered]) -> AgreementFigure:
    answers: dict[str, list[tuple[bool, bool]]] = {}
    for each, verdict in answered:
        answers.setdefault(each.doc_id, []).append(
            (_answer(question, verdict), _answer(question, each.people))
        )
    pairs = [pair for of_document in answers.values() for pair in of_document]
    yes = sum(people for _, people in pairs)
    return AgreementFigure(
        question=question,
        part=part,
        documents=len(answers),
        agreement=clustered_share(
            [sum(proxy == people for proxy, people in each) for each in answers.values()],
            [len(each) for each in answers.values()],
        ),
        # With two answers, weights do not matter: this is Cohen's kappa.
        kappa=estimated(
            weighted_kappa,
            [([float(p) for p, _ in each], [float(q) for _, q in each]) for each in answers.values()],
        ),
        majority=max(yes, len(pairs) - yes) / len(pairs),
        both_yes=pairs.count((True, True)),
        only_proxy_yes=pairs.count((True, False)),
        only_people_yes=pairs.count((False, True)),
        both_no=pairs.count((False, False)),
    )


def _answer(question: Question, judgement: Judgement) -> bool:
    return judgement.truthful if question == "truthful" else judgement.less_specific


class GuessFigures(Frozen):
    """Shares of the spans of a kind that a pool attacker ranks first, and among the first five.

    ``prior_five`` ranks by frequency alone, ``chance_five`` is that of blind drawing.
    """

    n: int
    first: Estimate
    five: Estimate
    prior_five: Estimate
    chance_five: float | None


class KindFigures(Frozen):
    """What a method does to the spans of a kind of the annotators.

    ``rungs`` counts spans by the number of the candidate that was taken, from 1, the most specific; those
    without a ladder are not counted. ``fallback`` is the share with words that name the kind alone,
    ``truthful`` and the others are shares by the automatic check, of cases that its rules were not chosen on.
    ``similarity`` is the mean cosine of changed words with what replaced them.
    """

    n: int
    rungs: dict[int, int] = {}
    fallback: Estimate
    truthful: Estimate
    less_specific: Estimate
    both: Estimate
    guesses: GuessFigures
    similarity: Estimate | None = None


class ClusterFigures(Frozen):
    """NMI with the clusters of the originals: mean and standard deviation over pairs of runs on ``n`` texts.

    ``ceiling`` is that of the originals with themselves, ``chance`` that of shuffled labels.
    """

    n: int
    kept: tuple[float, float]
    ceiling: tuple[float, float]
    chance: tuple[float, float]


class MethodFigures(Frozen):
    """A method's figures; ``kinds`` are by the annotators' types, with all but persons and codes as ``all``.

    ``similarity`` is the mean cosine of the originals with what replaced them. ``trir_minus_suppression`` is
    paired by document. ``nmi`` is by engine.
    """

    method: str
    failed: int
    tps: Estimate
    tpi: Estimate
    similarity: Estimate
    nmi: dict[str, ClusterFigures] = {}
    trir: Estimate | None
    trir_minus_suppression: Estimate | None
    kinds: dict[str, KindFigures]


class OrderFact(Frozen):
    """A published order of two methods, and the difference here, higher minus lower.

    Intervals are over cases, those of NMI over pairs of runs.
    """

    measure: str
    lower: str
    higher: str
    difference: Estimate


class MaskedFigures(Frozen):
    """Recall and precision of what was masked, as ``eval.measures.preserved`` counts them."""

    direct: Estimate
    quasi: Estimate
    entities: Estimate
    mentions: Estimate
    tokens: Estimate
    token_precision: Estimate
    mention_precision: Estimate
    weighted_precision: Estimate


class BenchmarkRow(Frozen):
    """A method of the benchmark's table; ``spans`` says where it takes its spans from."""

    method: str
    spans: str
    failed: int
    masked: MaskedFigures
    tps: Estimate
    tpi: Estimate
    nmi: dict[str, ClusterFigures]
    trir: Estimate | None
    trir_minus_suppression: Estimate | None


class BenchmarkFigures(Frozen):
    """The table: texts of ``compared`` cases, and what was masked in ``marked`` ones."""

    compared: int
    marked: int
    individuals: int
    engines: dict[str, str]
    rows: tuple[BenchmarkRow, ...]


class IntactReport(Frozen):
    """All methods on the same cases; ``absent`` says why others were not measured.

    ``order`` compares with the published order of methods. ``benchmark`` is the table with detection, on
    other cases; None where no case is known to be held out.

    ``individuals`` is how many backgrounds the re-identification attack chooses from. ``validation`` compares
    the check of truth with people; None without their judgements.
    """

    provenance: Provenance
    command: str
    seed: int
    limit: float
    cases: int
    individuals: int
    engines: dict[str, str]
    methods: tuple[MethodFigures, ...]
    order: tuple[OrderFact, ...] = ()
    benchmark: BenchmarkFigures | None = None
    validation: Validation | None
    absent: dict[str, str]
