"""Attacks on a corpus: unsanitized, fully redacted, and as Lethe keeps it, side by side.

The unsanitized and the redacted arm live in memory only and end with the process.
"""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.compose import Services
from app.settings_report import settings_digest
from eval.attacks.suite import ExtractionSuite
from eval.extraction_audit import run_extraction
from eval.measures.leakage import SensitiveIndex
from eval.protocols import Target
from eval.report import ExtractionReport, provenance_here
from eval.sensitive import sensitive_from_entities, sensitive_from_gold
from eval.targets import RagTarget
from ingest.documents import Document, Entity, SanitizedDocument
from ingest.errors import UnreadableDocument
from ingest.keys import content_key
from ingest.policy import Policy
from ingest.protocols import Arrival
from ingest.read.paths import os_problem, shown
from ingest.read.records import read_records
from ingest.read.sources import Reading
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import LetheError
from retrieval.collection import Writer, add_vectors
from retrieval.faiss_index import FaissIndex
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Generator
from retrieval.retriever import DenseRetriever
from retrieval.store import Store

_BATCH = 64

GoldRows = Mapping[str, Sequence[Mapping[str, object]]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Original documents in memory, under their public ids, and what was found in them."""

    documents: Sequence[Document]
    entities: Mapping[str, Sequence[Entity]]
    gold: GoldRows | None = field(repr=False, default=None)

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The shape of a detector, so that every arm decides about the same entities."""
        return [list(self.entities[document.doc_id]) for document in documents]

    @property
    def name(self) -> str:
        """The shape of a detector."""
        return "found before"


def read_corpus(services: Services, readings: Iterable[Reading], gold: GoldRows | None) -> Corpus:
    """Documents that can be read, each text once; raises LetheError if there is none."""
    by_content: dict[str, Document] = {}
    for reading in readings:
        if isinstance(reading.item, Document):
            by_content.setdefault(reading.item.text, reading.item)
    documents = list(by_content.values())
    if not documents:
        raise LetheError("There is no document to attack: none of the paths could be read.")
    public = services.public_ids([document.doc_id for document in documents])
    marks = None
    if gold is not None:
        marks = {new: gold.get(old.doc_id, ()) for new, old in zip(public, documents, strict=True)}
    documents = [replace(old, doc_id=new) for new, old in zip(public, documents, strict=True)]
    entities: dict[str, Sequence[Entity]] = {}
    for first in range(0, len(documents), _BATCH):
        batch = documents[first : first + _BATCH]
        for document, found in zip(batch, services.detector.detect(batch), strict=True):
            entities[document.doc_id] = found
    return Corpus(documents, entities, marks)


def gold_rows(paths: Sequence[str], field_name: str, text_field: str, id_field: str) -> GoldRows:
    """The marked entities of each record, by the record's id.

    Raises:
        UnreadableDocument: A file cannot be read, or a record has no list under that name.
    """
    rows: dict[str, Sequence[Mapping[str, object]]] = {}
    for path in paths:
        try:
            for number, record in read_records(path, text_field):
                marked = record.get(field_name, ())
                if not isinstance(marked, list | tuple):
                    raise UnreadableDocument(
                        f"{path} line {number}", f"{field_name} is not a list of entities"
                    )
                rows[str(record.get(id_field))] = marked
        except OSError as error:
            raise UnreadableDocument(shown(path), os_problem(error)) from None
    return rows


def sensitive_in(corpus: Corpus) -> SensitiveIndex:
    """What must not come out: what people marked, else what was detected in the originals."""
    found = []
    for document in corpus.documents:
        if corpus.gold is not None:
            found += sensitive_from_gold(document, corpus.gold.get(document.doc_id, ()))
        else:
            found += sensitive_from_entities(document, corpus.entities[document.doc_id])
    return SensitiveIndex(found)


def extraction(
    services: Services,
    corpus: Corpus,
    attack: ExtractionSuite,
    *,
    collection: str | None = None,
    worst_case: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> ExtractionReport:
    """Attack the arms origin, redact and lethe.

    With a ``collection`` the arm lethe is what that collection keeps, else the corpus sanitized by the
    policy of the settings in memory. ``worst_case`` takes the generator that repeats everything.
    """
    generator = VerbatimGenerator() if worst_case else services.generator
    with ExitStack() as stack:
        targets: dict[str, Target] = {}
        decisions: dict[str, Mapping[str, int]] = {}
        for arm, policy in (("origin", Policy("origin")), ("redact", Policy("redact"))):
            targets[arm], decisions[arm] = _in_memory(services, corpus, policy, generator, stack)
        if collection is None:
            targets["lethe"], decisions["lethe"] = _in_memory(
                services, corpus, services.policy, generator, stack
            )
        else:
            kept = stack.enter_context(services.open(collection))
            targets["lethe"] = RagTarget(services.retriever(kept), generator, services.settings.retrieval.k)
            decisions["lethe"] = kept.store.entities_by_action()
        return run_extraction(
            targets,
            attack,
            sensitive_in(corpus),
            reference=_reference(services, corpus),
            provenance=provenance_here(_settings_shown(services, collection), _commit()),
            decisions=decisions,
            progress=progress,
        )


def _in_memory(
    services: Services, corpus: Corpus, policy: Policy, generator: Generator, stack: ExitStack
) -> tuple[Target, Mapping[str, int]]:
    method = services.method(policy, EMBEDDED_SCALE)
    sanitizer = DecidingSanitizer(corpus, method, services.risk)
    store = Store(None)
    stack.callback(store.close)
    writer = Writer(store, services.encoder, services.settings.retrieval.passage_tokens)
    actions: Counter[str] = Counter()
    for first in range(0, len(corpus.documents), _BATCH):
        batch = corpus.documents[first : first + _BATCH]
        kept: list[tuple[Arrival, SanitizedDocument]] = []
        for document, outcome in zip(batch, sanitizer.sanitize(batch), strict=True):
            if isinstance(outcome, SanitizedDocument):
                kept.append((Arrival(document.doc_id, content_key(document.text, b"")), outcome))
                actions.update(str(decision.action) for decision in outcome.decisions)
        writer.keep(kept)
    index = FaissIndex(services.encoder.dim)
    add_vectors(store, index, after=0)
    retriever = DenseRetriever(services.encoder, index, store)
    return RagTarget(retriever, generator, services.settings.retrieval.k), actions


def _reference(services: Services, corpus: Corpus) -> str:
    return f"detected by {services.detector.name}" if corpus.gold is None else "gold annotations"


def _settings_shown(services: Services, collection: str | None) -> dict[str, str]:
    policy = services.policy
    shown = {
        "policy": policy.name,
        "tau": str(policy.tau),
        "residual limit": str(policy.residual_limit),
        "k": str(services.settings.retrieval.k),
        "detector": services.detector.name,
        "risk model": services.risk.name,
        "scoring engine": services.settings.policy.engine,
        "encoder": services.encoder.name,
        "settings digest": settings_digest(services.settings),
    }
    return shown | ({"collection": collection} if collection else {})


def _commit() -> str | None:
    """The commit of the checkout that runs, if it is one."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        here = Path(__file__).parent
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
