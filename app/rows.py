"""The JSON shapes of results, in one place for the command line and the server."""

from collections.abc import Mapping

from ingest.documents import Decision, SanitizedDocument, Scores
from ingest.explain import Explanation
from retrieval.documents import Answer, RetrievedPassage


def sanitized_row(document: SanitizedDocument) -> Mapping[str, object]:
    """A sanitized document; offsets count code points of the text as it was read."""
    return {
        "doc_id": document.doc_id,
        "text": document.text,
        "decisions": [decision_row(decision) for decision in document.decisions],
        "risk": {
            "before": round(document.risk.before, 4),
            "after": round(document.risk.after, 4),
            "engine": document.risk.engine,
        },
        "policy": document.policy,
    }


def decision_row(decision: Decision) -> Mapping[str, object]:
    """A decision; ``scores`` is null for methods that ask for none."""
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


def explanation_row(explanation: Explanation) -> Mapping[str, object]:
    """What was decided of each linked entity; offsets count code points of the text as it was read."""
    return {
        "doc_id": explanation.sanitized.doc_id,
        "entities": [
            {
                "link": each.link,
                "label": each.label,
                "identifier": str(each.identifier),
                "mentions": [[span.start, span.end] for span in each.mentions],
                "scores": None if each.scores is None else _scores_row(each.scores),
                "action": str(each.action),
                "replacement": each.replacement,
                "reason": each.reason,
            }
            for each in explanation.entities
        ],
        "policy": explanation.sanitized.policy,
    }


def _scores_row(scores: Scores) -> Mapping[str, float]:
    return {
        "risk": round(scores.marginal_privacy_risk, 4),
        "divergence": round(scores.knowledge_divergence, 4),
        "relevance": round(scores.topical_relevance, 4),
        "priority": round(scores.priority, 4),
    }


def passage_row(retrieved: RetrievedPassage) -> Mapping[str, object]:
    """A passage as it was found."""
    passage = retrieved.passage
    return {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "similarity": round(retrieved.similarity, 4),
        "text": passage.text,
    }


def answer_row(answer: Answer) -> Mapping[str, object]:
    """An answer with its citations and the passages it was made from."""
    return {
        "answer": answer.text,
        "citations": [
            {"mark": each.mark, "doc_id": each.doc_id, "passage_id": each.passage_id}
            for each in answer.citations
        ],
        "passages": [passage_row(each) for each in answer.passages],
        "engine": answer.engine,
    }
