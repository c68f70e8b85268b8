"""The verdict of an audit in one sentence, and what limits its conclusions."""

from collections.abc import Sequence

from eval.studies.audit.report import COLLECTION, Gate, MeasureFigures
from eval.studies.audit.stored import Stored


def verdict_of(measures: Sequence[MeasureFigures], gates: Sequence[Gate], documents: int, stored: int) -> str:
    """What the gates say, or without gates the leak that is furthest above its chance; and of how many."""
    sample = "" if documents == stored else f" Attacked were {documents:,} of {stored:,} documents."
    return f"{_said(measures, gates)}{sample}"


def _said(measures: Sequence[MeasureFigures], gates: Sequence[Gate]) -> str:
    exceeded = [gate for gate in gates if gate.outcome == "exceeded"]
    missing = [gate for gate in gates if gate.outcome == "not measured"]
    if exceeded:
        said = "; ".join(
            f"{gate.measure} is {gate.value:.3f}, and its limit {gate.limit:g}" for gate in exceeded
        )
        return f"Not to be released: {len(exceeded)} of {len(gates)} gates are exceeded ({said})."
    if missing:
        names = ", ".join(gate.measure for gate in missing)
        return f"No verdict: {len(missing)} of {len(gates)} gates were not measured ({names})."
    if gates:
        few = [f"{gate.measure}, n = {gate.figure.n:g}" for gate in gates if gate.figure.too_few]
        but = f" These figures are of too few cases to rely on: {'; '.join(few)}." if few else ""
        return f"All {len(gates)} gates hold.{but}" if len(gates) > 1 else f"The gate holds.{but}"
    return f"No gate was set. {_furthest(measures)}"


def _furthest(measures: Sequence[MeasureFigures]) -> str:
    above = [
        (value - (chance or 0.0), value, chance, each)
        for each in measures
        if each.lower_is_better
        and each.shown is not False
        and not each.figures[COLLECTION].too_few
        and (value := each.figures[COLLECTION].value) is not None
        for chance in [each.chances[COLLECTION].value if each.chances else None]
    ]
    if not above:
        some = any(each.figures[COLLECTION].value is not None for each in measures if each.lower_is_better)
        return "There are too few cases for a figure." if some else "No attack was measured."
    _, value, chance, worst = max(above, key=lambda each: each[0])
    beside = "" if chance is None else f"; chance reaches {chance:.1%}"
    return f"The strongest attack finds {value:.1%} of {worst.title}{beside}."


def problems_of(
    measures: Sequence[MeasureFigures],
    stored: Stored,
    absent: int,
    unread: int,
    reference: str,
    whole: int,
) -> tuple[str, ...]:
    """A sentence for each limit; none if the figures are conclusive. ``whole`` is how many are stored."""
    found = []
    if absent:
        found.append(f"{absent:,} originals are not in the collection and were not attacked.")
    if (attacked := len(stored.corpus.documents)) < whole:
        found.append(
            f"Searches read the {attacked:,} attacked documents alone, as the controls do. Among all "
            f"{whole:,} of the collection questions find and tell less: found-first and facts are too high."
        )
    if unread:
        found.append(
            f"{unread:,} originals could not be read, or have the id of another one, and were not attacked. "
            "`lethe ingest --dry-run` of the same paths lists each with its remedy."
        )
    if failed := len(stored.corpus.failed):
        found.append(
            f"{failed:,} documents could not be sanitized again and were not attacked; they are not safe, "
            "and the controls have them: compare the figures with care."
        )
    if stored.differing:
        found.append(
            f"{stored.differing:,} documents are stored otherwise than the system writes them now: their "
            "replaced values were not guessed."
        )
    if reference != "gold annotations":
        found.append(
            "What counts as sensitive was found by Lethe's own detector: what it overlooks is in no figure "
            "of what is left or extracted. Name marks of people with --gold-field."
        )
    found += [
        f"{each.name}: the attack does not beat chance on the unsanitized documents, so it is no evidence."
        for each in measures
        if each.shown is False
    ]
    found += [
        f"{each.name}: {sum(each.failures.values()):,} cases were not measured "
        f"({', '.join(f'{reason} {count}' for reason, count in sorted(each.failures.items()))})."
        for each in measures
        if each.failures and not each.failures.keys() <= {"not guessed"}
    ]
    return tuple(found)
