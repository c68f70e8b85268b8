"""The figures that sum a benchmark up: the default policy beside Redact and beside no sanitizing at all."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from eval.measures.contrasts import Figure, difference, less, of_mean, of_share, paired_ratio, ratio
from eval.trip_rag.frontier import Point
from eval.trip_rag.report import AnswerRow, AttackFigures, Frontier, Summary, whole
from retrieval.generators.verbatim import VerbatimGenerator

OURS, REDACTED, UNSANITIZED = "trip", "redact", "origin"
DEPTH = 5


def summary_of(
    points: Mapping[str, Point],
    rows: Mapping[str, Sequence[AnswerRow]],
    attacks: Iterable[AttackFigures],
    by_identifiers: Frontier,
    by_all: Frontier,
    seed: int,
) -> Summary:
    """The summary of a corpus, of its methods and their rows by name; leakage at five passages.

    ``rows`` are of the same questions in the same order.
    """
    if not all(name in points and whole(points[name].figures) for name in (OURS, REDACTED, UNSANITIZED)):
        return Summary()
    ours, redact, attacked = points[OURS], points[REDACTED], list(attacks)
    identifiers = [_leakage(attacked, name, identifiers=True) for name in (OURS, REDACTED)]
    everything = [_leakage(attacked, name, identifiers=False) for name in (OURS, UNSANITIZED)]
    rouge = [[row.rouge_l for row in rows[name]] for name in (OURS, REDACTED)]
    return Summary(
        recall=of_mean(ours.figures.recall_overlap[1]),
        recall_ratio=paired_ratio(ours.overlaps, redact.overlaps, seed),
        identifier_excess=_both(difference, *identifiers),
        leakage_change=_change(_both(ratio, *everything)),
        rouge_change=_change(paired_ratio(rouge[0], rouge[1], seed)),
        dominated=by_identifiers.share,
        dominated_all=by_all.share,
    )


def worst_case(attacks: Iterable[AttackFigures], method: str, k: int) -> AttackFigures | None:
    """The extraction attack on a method whose victim repeats ``k`` passages, None if it was not run."""
    victim = (method, VerbatimGenerator().name, k)
    for each in attacks:
        if each.attack.startswith("extraction") and (each.method, each.generator, each.k) == victim:
            return each
    return None


def _leakage(attacks: Iterable[AttackFigures], name: str, identifiers: bool) -> Figure | None:
    found = worst_case(attacks, name, DEPTH)
    if found is None:
        return None
    return of_share(found.identifiers if identifiers else found.all_entities)


def _both(
    contrast: Callable[[Figure, Figure], Figure | None], one: Figure | None, other: Figure | None
) -> Figure | None:
    return None if one is None or other is None else contrast(one, other)


def _change(found: Figure | None) -> Figure | None:
    return None if found is None else less(found, 1)
