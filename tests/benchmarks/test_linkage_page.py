"""The kept figures of ``lethe bench linkage`` are whole and of held-out records."""

import pytest

from benchmarks import linkage_page
from benchmarks.kept import read
from eval.studies.linkage.report import METHODS, LinkageReport


@pytest.fixture(scope="module")
def report() -> LinkageReport:
    return LinkageReport.model_validate_json(read(linkage_page.KEPT))


def test_every_method_is_there_on_unseen_records_and_no_path_of_the_machine(report: LinkageReport) -> None:
    assert tuple(each.method for each in report.methods) == METHODS
    assert report.provenance.commit and "dirty" not in report.provenance.commit
    assert "--held-out DATA" in report.command and "the others are unseen." in report.split
    assert {each.failed for each in report.methods} == {1}, "what cannot be sanitized is the same for all"
    assert not any("/" in word for word in report.command.split())


def test_the_attack_beats_chance_and_finds_nothing_where_nothing_is(report: LinkageReport) -> None:
    found = {each.method: each for each in report.methods}
    origin, removed = found["origin"].main.linkage, found["everything removed"].main.linkage
    assert origin.rate.low is not None and origin.rate.low > 10 * report.chance
    assert (removed.rate.value, removed.skipped) == (0, removed.rate.n)
    assert found["origin"].facts.value == 1 and found["everything removed"].facts.value == 0


def test_a_linked_document_is_counted_once(report: LinkageReport) -> None:
    for each in report.methods:
        bins = [*each.distribution.right, *each.distribution.wrong]
        assert sum(bins) == each.main.distance.mean.n <= report.documents - each.failed
        assert each.main.linkage.rate.n == report.documents - each.failed


def test_the_aims_are_said_with_what_came_out(report: LinkageReport) -> None:
    said = linkage_page.aims(report)
    assert len(said) == 3
    assert all(each.endswith((", reached", ", **missed**")) for each in said)
