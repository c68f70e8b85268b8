"""The summary of a benchmark: the default policy against Redact and against no sanitizing."""

from collections.abc import Iterable, Mapping, Sequence

from eval.measures.uncertainty import Estimate, difference, less, paired_ratio, ratio
from eval.rows import Row
from eval.studies.compare.frontier import Point
from eval.studies.compare.report import AttackFigures, Frontier, Summary, whole
from retrieval.generators.verbatim import VerbatimGenerator

OURS, REDACTED, UNSANITIZED = "trip", "redact", "origin"
DEPTH = 5


def summary_of(
    points: Mapping[str, Point],
    rows: Mapping[str, Sequence[Row]],
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
    rouge = [[row.figures["ROUGE-L"] for row in rows[name]] for name in (OURS, REDACTED)]
    return Summary(
        recall=ours.figures.recall_overlap[1],
        recall_ratio=paired_ratio(ours.overlaps, redact.overlaps, seed),
        identifier_excess=difference(*identifiers),
        leakage_change=less(ratio(*everything), 1),
        rouge_change=less(paired_ratio(rouge[0], rouge[1], seed), 1),
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


def _leakage(attacks: Iterable[AttackFigures], name: str, identifiers: bool) -> Estimate:
    found = worst_case(attacks, name, DEPTH)
    if found is None:
        return Estimate()
    return found.identifiers if identifiers else found.all_entities
