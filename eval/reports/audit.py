"""The page of an audit, its table for the terminal, two audits side by side, and its gates for machines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from math import floor
from typing import get_args
from xml.etree import ElementTree as Xml

from eval.measures.uncertainty import Estimate, difference
from eval.reports.schema import (
    DASH,
    PERCENT,
    Cell,
    Plot,
    Point,
    Report,
    Row,
    Section,
    Series,
    Table,
    bars,
    estimate_cell,
)
from eval.studies.audit.options import LEAKS
from eval.studies.audit.report import COLLECTION, DETECTED, Attacker, AuditReport, Gate, MeasureFigures, Place

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def junit(report: AuditReport) -> str:
    """A test case for each gate: an exceeded one has failed, one that was not measured is an error."""
    outcomes = [gate.outcome for gate in report.gates]
    suite = Xml.Element(
        "testsuite",
        name=f"audit of {report.collection}",
        tests=str(len(outcomes)),
        failures=str(outcomes.count("exceeded")),
        errors=str(outcomes.count("not measured")),
        timestamp=report.provenance.date,
    )
    for gate in report.gates:
        case = Xml.SubElement(suite, "testcase", classname=f"audit.{report.collection}", name=gate.measure)
        if kind := {"exceeded": "failure", "not measured": "error"}.get(gate.outcome):
            Xml.SubElement(case, kind, message=gate_words(gate))
    Xml.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(suite, encoding="unicode")}\n'


def sarif(report: AuditReport) -> str:
    """A rule for each measure and a result for each gate that does not hold; the place is the collection."""
    rules = [
        {
            "id": each.name,
            "shortDescription": {"text": each.title},
            "help": {"text": f"Blind: {each.blind}. Reference: {each.reference}."},
        }
        for each in report.measures
    ]
    results = [
        {
            "ruleId": gate.measure,
            "level": "error" if gate.outcome == "exceeded" else "warning",
            "message": {"text": gate_words(gate)},
            "locations": [{"logicalLocations": [{"name": report.collection, "kind": "resource"}]}],
        }
        for gate in report.gates
        if gate.outcome != "held"
    ]
    driver = {"name": "lethe audit", "version": version("lethe"), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def gate_words(gate: Gate, *, places: bool = False) -> str:
    """What a gate found, its limit and what judged it; no word of a document.

    ``places`` adds which cases these are, by ids and offsets: not for files that go to other servers.
    """
    bound = f"{'at most' if gate.lower_is_better else 'at least'} {gate.limit:g}"
    if gate.value is None:
        return f"{gate.measure} was not measured, and has to be {bound}."
    if gate.lower_is_better and gate.figure.hits:
        bound += f" ({floor(gate.limit * gate.figure.n + 1e-9):,} of {gate.figure.n:,g})"
    told, figure = list[str](), gate.figure
    if figure.n:
        told.append(f"{figure.hits:,g} of {figure.n:,g}" if figure.hits else f"n = {figure.n:,g}")
    if figure.interval:
        told.append(f"95% interval {figure.interval[0]:.4f} to {figure.interval[1]:.4f}")
    sure = f" ({', '.join(told)})" if told else ""
    said = f"{gate.measure} is {gate.value:.4f}{sure}, and has to be {bound}."
    return " ".join([said, *_why(gate, places)])


def _why(gate: Gate, places: bool) -> Iterator[str]:
    if gate.figure.too_few:
        yield "With so few cases the figure says little."
    if gate.places and places:
        more = f", and {gate.found - len(gate.places):,} more" if gate.found > len(gate.places) else ""
        listed = "; ".join(map(_place, gate.places))
        yield f"{gate.found:,} {'case' if gate.found == 1 else 'cases'}: {listed}{more}."
    if gate.reference == DETECTED:
        yield (
            "What is sensitive was found by Lethe's own detector (no marks were given), so its false alarms "
            "count too: look at these places before you raise the limit, or name marks of people."
        )
    elif gate.reference:
        yield f"Reference: {gate.reference}."


def _place(place: Place) -> str:
    label = f"{place.label} in " if place.label else ""
    span = "" if place.start is None else f" at [{place.start}, {place.end})"
    return f"{label}{place.doc_id}{span}"


NOBODY: Attacker = "nobody"
TITLES: dict[Attacker, str] = {
    "reader of the index": "What somebody who reads the index finds",
    "user of the server": "What somebody who may ask the server gets",
    "writer of a document": "What somebody whose document is ingested does to other people's answers",
    "somebody who knows more": "What somebody with knowledge from elsewhere learns",
    NOBODY: "What stays useful",
}
APART = 0.05
"""Systems whose leaks are nearer to each other are not drawn."""
_OUTCOMES = {"held": "holds", "exceeded": "exceeded", "not measured": "not measured"}


def audit(report: AuditReport) -> Report:
    """The whole page."""
    return Report(
        title=f"Audit of {report.collection}",
        lead=report.verdict,
        facts=(
            f"suite {report.suite}",
            f"{report.documents:,} of {report.stored:,} documents",
            f"seed {report.seed}",
            f"sensitive: {report.reference}",
            report.provenance.date,
        ),
        cards=[*_cards(report)],
        problems=report.problems,
        alert="What limits this audit.",
        sections=[*_gates(report), *_attackers(report), *_beside(report), *_worst(report), *_terms(report)],
    )


def _cards(report: AuditReport) -> Iterator[tuple[Cell, str]]:
    """The first measure for each attacker, and of usefulness, that has a figure of enough cases."""
    seen = set[Attacker]()
    for each in report.measures:
        figure = each.figures[COLLECTION]
        if each.attacker not in seen and figure.value is not None and not figure.too_few:
            seen.add(each.attacker)
            # A leak of nothing is not marked as one.
            calm = each.lower_is_better and not figure.value
            cell = replace(estimate_cell(figure, PERCENT), mark="calm" if calm else "")
            yield cell, f"{each.title}; reference: {each.reference}"


def _figures(measure: MeasureFigures, systems: Sequence[str]) -> Iterator[Cell]:
    """The share of each system, and what chance reaches in the collection."""
    yield from (_figure(measure.figures.get(system)) for system in systems)
    if measure.chances and not measure.figures[COLLECTION].too_few:
        yield estimate_cell(measure.chances[COLLECTION], PERCENT)
    else:
        yield Cell(DASH, mark="muted")


def _figure(estimate: Estimate | None) -> Cell:
    """A share, or that it is of too few cases."""
    if estimate is not None and estimate.too_few:
        return Cell(f"too few: n = {estimate.n:g}", mark="muted")
    return estimate_cell(estimate, PERCENT)


def _gates(report: AuditReport) -> Iterator[Section]:
    titles = {each.name: each.title for each in report.measures}
    if report.gates:
        rows = [
            (
                gate.measure,
                titles.get(gate.measure, "no measure of this audit: the originals do not allow it"),
                f"{'at most' if gate.measure in LEAKS else 'at least'} {gate.limit:g}",
                DASH if gate.value is None else f"{gate.value:.3f}",
                Cell(_OUTCOMES[gate.outcome], mark="" if gate.outcome == "held" else "strong"),
            )
            for gate in report.gates
        ]
        said = "A gate compares the figure itself with its limit; the interval says how sure the figure is."
        head = ("Gate", "Measure", "Limit", "Found", "")
        over = [gate for gate in report.gates if gate.outcome != "held"]
        why = [(gate.measure, gate_words(gate, places=True)) for gate in over]
        yield Section("Gates", said, tables=[Table("Gates", head, rows)], terms=why)


def _attackers(report: AuditReport) -> Iterator[Section]:
    for attacker in get_args(Attacker):
        own = [each for each in report.measures if each.attacker == attacker]
        if own:
            better = "Higher is better." if attacker == NOBODY else "Lower is better."
            shown = [each for each in own if not each.figures[COLLECTION].too_few]
            plots = [
                Plot(
                    "bars",
                    each.title.capitalize(),
                    f"{better} Reference: {each.reference}.",
                    (bars("", {system: each.figures.get(system) for system in report.systems}),),
                )
                for each in shown
            ]
            rows = [
                (
                    Cell(each.title, note=f"{each.name}; reference: {each.reference}"),
                    *_figures(each, report.systems),
                )
                for each in own
            ]
            caption = f"Shares with 95% intervals. {better}"
            table = Table(caption, ("Measure", *report.systems, "chance"), rows)
            yield Section(TITLES[attacker], plots=plots, tables=[table])


def _beside(report: AuditReport) -> Iterator[Section]:
    """Each leak in which systems differ, against the first measure of usefulness."""
    enough = [each for each in report.measures if not each.figures[COLLECTION].too_few]
    useful = next((each for each in enough if each.attacker == NOBODY), None)
    plots = []
    for leak in enough:
        if leak.attacker == NOBODY or useful is None:
            continue
        # A system that was not measured keeps its place, and with it the look of the others.
        pairs = {system: (_value(leak, system), _value(useful, system)) for system in report.systems}
        series = tuple(
            Series(name, () if x is None or y is None else (Point(x, y),)) for name, (x, y) in pairs.items()
        )
        across = [point.x for each in series for point in each.points]
        if len(across) > 1 and max(across) - min(across) > APART:
            plots.append(Plot("marks", leak.name, "Upper left is best.", series, leak.title, useful.title))
    if plots:
        yield Section("Privacy beside usefulness", "Each mark is a system.", plots=plots)


def _value(measure: MeasureFigures, system: str) -> float | None:
    return measure.figures.get(system, Estimate()).value


def _worst(report: AuditReport) -> Iterator[Section]:
    if report.worst:
        rows = [
            (Cell(leak.doc_id, mark="code"), ", ".join(f"{label} ({n})" for label, n in leak.labels.items()))
            for leak in report.worst
        ]
        said = "What stands there is not shown; `lethe audit --reveal` prints it on the terminal."
        table = Table("Documents with most left", ("Document", "What a reader still finds, by kind"), rows)
        yield Section("The worst leaks", said, tables=[table])


def _terms(report: AuditReport) -> Iterator[Section]:
    blind = [(each.name, f"Does not see {each.blind}.") for each in report.measures]
    yield Section("What each measure cannot see", terms=blind)
    yield Section("Engines", terms=[(each.name, each.engine) for each in report.measures])
    yield Section("Provenance", terms=report.provenance.facts())


def audit_table(report: AuditReport) -> Table:
    """A row for each measure, narrow enough for a terminal."""
    caption = "\n".join((report.verdict, *report.problems))
    rows: list[Row] = [
        (f"{each.name}\n{each.reference}", *_figures(each, report.systems)) for each in report.measures
    ]
    return Table(caption, ("measure and reference", *report.systems, "chance"), rows)


def side_by_side(one: AuditReport, other: AuditReport) -> Table:
    """Two audits: the figures of both collections, and the second minus the first.

    No difference stands where the two were not measured by the same engine against the same reference, or a
    figure is of too few cases.
    """
    both = [{each.name: each for each in report.measures} for report in (one, other)]
    rows: list[Row] = []
    for name in dict.fromkeys([*both[0], *both[1]]):
        first, second = (measures.get(name) for measures in both)
        figures = (_figure(None if each is None else each.figures[COLLECTION]) for each in (first, second))
        references = dict.fromkeys(each.reference for each in (first, second) if each)
        rows.append((f"{name}\n{' / '.join(references)}", *figures, _change(first, second)))
    unlike = [
        f"They differ in {what}: {getattr(one, what)}, and {getattr(other, what)}."
        for what in ("suite", "seed", "reference", "documents")
        if getattr(one, what) != getattr(other, what)
    ]
    head = ("measure", one.collection, other.collection, "difference")
    return Table("\n".join((one.verdict, other.verdict, *unlike)), head, rows)


def _change(first: MeasureFigures | None, second: MeasureFigures | None) -> Cell:
    if first is None or second is None:
        return Cell(DASH, mark="muted")
    if (first.engine, first.reference) != (second.engine, second.reference):
        return Cell("measured otherwise", mark="muted")
    before, after = first.figures[COLLECTION], second.figures[COLLECTION]
    if before.too_few or after.too_few:
        return Cell(DASH, mark="muted")
    return estimate_cell(difference(after, before), "{:+.3f}")
