"""The gates of an audit for machines: JUnit for build servers, SARIF for code scanning."""

import json
from importlib.metadata import version
from xml.etree import ElementTree as Xml

from eval.studies.audit.report import AuditReport, Gate

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
            Xml.SubElement(case, kind, message=_said(gate))
    Xml.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(suite, encoding="unicode")}\n'


def sarif(report: AuditReport) -> str:
    """A rule for each measure and a result for each gate that does not hold; the place is the collection."""
    rules = [
        {"id": each.name, "shortDescription": {"text": each.title}, "help": {"text": f"Blind: {each.blind}"}}
        for each in report.measures
    ]
    results = [
        {
            "ruleId": gate.measure,
            "level": "error" if gate.outcome == "exceeded" else "warning",
            "message": {"text": _said(gate)},
            "locations": [{"logicalLocations": [{"name": report.collection, "kind": "resource"}]}],
        }
        for gate in report.gates
        if gate.outcome != "held"
    ]
    driver = {"name": "lethe audit", "version": version("lethe"), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _said(gate: Gate) -> str:
    if gate.value is None:
        return f"{gate.measure} was not measured; its limit is {gate.limit:g}"
    return f"{gate.measure} is {gate.value:.4f}; its limit is {gate.limit:g}"
