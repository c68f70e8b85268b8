"""From a document to a sanitized document: the only place that makes one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from ingest.annotated import AnnotatedText
from ingest.deciding.policy import DESCRIPTORS, TOO_FEW, Policy
from ingest.deciding.treatment import check_key, treated
from ingest.detection.doubts import doubts_of
from ingest.documents import Decision, Document, LanguageRule, Risk, SanitizedDocument
from ingest.errors import ForeignDocument, SanitizationError
from ingest.explain import Explanation, explanation_of
from ingest.language.identification import languages_of
from ingest.linking.accounts import link_accounts
from ingest.linking.link import link
from ingest.protocols import Applied, EntityDetector, Method, RiskModel, Wording, likely_same
from ingest.scoring.scale import absolute_risk
from ingest.wording.replace import apply
from models.errors import LetheError
from models.language.protocol import PromptTooLong

_Done = tuple[AnnotatedText, Applied, SanitizedDocument]


class DecidingSanitizer:
    """Detect, link, decide, replace. A document in which any step fails yields an error.

    Of ``policy`` only the treatment of single labels and the replacements of people and organizations are
    used, for any method but origin. ``key`` is the secret for aliases and codes. Documents in a language that
    ``language`` excludes yield an error too. ``wording`` gives words to generalized mentions; without it,
    each gets its label's descriptor. Raises ConfigurationError for a policy with aliases or codes but no key.
    """

    def __init__(
        self,
        detector: EntityDetector,
        method: Method,
        risk: RiskModel,
        policy: Policy = DESCRIPTORS,
        key: bytes | None = None,
        language: LanguageRule = "known",
        wording: Wording | None = None,
    ) -> None:
        check_key(policy, key)
        self._detector = detector
        self._method = method
        self._risk = risk
        self._policy = policy
        self._key = key
        self._language = language
        self._wording = wording

    @property
    def name(self) -> str:
        """The method's name."""
        return self._method.name

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        """Sanitized documents in order; if a batch fails, each of its documents is retried alone."""

        def attempt(batch: Sequence[Document]) -> list[SanitizedDocument] | SanitizationError:
            outcome = self._attempt(batch)
            if isinstance(outcome, SanitizationError):
                return outcome
            return [sanitized for _, _, sanitized in outcome]

        refused = [self._refusal(document) for document in documents]
        read = [document for document, refusal in zip(documents, refused, strict=True) if refusal is None]
        done = iter(_all_or_each(attempt, read))
        return [refusal or next(done) for refusal in refused]

    def explain(self, document: Document) -> Explanation:
        """The decision for each linked entity and its reason.

        Raises:
            SanitizationError: A step failed, or the document's language is not accepted; the message quotes
                nothing of the document.
        """
        outcome = self._refusal(document) or self._attempt([document])
        if isinstance(outcome, SanitizationError):
            raise outcome
        ((text, applied, sanitized),) = outcome
        return explanation_of(text, applied.mentions, sanitized)

    def _refusal(self, document: Document) -> SanitizationError | None:
        languages = languages_of(document.text)
        if self._language == "any" or not languages.is_foreign:
            return None
        return ForeignDocument(document.doc_id, languages.foreign)

    def _attempt(self, documents: Sequence[Document]) -> list[_Done] | SanitizationError:
        step = "detection"
        try:
            texts = annotate(self._detector, documents)
            step = "risk measurement"
            before = self._risk.hazards(texts)
            step = "scoring"
            decided = self._method.decide(texts, before)
            step = "replacement"
            applied = [self._apply(text, each) for text, each in zip(texts, decided, strict=True)]
            step = "risk measurement"
            after = self._risk.hazards([each.residual for each in applied])
        except LetheError:
            raise
        except Exception as error:
            return _failed(documents, step, error)
        sanitized = [
            SanitizedDocument(
                doc_id=document.doc_id,
                text=each.residual.text,
                decisions=each.decisions,
                places=each.places,
                risk=Risk(absolute_risk(first.total), absolute_risk(last.total), self._risk.name),
                policy=self._method.name,
                article_repairs=each.article_repairs,
                unread=document.unread,
                doubts=doubts_of(document.text),
            )
            for document, each, first, last in zip(documents, applied, before, after, strict=True)
        ]
        sanitized = [
            replace(each, doubts=(*each.doubts, TOO_FEW))
            if self._policy.name == "lethe" and (each.bits or 0.0) > self._policy.threshold
            else each
            for each in sanitized
        ]
        return list(zip(texts, applied, sanitized, strict=True))

    def _apply(self, text: AnnotatedText, decisions: Sequence[Decision]) -> Applied:
        # origin is the unsanitized baseline: label treatments do not apply
        if self.name != "origin":
            decisions = treated(text, decisions, self._policy, self._key)
        if self._wording is None:
            return apply(text, decisions)
        applied = apply(text, self._wording(text, decisions))
        own = [
            replace(each, entity=decision.entity)
            for each, decision in zip(applied.mentions, decisions, strict=True)
        ]
        return replace(applied, mentions=own)


class Rewriter(Protocol):
    """Rewrites whole texts without per-entity decisions. The output carries no guarantee."""

    @property
    def name(self) -> str: ...

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]: ...


class RewritingSanitizer:
    """Rewrite, then measure the new text. A baseline only: no hard rule applies to its output."""

    def __init__(self, detector: EntityDetector, rewriter: Rewriter, risk: RiskModel) -> None:
        self._detector = detector
        self._rewriter = rewriter
        self._risk = risk

    @property
    def name(self) -> str:
        """The rewriter's name."""
        return self._rewriter.name

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        """Rewritten documents in order; if a batch fails, each of its documents is retried alone."""
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
            # Only one document is too long; the others may fit.
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
                unread=document.unread,
            )
            for document, first, last in zip(rewritten, before, after, strict=True)
        ]


def _all_or_each(
    attempt: Callable[[Sequence[Document]], list[SanitizedDocument] | SanitizationError],
    documents: Sequence[Document],
) -> list[SanitizedDocument | SanitizationError]:
    """Attempt the whole batch; if it fails, attempt each document alone."""
    if not documents:
        return []
    outcome = attempt(documents)
    if not isinstance(outcome, SanitizationError):
        return list(outcome)
    if len(documents) == 1:
        return [outcome]
    return [each for document in documents for each in _all_or_each(attempt, [document])]


def _failed(documents: Sequence[Document], step: str, error: Exception) -> SanitizationError:
    """Report only the error's type: its message may quote the document."""
    return SanitizationError(documents[0].doc_id, f"{step} failed ({type(error).__name__})")


def annotate(detector: EntityDetector, documents: Sequence[Document]) -> list[AnnotatedText]:
    """Each document with its linked entities."""
    found = detector.detect(documents)
    linked = [
        link(document, entities, partial(likely_same, detector, document.text))
        for document, entities in zip(documents, found, strict=True)
    ]
    return [
        AnnotatedText(document.text, link_accounts(document, entities))
        for document, entities in zip(documents, linked, strict=True)
    ]
