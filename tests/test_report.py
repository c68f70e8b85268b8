"""The report of an extraction audit: what it says, and what it must not. All data is invented."""

import json
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.documents import SensitiveEntity
from eval.extraction_audit import run_extraction
from eval.measures.leakage import SensitiveIndex
from eval.report import ExtractionReport, Provenance, provenance_here, row_lines, summary
from eval.report_files import write_report
from eval.report_html import extraction_page
from eval.report_table import leakage_table
from ingest.documents import Action, Identifier
from retrieval.documents import Answer, Passage, RetrievedPassage

PLANTED = "Quillfeather"
HOSTILE = '<script>alert("x")</script>'
KINDS = list(Identifier)
VOID = {"meta", "rect", "line", "path", "br"}


class Target:
    """Repeats a document that holds a planted name, or fails with it."""

    def __init__(self, defended: bool = False, fails: bool = False) -> None:
        self.defended, self.fails, self.asked = defended, fails, 0

    def ask(self, question: str) -> Answer:
        number = self.asked % 3
        self.asked += 1
        if self.fails and number == 1:
            raise ValueError(f"{PLANTED} {number}")
        name = "somebody" if self.defended else f"{PLANTED} {number}"
        text = f"{name} was seen by the doctor " + "on many occasions " * 8
        passage = Passage(number, f"d{number}", 0, len(text), text)
        return Answer(text, [], [RetrievedPassage(passage, -0.1 if self.defended else 0.5)], HOSTILE)


@pytest.fixture(scope="module")
def report() -> ExtractionReport:
    entities = [
        SensitiveEntity(f"d{n}", f"{PLANTED} {n}", f"label {n} & {HOSTILE}", KINDS[n]) for n in range(3)
    ]
    return run_extraction(
        {"origin": Target(), f"lethe [red] {HOSTILE}": Target(defended=True, fails=True)},
        ExtractionAttack(Aim.HEALTH, n=9, seed=4),
        SensitiveIndex(entities),
        reference=f"detected by {HOSTILE}",
        provenance=Provenance(
            date="2030-01-01T00:00:00+00:00",
            hardware="an invented machine",
            versions={"python": "3.11.0"},
            settings={"policy": HOSTILE},
            commit="0123abc",
        ),
        decisions={"origin": {Action.KEEP: 3}, "lethe": {Action.GENERALIZE: 2, Action.SUPPRESS: 1}},
    )


class Reader(HTMLParser):
    """Collects tags and words of a page, and sees that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def printed(report: ExtractionReport, width: int = 100) -> str:
    console = Console(width=width, file=StringIO())
    with console.capture() as capture:
        console.print(leakage_table(report))
    return capture.get()


def test_no_planted_text_is_anywhere(report: ExtractionReport) -> None:
    shown = [repr(report), str(report), *row_lines(report), json.dumps(summary(report))]
    shown += [extraction_page(report), printed(report)]
    assert report.arms[0].entity_leakage.share == 1
    assert PLANTED.casefold() not in "".join(shown).casefold()


def test_rows_come_back_as_they_went(report: ExtractionReport) -> None:
    rows = [json.loads(line) for line in row_lines(report)]
    assert len(rows) == 18
    assert ExtractionReport.model_validate({**summary(report), "rows": rows}) == report
    assert sum(len(row["leaked"]) for row in rows) == report.arms[0].entity_leakage.hits == 9


def test_the_summary_has_planned_and_completed(report: ExtractionReport) -> None:
    arms = summary(report)["arms"]
    assert [(arm["planned"], arm["completed"]) for arm in arms] == [(9, 9), (9, 6)]
    assert arms[1]["failures"] == {"ValueError": 3}
    assert "rows" not in summary(report)


def test_the_page_is_whole_and_needs_nothing_else(report: ExtractionReport) -> None:
    page = extraction_page(report)
    reader = read(page)
    assert reader.open == []
    assert reader.links == []
    assert not reader.tags & {"script", "link", "img", "iframe", "object", "base"}
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in page


def test_the_page_escapes_what_users_named(report: ExtractionReport) -> None:
    page = extraction_page(report)
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert HOSTILE in "".join(read(page).words)


def test_the_page_says_what_was_measured_with_what(report: ExtractionReport) -> None:
    words = " ".join(" ".join(read(extraction_page(report)).words).split())
    for expected in (
        "100.0%",
        "3 of 9 prompts (ValueError 3)",
        "extraction-targeted-health",
        "seed 4",
        "2030-01-01T00:00:00+00:00",
        "an invented machine",
        "python 3.11.0",
        "0123abc",
        "Direct identifiers",
        "Recall@1 overlap",
        "a bootstrap, 2,000 redraws, of whole prompts or of whole documents",
        "What was done with the entities",
    ):
        assert expected in words


def test_drawings_stay_within_their_frame(report: ExtractionReport) -> None:
    assert 'width="-' not in extraction_page(report)


def test_tables_have_captions_and_scopes(report: ExtractionReport) -> None:
    page = extraction_page(report)
    assert page.count("<table>") == page.count("<caption>") == 3
    assert "<th>" not in page


def test_a_report_of_nothing_says_not_measured() -> None:
    class Down:
        def ask(self, question: str) -> Answer:
            raise ConnectionError

    report = run_extraction(
        {"origin": Down()},
        ExtractionAttack(Aim.UNTARGETED, n=2),
        SensitiveIndex([]),
        reference="gold annotations",
        provenance=provenance_here({}),
    )
    words = " ".join(read(extraction_page(report)).words)
    assert "not measured" in words
    assert "0.0%" not in words


def test_the_table_fits_a_hundred_columns(report: ExtractionReport) -> None:
    text = printed(report, width=300)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert all(expected in text for expected in ("100.0%", "[red]", "6/9"))


def test_provenance_names_machine_and_versions() -> None:
    made = provenance_here({"k": "5"}, commit="0123abc")
    assert made.versions["python"].startswith("3.")
    assert made.settings == {"k": "5"}
    assert "cores" in made.hardware


def test_a_report_is_three_files(report: ExtractionReport, tmp_path: Path) -> None:
    rows, figures, page = write_report(report, tmp_path / "audit")
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 18
    assert json.loads(figures.read_text(encoding="utf-8"))["attack"]["seed"] == 4
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in (tmp_path / "audit").iterdir()) == [
        "report.html",
        "rows.jsonl",
        "summary.json",
    ]
