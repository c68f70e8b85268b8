"""Thresholds for a user's own documents: from marks, from a share, or with a promise about leakage.

The promise is conformal risk control in its high-probability form: Learn then Test (Angelopoulos et al. 2021)
with the p-values of Hoeffding and Bentkus (Bates et al. 2021). Thresholds are tested in order from the
strictest, and testing stops at the first that cannot be shown to be safe. So, for any distribution of losses
and any number of thresholds,

    P(expected leakage at the chosen threshold <= limit) >= confidence,

over draws of the calibration documents, if they and future documents are independent draws from the same
distribution, and if the thresholds were fixed beforehand.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eval.corpora.corpus import GoldRows
from eval.corpora.sensitive import sensitive_from_gold, sensitive_in
from eval.documents import EntityRef
from eval.experiment import SYSTEMS, Experiment, Task
from eval.measures.leakage import is_identifier, normalized, stands_in
from eval.prepared import Prepared
from eval.progress import Progress, no_progress, only
from eval.rows import Row
from eval.tasks import index
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import ALWAYS, KEPT, Policy
from ingest.documents import Decision
from ingest.errors import SanitizationError
from models.errors import LetheError
from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import LanguageModel

PROMPT = prompt("mark_critical")
_LIST = r"\[([\s\d,\"']*)(?:[\]}`]|\Z)"
_KEY = '"critical"'
LONGEST_NUMBER = 9
QUANTILE = 0.10
MARGIN = 1e-3
"""The distance of a threshold beyond the lowest or highest priority."""
STEP = 0.05
SPLITS = 1_000
COUNTED: Mapping[str, Callable[[EntityRef], bool]] = {
    "identifiers": is_identifier,
    "all": lambda entity: True,
}
"""The entities whose leakage may be counted, by their command line name."""


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """A document and the texts of its linked entities. Private."""

    text: str = field(repr=False)
    names: Sequence[str] = field(repr=False)


def asked_of(asker: Asker, documents: Sequence[DocumentEntities]) -> Iterator[frozenset[int] | None]:
    """The places of the marked entities of each document, from 0 in the order of its names.

    After TRIP-RAG's appendix D: the answer is the smallest subset that must be hidden, combinations included.
    None where the answer could not be read, or the document does not fit into the model's context.

    Raises:
        ModelUnavailable: The engine could not be reached or failed.
    """
    slots = [
        {"text": each.text, "entities": "\n".join(f"{n}. {name}" for n, name in enumerate(each.names, 1))}
        for each in documents
    ]
    for each, numbers in zip(documents, asker.each(PROMPT, slots, read_numbers), strict=True):
        yield None if numbers is None else frozenset(n - 1 for n in numbers if 1 <= n <= len(each.names))


def read_numbers(said: str) -> list[int] | None:
    """The numbers of an answer; None where there is no list of numbers.

    Models wrap JSON in words or fences, quote numbers, add a trailing comma or omit the last bracket. A list
    of anything else is unreadable and not empty: the model may have named entities.
    """
    found = re.search(rf"{_KEY}\s*:\s*{_LIST}" if _KEY in said else _LIST, said)
    if found is None:
        return None
    return [int(each) for each in re.findall(r"\d+", found[1]) if len(each) <= LONGEST_NUMBER]


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
    """The threshold with the highest F1, the largest of equals."""
    free = sorted((each for each in links if not each.always), key=lambda each: -each.priority)
    always = [each.marked for each in links if each.always]
    taken = len(always) + np.arange(len(free) + 1)
    both = sum(always) + np.cumsum([0, *(each.marked for each in free)])
    f1 = 2 * both / (taken + sum(each.marked for each in links))
    # Links of one priority are taken together: the last of them counts.
    by_tau = dict(zip([free[0].priority + MARGIN, *(each.priority for each in free)], f1, strict=True))
    return max(by_tau, key=lambda tau: float(by_tau[tau]))


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


@dataclass(frozen=True, slots=True)
class ThresholdTest:
    """One threshold: the mean loss of ``n`` documents, and the p-value of its being above the limit."""

    tau: float
    mean: float
    p_value: float
    safe: bool


def tested_thresholds(
    taus: Sequence[float], losses: NDArray[np.float64], limit: float, confidence: float
) -> list[ThresholdTest]:
    """Each threshold in turn, from the strictest to the loosest, ``safe`` up to the first that fails.

    ``losses`` has the shape (documents, thresholds), each in [0, 1]. ``limit`` is the highest expected loss,
    ``confidence`` with which it must hold, both in (0, 1).

    Raises:
        ValueError: The shapes do not agree, a loss is not in [0, 1], or there is no document.
    """
    if losses.ndim != 2 or losses.shape[1] != len(taus) or len(losses) == 0:
        raise ValueError(f"{len(taus)} thresholds, losses of shape {losses.shape}: give a column for each")
    n = len(losses)
    if not np.all((losses >= 0) & (losses <= 1)):
        raise ValueError("a loss is not in [0, 1]")
    found, safe = [], True
    for tau, mean in zip(taus, losses.mean(axis=0).tolist(), strict=True):
        p_value = hoeffding_bentkus(mean, n, limit)
        safe = safe and p_value <= 1 - confidence
        found.append(ThresholdTest(tau, mean, p_value, safe))
    return found


def largest_safe(tested: Sequence[ThresholdTest]) -> ThresholdTest | None:
    """The loosest threshold that is safe; None if not even the strictest is."""
    return next((each for each in reversed(tested) if each.safe), None)


def hoeffding_bentkus(mean: float, n: int, limit: float) -> float:
    """A p-value of "the expectation is above ``limit``" for the mean of ``n`` losses in [0, 1]."""
    if mean >= limit:
        return 1.0
    # binom.cdf checks its arguments each time, which takes thirty times as long.
    from scipy.special import bdtr

    # Kullback-Leibler divergence of two coins, in nats.
    divergence = (mean * math.log(mean / limit) if mean > 0 else 0.0) + (
        (1 - mean) * math.log((1 - mean) / (1 - limit))
    )
    hoeffding = math.exp(-n * divergence)
    bentkus = math.e * float(bdtr(math.ceil(round(n * mean, 9)), n, limit))
    return min(1.0, hoeffding, bentkus)


def upper_bound(mean: float, n: int, confidence: float) -> float:
    """The lowest limit that a mean of ``n`` losses shows to hold with this confidence."""
    low, high = mean, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if hoeffding_bentkus(mean, n, middle) <= 1 - confidence:
            high = middle
        else:
            low = middle
    return high


def documents_needed(limit: float, confidence: float) -> int:
    """How many documents a promise needs where none of them leaks anything."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-limit))


