"""An experiment: systems, tasks, and rows that are measured once. All data is invented."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compose import system_of
from app.settings.load import load_settings
from eval.experiment import Experiment, SanitizedCorpus, SystemRows
from eval.measures.leakage import NOTHING_SENSITIVE, SensitiveIndex
from eval.progress import Progress, only
from eval.rows import Row, RowFile
from eval.tasks.index import IndexReader
from ingest.deciding.policy import Policy
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from models.remembering import remembering
from models.vectors import Vectors
from retrieval.system import System
from tests.doubles import WordEncoder

DOCUMENTS = [Document(f"d{n}", f"Invented. Mr Tobias Orrin has a cough {n}.") for n in range(5)]


class Counted(WordEncoder):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().encode(texts)


class Fails:
    name = "fails (test double)"

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        return [SanitizationError(each.doc_id, "scoring failed (ValueError)") for each in documents]


@dataclass(frozen=True)
class Lengths:
    """Notes which cases it is asked for."""

    cases: Sequence[str] = tuple(document.doc_id for document in DOCUMENTS)
    sensitive: SensitiveIndex = field(default=NOTHING_SENSITIVE, repr=False)
    name: str = "lengths"
    asked: list[str] = field(default_factory=list)

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        there = {each.doc_id: each for each in kept.documents}
        for case in cases:
            self.asked.append(f"{kept.system} {case}")
            figures = {"characters": float(len(there[case].text))}
            yield Row(system=kept.system, task=self.name, case=case, figures=figures)


WHOLE, ENCODER = Lengths(), Counted()


@pytest.fixture(scope="module")
def systems() -> dict[str, System]:
    system = system_of(load_settings({"risk.kind": "prior"}), encoder=ENCODER)
    return {name: replace(system, policy=Policy(name)) for name in ("origin", "redact")}


@pytest.fixture(scope="module")
def measured(systems: dict[str, System]) -> list[SystemRows]:
    return list(Experiment(DOCUMENTS, systems, dict.fromkeys(systems, [WHOLE])).run())


def test_each_system_has_a_row_for_each_case_of_each_task(measured: list[SystemRows]) -> None:
    assert [each.system for each in measured] == ["origin", "redact"]
    for each in measured:
        assert [row.case for row in each.rows["lengths"]] == list(WHOLE.cases)
        assert each.kept is not None and each.kept.kept == 5
    origin, redact = ([row.figures["characters"] for row in each.rows["lengths"]] for each in measured)
    assert origin == [len(document.text) for document in DOCUMENTS]
    assert all(one != other for one, other in zip(origin, redact, strict=True))
    # An index is made for tasks that search alone.
    assert ENCODER.seen == []


@pytest.mark.parametrize("ended_after", [0, 2, 5, 9, 10])
def test_rows_that_are_there_are_not_measured_again(
    tmp_path: Path, systems: dict[str, System], measured: list[SystemRows], ended_after: int
) -> None:
    rest = Lengths()
    with RowFile("r", tmp_path) as file:
        for row in [row for each in measured for row in each.rows["lengths"]][:ended_after]:
            file.add(row)
    with RowFile("r", tmp_path) as file:
        again = list(Experiment(DOCUMENTS, systems, dict.fromkeys(systems, [rest])).run(file))
    assert rest.asked == WHOLE.asked[ended_after:]
    assert [len(each.rows["lengths"]) for each in again] == [5, 5]
    assert [each.kept is None for each in again] == [ended_after >= 5, ended_after >= 10]


def test_what_fails_is_not_measured_and_says_what_failed(systems: dict[str, System]) -> None:
    failing = replace(systems["origin"], sanitizing=lambda _: Fails())
    task = IndexReader(["d0", "d1"], NOTHING_SENSITIVE)
    (measured,) = Experiment(DOCUMENTS[:2], {"failing": failing}, {"failing": [task]}).run()
    failure = "scoring failed (ValueError)"
    found = [(row.case, row.failure, row.measured) for row in measured.rows["index"]]
    assert found == [("d0", failure, False), ("d1", failure, False)]
    assert measured.kept is not None and (measured.kept.kept, len(measured.kept.failed)) == (0, 2)


def test_one_phase_is_passed_on_under_another_name() -> None:
    steps: list[tuple[str, int, int | None]] = []
    passed = only("systems", "measured", lambda *each: steps.append(each))
    for phase in ("systems", "sanitizing"):
        passed(phase, 1, 2)
    assert steps == [("measured", 1, 2)]


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=4), max_size=4))
def test_what_is_remembered_is_answered_as_ever_and_asked_once(batches: list[list[str]]) -> None:
    encoder = Counted()
    remembered = remembering(encoder, "encode", joined=np.stack)
    for batch in batches:
        assert (remembered.encode(batch) == WordEncoder().encode(batch)).all()
    assert sorted(encoder.seen) == sorted({text for batch in batches for text in batch})
    assert (remembered.name, remembered.dim, remembered.max_tokens) == (encoder.name, 32, 64)
    assert remembered.token_spans("a mill") == [(0, 1), (2, 6)]


def test_without_growing_only_what_was_known_is_remembered() -> None:
    encoder = Counted()
    known = [("mill", WordEncoder().encode(["mill"])[0])]
    remembered = remembering(encoder, "encode", joined=np.stack, known=known, grows=False)
    for _ in range(2):
        assert (remembered.encode(["mill", "boiler"]) == WordEncoder().encode(["mill", "boiler"])).all()
    assert encoder.seen == ["boiler", "boiler"]
