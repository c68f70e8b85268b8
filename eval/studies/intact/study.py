"""INTACT's comparison: every method on the same annotated spans, and each measure once."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eval.attacks.guessing import Guess, guess_shares, guess_slots
from eval.corpora import seen
from eval.corpora.layouts import files_in
from eval.corpora.marked import (
    ReplacedCase,
    backgrounds,
    halves,
    presidio_marks,
    replaced_cases,
    with_seen,
)
from eval.corpora.seen import Exposure, exposures
from eval.corpora.whole_documents import TAB
from eval.documents import MarkedDocument
from eval.measures.preserved import (
    ENGINE,
    WEIGHTS,
    Masked,
    masked_parts,
    masked_shares,
    similarities_of,
    word_information,
)
from eval.measures.uncertainty import Estimate, clustered_share, ratio_of
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.provenance import commit_here, provenance_here
from eval.studies.intact.order import (
    ENTITY_TYPE,
    INTACT,
    SUPPRESSION,
    TRIR_ENGINE,
    Compared,
    Reidentified,
    clusterings,
    compared,
    order_facts,
    reidentified_difference,
    sanitizers,
)
from eval.studies.intact.report import (
    BenchmarkFigures,
    BenchmarkRow,
    ClusterFigures,
    GuessFigures,
    IntactReport,
    Judgement,
    KindFigures,
    MethodFigures,
    half_of,
    judged,
    read_judgements,
    validated,
)
from eval.studies.marks.methods import LABEL_OF, ORIGIN, GoldDetector
from eval.tasks.marks import replaced_spans
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.uniform import ORIGIN as KEEP_ALL
from ingest.deciding.policy import PolicyName
from ingest.documents import Document, SanitizedDocument
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder, Method, Sanitizer
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from ingest.wording.guessed import Guesser
from ingest.wording.mentions import names_only_a_kind
from ingest.wording.words import rungs_of
from models.errors import LetheError
from models.remembering import remembering
from retrieval.system import System

NOWHERE, GOLD, PRESIDIO, DETECTED = "none", "gold", "stock Presidio", "own detection"
"""Where a method takes its spans from."""
OWN: Sequence[PolicyName] = ("redact", "trip", "intact", "lethe")
"""The policies that run on raw text."""
HELD_OUT = (Exposure.UNSEEN, Exposure.LOOKED_AT)


@dataclass(frozen=True, slots=True)
class Cases:
    """The two sets of cases: texts to compare, and documents with the marks of each annotator."""

    compared: Sequence[ReplacedCase] = field(repr=False)
    marked: Sequence[Sequence[MarkedDocument]] = field(repr=False)
    everything: Sequence[ReplacedCase] = field(repr=False)
    """The whole corpus: cases to run on, and how common words are."""

    @property
    def documents(self) -> list[Document]:
        """Each document of the two sets once, as the benchmark has it."""
        texts = {case.document.text for case in self.compared} | {
            each[0].document.text for each in self.marked
        }
        return [case.document for case in self.everything if case.document.text in texts]


def benchmark_cases(
    path: Path, everything: Sequence[ReplacedCase], reported: Sequence[ReplacedCase], most: int | None = None
) -> Cases:
    """The cases that no part of Lethe learned from; the folder above the corpus tells which.

    Raises:
        LetheError: It does not tell, or none is left.
    """
    data = files_in(path, TAB)[0].resolve().parent.parent
    known = exposures(data, seen.TAB, [case.document.doc_id for case in reported])
    compared = [case for case in reported if known[case.document.doc_id] in HELD_OUT][:most]
    if not compared:
        raise LetheError(
            "none of these cases is known to be held out: the folder that holds the corpus needs that of "
            "SPIA too"
        )
    texts = {case.document.text for case in everything}
    rows = zip(*with_seen(data, seen.CASES).only(HELD_OUT).by_annotator.values(), strict=True)
    return Cases(compared, [row for row in rows if row[0].document.text in texts][:most], everything)


Key = tuple[str, str]
"""A method, and where it takes its spans from."""


def benchmark(
    cases: Cases,
    path: Path,
    system: System,
    guesser: Guesser,
    limit: float,
    known: Mapping[str, str],
    seed: int = 0,
    progress: Progress = no_progress,
) -> BenchmarkFigures:
    """Every method on both sets of cases; ``known`` are the backgrounds of the re-identification attack.

    Two sets of cases, and nothing was learned from either. Texts are compared on the cases to report of
    ``halves``; what was masked on all cases that SPIA's annotator marked as identifying or not. Methods on
    gold spans replace every mention that the benchmark's annotators marked, harmless ones too; the others get
    the raw text alone.
    """
    made = _sanitizers(cases, path, system, guesser, limit, progress)
    documents, originals = cases.documents, [case.document for case in cases.compared]
    clusters = clusterings([each.text for each in originals], system.encoder, seed)
    texts = [case.document.text for case in cases.everything]
    information = dict(zip(texts, word_information(texts), strict=True))
    measured: dict[Key, tuple[int, Masked, Compared]] = {}
    for number, (key, sanitizer) in enumerate(made.items()):
        progress(f"measuring {', '.join(key)}", number, len(made))
        outcomes = zip(documents, sanitizer.sanitize(documents), strict=True)
        done = {old.text: new for old, new in outcomes if isinstance(new, SanitizedDocument)}
        sanitized = [done[each.text] for each in originals if each.text in done]
        parts = []
        for annotated in cases.marked:
            text = annotated[0].document.text
            spans = replaced_spans(text, done[text]) if text in done else None
            if spans is not None:
                parts.append(masked_parts(annotated, spans, information[text]))
        measured[key] = (
            len({each.text for each in documents}) - len(done),
            masked_shares(parts, seed),
            compared(originals, sanitized, clusters, known, system.encoder, seed),
        )
    base = measured[SUPPRESSION, GOLD][2].named
    return BenchmarkFigures(
        compared=len(cases.compared),
        marked=len(cases.marked),
        individuals=len(known),
        engines={"recall and precision": ENGINE, "weights": WEIGHTS, "detector": system.detector.name},
        rows=tuple(_row(key, *each, base, seed) for key, each in measured.items()),
    )


def _sanitizers(
    cases: Cases, path: Path, system: System, guesser: Guesser, limit: float, progress: Progress
) -> dict[Key, Sanitizer]:
    """In the order of the table."""

    def on(marks: Sequence[MarkedDocument], method: Method) -> DecidingSanitizer:
        return DecidingSanitizer(GoldDetector(marks), method, RiskPrior(), language="any")

    held = {document.text for document in cases.documents}
    on_gold, _ = sanitizers([case for case in cases.everything if case.document.text in held], guesser, limit)
    found: dict[Key, Sanitizer] = {(ORIGIN, NOWHERE): on([], KEEP_ALL)}
    found |= {(name, GOLD): sanitizer for name, sanitizer in on_gold.items()}
    marks = presidio_marks(path, [case.document for case in cases.everything])
    if held <= {each.document.text for each in marks}:
        found[ENTITY_TYPE, PRESIDIO] = on(marks, EntityType())
    # What does not depend on the policy is done once.
    shared = replace(
        system,
        detector=detected(system, cases.documents, progress),
        risk=remembering(system.risk, "hazards", key=AnnotatedText.digest),
        scale=system.scale or EMBEDDED_SCALE,
    )
    rules = {"intact": INTACT} if system.language_model is None else {}
    for name in OWN:
        own = replace(shared, policy=replace(system.policy, name=name))
        found[rules.get(name, name), DETECTED] = own.sanitizer()
    return found


def _row(
    key: Key, failed: int, masked: Masked, found: Compared, base: Reidentified | None, seed: int
) -> BenchmarkRow:
    method, spans = key
    return BenchmarkRow(method=method, spans=spans, failed=failed, masked=masked, **_texts(found, base, seed))


def _texts(found: Compared, base: Reidentified | None, seed: int) -> dict[str, Any]:
    """The figures of whole texts, those of each engine that could cluster by its name."""
    named = found.named
    return {
        "tps": found.kept.tps,
        "tpi": found.kept.tpi,
        "nmi": {
            each.engine: ClusterFigures(n=each.n, kept=each.kept, ceiling=each.ceiling, chance=each.chance)
            for each in found.clusters
            if each is not None
        },
        "trir": named.estimate if named else None,
        "trir_minus_suppression": reidentified_difference(named, base, seed) if named and base else None,
    }


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
        of_class = re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)* [A-Z]{1,2}", self.words)  # Bank A
        return names_only_a_kind(self.words, self.label) and not of_class

    @property
    def rung(self) -> int | None:
        """The number of its rung, from 1; None if its words are none."""
        said = fold(self.words)
        return next((number for number, rung in enumerate(self.rungs, 1) if rung in said), None)


def measure_intact(
    path: Path,
    encoder: Encoder,
    guesser: Guesser,
    limit: float,
    seed: int = 0,
    progress: Progress = no_progress,
    most: int | None = None,
    judgements: Path | None = None,
    system: Callable[[], System] | None = None,
    table_only: bool = False,
) -> IntactReport:
    """Measure all methods on the reported half of the cases; ``most`` takes the first few.

    ``encoder`` reads the same sentences for each method: give one that caches. ``judgements`` is a file of
    people's judgements, to hold the check of truth against. ``system`` makes the one whose policies run on
    raw text in the benchmark's table, if there are cases for that; without it there is no such table.
    ``table_only`` leaves out what looks at single replacements: truth, kinds and guesses, most of the time.

    Raises:
        LetheError: The corpus or the judgements are missing or broken.
    """
    commit = commit_here()
    validation = validated(read_judgements(judgements)) if judgements else None
    everything = replaced_cases(path)
    reported = halves(everything)[1]
    cases = reported[:most]
    known = backgrounds(path)
    if known and any(case.document.doc_id not in known for case in cases):
        raise LetheError("A case has no background beside the corpus: take both as they were published.")
    made, absent = sanitizers(cases, guesser, limit)
    originals = [case.document for case in cases]
    clusters = clusterings([each.text for each in originals], encoder, seed)
    failed: dict[str, int] = {}
    spans, texts = dict[str, list[_Span]](), dict[str, Compared]()
    for number, (name, sanitizer) in enumerate(made.items()):
        progress(f"measuring {name}", number, len(made))
        outcomes = sanitizer.sanitize(originals)
        documents = [each for each in outcomes if isinstance(each, SanitizedDocument)]
        texts[name] = compared(originals, documents, clusters, known, encoder, seed)
        failed[name] = len(cases) - len(documents)
        if not table_only:
            spans[name] = _measured_spans(cases, documents, encoder, seed)
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
        engines={"guesser": guesser.name, "TRIR": TRIR_ENGINE, "similarity": encoder.name},
        methods=tuple(
            MethodFigures(
                method=name,
                failed=failed[name],
                similarity=texts[name].kept.similarity,
                kinds=_by_kind(each, seed),
                **_texts(texts[name], base, seed),
            )
            for name, each in spans.items()
        ),
        order=order_facts(texts, seed),
        benchmark=table,
        validation=validation,
        absent=absent,
    )


_Span = tuple[Replaced, Guess, Judgement, float]
"""A replacement, what is guessed and judged of it, and how similar it is."""


def _measured_spans(
    cases: Sequence[ReplacedCase], documents: Sequence[SanitizedDocument], encoder: Encoder, seed: int
) -> list[_Span]:
    originals = [case.document for case in cases]
    replaced = replaced_in(cases, documents)
    likeness = similarities_of({(each.said, each.words) for each in replaced}, encoder)
    similar = [likeness[each.said, each.words] for each in replaced]
    guesses = guess_slots(originals, documents, encoder, pool=EVERYTHING, seed=seed)
    verdicts = [judged(each.said, each.words, each.kind) for each in replaced]
    return list(zip(replaced, guesses, verdicts, similar, strict=True))


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


def _by_kind(measured: Sequence[_Span], seed: int) -> dict[str, KindFigures]:
    kinds = sorted({each.kind for each, *_ in measured})
    groups = {ALL: frozenset(kinds) - NO_LADDER, **{kind: frozenset((kind,)) for kind in kinds}}
    return {
        name: _of_kind([each for each in measured if each[0].kind in group], seed)
        for name, group in groups.items()
    }


def _of_kind(rows: Sequence[_Span], seed: int) -> KindFigures:
    similar = defaultdict[str, list[float]](list)
    for each, _, _, value in rows:
        if each.said != each.words:
            similar[each.doc_id].append(value)

    def share(hits: Sequence[tuple[str, bool]]) -> Estimate:
        totals, counted = Counter(doc for doc, _ in hits), Counter(doc for doc, hit in hits if hit)
        return clustered_share([counted[doc] for doc in totals], list(totals.values()), seed)

    # the rules of the check were chosen on judgements about the other cases
    checked = [(each.doc_id, said) for each, _, said, _ in rows if half_of(each.doc_id) == "reported"]
    shares = guess_shares([guess for _, guess, _, _ in rows], seed)
    rungs = Counter(each.rung for each, *_ in rows if each.rung is not None and not each.is_fallback)
    return KindFigures(
        n=len(rows),
        rungs={number: rungs[number] for number in sorted(rungs)},
        fallback=share([(each.doc_id, each.is_fallback) for each, *_ in rows]),
        truthful=share([(doc, said.truthful) for doc, said in checked]),
        less_specific=share([(doc, said.less_specific) for doc, said in checked]),
        both=share([(doc, said.truthful and said.less_specific) for doc, said in checked]),
        guesses=GuessFigures(
            n=len(rows),
            first=shares.first,
            five=shares.first_five,
            prior_five=shares.prior_first_five,
            chance_five=shares.chance_first_five,
        ),
        similarity=ratio_of(list(map(sum, similar.values())), list(map(len, similar.values())), seed),
    )
