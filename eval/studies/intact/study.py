"""INTACT's comparison: every method on the same annotated spans, and each measure once."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.attacks.guessing import Guess, guess_shares, guess_slots
from eval.corpora.marked import ReplacedCase, backgrounds, halves, replaced_cases
from eval.measures.preserved import similarities_of
from eval.measures.truthful import Judgement, Pair, all_judged
from eval.measures.uncertainty import Estimate, clustered_share, ratio_of
from eval.progress import Progress, no_progress
from eval.provenance import commit_here, provenance_here
from eval.studies.intact.benchmark import benchmark, benchmark_cases, cluster_figures
from eval.studies.intact.order import (
    ENGINE,
    SUPPRESSION,
    Compared,
    Reidentified,
    clusterings,
    compared,
    order_facts,
    reidentified_difference,
    sanitizers,
)
from eval.studies.intact.report import (
    GuessFigures,
    IntactReport,
    KindFigures,
    MethodFigures,
    half_of,
    read_judgements,
    validated,
)
from eval.studies.marks.methods import LABEL_OF
from ingest.documents import SanitizedDocument
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from ingest.wording.guessed import Guesser
from ingest.wording.mentions import names_only_a_kind
from ingest.wording.words import rungs_of
from models.errors import LetheError
from retrieval.system import System

TABLE = "the benchmark's table"
"""What the report calls it where it is absent."""
ALL = "all"
"""All kinds but those of ``NO_LADDER``."""
NO_LADDER = frozenset(("PERSON", "CODE"))
"""Kinds that every method gives a number: INTACT leaves them out of its figures."""
EVERYTHING = 1_000_000
"""A pool that holds all values of a kind."""
_NUMBERED = re.compile(r"[A-Z][A-Z_]*_\d+|(?:Organization|Place|Town|Region|County|Country) [A-Z]{1,2}")
"""A label with a number; a letter behind a noun that is no class."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """One replacement: its case, its kind by the annotators, and both texts."""

    doc_id: str
    kind: str
    label: str
    said: str = field(repr=False)
    words: str = field(repr=False)
    rungs: Sequence[str] = field(repr=False)
    """Those of its own ladder that say more than the kind, folded."""

    @property
    def is_fallback(self) -> bool:
        """Whether the words say the kind and no more."""
        if not self.words or _NUMBERED.fullmatch(self.words):
            return True
        return names_only_a_kind(self.words, self.label) and not self._has_class

    @property
    def _has_class(self) -> bool:
        """Whether a letter stands behind a class: Bank A."""
        return re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)* [A-Z]{1,2}", self.words) is not None

    @property
    def rung(self) -> int | None:
        """The number of its rung, from 1; None if its words are none."""
        said = fold(self.words)
        return next((number for number, rung in enumerate(self.rungs, 1) if rung in said), None)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was made of one method: its replacements with what was found of each, and its texts compared."""

    failed: int
    replaced: Sequence[Replaced] = field(repr=False)
    guesses: Sequence[Guess] = field(repr=False)
    verdicts: Sequence[Judgement] = field(repr=False)
    similar: Sequence[float] = field(repr=False)
    compared: Compared = field(repr=False)


def measure_intact(
    path: Path,
    encoder: Encoder,
    guesser: Guesser,
    limit: float,
    seed: int = 0,
    progress: Progress = no_progress,
    most: int | None = None,
    judged: Path | None = None,
    system: Callable[[], System] | None = None,
    table_only: bool = False,
) -> IntactReport:
    """Measure all methods on the reported half of the cases; ``most`` takes the first few.

    ``encoder`` reads the same sentences for each method: give one that caches. ``judged`` is a file of
    people's judgements, to hold the check of truth against. ``system`` makes the one whose policies run on
    raw text in the benchmark's table, if there are cases for that; without it there is no such table.
    ``table_only`` leaves out what looks at single replacements: truth, kinds and guesses, most of the time.

    Raises:
        LetheError: The corpus or the judgements are missing or broken.
    """
    commit = commit_here()
    validation = validated(read_judgements(judged)) if judged else None
    everything = replaced_cases(path)
    reported = halves(everything)[1]
    cases = reported[:most]
    known = backgrounds(path)
    if known and any(case.document.doc_id not in known for case in cases):
        raise LetheError("A case has no background beside the corpus: take both as they were published.")
    made, absent = sanitizers(cases, guesser, limit)
    originals = [case.document for case in cases]
    clusters = clusterings([each.text for each in originals], encoder, seed)
    measured, texts = dict[str, _Measured](), dict[str, Compared]()
    for number, (name, sanitizer) in enumerate(made.items()):
        progress(f"measuring {name}", number, len(made))
        outcomes = sanitizer.sanitize(originals)
        documents = [each for each in outcomes if isinstance(each, SanitizedDocument)]
        texts[name] = compared(originals, documents, clusters, known, encoder, seed)
        if not table_only:
            measured[name] = _measured(cases, documents, texts[name], encoder, seed)
    base = texts[SUPPRESSION].named
    table = None
    if system is not None:
        try:
            held_out = benchmark_cases(path, everything, reported, most)
        except LetheError as error:
            absent[TABLE] = str(error)
        else:
            table = benchmark(held_out, path, system(), guesser, limit, known, seed, progress)
    return IntactReport(
        provenance=provenance_here({"encoder": encoder.name}, commit),
        command="",
        seed=seed,
        limit=limit,
        cases=len(cases),
        individuals=len(known),
        engines={"guesser": guesser.name, "TRIR": ENGINE, "similarity": encoder.name},
        methods=tuple(_figures(name, each, base, seed) for name, each in measured.items()),
        order=order_facts(texts, seed),
        benchmark=table,
        validation=validation,
        absent=absent,
    )


