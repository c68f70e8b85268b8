"""Predictions of a privacy-risk model on scored snippets."""

from collections.abc import Sequence
from math import expm1, isfinite

from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from ingest.linking.link import link
from ingest.protocols import RiskModel
from models.corpora.rubric import Snippet
from models.errors import LetheError

SOURCE = "rubric"


def annotated(snippet: Snippet) -> AnnotatedText:
    """The snippet with its marks as linked entities."""
    entities = [
        Entity(Span(*place), label, label_of(label).identifier, 1.0, SOURCE)
        for place, label in zip(snippet.places, snippet.labels, strict=True)
    ]
    return AnnotatedText(snippet.text, link(Document(snippet.id, snippet.text), entities))


def judged(name: str, model: RiskModel, snippets: Sequence[Snippet]) -> list[list[float]]:
    """1 - exp(-H), in [0, 1], of each mark of each snippet, H being the marginal hazard of its linked entity.

    Raises:
        LetheError: The model failed, or gave no finite number for a mark; no message quotes a snippet.
    """
    texts = [annotated(snippet) for snippet in snippets]
    try:
        hazards = model.hazards(texts)
    except LetheError:
        raise
    except Exception as error:
        # The message of the error may quote a snippet.
        raise LetheError(
            f"The privacy-risk model {name} failed on scored snippets ({type(error).__name__}); "
            "repair it, or leave it out."
        ) from None
    if len(hazards) != len(texts):
        raise LetheError(
            f"The privacy-risk model {name} answered for {len(hazards)} of {len(texts)} snippets; "
            "it must answer for each."
        )
    found = []
    for snippet, text, judgement in zip(snippets, texts, hazards, strict=True):
        links = {(entity.span, entity.label): entity.link for entity in text.entities}
        marks = zip(snippet.places, snippet.labels, strict=True)
        of_marks = [judgement.marginals.get(links[Span(*place), label]) for place, label in marks]
        found.append([_risk(name, snippet.id, hazard) for hazard in of_marks])
    return found


def _risk(name: str, snippet_id: str, hazard: float | None) -> float:
    if hazard is None or not isfinite(hazard):
        raise LetheError(
            f"The privacy-risk model {name} gave no finite hazard for a mark of snippet {snippet_id}; "
            "it must give one for every linked entity."
        )
    return -expm1(-max(0.0, hazard))
