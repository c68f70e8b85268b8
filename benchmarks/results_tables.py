"""The tables of docs/results.md: one per question, one column per corpus."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from eval.measures.uncertainty import Estimate, mean_of
from eval.reports import published
from eval.reports.comparison import SCORES, SIGNED, VARIANTS, facts, slots, variants_of
from eval.reports.published import CORPORA
from eval.reports.render import markdown_table
from eval.reports.schema import (
    DASH,
    DECIMAL,
    Cell,
    Column,
    Row,
    Table,
    estimate_cell,
    paired_cell,
    printed,
)
from eval.studies.compare.methods import ORIGIN, REDACTED, TRIP
from eval.studies.compare.report import AttackFigures, MethodFigures, TripRagReport
from eval.tasks.questions import FACTS

Reports = Mapping[str, TripRagReport]
Printed = Mapping[str, Mapping[str, float]]
"""The paper's figures by row and corpus."""
Cells = Mapping[str, Cell | str]
"""The cells of a corpus by the names of rows."""
NO_COMMAND = "not kept with this report"
SHOWN = frozenset(
    "Corpus|License|Documents|Questions|Split|Sensitive entities|Answers by|Date|Commit|Machine".split("|")
)
"""The facts of a run that are on the page."""


def tables_of(reports: Reports) -> dict[str, str]:
    """Every table in Markdown, by its name in the template."""
    recall, rouge = _theirs(lambda row: row.recall[1]), _theirs(lambda row: row.rouge_l)
    ablations = {_variant(name): {published.CHATDOCTOR: row[0]} for name, row in published.ABLATIONS.items()}
    made = {
        "corpora": _across("", reports, _card),
        "recall": _across("method", reports, _methods(lambda each: each.recall_overlap[1]), recall),
        "answers": _across("method", reports, _methods(lambda each: each.rouge_l), rouge),
        "facts": _across("method", reports, _facts),
        "attacks": _listed(reports, _on_unsanitized, ATTACKED),
        "guesses": _listed(reports, lambda report: report.guesses, GUESSES),
        "canaries": _across("secret, method", reports, _canaries),
        "ablations": _across(
            "variant", reports, _variants(lambda each: each.recall_overlap[1]), ablations, "{:.4f}"
        ),
        "scores": _listed(reports, lambda report: report.correlations, SCORES),
        "weights": _across("weight", reports, _weights),
    }
    return {name: markdown_table(each).rstrip() for name, each in made.items()}


def _across(
    corner: str,
    reports: Reports,
    cells: Callable[[TripRagReport], Cells],
    theirs: Printed = MappingProxyType({}),
    style: str = DECIMAL,
) -> Table:
    """One row per name, one column per corpus, and the published figures after ours."""
    found = {name: cells(report) for name, report in reports.items()}
    names = dict.fromkeys(name for each in found.values() for name in each)
    corpora = dict.fromkeys(corpus for row in theirs.values() for corpus in row)
    rows: list[Row] = [
        (
            name,
            *(each.get(name, DASH) for each in found.values()),
            *(printed(theirs.get(name, {}).get(corpus), style) for corpus in corpora),
        )
        for name in names
    ]
    return Table("", (corner, *reports, *(f"published: {corpus}" for corpus in corpora)), rows)


def _listed(
    reports: Reports, found: Callable[[TripRagReport], Sequence[Any]], columns: Sequence[Column]
) -> Table:
    """All rows of all corpora, with the name of the corpus first."""
    (_, first, named), *others = columns
    heads = (f"published: {name}" if group.startswith("published") else name for group, name, _ in others)
    rows: list[Row] = [
        (f"{name}: {named(each)}", *(cell(each) for _, _, cell in others))
        for name, report in reports.items()
        for each in found(report)
    ]
    return Table("", (f"corpus, {first.lower()}", *heads), rows)


def _variant(name: str) -> str:
    return f"{name}: {VARIANTS[name]}" if name in VARIANTS else name


