"""The figures that sum a benchmark up: the default policy beside Redact and beside no sanitizing at all."""

from dataclasses import dataclass

from eval.measures.contrasts import Figure, difference, less, of_mean, of_share, ratio
from eval.trip_rag.report import AttackFigures, Frontier, MethodFigures, TripRagReport, whole
from retrieval.generators.verbatim import VerbatimGenerator


@dataclass(frozen=True, slots=True)
class Summary:
    """Each None where one of its parts was not measured, all of them where a document failed in one.

    ``recall_ratio`` is Recall@1 overlap over Redact's; ``identifier_excess`` the leakage of identifiers under
    extraction from the verbatim victim, minus Redact's; ``leakage_change`` that of all sensitive entities,
    relative to no sanitizing; ``rouge_change`` ROUGE-L of answers relative to Redact's; ``dominated`` the
    share of the baselines' points that Lethe's curve dominates by the identifiers that stand in the index,
    ``dominated_all`` by all sensitive entities. These shares have no interval: the points are all there are.
    """

    recall: Figure | None = None
    recall_ratio: Figure | None = None
    identifier_excess: Figure | None = None
    leakage_change: Figure | None = None
    rouge_change: Figure | None = None
    dominated: Figure | None = None
    dominated_all: Figure | None = None


def summary_of(report: TripRagReport, k: int = 5) -> Summary:
    """The summary of a corpus; leakage at ``k`` passages."""
    ours, redact = _method(report, "trip"), _method(report, "redact")
    if not (whole(ours) and whole(redact) and whole(_method(report, "origin"))):
        return Summary()
    recall, their_recall = (of_mean(each.recall_overlap[1]) for each in (ours, redact))
    identifiers = [_leakage(report, name, k, identifiers=True) for name in ("trip", "redact")]
    everything = [_leakage(report, name, k, identifiers=False) for name in ("trip", "origin")]
    return Summary(
        recall=recall,
        recall_ratio=_ratio(recall, their_recall),
        identifier_excess=_difference(*identifiers),
        leakage_change=_change(*everything),
        rouge_change=_change(of_mean(ours.rouge_l), of_mean(redact.rouge_l)),
        dominated=_dominated(report.frontier),
        dominated_all=_dominated(report.frontier_all),
    )


def _dominated(frontier: Frontier) -> Figure | None:
    return Figure(frontier.dominated / frontier.points) if frontier.points else None


def _method(report: TripRagReport, name: str) -> MethodFigures:
    return next(each for each in report.methods if each.method == name)


def worst_case(report: TripRagReport, method: str, k: int) -> AttackFigures | None:
    """The extraction attack on a method whose victim repeats ``k`` passages, None if it was not run."""
    victim = (method, VerbatimGenerator().name, k)
    for each in report.attacks:
        if each.attack.startswith("extraction") and (each.method, each.generator, each.k) == victim:
            return each
    return None


def _leakage(report: TripRagReport, name: str, k: int, identifiers: bool) -> Figure | None:
    found = worst_case(report, name, k)
    if found is None:
        return None
    return of_share(found.identifiers if identifiers else found.all_entities)


def _ratio(one: Figure | None, other: Figure | None) -> Figure | None:
    return None if one is None or other is None else ratio(one, other)


def _change(one: Figure | None, other: Figure | None) -> Figure | None:
    found = _ratio(one, other)
    return None if found is None else less(found, 1)


def _difference(one: Figure | None, other: Figure | None) -> Figure | None:
    return None if one is None or other is None else difference(one, other)
