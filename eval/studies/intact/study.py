"""INTACT's comparison: every method on the same annotated spans, and each measure once."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.attacks.guessing import Guess, guess_shares, guess_slots
from eval.corpora import seen
from eval.corpora.layouts import files_in
from eval.corpora.marked import (
    MarkedCorpus,
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
    ClustersKept,
    Masked,
    Part,
    Spread,
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
    Clusterings,
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
    Pair,
    all_judged,
    half_of,
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
from ingest.errors import SanitizationError
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
    return Cases(compared, _by_document(with_seen(data, seen.CASES).only(HELD_OUT), texts)[:most], everything)


def _by_document(corpus: MarkedCorpus, texts: Iterable[str]) -> list[tuple[MarkedDocument, ...]]:
    wanted = set(texts)
    rows = zip(*corpus.by_annotator.values(), strict=True)
    return [row for row in rows if row[0].document.text in wanted]


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
    documents, bench = cases.documents, _Bench(cases, system.encoder, known, seed)
    measured: dict[Key, _Measured] = {}
    for number, (key, sanitizer) in enumerate(made.items()):
        progress(f"measuring {', '.join(key)}", number, len(made))
        outcomes = sanitizer.sanitize(documents)
        measured[key] = bench.measured(dict(zip((each.text for each in documents), outcomes, strict=True)))
    base = measured[SUPPRESSION, GOLD].compared.named
    return BenchmarkFigures(
        compared=len(cases.compared),
        marked=len(cases.marked),
        individuals=len(known),
        engines={"recall and precision": ENGINE, "weights": WEIGHTS, "detector": system.detector.name},
        rows=tuple(_row(key, each, base, seed) for key, each in measured.items()),
    )


def _sanitizers(
    cases: Cases, path: Path, system: System, guesser: Guesser, limit: float, progress: Progress
) -> dict[Key, Sanitizer]:
    """In the order of the table."""
    held = {document.text for document in cases.documents}
    on_gold, _ = sanitizers([case for case in cases.everything if case.document.text in held], guesser, limit)
    found: dict[Key, Sanitizer] = {(ORIGIN, NOWHERE): _on([], KEEP_ALL)}
    found |= {(name, GOLD): sanitizer for name, sanitizer in on_gold.items()}
    marks = presidio_marks(path, [case.document for case in cases.everything])
    if held <= {each.document.text for each in marks}:
        found[ENTITY_TYPE, PRESIDIO] = _on(marks, EntityType())
    own = own_sanitizers(system, cases.documents, progress)
    return found | {(name, DETECTED): sanitizer for name, sanitizer in own.items()}


def _on(marks: Sequence[MarkedDocument], method: Method) -> DecidingSanitizer:
    return DecidingSanitizer(GoldDetector(marks), method, RiskPrior(), language="any")


def own_sanitizers(
    system: System, documents: Sequence[Document], progress: Progress = no_progress
) -> dict[str, Sanitizer]:
    """The policies of a system as they run on raw text; what does not depend on the policy is done once."""
    shared = replace(
        system,
        detector=detected(system, documents, progress),
        risk=remembering(system.risk, "hazards", key=AnnotatedText.digest),
        scale=system.scale or EMBEDDED_SCALE,
    )
    rules = {"intact": INTACT} if system.language_model is None else {}
    return {
        rules.get(name, name): replace(shared, policy=replace(system.policy, name=name)).sanitizer()
        for name in OWN
    }


Outcomes = Mapping[str, SanitizedDocument | SanitizationError]
"""What became of each document, by its text."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """A method's figures, and how many documents it could not sanitize."""

    failed: int
    masked: Masked
    compared: Compared