def _measured(
    cases: Sequence[ReplacedCase],
    documents: Sequence[SanitizedDocument],
    texts: Compared,
    encoder: Encoder,
    seed: int,
) -> _Measured:
    originals = [case.document for case in cases]
    replaced = replaced_in(cases, documents)
    likeness = similarities_of({(each.said, each.words) for each in replaced}, encoder)
    similar = [likeness[each.said, each.words] for each in replaced]
    guesses = guess_slots(originals, documents, encoder, pool=EVERYTHING, seed=seed)
    verdicts = all_judged([Pair(each.said, each.words, each.kind) for each in replaced])
    return _Measured(len(cases) - len(documents), replaced, guesses, verdicts, similar, texts)


def replaced_in(cases: Sequence[ReplacedCase], documents: Sequence[SanitizedDocument]) -> list[Replaced]:
    """The replacements of each document, in order."""
    texts = {case.document.doc_id: case.document.text for case in cases}
    types = {
        case.document.doc_id: {mark.start: mark.type for mark in reversed(case.marked.marks)}
        for case in cases
    }
    kinds = {label: kind for kind, label in LABEL_OF.items()}
    found = []
    for document in documents:
        for decision, (start, end) in zip(document.decisions, document.places, strict=True):
            span, label = decision.entity.span, decision.entity.label
            said = texts[document.doc_id][span.start : span.end]
            kind = types[document.doc_id].get(span.start, kinds.get(label, "MISC"))
            rungs = [fold(rung.words) for rung in rungs_of(said, label)]
            telling = [rung for rung in rungs if not names_only_a_kind(rung, label)]
            words = document.text[start:end]
            found.append(Replaced(document.doc_id, kind, label, said, words, telling))
    return found


def _figures(name: str, measured: _Measured, base: Reidentified | None, seed: int) -> MethodFigures:
    kept, named = measured.compared.kept, measured.compared.named
    return MethodFigures(
        method=name,
        failed=measured.failed,
        tps=kept.tps,
        tpi=kept.tpi,
        similarity=kept.similarity,
        nmi=cluster_figures(measured.compared.clusters),
        trir=named.estimate if named else None,
        trir_minus_suppression=reidentified_difference(named, base, seed) if named and base else None,
        kinds=_by_kind(measured, seed),
    )


def _by_kind(measured: _Measured, seed: int) -> dict[str, KindFigures]:
    kinds = sorted({each.kind for each in measured.replaced})
    groups = {ALL: frozenset(kinds) - NO_LADDER, **{kind: frozenset((kind,)) for kind in kinds}}
    return {name: _of_kinds(measured, group, seed) for name, group in groups.items()}


def _of_kinds(measured: _Measured, kinds: frozenset[str], seed: int) -> KindFigures:
    rows = [
        (each, guess, verdict)
        for each, guess, verdict in zip(measured.replaced, measured.guesses, measured.verdicts, strict=True)
        if each.kind in kinds
    ]
    similar = defaultdict[str, list[float]](list)
    for each, value in zip(measured.replaced, measured.similar, strict=True):
        if each.kind in kinds and each.said != each.words:
            similar[each.doc_id].append(value)
    docs = [each.doc_id for each, _, _ in rows]
    # the rules of the check were chosen on judgements about the other cases
    checked = [(each.doc_id, verdict) for each, _, verdict in rows if half_of(each.doc_id) == "reported"]
    judged, verdicts = [doc for doc, _ in checked], [verdict for _, verdict in checked]
    shares = guess_shares([guess for _, guess, _ in rows], seed)
    rungs = Counter(each.rung for each, _, _ in rows if each.rung is not None and not each.is_fallback)
    return KindFigures(
        n=len(rows),
        rungs={number: rungs[number] for number in sorted(rungs)},
        fallback=_share(docs, [each.is_fallback for each, _, _ in rows], seed),
        truthful=_share(judged, [verdict.truthful for verdict in verdicts], seed),
        less_specific=_share(judged, [verdict.less_specific for verdict in verdicts], seed),
        both=_share(judged, [verdict.truthful and verdict.less_specific for verdict in verdicts], seed),
        guesses=GuessFigures(
            n=len(rows),
            first=shares.first,
            five=shares.first_five,
            prior_five=shares.prior_first_five,
            chance_five=shares.chance_first_five,
        ),
        similarity=ratio_of(list(map(sum, similar.values())), list(map(len, similar.values())), seed),
    )


def _share(docs: Sequence[str], hits: Sequence[bool], seed: int) -> Estimate:
    totals = Counter(docs)
    counted = Counter(doc for doc, hit in zip(docs, hits, strict=True) if hit)
    return clustered_share([counted[doc] for doc in totals], list(totals.values()), seed)
