"""A threshold from marks: the entities that people, or a language model, consider critical."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from models.errors import LetheError
from models.language.asking import Asker
from models.language.prompts import prompt

PROMPT = prompt("mark_critical")
_LIST = r"\[([\s\d,\"']*)(?:[\]}`]|\Z)"
_KEY = '"critical"'
LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """A document and the texts of its linked entities. Private."""

    text: str = field(repr=False)
    names: Sequence[str] = field(repr=False)


def asked_of(asker: Asker, documents: Sequence[DocumentEntities]) -> Iterator[frozenset[int] | None]:
    """The places of the marked entities of each document, from 0 in the order of its names.

    After TRIP-RAG's appendix D. The document and its numbered entities are the question, the numbers of the
    smallest subset that must be hidden, combinations included, are the answer.

    None where the answer could not be read, or the document does not fit into the model's context.

    Raises:
        ModelUnavailable: The engine could not be reached or failed.
    """
    slots = [
        {"text": each.text, "entities": "\n".join(f"{n}. {name}" for n, name in enumerate(each.names, 1))}
        for each in documents
    ]
    for each, numbers in zip(documents, asker.each(PROMPT, slots, read_numbers), strict=True):
        listed = len(each.names)
        yield None if numbers is None else frozenset(n - 1 for n in numbers if 1 <= n <= listed)


def read_numbers(said: str) -> list[int] | None:
    """The numbers of an answer; None where there is no list of numbers.

    Models wrap JSON in words or fences, quote numbers, add a trailing comma or omit the last bracket. A list
    of anything else is unreadable and not empty: the model may have named entities.
    """
    found = re.search(rf"{_KEY}\s*:\s*{_LIST}" if _KEY in said else _LIST, said)
    if found is None:
        return None
    return [int(each) for each in re.findall(r"\d+", found[1]) if len(each) <= LONGEST_NUMBER]


QUANTILE = 0.10


MARGIN = 1e-3
"""The distance of a threshold beyond the lowest or highest priority."""


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A linked entity: its priority, whether a hard rule takes it, and whether it is marked."""

    priority: float
    always: bool
    marked: bool = False


@dataclass(frozen=True, slots=True)
class MarkedThreshold:
    """The threshold ``tau`` with its agreement with the marks, and the best threshold.

    ``f1`` is of "generalized" against "marked" over all linked entities, hard rules counted as generalized.
    """

    tau: float
    f1: float
    best_tau: float
    best_f1: float
    marked: int
    links: int


def threshold_from_marks(links: Sequence[ScoredLink], quantile: float = QUANTILE) -> MarkedThreshold:
    """The ``quantile`` of the priorities of what is marked: all but that share of it is generalized.

    TRIP-RAG compares a model's marks with the scores and leaves the rule open; this is ours. Entities taken
    by a hard rule are not fitted.

    Raises:
        LetheError: Nothing is marked that a threshold could decide about.
    """
    priorities = [each.priority for each in links if each.marked and not each.always]
    if not priorities:
        raise LetheError(
            f"None of the {len(links):,} linked entities is marked and not generalized by a hard rule "
            "anyway: there is nothing to fit a threshold to. Mark more documents, or calibrate by --max-leak "
            "or --share."
        )
    tau = _apart(links, float(np.quantile(priorities, quantile, method="lower")))
    best = _apart(links, _best_threshold(links))
    marked = sum(each.marked for each in links)
    return MarkedThreshold(tau, f1_at(links, tau), best, f1_at(links, best), marked, len(links))


def _best_threshold(links: Sequence[ScoredLink]) -> float:
    """The threshold with the highest F1, the largest of equals; one pass from above all priorities."""
    marked = sum(each.marked for each in links)
    taken = sum(each.always for each in links)
    both = sum(each.marked for each in links if each.always)
    free = [each for each in links if not each.always]
    ordered = sorted(free, key=lambda each: each.priority, reverse=True)
    best, highest = ordered[0].priority + MARGIN, 2 * both / (taken + marked)
    for tau, group in groupby(ordered, key=lambda each: each.priority):
        new = list(group)
        taken += len(new)
        both += sum(each.marked for each in new)
        f1 = 2 * both / (taken + marked)
        if f1 > highest:
            best, highest = tau, f1
    return best


def f1_at(links: Sequence[ScoredLink], tau: float) -> float:
    """F1 of generalized against marked entities; 0 if they are disjoint."""
    taken = [each for each in links if each.always or each.priority >= tau]
    both = sum(each.marked for each in taken)
    total = len(taken) + sum(each.marked for each in links)
    return 2 * both / total if total else 0.0


def threshold_for_share(links: Sequence[ScoredLink], share: float) -> float:
    """The threshold that generalizes about this share of all linked entities, hard rules included.

    Raises:
        LetheError: There is no linked entity, or the hard rules alone take more than the share.
    """
    if not links:
        raise LetheError("The documents hold no entity: there is nothing to fit a threshold to.")
    always = sum(each.always for each in links)
    wanted = round(share * len(links)) - always
    if wanted < 0:
        raise LetheError(
            f"The hard rules generalize {always:,} of {len(links):,} linked entities already, which is more "
            f"than the share {share:g}: ask for {math.ceil(100 * always / len(links)) / 100:g} or more, or "
            "raise direct_limit in the policy."
        )
    others = sorted((each.priority for each in links if not each.always), reverse=True)
    if wanted == 0:
        return max(others, default=0.0) + MARGIN
    return _apart(links, others[wanted - 1])


def _apart(links: Sequence[ScoredLink], tau: float) -> float:
    """A threshold with the same decisions as ``tau``, midway to the highest priority that it keeps.

    Encodings vary in the seventh digit with the batch, and the threshold must decide alike later.
    """
    below = max((each.priority for each in links if not each.always and each.priority < tau), default=None)
    return tau - MARGIN if below is None else (tau + below) / 2