def _theirs(figure: Callable[[published.PublishedAnswers], float]) -> Printed:
    return {
        method: {corpus: figure(rows[corpus]) for corpus in CORPORA}
        for method, rows in published.ANSWERS.items()
    }


def _methods(figure: Callable[[MethodFigures], Estimate]) -> Callable[[TripRagReport], Cells]:
    return lambda report: {each.method: estimate_cell(figure(each)) for each in report.methods}


def _facts(report: TripRagReport) -> Cells:
    """The share of facts in answers, and the difference to trip, paired by question."""
    return {
        each.method: paired_cell(each.facts, _facts_minus_trip(report, each.method))
        for each in report.methods
    }


def _facts_minus_trip(report: TripRagReport, method: str) -> Estimate:
    asked = {name: dict[str, float]() for name in (method, TRIP)}
    for row in report.rows:
        answering = row.task == f"questions, {report.methods[0].encoder}"
        if row.system in asked and answering and FACTS in row.figures:
            asked[row.system][row.case] = row.figures[FACTS]
    both = asked[method].keys() & asked[TRIP].keys()
    return mean_of([asked[method][case] - asked[TRIP][case] for case in sorted(both)], report.seed)


def _variants(figure: Callable[[MethodFigures], Estimate]) -> Callable[[TripRagReport], Cells]:
    return lambda report: {_variant(each.method): estimate_cell(figure(each)) for each in variants_of(report)}


def _canaries(report: TripRagReport) -> Cells:
    kinds = sorted({kind for each in report.canaries for kind in each.recall})
    return {
        f"{kind}: {each.method}": estimate_cell(each.recall.get(kind))
        for kind in kinds
        for each in report.canaries
    }


def _weights(report: TripRagReport) -> Cells:
    return {name: SIGNED.format(rho) for name, rho in report.grid_spearman.items()}


def _on_unsanitized(report: TripRagReport) -> list[tuple[AttackFigures, AttackFigures]]:
    """Each attack on the unsanitized index, with the same on the redacted one."""
    those = {
        (each.attack, each.generator, each.k): each for each in report.attacks if each.method == REDACTED
    }
    return [
        (each, those[each.attack, each.generator, each.k]) for each in report.attacks if each.method == ORIGIN
    ]


def _beats(pair: tuple[AttackFigures, AttackFigures]) -> str:
    one, other = (each.all_entities.interval for each in pair)
    return "yes" if one and other and one[0] > other[1] else "no"


ATTACKED: Sequence[Column] = (
    ("", "attack", lambda pair: f"{pair[0].attack}, {pair[0].generator} victim, {pair[0].k} passages"),
    ("", "unsanitized", lambda pair: estimate_cell(pair[0].all_entities)),
    ("", "everything redacted", lambda pair: estimate_cell(pair[1].all_entities)),
    ("", "intervals apart", _beats),
)

GUESSES: Sequence[Column] = (
    ("", "method", lambda each: each.method),
    ("", "slots", slots),
    ("", "ranked first", lambda each: estimate_cell(each.top1)),
    ("", "prior", lambda each: estimate_cell(each.prior_top1)),
    ("", "chance", lambda each: DASH if each.chance_top1 is None else DECIMAL.format(each.chance_top1)),
    (
        "",
        "ROUGE-L",
        lambda each: f"{estimate_cell(each.rouge_l).text} → {estimate_cell(each.rebuilt_rouge_l).text}",
    ),
    (
        "",
        "entities there",
        lambda each: (
            f"{estimate_cell(each.entities_left).text} → {estimate_cell(each.entities_recovered).text}"
        ),
    ),
)


def _card(report: TripRagReport) -> Cells:
    """The facts of a report."""
    absent = "; ".join(f"{name}: {why}" for name, why in report.absent.items())
    shown = {name: value for name, value in facts(report) if name in SHOWN}
    return {"Command": Cell(command(report), mark="code"), **shown, "Not in the tables": absent or DASH}


def command(report: TripRagReport) -> str:
    """The command that reproduces the report from the corpus in PATH, if recorded."""
    return f"lethe bench trip-rag {report.command}" if report.command else NO_COMMAND
