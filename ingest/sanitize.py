"""From a document to a sanitized document: the only place that makes one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ingest.aliases import with_aliases
from ingest.annotated import AnnotatedText, left_of
from ingest.documents import Action, Decision, Document, Risk, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.explain import Explanation, explanation_of
from ingest.link import link
from ingest.linking.accounts import link_accounts
from ingest.protocols import EntityDetector, Hazards, RiskModel
from ingest.replace import render
from ingest.scoring.raw import absolute_risk
from ingest.spans import Shift, resolve
from models.errors import LetheError
from models.language_model import PromptTooLong


class Method(Protocol):
    """How one sanitizing method decides: one decision for each entity of each text, in their order.

    ``hazards`` are what the privacy-risk model says of each text.
    """

    @property
    def name(self) -> str: ...

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]: ...


_Done = tuple[AnnotatedText, Sequence[Decision], SanitizedDocument]


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

        def attempt(batch: Sequence[Document]) -> list[SanitizedDocument] | SanitizationError:
            outcome = self._attempt(batch)
            if isinstance(outcome, SanitizationError):
                return outcome
            return [sanitized for _, _, sanitized in outcome]

        return _all_or_each(attempt, documents)

    def explain(self, document: Document) -> Explanation:
        """What was decided of each linked entity, and why.

        Raises:
            SanitizationError: A step failed; its message holds nothing of the document.
        """
        outcome = self._attempt([document])
        if isinstance(outcome, SanitizationError):
            raise outcome
        ((text, decisions, sanitized),) = outcome
        return explanation_of(text, decisions, sanitized)

    def _attempt(self, documents: Sequence[Document]) -> list[_Done] | SanitizationError:
        step = "detection"
        try:
            texts = annotate(self._detector, documents)
            step = "risk measurement"
            before = self._risk.hazards(texts)
            step = "scoring"
            decided = self._method.decide(texts, before)
            step = "replacement"
            worded = [self._worded(text, each) for text, each in zip(texts, decided, strict=True)]
            applied = [apply(text, each) for text, each in zip(texts, worded, strict=True)]
            step = "risk measurement"
            after = self._risk.hazards([each.left for each in applied])
        except LetheError:
            raise
        except Exception as error:
            return _failed(documents, step, error)
        sanitized = [
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
        return list(zip(texts, worded, sanitized, strict=True))

    def _worded(self, text: AnnotatedText, decisions: Sequence[Decision]) -> Sequence[Decision]:
        return decisions if self._alias_key is None else with_aliases(text, decisions, self._alias_key)


class Rewriter(Protocol):
    """Writes another text for each: a method that decides about no entity. Nothing in it needs to be safe."""

    @property
    def name(self) -> str: ...

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]: ...


class RewritingSanitizer:
    """Rewrite, then measure what the new text exposes. For comparisons: no rule holds for what it writes."""

    def __init__(self, detector: EntityDetector, rewriter: Rewriter, risk: RiskModel) -> None:
        self._detector = detector
        self._rewriter = rewriter
        self._risk = risk

    @property
    def name(self) -> str:
        """The rewriter's name."""
        return self._rewriter.name

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        """Rewritten documents in order; where a batch fails, each document of it is tried alone."""
        return _all_or_each(self._attempt, documents)

    def _attempt(self, documents: Sequence[Document]) -> list[SanitizedDocument] | SanitizationError:
        step = "detection"
        try:
            texts = annotate(self._detector, documents)
            step = "rewriting"
            written = self._rewriter.rewrite(texts)
            step = "risk measurement"
            rewritten = [
                replace(document, text=text) for document, text in zip(documents, written, strict=True)
            ]
            before = self._risk.hazards(texts)
            after = self._risk.hazards(annotate(self._detector, rewritten))
        except PromptTooLong as error:
            # Of one document; the others may fit.
            return _failed(documents, step, error)
        except LetheError:
            raise
        except Exception as error:
            return _failed(documents, step, error)
        return [
            SanitizedDocument(
                doc_id=document.doc_id,
                text=document.text,
                decisions=(),
                places=(),
                risk=Risk(absolute_risk(first.total), absolute_risk(last.total), self._risk.name),
                policy=self._rewriter.name,
                article_repairs=0,
            )
            for document, first, last in zip(rewritten, before, after, strict=True)
        ]


def _all_or_each(
    attempt: Callable[[Sequence[Document]], list[SanitizedDocument] | SanitizationError],
    documents: Sequence[Document],
) -> list[SanitizedDocument | SanitizationError]:
    """What an attempt at all gives; where it fails, each document is tried alone."""
    if not documents:
        return []
    outcome = attempt(documents)
    if not isinstance(outcome, SanitizationError):
        return list(outcome)
    if len(documents) == 1:
        return [outcome]
    return [each for document in documents for each in _all_or_each(attempt, [document])]


def _failed(documents: Sequence[Document], step: str, error: Exception) -> SanitizationError:
    """Whatever it was, the document must not pass; since the message may quote it, only its type goes on."""
    return SanitizationError(documents[0].doc_id, step, type(error).__name__)


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
