"""Attacks on a corpus: unsanitized, fully redacted, and as Lethe keeps it, side by side.

The unsanitized and the redacted arm live in memory only and end with the process.
"""

from contextlib import ExitStack
from copy import copy
from functools import partial

from app.arms import Arm, in_memory
from app.compose import Services
from app.corpus import Corpus, Phases, sensitive_in, untold
from app.provenance import provenance_of, reference_of
from eval.attacks.suite import ExtractionSuite
from eval.extraction_audit import run_extraction
from eval.report import ExtractionReport
from eval.targets import RagTarget, RememberedQuestions
from ingest.policy import Policy
from ingest.protocols import Sanitizer
from ingest.sanitize import DecidingSanitizer
from retrieval.collection import Collection
from retrieval.errors import CollectionError
from retrieval.generators.verbatim import VerbatimGenerator


def extraction(
    services: Services,
    corpus: Corpus,
    attack: ExtractionSuite,
    *,
    collection: str | None = None,
    worst_case: bool = True,
    phases: Phases = untold,
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
        arms: dict[str, Arm] = {}
        if collection is not None:
            kept = stack.enter_context(services.open(collection))
            check_same_documents(kept, corpus)
            n, actions = kept.store.count_documents(), kept.store.entities_by_action()
            arms["lethe"] = Arm(asking.retriever(kept), actions, n, 0)
        policies = {"origin": Policy("origin"), "redact": Policy("redact"), "lethe": services.policy}
        for name, policy in policies.items():
            if name not in arms:
                arms[name] = in_memory(
                    corpus.documents,
                    _sanitizer(services, corpus, policy),
                    asking.encoder,
                    services.settings.retrieval.passage_tokens,
                    stack,
                    partial(phases, f"sanitizing {name}"),
                )
        generator = VerbatimGenerator() if worst_case else services.generator
        k = services.settings.retrieval.k
        return run_extraction(
            {name: RagTarget(arms[name].retriever, generator, k) for name in policies},
            attack,
            sensitive,
            reference=reference_of(services, corpus),
            provenance=provenance_of(services, _also_shown(services, collection)),
            decisions={name: arms[name].decisions for name in policies},
            documents={name: (arms[name].kept, arms[name].failed) for name in policies},
            unread=corpus.unread,
            progress=partial(phases, "attacking"),
        )


def _sanitizer(services: Services, corpus: Corpus, policy: Policy) -> Sanitizer:
    """By a policy, about the entities that were found before."""
    method = services.method(policy, services.scale)
    return DecidingSanitizer(corpus, method, services.risk, services.alias_key(policy))


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


def _also_shown(services: Services, collection: str | None) -> dict[str, str]:
    shown = {"replacements": services.policy.replacements, "k": str(services.settings.retrieval.k)}
    return shown | ({"collection": collection} if collection else {})
