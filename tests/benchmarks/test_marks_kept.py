"""The kept figures of ``lethe bench marks`` are whole, and of documents that nothing learned from."""

from pathlib import Path

import pytest

from benchmarks.kept import read
from eval.studies.marks.methods import METHODS
from eval.studies.marks.study import MarksReport
from eval.tasks.marks import COVERED, LEFT, TOUCHED

KEPT = Path(__file__).parents[2] / "benchmarks" / "results" / "marks.json"


@pytest.fixture(scope="module")
def report() -> MarksReport:
    return MarksReport.model_validate_json(read(KEPT))


def test_every_method_is_there_and_no_path_of_the_machine(report: MarksReport) -> None:
    assert report.methods == METHODS
    assert report.provenance.commit and "dirty" not in report.provenance.commit
    assert not any("/" in reason for reason in report.absent.values())


def test_no_part_holds_what_was_learned_from(report: MarksReport) -> None:
    for corpus in report.corpora:
        held_out = sum(count for name, count in corpus.exposures.items() if name != "learned from")
        assert {part.name: part.documents for part in corpus.parts if part.name != "unseen"} == {
            "held out": held_out
        }


def test_origin_leaves_all_and_the_oracle_leaves_nothing(report: MarksReport) -> None:
    wanted = {("origin", TOUCHED): 0, ("origin", LEFT): 1, ("oracle", COVERED): 1, ("oracle", LEFT): 0}
    for figure in (each for corpus in report.corpora for part in corpus.parts for each in part.figures):
        key = (figure.method, figure.count)
        if figure.must == 2 and key in wanted and figure.estimate.value is not None:
            assert figure.estimate.value == wanted[key]
