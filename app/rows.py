"""The JSON shapes of results, in one place for the command line and the server."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ingest.documents import Decision, Risk, SanitizedDocument, Scores, Unread
from ingest.synthesizing.documents import SyntheticDocument
from models.errors import LetheError
from retrieval.collection import noted
from retrieval.documents import Answer, KeptDocument, Noted, Passage, RetrievedPassage

if TYPE_CHECKING:
    from ingest.deciding.policy import Policy
    from ingest.explain import Explanation
    from retrieval.collection import Collection


SOMEWHERE = "a path of the server"
"""Stands for a path in an error."""

_REST = r"[^\s:,;)'\"`]*[^\s:,;)'\"`.]"
# No part of a word or of an address, and none that an answer tells to ask for.
_PATH = re.compile(rf"(?<![\w.~:/-])(?<!GET )(?:~|\.{{1,2}})?/{_REST}")


def for_clients(text: str) -> str:
    """A message in which what a command line or an environment sets has its name over HTTP."""
    text = re.sub(r"--(text|id)-field(?![\w-])", r"\1_field of the request", text)
    text = re.sub(r"--readers(?![\w-])", "readers of the request", text)
    text = text.replace("--language any", "detector.language = any in the server's settings")
    setting = r"\bLETHE_([A-Z]+)__([A-Z_]+)"
    return re.sub(setting, lambda it: f"{it[1]}.{it[2]}".lower() + " in the server's settings", text)


def error_text(error: LetheError, places: Sequence[str]) -> str:
    """An error for callers of the server, to whom it is nothing where files lie.

    ``places`` are paths that the settings name (``places_of``), which may be relative or hold blanks; others
    are known by their form if they are absolute.
    """
    text = for_clients(str(error))
    for place in places:
        # A bare name may be a word too, if nothing follows it as in a path.
        ending = (
            rf"(?:/{_REST})?(?![\w-])" if "/" in place else rf"(?:/{_REST}|(?<=\A{re.escape(place)})(?=[: ]))"
        )
        text = re.sub(rf"(?<![\w./~-]){re.escape(place)}{ending}", SOMEWHERE, text)
    return _PATH.sub(SOMEWHERE, text)


def sanitized_row(document: SanitizedDocument) -> Mapping[str, object]:
    """A sanitized document; offsets count code points of the text as it was read."""
    return {
        "doc_id": document.doc_id,
        "text": document.text,
        "decisions": [decision_row(decision) for decision in document.decisions],
        "detected_risk": detected_risk_row(document.risk),
        "doubts": list(document.doubts),
        "not_read": unread_rows(document.unread),
        "policy": document.policy,
    }


def synthetic_row(document: SyntheticDocument) -> Mapping[str, object]:
    """A synthetic document; ``id`` and ``text`` are the fields that reading expects."""
    return {
        "id": document.doc_id,
        "text": document.text,
        "synthetic": True,
        "truthful": False,
        "method": document.method,
        "privacy": document.privacy,
        **({"codes": list(document.codes)} if document.codes else {}),
    }


def detected_risk_row(risk: Risk) -> Mapping[str, object]:
    """The risk of found entities; ``of`` keeps a 0 from reading as safe."""
    return {
        "of": "what was found",
        "before": round(risk.before, 4),
        "after": round(risk.after, 4),
        "engine": risk.engine,
    }


def unread_rows(unread: Sequence[Unread]) -> list[Mapping[str, object]]:
    """The parts of a source that were not read."""
    return [asdict(each) for each in unread]


def decision_row(decision: Decision) -> Mapping[str, object]:
    """A decision; ``scores`` is null for methods without scores, and so is a score that was not measured."""
    entity = decision.entity
    return {
        "start": entity.span.start,
        "end": entity.span.end,
        "label": entity.label,
        "identifier": str(entity.identifier),
        "confidence": round(entity.confidence, 4),
        "scores": None if decision.scores is None else _scores_row(decision.scores),
        "action": str(decision.action),
        "replacement": decision.replacement,
        "reason": decision.reason,
        "link": entity.link,
        "source": entity.source,
    }


def explanation_row(explanation: "Explanation", policy: "Policy") -> Mapping[str, object]:
    """The decision about each linked entity; offsets count code points of the text as it was read."""
    sanitized = explanation.sanitized
    return {
        "doc_id": sanitized.doc_id,
        "entities": [
            {
                "link": each.link,
                "label": each.label,
                "identifier": str(each.identifier),
                "mentions": [[span.start, span.end] for span in each.mentions],
                "scores": None if each.scores is None else _scores_row(each.scores),
                "action": str(each.action),
                "replacement": each.replacement,
                "chance": None if each.chance is None else round(each.chance, 4),
                "reason": each.reason,
            }
            for each in explanation.entities
        ],
        "detected_risk": detected_risk_row(sanitized.risk),
        "fits": None
        if explanation.sanitized.bits is None
        else {
            "of": policy.people,
            "about": round(policy.people * 2.0**-explanation.sanitized.bits, 1),
            "asked_for": policy.k,
        },
        "doubts": list(sanitized.doubts),
        "not_read": unread_rows(sanitized.unread),
        "policy": sanitized.policy,
    }


def _scores_row(scores: Scores) -> Mapping[str, float | None]:
    row = {
        "risk": scores.marginal_privacy_risk,
        "divergence": scores.knowledge_divergence,
        "relevance": scores.topical_relevance,
        "priority": scores.priority,
        "bits": scores.bits,
    }
    return {name: None if value is None else round(value, 4) for name, value in row.items()}


def kept_row(document: KeptDocument) -> Mapping[str, object]:
    """A document of a collection; its ids are digests unless the collection keeps ids."""
    before, after = document.risk
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "also_known_as": list(document.aliases),
        "readers": list(document.readers),
        "kept_at": document.kept_at,
        "reviewed": document.reviewed,
        "characters": document.characters,
        "passages": document.passages,
        "detected_risk": {"of": "what was found", "before": before, "after": after},
        "doubts": list(document.doubts),
        "not_read": unread_rows(document.unread),
    }


def collection_row(name: str, collection: "Collection") -> Mapping[str, object]:
    """A collection: its size, its settings, whether its audit log is intact."""
    store, manifest = collection.store, collection.manifest
    broken = store.broken_audit_entry()
    lists = noted(store).get("lists")
    return {
        "collection": name,
        "documents": store.count_documents(),
        "passages": store.count_passages(),
        "entities": store.entities_by_action(),
        "policy": manifest.policy.name,
        "replacements": manifest.policy.replacements,
        "tau": manifest.policy.tau,
        "originals": sum(store.originals_by_key().values()),
        "encoder": manifest.encoder,
        "detector": manifest.detector,
        "risk": manifest.risk,
        "index": manifest.index,
        **({"table": manifest.table} if manifest.table else {}),
        **({"recall_at_10": lists["recall"]} if lists else {}),
        "created": manifest.created,
        "files_failed": len(store.quarantined()),
        "interrupted": store.interrupted(),
        "audit_log": "whole" if broken is None else f"broken at entry {broken}",
    }


def document_row(
    passages: Sequence[Passage], decisions: Sequence[Noted] | None = None
) -> Mapping[str, object]:
    """A document as it stands in a collection, by its passages, which cover it without gaps."""
    first = passages[0]
    return {
        "doc_id": first.doc_id,
        "title": first.title,
        "text": "".join(each.text for each in passages),
        "warnings": list(first.doubts),
        "decisions": None if decisions is None else [noted_row(each) for each in decisions],
    }


def noted_row(noted: Noted) -> Mapping[str, object]:
    """A decision as a collection keeps it; its place is in the sanitized text."""
    names = ("start", "end", "label", "identifier", "action", "reason", "risk", "priority")
    return {name: getattr(noted, name) for name in names}


def passage_row(retrieved: RetrievedPassage) -> Mapping[str, object]:
    """A retrieved passage."""
    passage = retrieved.passage
    return {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "title": passage.title,
        "score": round(retrieved.score, 4),
        "similarity": round(retrieved.similarity, 4),
        "text": passage.text,
        "warnings": list(passage.doubts),
    }


def answer_row(answer: Answer) -> Mapping[str, object]:
    """An answer with its citations and the passages it was made from.

    ``question_sent`` is what a remote model read in place of the question, null where none did.
    """
    return {
        "answer": answer.text,
        "citations": [
            {
                "mark": each.mark,
                "doc_id": each.doc_id,
                "title": answer.passages[each.mark - 1].passage.title,
                "passage_id": each.passage_id,
            }
            for each in answer.citations
        ],
        "passages": [passage_row(each) for each in answer.passages],
        "warnings": [
            *(_warning("the question", doubt) for doubt in answer.question_doubts),
            *warnings_of(answer.passages),
        ],
        "engine": answer.engine,
        "question_sent": answer.question_sent,
    }


def warnings_of(passages: Sequence[RetrievedPassage]) -> list[str]:
    """A warning for each doubt about the documents of some passages."""
    doubts: dict[str, set[str]] = {}
    for each in passages:
        for doubt in each.passage.doubts:
            doubts.setdefault(doubt, set()).add(each.passage.doc_id)
    return [_warning(", ".join(sorted(ids)), doubt) for doubt, ids in sorted(doubts.items())]


def _warning(place: str, doubt: str) -> str:
    return f"entities may have been missed in {place}: {doubt}"
