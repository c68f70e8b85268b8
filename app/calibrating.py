"""Thresholds for a user's own documents: from marks, from a share, or with a promise about leakage."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.corpus import Phases, sensitive_in, untold
from app.scored import ScoredCorpus
from eval.calibration.conformal import Tested, documents_needed, largest_safe, tested_thresholds, upper_bound
from eval.calibration.marks import ScoredLink
from eval.calibration.model_marks import Listed, ask
from eval.documents import EntityRef
from eval.gold import GoldRows
from eval.measures.leakage import SensitiveIndex, is_identifier, normalized, stands_in
from eval.sensitive import sensitive_from_gold
from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.policy import ALWAYS, Policy
from ingest.scoring.raw import Weights
from models.errors import LetheError
from models.language_model import LanguageModel, PromptTooLong

STEP = 0.05
_BATCH = 64

COUNTED: Mapping[str, Callable[[EntityRef], bool]] = {
    "identifiers": is_identifier,
    "all": lambda entity: True,
}
"""What leakage may be counted of, by the name that the command line has for it."""


@dataclass(frozen=True, slots=True)
class LeakCurve:
    """What each threshold would disclose of each document, and how much it keeps.

    ``losses`` has the shape (documents, thresholds): the share of the counted entities of a document that
    stand in its sanitized text, for the documents that have such. One without has nothing to leak, and would
    make any threshold look safe. Raising a threshold takes no column away, so ``taus`` rise.
    """

    taus: Sequence[float]
    losses: NDArray[np.float64] = field(repr=False)
    kept: Sequence[float] = field(repr=False)
    """Share of all mentions that are kept, by threshold."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A threshold whose expected leakage is at most ``max_leak`` with ``confidence``, and what it rests on.

    ``bound`` is the lowest limit that would have held for this threshold alone, ``kept`` the share of
    mentions that it keeps.
    """

    tau: float
    max_leak: float
    confidence: float
    documents: int
    measured: float
    bound: float
    kept: float
    tested: Sequence[Tested] = field(repr=False)


def thresholds(weights: Weights) -> list[float]:
    """From the lowest priority that can be, or below, to above the highest; no document has a say in it."""
    low, high = -weights.beta / STEP, (weights.alpha + weights.gamma) / STEP
    # Whole steps, though a float may lie a hair beside one.
    first, last = math.floor(low + 1e-9), math.floor(high + 1e-9) + 1
    return [round(number * STEP, 4) for number in range(first, last + 1)]


def leak_curve(
    scored: ScoredCorpus, policy: Policy, counted: Callable[[EntityRef], bool], phases: Phases = untold
) -> LeakCurve:
    """``leak_curves`` of what is counted."""
    return leak_curves(scored, policy, [counted], phases)[0]


def leak_curves(
    scored: ScoredCorpus,
    policy: Policy,
    counted: Sequence[Callable[[EntityRef], bool]],
    phases: Phases = untold,
) -> list[LeakCurve]:
    """Sanitize by every threshold, and count what a reader of the whole index would find, in several ways.

    That reader is the strongest attacker that an index has: whatever a question can bring out of it is a
    part of what stands in it.

    Raises:
        LetheError: Nothing sensitive stands in the documents, or one of them cannot be sanitized.
    """
    taus, sensitive = thresholds(policy.weights), sensitive_in(scored.corpus)
    losses: list[list[list[float]]] = [[] for _ in counted]
    measured = [_documents_with(sensitive, scored.corpus.documents, of_these) for of_these in counted]
    kept = []
    for number, tau in enumerate(taus):
        phases("thresholds", number, len(taus))
        documents = _sanitized(scored, replace(policy, tau=tau))
        for found, of_these, ids in zip(losses, counted, measured, strict=True):
            found.append([_disclosed(sensitive, each, of_these) for each in documents if each.doc_id in ids])
        actions = [decision.action for each in documents for decision in each.decisions]
        kept.append(sum(action is Action.KEEP for action in actions) / max(1, len(actions)))
    phases("thresholds", len(taus), len(taus))
    return [LeakCurve(taus, np.array(found, dtype=np.float64).T, kept) for found in losses]


def promised(curve: LeakCurve, max_leak: float, confidence: float) -> Promise:
    """The largest threshold that can be promised.

    Raises:
        LetheError: Not even the strictest one can, and what would help.
    """
    if not len(curve.losses):
        raise LetheError(
            "No document has anything of what is counted, so there is nothing to promise. Give documents "
            "that have, or count all sensitive entities."
        )
    tested = tested_thresholds(curve.taus, curve.losses, max_leak, confidence)
    best, n = largest_safe(tested), len(curve.losses)
    if best is None:
        raise LetheError(_cannot(tested[0], n, max_leak, confidence))
    place = curve.taus.index(best.tau)
    bound = upper_bound(best.mean, n, confidence)
    return Promise(best.tau, max_leak, confidence, n, best.mean, bound, curve.kept[place], tested)


def _cannot(strictest: Tested, n: int, max_leak: float, confidence: float) -> str:
    told = f"No threshold can be promised to leak at most {max_leak:g} with confidence {confidence:g}"
    needed = documents_needed(max_leak, confidence)
    if n < needed:
        return (
            f"{told}: that takes {needed} documents that have something to leak, even if nothing of it comes "
            f"out, and here are {n}. Give more documents, a larger --max-leak or a smaller --confidence."
        )
    return (
        f"{told}: the strictest of them, which generalizes all that is found, leaks {strictest.mean:.3f} of "
        f"what a document has, on average over the {n} that have something to leak. What is left is not "
        "found by the detector: take its recall profile, or a larger --max-leak."
    )


def _sanitized(scored: ScoredCorpus, policy: Policy) -> list[SanitizedDocument]:
    sanitizer = scored.sanitizer(scored.method(policy))
    documents = scored.corpus.documents
    found: list[SanitizedDocument] = []
    for first in range(0, len(documents), _BATCH):
        for outcome in sanitizer.sanitize(documents[first : first + _BATCH]):
            if not isinstance(outcome, SanitizedDocument):
                raise outcome
            found.append(outcome)
    return found


def _documents_with(
    sensitive: SensitiveIndex, documents: Sequence[Document], counted: Callable[[EntityRef], bool]
) -> frozenset[str]:
    ids = (document.doc_id for document in documents)
    return frozenset(each for each in ids if any(map(counted, sensitive.behind([each]))))


def _disclosed(
    sensitive: SensitiveIndex, document: SanitizedDocument, counted: Callable[[EntityRef], bool]
) -> float:
    ids = [document.doc_id]
    there = sum(counted(entity) for entity in sensitive.behind(ids))
    return sum(counted(each.entity) for each in sensitive.leaked(ids, document.text, "")) / there


def links_of(
    scored: ScoredCorpus, policy: Policy, marked: Sequence[Sequence[bool]] | None = None
) -> list[ScoredLink]:
    """The linked entities of all documents as a threshold sees them.

    ``marked`` says of each linked entity of each document, in the order of ``names_of``, whether it is
    critical; None marks nothing.
    """
    bare = replace(policy, tau=float("inf"), residual_limit=1.0)
    found = []
    for number, decisions in enumerate(scored.decisions(scored.method(bare))):
        for place, mentions in enumerate(_by_link(decisions).values()):
            scores = mentions[0].scores
            assert scores is not None
            always = all(each.reason in ALWAYS for each in mentions)
            is_marked = marked is not None and marked[number][place]
            found.append(ScoredLink(scores.priority, always, is_marked))
    return found


def marked_by_people(scored: ScoredCorpus, gold: GoldRows) -> list[list[bool]]:
    """Of each linked entity of each document, whether it says what people marked, or a part of it.

    Raises:
        UnreadableDocument: A mark cannot be read.
    """
    found = []
    for document, text in zip(scored.corpus.documents, scored.texts, strict=True):
        said = [normalized(each.text) for each in sensitive_from_gold(document, gold[document.doc_id])]
        # An empty text stands in every name.
        marks = [each for each in said if each]
        names = [normalized(name) for name in names_of(text)]
        found.append(
            [any(stands_in(name, mark) or stands_in(mark, name) for mark in marks) for name in names]
        )
    return found


@dataclass(frozen=True, slots=True)
class ModelMarks:
    """What a language model marked in the documents that it gave a readable answer about.

    ``unreadable`` counts the others that it was asked about, those too long for it among them.
    """

    marked: Sequence[Sequence[bool]] = field(repr=False)
    documents: Sequence[int] = field(repr=False)
    """The places of these documents in the corpus."""
    unreadable: int


def marked_by_model(
    scored: ScoredCorpus, model: LanguageModel, most: int, phases: Phases = untold
) -> ModelMarks:
    """Ask a language model about the first ``most`` documents that hold an entity.

    Raises:
        LetheError: More than half of its answers could not be read.
        ModelUnavailable: The engine could not be reached or failed.
    """
    asked = [number for number, text in enumerate(scored.texts) if text.entities][:most]
    marked: list[list[bool]] = []
    read: list[int] = []
    for done, number in enumerate(asked):
        phases(f"asking {model.name}", done, len(asked))
        names = names_of(scored.texts[number])
        try:
            answer = ask(model, Listed(scored.texts[number].text, names))
        except PromptTooLong:
            continue
        if answer.marked is not None:
            marked.append([place in answer.marked for place in range(len(names))])
            read.append(number)
    phases(f"asking {model.name}", len(asked), len(asked))
    if 2 * len(read) < len(asked):
        raise LetheError(
            f"{model.name} gave no list of numbers for {len(asked) - len(read)} of {len(asked)} documents: "
            "take a model that follows instructions better, or one with a larger context."
        )
    return ModelMarks(marked, read, len(asked) - len(read))


def names_of(text: AnnotatedText) -> list[str]:
    """What each linked entity of a text says at its longest, in the order in which they first occur."""
    longest = (max(mentions, key=lambda each: len(each.span)) for mentions in text.mentions().values())
    return [text.text[each.span.start : each.span.end] for each in longest]


def _by_link(decisions: Sequence[Decision]) -> dict[int, list[Decision]]:
    """Decisions of each link, links in the order in which they first occur."""
    found: dict[int, list[Decision]] = {}
    for decision in sorted(decisions, key=lambda each: (each.entity.span, each.entity.label)):
        found.setdefault(decision.entity.link, []).append(decision)
    return found
