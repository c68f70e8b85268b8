"""The Text Anonymization Benchmark in one table: methods on gold spans, and on what was detected.

Two sets of cases, and nothing was learned from either. Texts are compared on the cases to report of
``eval.corpora.marked.halves``; what was masked on all cases that SPIA's annotator marked as identifying
or not. Methods on gold spans replace every mention that the benchmark's annotators marked, harmless ones
too; the others get the raw text alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.corpora import seen
from eval.corpora.layouts import files_in
from eval.corpora.marked import MarkedCorpus, ReplacedCase, presidio_marks, with_seen
from eval.corpora.seen import Exposure, exposures
from eval.corpora.whole_documents import TAB
from eval.documents import MarkedDocument
from eval.measures.clustered import ClustersKept, Spread
from eval.measures.preserved import (
    ENGINE,
    WEIGHTS,
    Masked,
    Part,
    masked_parts,
    masked_shares,
    word_information,
)
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.studies.intact.order import (
    ENTITY_TYPE,
    INTACT,
    SUPPRESSION,
    Clusterings,
    Compared,
    Reidentified,
    clusterings,
    compared,
    reidentified_difference,
    sanitizers,
)
from eval.studies.intact.report import BenchmarkFigures, BenchmarkRow, ClusterFigures, MaskedFigures
from eval.studies.marks.methods import ORIGIN, GoldDetector
from eval.tasks.marks import replaced_spans
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.uniform import ORIGIN as KEEP_ALL
from ingest.deciding.policy import PolicyName
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Encoder, Method, Sanitizer
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from ingest.wording.guessed import Guesser
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
    """Every method on both sets of cases; ``known`` are the backgrounds of the re-identification attack."""
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
        masked=MaskedFigures.model_validate(measured.masked, from_attributes=True),
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
