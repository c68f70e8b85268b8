"""The figures that sum a benchmark up: the default policy beside Redact and beside no sanitizing at all."""

from dataclasses import dataclass

from eval.trip_rag.report import AttackFigures, Frontier, MethodFigures, TripRagReport, whole
from retrieval.generators.verbatim import VerbatimGenerator


@dataclass(frozen=True, slots=True)
class Summary:
    """Each None where one of its parts was not measured, all of them where a document failed in one.

    ``recall_ratio`` is Recall@1 overlap over Redact's; ``identifier_excess`` the leakage of identifiers under
    extraction from the verbatim victim, minus Redact's; ``leakage_change`` that of all sensitive entities,
    relative to no sanitizing; ``rouge_change`` ROUGE-L of answers relative to Redact's; ``dominated`` the
    share of the baselines' points that Lethe's curve dominates by the identifiers that stand in the index,
    ``dominated_all`` by all sensitive entities.
    """

    recall: float | None = None
    recall_ratio: float | None = None
    identifier_excess: float | None = None
    leakage_change: float | None = None
    rouge_change: float | None = None
    dominated: float | None = None
    dominated_all: float | None = None


def summary_of(report: TripRagReport, k: int = 5) -> Summary:
    """The summary of a corpus; leakage at ``k`` passages."""
    ours, redact = _method(report, "trip"), _method(report, "redact")
    if not (whole(ours) and whole(redact) and whole(_method(report, "origin"))):
        return Summary()
    recall, their_recall = ours.recall_overlap[1].mean, redact.recall_overlap[1].mean
    identifiers = [_leakage(report, name, k, identifiers=True) for name in ("trip", "redact")]
    everything = [_leakage(report, name, k, identifiers=False) for name in ("trip", "origin")]
    return Summary(
        recall=recall,
        recall_ratio=_ratio(recall, their_recall),
        identifier_excess=_difference(*identifiers),
        leakage_change=_change(*everything),
        rouge_change=_change(ours.rouge_l.mean, redact.rouge_l.mean),
        dominated=_dominated(report.frontier),
        dominated_all=_dominated(report.frontier_all),
    )


def _dominated(frontier: Frontier) -> float | None:
    return frontier.dominated / frontier.points if frontier.points else None


def _method(report: TripRagReport, name: str) -> MethodFigures:
    return next(each for each in report.methods if each.method == name)


def worst_case(report: TripRagReport, method: str, k: int) -> AttackFigures | None:
    """The extraction attack on a method whose victim repeats ``k`` passages, None if it was not run."""
    victim = (method, VerbatimGenerator().name, k)
    for each in report.attacks:
        if each.attack.startswith("extraction") and (each.method, each.generator, each.k) == victim:
            return each
    return None


def _leakage(report: TripRagReport, name: str, k: int, identifiers: bool) -> float | None:
    found = worst_case(report, name, k)
    if found is None:
        return None
    return (found.identifiers if identifiers else found.all_entities).share


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def _change(one: float | None, other: float | None) -> float | None:
    ratio = _ratio(one, other)
    return None if ratio is None else ratio - 1


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