class _Bench:
    """What is the same for all methods, made once."""

    def __init__(self, cases: Cases, encoder: Encoder, known: Mapping[str, str], seed: int) -> None:
        self._cases, self._encoder, self._known, self._seed = cases, encoder, known, seed
        self._originals = [case.document for case in cases.compared]
        self._clusters: Clusterings = clusterings([each.text for each in self._originals], encoder, seed)
        texts = [case.document.text for case in cases.everything]
        self._information = dict(zip(texts, word_information(texts), strict=True))

    def measured(self, outcomes: Outcomes) -> _Measured:
        done = {text: each for text, each in outcomes.items() if isinstance(each, SanitizedDocument)}
        sanitized = [done[each.text] for each in self._originals if each.text in done]
        parts = [self._parts(annotated, done) for annotated in self._cases.marked]
        return _Measured(
            len(outcomes) - len(done),
            masked_shares([each for each in parts if each], self._seed),
            compared(self._originals, sanitized, self._clusters, self._known, self._encoder, self._seed),
        )

    def _parts(
        self, annotated: Sequence[MarkedDocument], done: Mapping[str, SanitizedDocument]
    ) -> dict[str, Part] | None:
        text = annotated[0].document.text
        spans = replaced_spans(text, done[text]) if text in done else None
        return None if spans is None else masked_parts(annotated, spans, self._information[text])


def _row(key: Key, measured: _Measured, base: Reidentified | None, seed: int) -> BenchmarkRow:
    found = measured.compared
    method, spans = key
    return BenchmarkRow(
        method=method,
        spans=spans,
        failed=measured.failed,
        masked=measured.masked,
        tps=found.kept.tps,
        tpi=found.kept.tpi,
        nmi=cluster_figures(found.clusters),
        trir=found.named.estimate if found.named else None,
        trir_minus_suppression=reidentified_difference(found.named, base, seed)
        if found.named and base
        else None,
    )


def cluster_figures(clusters: Iterable[ClustersKept | None]) -> dict[str, ClusterFigures]:
    """The figures of each engine that could cluster."""

    def of(spread: Spread) -> tuple[float, float]:
        return spread.mean, spread.deviation

    return {
        each.engine: ClusterFigures(
            n=each.n, kept=of(each.kept), ceiling=of(each.ceiling), chance=of(each.chance)
        )
        for each in clusters
        if each is not None
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
class _MeasuredMethod:
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
    measured, texts = dict[str, _MeasuredMethod](), dict[str, Compared]()
    for number, (name, sanitizer) in enumerate(made.items()):
        progress(f"measuring {name}", number, len(made))
        outcomes = sanitizer.sanitize(originals)
        documents = [each for each in outcomes if isinstance(each, SanitizedDocument)]
        texts[name] = compared(originals, documents, clusters, known, encoder, seed)
        if not table_only:
            measured[name] = _measured_method(cases, documents, texts[name], encoder, seed)
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
        methods=tuple(_figures(name, each, base, seed) for name, each in measured.items()),
        order=order_facts(texts, seed),
        benchmark=table,
        validation=validation,
        absent=absent,
    )


def _measured_method(
    cases: Sequence[ReplacedCase],
    documents: Sequence[SanitizedDocument],
    texts: Compared,
    encoder: Encoder,
    seed: int,
) -> _MeasuredMethod:
    originals = [case.document for case in cases]
    replaced = replaced_in(cases, documents)
    likeness = similarities_of({(each.said, each.words) for each in replaced}, encoder)
    similar = [likeness[each.said, each.words] for each in replaced]
    guesses = guess_slots(originals, documents, encoder, pool=EVERYTHING, seed=seed)
    verdicts = all_judged([Pair(each.said, each.words, each.kind) for each in replaced])
    return _MeasuredMethod(len(cases) - len(documents), replaced, guesses, verdicts, similar, texts)


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


def _figures(name: str, measured: _MeasuredMethod, base: Reidentified | None, seed: int) -> MethodFigures:
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


def _by_kind(measured: _MeasuredMethod, seed: int) -> dict[str, KindFigures]:
    kinds = sorted({each.kind for each in measured.replaced})
    groups = {ALL: frozenset(kinds) - NO_LADDER, **{kind: frozenset((kind,)) for kind in kinds}}
    return {name: _of_kinds(measured, group, seed) for name, group in groups.items()}


def _of_kinds(measured: _MeasuredMethod, kinds: frozenset[str], seed: int) -> KindFigures:
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
