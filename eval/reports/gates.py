"""The gates of an audit for machines: JUnit for build servers, SARIF for code scanning."""

import json
from collections.abc import Iterator
from importlib.metadata import version
from math import floor
from xml.etree import ElementTree as Xml

from eval.measures.uncertainty import Estimate
from eval.studies.audit.report import DETECTED, AuditReport, Gate, Place

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
        if gate.outcome != "held":
            kind = "failure" if gate.outcome == "exceeded" else "error"
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
    said = f"{gate.measure} is {gate.value:.4f}{_sure(gate.figure)}, and has to be {bound}."
    return " ".join([said, *_why(gate, places)])


def _sure(figure: Estimate) -> str:
    told = []
    if figure.n:
        told.append(f"{figure.hits:,g} of {figure.n:,g}" if figure.hits else f"n = {figure.n:,g}")
    if figure.interval:
        told.append(f"95% interval {figure.interval[0]:.4f} to {figure.interval[1]:.4f}")
    return f" ({', '.join(told)})" if told else ""


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
