"""The page of what can be run is up to date and has every row of the papers; its checks find faults."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from benchmarks import coverage
from benchmarks.coverage import ADAPTER, BY_PATH, NOT_DONE, OFFLINE, STATES, Paper, Row, faults, papers_in
from eval.attacks.claims import Choice
from eval.studies.defences import ABSENT
from eval.studies.intact.order import DOU, METHODS, PUBLISHED
from eval.studies.linkage.report import LINKERS
from models.errors import LetheError

ROWS = {
    "TRIP-RAG (Zhu et al.)": 19,
    "INTACT (Pilán et al.)": 17,
    "IncogniText": 23,
    "A False Sense of Privacy (Xin et al.)": 35,
    "Related work": 38,
}
"""How many rows each paper has, of which no change may lose one."""

REDACT = Row("Redact", OFFLINE, "redact", "lethe sanitize PATH --policy redact", "tests/eval/test_overlap.py")


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    return papers_in(coverage.ROWS.read_text(encoding="utf-8"))


def rows(papers: list[Paper]) -> dict[str, Row]:
    return {row.row: row for paper in papers for row in paper.rows}


def of(row: Row) -> list[str]:
    return faults([Paper("invented", [row])])


def test_the_page_is_what_its_template_and_the_rows_make(papers: list[Paper]) -> None:
    made = coverage.page(papers)
    assert coverage.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.coverage"
    assert all(f"\n## {paper.title}\n" in made for paper in papers)
    assert all(f"\n| {name} |" in made for name in rows(papers))


def test_no_row_of_the_papers_is_lost(papers: list[Paper]) -> None:
    assert {paper.title: len({row.row for row in paper.rows}) for paper in papers} == ROWS


def test_a_row_is_done_where_the_code_says_so(papers: list[Paper]) -> None:
    found = rows(papers)
    defences = [row for name, row in found.items() if name.startswith("Defence ")]
    assert len(defences) == 15
    assert not [row.row for row in found.values() if row.state == NOT_DONE]
    assert ABSENT == ("noise in search",)
    commands = {row.command for row in found.values()}
    assert commands >= {f"lethe bench linkage PATH --linker {name}" for name in LINKERS}
    assert commands >= {f"lethe bench linkage PATH --known {name}" for name in get_args(Choice)}
    assert found["Abstraction (Dou et al.)"].state == BY_PATH and DOU not in METHODS
    engines = {row.engine for row in found.values()}
    assert engines >= set(METHODS) - set(PUBLISHED.values()) - {"lethe"}


def test_counts_by_paper_and_state() -> None:
    some = [REDACT, replace(REDACT, row="More"), Row("Less", NOT_DONE)]
    lines = coverage.counts_table([Paper("one", some), Paper("other", some[2:])]).splitlines()
    assert lines[0] == f"| paper | {' | '.join(STATES)} | rows |"
    counts = ["| one | 2 | 0 | 0 | 0 | 1 | 3 |", "| other | 0 | 0 | 0 | 0 | 1 | 1 |"]
    assert lines[2:] == [*counts, "| all | 2 | 0 | 0 | 0 | 2 | 4 |"]


def test_a_whole_row_has_no_fault() -> None:
    assert of(REDACT) == of(Row("Nothing", NOT_DONE, note="why")) == []
    assert of(replace(REDACT, command='lethe search "dry cough" -c NAME')) == []
    assert of(replace(REDACT, command="python -m benchmarks.label_curve DATA")) == []
    assert of(Row("Part", ADAPTER, "part", test="tests/eval/test_overlap.py::test_overlap_by_hand")) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            "command=lethe sanitize PATH --polish redact",
            "` is no command: lethe: error: unrecognized arguments: --polish",
        ),
        (
            "command=lethe bench linkage PATH --linker x",
            "argument --linker: invalid choice: 'x' (choose from",
        ),
        ("command=lethe sanitize", "the following arguments are required: PATH"),
        ("command=lethe --help", "`lethe --help` is no command: it only shows help"),
        (
            "command=lethe sanitize FILE",
            "`lethe sanitize FILE` has FILE; the placeholders are DATA, NAME, PATH",
        ),
        ("command=python -m benchmarks.nowhere DATA", ": there is no module benchmarks.nowhere"),
        ("command=make demo", "`make demo` is neither a verb of lethe nor a module of this project"),
        (
            "command=lethe bench trip-rag PATH --gguf PATH",
            "--gguf asks for a model that does not ship, so it",
        ),
        ("test=tests/eval/test_nowhere.py", "there is no file of tests tests/eval/test_nowhere.py"),
        ("test=benchmarks/coverage.py", "there is no file of tests benchmarks/coverage.py"),
        (
            "test=tests/eval/test_overlap.py::test_nothing",
            "tests/eval/test_overlap.py has no test test_nothing",
        ),
        ("state=nearly done", f"'nearly done' is no state; the states are {', '.join(STATES)}"),
        ("engine=", "what runs offline needs an engine"),
        ("command=", "what runs offline needs a command"),
        ("state=needs a model by path,test=", "what needs a model by path needs a test"),
        ("state=adapter only", "what is adapter only has no command"),
    ],
)
def test_a_fault_is_said(changed: str, said: str) -> None:
    (fault,) = of(replace(REDACT, **dict(each.split("=", 1) for each in changed.split(","))))
    assert said in fault and fault.startswith("Redact: ")


def test_every_fault_is_said_at_once() -> None:
    undone = replace(REDACT, state=NOT_DONE)
    found = [Paper("one", [REDACT, undone]), Paper("other", [replace(REDACT, test="")])]
    with pytest.raises(LetheError) as error:
        coverage.page(found)
    assert str(error.value).splitlines() == [
        *(f"Redact: what is not done has no {field}" for field in ("engine", "command", "test")),
        "Redact: what runs offline needs a test",
        "Redact: the name of 3 rows; give each its own",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[a]]\nrow = "x"\nstat = "y"\n', "A paper, x: there is no field stat; the fields are command, "),
        ('[[a]]\nstate = "not done"\n', "A paper, a row without a name: row is missing."),
        ('[[b]]\nrow = "x"\n', "titles are of a, and rows of b: give each paper both."),
    ],
)
def test_rows_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(LetheError) as error:
        papers_in(f'[titles]\na = "A paper"\n{text}')
    assert said in str(error.value)


def test_the_command_says_the_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = tmp_path / "rows.toml", tmp_path / "page.md"
    row = '[titles]\na = "A paper"\n[[a]]\nrow = "x"\n'
    table.write_text(f'{row}state = "done"\n', encoding="utf-8")
    monkeypatch.setattr(coverage, "ROWS", table)
    monkeypatch.setattr(coverage, "PAGE", page)
    assert coverage.main() == 1
    assert "x: 'done' is no state" in capsys.readouterr().err
    assert not page.exists()
    table.write_text(f'{row}state = "not done"\n', encoding="utf-8")
    assert coverage.main() == 0
    assert "| x | **not done** | – | – | – |  |" in page.read_text(encoding="utf-8")
