"""From a document to a sanitized document: the only place that makes one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ingest.aliases import with_aliases
from ingest.annotated import AnnotatedText, left_of
from ingest.documents import Action, Decision, Document, Risk, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.link import link
from ingest.linking.accounts import link_accounts
from ingest.protocols import EntityDetector, Hazards, RiskModel
from ingest.replace import render
from ingest.scoring.raw import absolute_risk
from ingest.spans import Shift, resolve
from models.errors import LetheError


class Method(Protocol):
    """How one sanitizing method decides: one decision for each entity of each text, in their order.

    ``hazards`` are what the privacy-risk model says of each text.
    """

    @property
    def name(self) -> str: ...

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]: ...


class DecidingSanitizer:
    """Detect, link, decide, replace. A document in which any step fails is answered by an error.

    ``alias_key`` is the secret for aliases of people and organizations; None puts descriptors for them.
    """

    def __init__(
        self, detector: EntityDetector, method: Method, risk: RiskModel, alias_key: bytes | None = None
    ) -> None:
        self._detector = detector
        self._method = method
        self._risk = risk
        self._alias_key = alias_key

    @property
    def name(self) -> str:
        """The method's name."""
        return self._method.name

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        """Sanitized documents in order; where a batch fails, each document of it is tried alone."""
        if not documents:
            return []
        outcome = self._attempt(documents)
        if not isinstance(outcome, SanitizationError):
            return list(outcome)
        if len(documents) == 1:
            return [outcome]
        return [each for document in documents for each in self.sanitize([document])]

    def _attempt(self, documents: Sequence[Document]) -> list[SanitizedDocument] | SanitizationError:
        step = "detection"
        try:
            texts = annotate(self._detector, documents)
            step = "risk measurement"
            before = self._risk.hazards(texts)
            step = "scoring"
            decided = self._method.decide(texts, before)
            step = "replacement"
            applied = [
                apply(text, self._worded(text, each)) for text, each in zip(texts, decided, strict=True)
            ]
            step = "risk measurement"
            after = self._risk.hazards([each.left for each in applied])
        except LetheError:
            raise
        except Exception as error:
            # Whatever it was, the document must not pass; and since the message may quote it, only the
            # error's type goes on.
            return SanitizationError(documents[0].doc_id, step, type(error).__name__)
        return [
            SanitizedDocument(
                doc_id=document.doc_id,
                text=each.left.text,
                decisions=each.decisions,
                places=each.places,
                risk=Risk(absolute_risk(first.total), absolute_risk(last.total), self._risk.name),
                policy=self._method.name,
                article_repairs=each.article_repairs,
            )
            for document, each, first, last in zip(documents, applied, before, after, strict=True)
        ]

    def _worded(self, text: AnnotatedText, decisions: Sequence[Decision]) -> Sequence[Decision]:
        return decisions if self._alias_key is None else with_aliases(text, decisions, self._alias_key)


def annotate(detector: EntityDetector, documents: Sequence[Document]) -> list[AnnotatedText]:
    """Each document with its linked entities."""
    found = detector.detect(documents)
    return [
        AnnotatedText(document.text, link_accounts(document, link(document, entities)))
        for document, entities in zip(documents, found, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Applied:
    """A text after its decisions, the entities left in it, and what was decided where."""

    left: AnnotatedText
    decisions: Sequence[Decision]
    places: Sequence[tuple[int, int]]
    article_repairs: int


def apply(text: AnnotatedText, decisions: Sequence[Decision]) -> Applied:
    """Carry out decisions.

    What was to be kept but lies in a replaced span is gone from the result; where it lies there in part,
    the result has the rest of it.
    """
    rendered = render(text.text, resolve(decisions))
    shift = Shift(rendered.replacements)
    shown: list[tuple[Decision, tuple[int, int]]] = [
        (decision, shift.of_replacement(number)) for number, decision in enumerate(rendered.decisions)
    ]
    kept = [decision for decision in decisions if decision.action is Action.KEEP]
    for decision in kept:
        for piece, place in left_of(text.text, decision.entity, shift):
            part = replace(decision, entity=decision.entity.at(piece))
            shown.append((part, (place.start, place.end)))
    shown.sort(key=lambda pair: (pair[0].entity.span, pair[0].entity.label))
    return Applied(
        text.replaced(rendered.replacements, [decision.entity for decision in kept]),
        [decision for decision, _ in shown],
        [place for _, place in shown],
        rendered.article_repairs,
    )
