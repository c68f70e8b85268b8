"""Attacks on a corpus: unsanitized, fully redacted, and as Lethe keeps it, side by side.

The unsanitized and the redacted arm live in memory only and end with the process.
"""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from app.compose import Services
from app.settings_report import settings_digest
from eval.attacks.suite import ExtractionSuite
from eval.extraction_audit import run_extraction
from eval.gold import GoldRows
from eval.measures.leakage import SensitiveIndex
from eval.report import ExtractionReport, provenance_here
from eval.sensitive import sensitive_from_entities, sensitive_from_gold
from eval.targets import RagTarget, RememberedQuestions
from ingest.documents import Document, Entity, SanitizedDocument
from ingest.keys import content_key
from ingest.policy import Policy
from ingest.protocols import Arrival
from ingest.read.sources import Reading
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import LetheError
from retrieval.collection import Collection, Writer, add_vectors
from retrieval.errors import CollectionError
from retrieval.faiss_index import FaissIndex
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Retriever
from retrieval.retriever import DenseRetriever
from retrieval.store import Store

_BATCH = 64


class Phases(Protocol):
    """Told what is under way, how much of it is done and how much there is; None where nobody knows."""

    def __call__(self, phase: str, done: int, total: int | None) -> None: ...


def _untold(phase: str, done: int, total: int | None) -> None:
    """Nobody asked."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Original documents in memory, under their public ids, and what was found in them.

    ``unread`` counts what could not be read, and documents with the id of an earlier one: they are in no arm.
    """

    documents: Sequence[Document]
    entities: Mapping[str, Sequence[Entity]]
    gold: GoldRows | None = field(repr=False, default=None)
    unread: int = 0

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The shape of a detector, so that every arm decides about the same entities."""
        return [list(self.entities[document.doc_id]) for document in documents]

    @property
    def name(self) -> str:
        """The shape of a detector."""
        return "found before"


def read_corpus(
    services: Services,
    readings: Iterable[Reading],
    gold: GoldRows | None,
    *,
    keep_ids: bool | None = None,
    phases: Phases = _untold,
) -> Corpus:
    """Documents that can be read, each text once and each id once, the first of them as in a collection.

    ``keep_ids`` is what the attacked collection does with ids, None for what the settings say.

    Raises:
        LetheError: There is no document, or one without its line of marked entities.
    """
    read, unread = _distinct(readings, phases)
    if not read:
        raise LetheError("There is no document to attack: none of the paths could be read.")
    public = services.public_ids([document.doc_id for document in read], keep_ids)
    marks = None if gold is None else _marks(public, read, gold)
    documents = [replace(old, doc_id=new) for new, old in zip(public, read, strict=True)]
    entities: dict[str, Sequence[Entity]] = {}
    for first in range(0, len(documents), _BATCH):
        phases("detecting", first, len(documents))
        batch = documents[first : first + _BATCH]
        for document, found in zip(batch, services.detector.detect(batch), strict=True):
            entities[document.doc_id] = found
    phases("detecting", len(documents), len(documents))
    return Corpus(documents, entities, marks, unread)


def _distinct(readings: Iterable[Reading], phases: Phases) -> tuple[list[Document], int]:
    """Documents with a text and an id of their own, and how many others there are that are no repetition."""
    texts: set[str] = set()
    by_id: dict[str, Document] = {}
    unread = 0
    for reading in readings:
        document = reading.item
        if not isinstance(document, Document):
            unread += 1
        elif document.text not in texts:
            unread += document.doc_id in by_id
            texts.add(document.text)
            by_id.setdefault(document.doc_id, document)
        phases("reading", len(by_id), None)
    return list(by_id.values()), unread


def _marks(public: Sequence[str], read: Sequence[Document], gold: GoldRows) -> GoldRows:
    missing = [new for new, old in zip(public, read, strict=True) if old.doc_id not in gold]
    if missing:
        raise LetheError(
            f"{len(missing)} of {len(read)} documents have no marked entities, the first is {missing[0]}. "
            "Name only files of records with the marks in them."
        )
    return {new: gold[old.doc_id] for new, old in zip(public, read, strict=True)}


def sensitive_in(corpus: Corpus) -> SensitiveIndex:
    """What must not come out: what people marked, else what was detected; raises LetheError if nothing."""
    found = []
    for document in corpus.documents:
        if corpus.gold is not None:
            found += sensitive_from_gold(document, corpus.gold[document.doc_id])
        else:
            found += sensitive_from_entities(document, corpus.entities[document.doc_id])
    index = SensitiveIndex(found)
    if not len(index):
        raise LetheError(
            f"There is nothing sensitive to look for in {len(corpus.documents)} documents: {len(found)} "
            "entities, all too short or mere stop words. Attack documents that hold something to protect, or "
            "mark it and name the marks with --gold-field."
        )
    return index


def extraction(
    services: Services,
    corpus: Corpus,
    attack: ExtractionSuite,
    *,
    collection: str | None = None,
    worst_case: bool = True,
    phases: Phases = _untold,
) -> ExtractionReport:
    """Attack the arms origin, redact and lethe.

    With a ``collection`` the arm lethe is what that collection keeps, else the corpus sanitized by the
    policy of the settings in memory. ``worst_case`` takes the generator that repeats everything.

    Raises:
        CollectionError: There is no such collection, or it does not hold the documents of the corpus.
        LetheError: The corpus holds nothing sensitive.
    """
    sensitive = sensitive_in(corpus)
    with ExitStack() as stack:
        asking = _asking(services, attack, phases)
        arms: dict[str, _Arm] = {}
        if collection is not None:
            kept = stack.enter_context(services.open(collection))
            check_same_documents(kept, corpus)
            n, actions = kept.store.count_documents(), kept.store.entities_by_action()
            arms["lethe"] = _Arm(asking.retriever(kept), actions, n, 0)
        policies = {"origin": Policy("origin"), "redact": Policy("redact"), "lethe": services.policy}
        for name, policy in policies.items():
            if name not in arms:
                told = partial(phases, f"sanitizing {name}")
                arms[name] = _in_memory(asking, corpus, policy, stack, told)
        generator = VerbatimGenerator() if worst_case else services.generator
        k = services.settings.retrieval.k
        return run_extraction(
            {name: RagTarget(arms[name].retriever, generator, k) for name in policies},
            attack,
            sensitive,
            reference=_reference(services, corpus),
            provenance=provenance_here(_settings_shown(services, collection), _commit()),
            decisions={name: arms[name].decisions for name in policies},
            documents={name: (arms[name].kept, arms[name].failed) for name in policies},
            unread=corpus.unread,
            progress=partial(phases, "attacking"),
        )


def _asking(services: Services, attack: ExtractionSuite, phases: Phases) -> Services:
    """The same system, whose encoder knows the prompts already: every arm is asked the same ones."""
    asking = copy(services)
    questions = [prompt.text for part in attack.parts for prompt in part.prompts()]
    asking.encoder = RememberedQuestions(services.encoder, questions, partial(phases, "encoding prompts"))
    return asking


def check_same_documents(collection: Collection, corpus: Corpus) -> None:
    """Refuse a collection of other documents: nothing is known of what its answers may hold.

    Raises:
        CollectionError: The collection lacks documents of the corpus, or holds others.
    """
    store, given = collection.store, {document.doc_id for document in corpus.documents}
    # Documents of which nothing is left have no passage: they are counted, and cannot be retrieved.
    retrievable = {p.doc_id for ids, _ in store.vectors(0) for p in store.passages(ids).values()}
    others, there = len(retrievable - given), store.count_documents()
    if others or there != len(given):
        raise CollectionError(
            f"{collection.folder}: it keeps {there} documents and {len(given)} different ones are given, "
            f"{len(retrievable & given)} are the same. Attack the same files that were ingested, with "
            "the same --id-field, or leave -c away."
        )


@dataclass(frozen=True, slots=True)
class _Arm:
    """What is attacked, what was done with its entities, and how many documents it has and has not."""

    retriever: Retriever
    decisions: Mapping[str, int] = field(repr=False)
    kept: int
    failed: int


def _in_memory(
    services: Services,
    corpus: Corpus,
    policy: Policy,
    stack: ExitStack,
    progress: Callable[[int, int], None],
) -> _Arm:
    method = services.method(policy, EMBEDDED_SCALE)
    sanitizer = DecidingSanitizer(corpus, method, services.risk, services.alias_key(policy))
    store = Store(None)
    stack.callback(store.close)
    writer = Writer(store, services.encoder, services.settings.retrieval.passage_tokens)
    actions: Counter[str] = Counter()
    failed = 0
    for first in range(0, len(corpus.documents), _BATCH):
        progress(first, len(corpus.documents))
        batch = corpus.documents[first : first + _BATCH]
        kept: list[tuple[Arrival, SanitizedDocument]] = []
        for document, outcome in zip(batch, sanitizer.sanitize(batch), strict=True):
            if isinstance(outcome, SanitizedDocument):
                kept.append((Arrival(document.doc_id, content_key(document.text, b"")), outcome))
                actions.update(str(decision.action) for decision in outcome.decisions)
        failed += len(batch) - len(kept)
        writer.keep(kept)
    progress(len(corpus.documents), len(corpus.documents))
    index = FaissIndex(services.encoder.dim)
    add_vectors(store, index, after=0)
    retriever = DenseRetriever(services.encoder, index, store)
    return _Arm(retriever, actions, len(corpus.documents) - failed, failed)


def _reference(services: Services, corpus: Corpus) -> str:
    return f"detected by {services.detector.name}" if corpus.gold is None else "gold annotations"


def _settings_shown(services: Services, collection: str | None) -> dict[str, str]:
    policy = services.policy
    shown = {
        "policy": policy.name,
        "tau": str(policy.tau),
        "residual limit": str(policy.residual_limit),
        "replacements": policy.replacements,
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