def check_on_halves(
    taus: Sequence[float], losses: NDArray[np.float64], limit: float, confidence: float, seed: int
) -> tuple[int, int]:
    """In how many of ``SPLITS`` random splits a threshold could be promised, and in how many it was broken.

    Broken means that the mean loss of the held-out half is above the limit. That mean has sampling error, so
    the count of violations is conservative. ``losses`` has the shape (documents, thresholds), with two
    documents or more.
    """
    n = len(losses)
    rng = np.random.default_rng(seed)
    promised = violated = 0
    for _ in range(SPLITS):
        order = rng.permutation(n)
        fitted, other = losses[order[: n // 2]], losses[order[n // 2 :]]
        best = largest_safe(tested_thresholds(taus, fitted, limit, confidence))
        if best is not None:
            promised += 1
            violated += bool(other[:, list(taus).index(best.tau)].mean() > limit)
    return promised, violated


@dataclass(frozen=True, slots=True)
class LeakCurve:
    """The leakage of each document at each threshold, and the share of mentions kept.

    ``losses`` has the shape (documents, thresholds): the share of the counted entities of a document that
    remain in its sanitized text. Documents without counted entities are left out, since they have nothing to
    leak and would bias the loss towards zero. ``taus`` rise.
    """

    taus: Sequence[float]
    losses: NDArray[np.float64] = field(repr=False)
    kept: Sequence[float] = field(repr=False)
    """Share of all mentions that are kept, by threshold."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A threshold whose expected leakage is at most ``max_leak`` with ``confidence``, and its evidence.

    ``bound`` is the lowest limit that holds for this threshold alone, ``kept`` the share of mentions kept.
    """

    tau: float
    max_leak: float
    confidence: float
    documents: int
    measured: float
    bound: float
    kept: float
    tested: Sequence[ThresholdTest] = field(repr=False)


def thresholds(policy: Policy) -> list[float]:
    """A fixed grid from the strictest to the loosest, independent of the documents.

    For a sum of scores from its lowest possible value to its highest; for bits from what keeps nothing, by
    halves, to a share of one in a billion.
    """
    if policy.name == "lethe":
        return [-STEP, *(number / 2 for number in range(61))]
    weights = policy.weights
    low, high = -weights.beta / STEP, (weights.alpha + weights.gamma) / STEP
    # Whole steps, despite rounding of floats.
    first, last = math.floor(low + 1e-9), math.floor(high + 1e-9) + 1
    return [round(number * STEP, 4) for number in range(first, last + 1)]


def leak_curves(
    ready: Prepared,
    policy: Policy,
    counted: Sequence[Callable[[EntityRef], bool]],
    progress: Progress = no_progress,
) -> list[LeakCurve]:
    """Sanitize at every threshold, and count what an index reader would find, one curve per kind of entity.

    Raises:
        LetheError: Nothing sensitive stands in the documents.
        SanitizationError: One of them cannot be sanitized.
    """
    sensitive = sensitive_in(ready.corpus, ready.system.detector)
    reader = index.IndexReader([each.doc_id for each in ready.corpus.documents], sensitive)
    losses = [partial(_disclosed, counted=each) for each in counted]
    return attack_curves(ready, policy, reader, losses, progress)


def attack_curves(
    ready: Prepared,
    policy: Policy,
    task: Task,
    losses: Sequence[Callable[[Row], float | None]],
    progress: Progress = no_progress,
) -> list[LeakCurve]:
    """Sanitize at every threshold and attack; one curve for each loss, which is that of a document's row.

    A document without a loss at some threshold is left out: it has nothing to leak.

    Raises:
        SanitizationError: One of the documents cannot be sanitized.
    """
    taus = thresholds(policy)
    reader = index.IndexReader([each.doc_id for each in ready.corpus.documents], task.sensitive)
    systems = {f"{tau:g}": ready.by(policy.at(tau)) for tau in taus}
    tasks = list({each.name: each for each in (reader, task)}.values())
    experiment = Experiment(ready.corpus.documents, systems, dict.fromkeys(systems, tasks))
    found: list[list[list[float | None]]] = [[] for _ in losses]
    kept = []
    for measured in experiment.run(progress=only(SYSTEMS, "thresholds", progress)):
        read = measured.rows[reader.name]
        for row in read:
            if not row.measured:
                raise SanitizationError(row.case, row.failure)
        for rows, loss in zip(found, losses, strict=True):
            rows.append([loss(row) for row in measured.rows[task.name]])
        mentions = sum(row.figures[index.MENTIONS] for row in read)
        kept.append(sum(row.figures[index.KEPT] for row in read) / max(1, mentions))
    curves = [np.array(rows, dtype=np.float64).T for rows in found]
    return [LeakCurve(taus, rows[~np.isnan(rows).any(axis=1)], kept) for rows in curves]


def _disclosed(row: Row, counted: Callable[[EntityRef], bool]) -> float | None:
    """The share of a document's counted entities that are left; None if it has none."""
    present = sum(map(counted, row.present))
    return sum(counted(leak.entity) for leak in row.leaked) / present if present else None


def promised(curve: LeakCurve, max_leak: float, confidence: float) -> Promise:
    """The largest threshold that can be promised.

    Raises:
        LetheError: Not even the strictest one can; the message says what would help.
    """
    if not len(curve.losses):
        raise LetheError(
            "No document has anything of what is counted, so there is nothing to promise. Give documents "
            "that have, or count all sensitive entities."
        )
    tested = tested_thresholds(curve.taus, curve.losses, max_leak, confidence)
    best, n = largest_safe(tested), len(curve.losses)
    if best is None:
        lead = f"No threshold can be promised to leak at most {max_leak:g} with confidence {confidence:g}"
        needed = documents_needed(max_leak, confidence)
        few = (
            f"that takes {needed} documents that have something to leak, even if nothing of it comes out, "
            f"and here are {n}. Give more documents, a larger --max-leak or a smaller --confidence."
        )
        unfound = (
            f"the strictest of them, which generalizes all that is found, leaks {tested[0].mean:.3f} of what "
            f"a document has, on average over the {n} that have something to leak. What is left is not found "
            "by the detector: take a larger --max-leak."
        )
        raise LetheError(f"{lead}: {few if n < needed else unfound}")
    place = curve.taus.index(best.tau)
    bound = upper_bound(best.mean, n, confidence)
    return Promise(best.tau, max_leak, confidence, n, best.mean, bound, curve.kept[place], tested)


def links_of(
    ready: Prepared, policy: Policy, marked: Sequence[Sequence[bool]] | None = None
) -> list[ScoredLink]:
    """The linked entities of all documents with their priorities, without those whose label is kept.

    ``marked`` says of each linked entity of each document, in the order of ``names_of``, whether it is
    critical; None marks nothing.
    """
    found = []
    for number, decisions in enumerate(ready.decisions(ready.by(policy.at(math.inf)).method())):
        by_link: dict[int, list[Decision]] = {}
        for decision in sorted(decisions, key=lambda each: (each.entity.span, each.entity.label)):
            by_link.setdefault(decision.entity.link, []).append(decision)
        for place, mentions in enumerate(by_link.values()):
            scores = mentions[0].scores
            assert scores is not None
            if all(each.reason == KEPT for each in mentions):
                continue
            # Under lethe, what a hard rule takes has no turn to be kept.
            always = scores.priority is None or all(each.reason in ALWAYS for each in mentions)
            is_marked = marked is not None and marked[number][place]
            found.append(ScoredLink(scores.priority or 0.0, always, is_marked))
    return found


def marked_by_people(ready: Prepared, gold: GoldRows) -> list[list[bool]]:
    """For each linked entity of each document, whether its text is part of an annotation.

    Raises:
        UnreadableDocument: A mark cannot be read.
    """
    found = []
    for document, text in zip(ready.corpus.documents, ready.texts, strict=True):
        said = [normalized(each.text) for each in sensitive_from_gold(document, gold[document.doc_id])]
        marks = [each for each in said if each]  # an empty text is in every name
        names = map(normalized, names_of(text))
        found.append([any(stands_in(n, mark) or stands_in(mark, n) for mark in marks) for n in names])
    return found


@dataclass(frozen=True, slots=True)
class ModelMarks:
    """A language model's marks, for documents with a readable answer.

    ``unreadable`` counts the other documents, including those too long for the model.
    """

    marked: Sequence[Sequence[bool]] = field(repr=False)
    documents: Sequence[int] = field(repr=False)
    """The places of these documents in the corpus."""
    unreadable: int


def marked_by_model(
    ready: Prepared, model: LanguageModel, most: int, progress: Progress = no_progress
) -> ModelMarks:
    """Ask a language model about the first ``most`` documents that hold an entity.

    Raises:
        LetheError: More than half of its answers could not be read.
        ModelUnavailable: The engine could not be reached or failed.
    """
    asked = [number for number, text in enumerate(ready.texts) if text.entities][:most]
    marked, read = [], []
    documents = [DocumentEntities(ready.texts[each].text, names_of(ready.texts[each])) for each in asked]
    progress(f"asking {model.name}", 0, len(asked))
    for done, places in enumerate(asked_of(Asker(model), documents)):
        if places is not None:
            marked.append([place in places for place in range(len(documents[done].names))])
            read.append(asked[done])
        progress(f"asking {model.name}", done + 1, len(asked))
    if 2 * len(read) < len(asked):
        raise LetheError(
            f"{model.name} gave no list of numbers for {len(asked) - len(read)} of {len(asked)} documents: "
            "take a model that follows instructions better, or one with a larger context."
        )
    return ModelMarks(marked, read, len(asked) - len(read))


def names_of(text: AnnotatedText) -> list[str]:
    """The longest text of each linked entity, in order of first occurrence."""
    longest = (max(mentions, key=lambda each: len(each.span)) for mentions in text.mentions().values())
    return [text.text[each.span.start : each.span.end] for each in longest]
