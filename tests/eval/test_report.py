"""The report of an extraction audit: what it says, and what it must not. All data is invented."""

import json
import os
import platform
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.documents import SensitiveEntity
from eval.measures.leakage import SensitiveIndex
from eval.provenance import Provenance, provenance_here
from eval.reports.extraction_page import extraction, leakage_table
from eval.reports.files import write_extraction
from eval.reports.render import html_page, terminal_table
from eval.studies.extraction import ExtractionReport, summary
from ingest.documents import Action, Identifier
from retrieval.documents import Answer, Passage, RetrievedPassage
from tests.attacked import report_on
from tests.pages import needs_nothing_else, read, words_of

PLANTED = "Quillfeather"
HOSTILE = '<script>alert("x")</script>'
KINDS = list(Identifier)
MACHINE = f"{os.cpu_count()} cores, {platform.system()}"


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
    return report_on(
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


def lines_of(report: ExtractionReport) -> list[str]:
    return [row.model_dump_json() for row in report.rows]


def printed(report: ExtractionReport, width: int = 100) -> str:
    console = Console(width=width, file=StringIO())
    with console.capture() as capture:
        console.print(terminal_table(leakage_table(report), width, narrow=True))
    return capture.get()


def test_no_planted_text_is_anywhere(report: ExtractionReport) -> None:
    shown = [repr(report), str(report), *lines_of(report), json.dumps(summary(report))]
    shown += [html_page(extraction(report)), printed(report)]
    assert report.arms[0].entity_leakage.value == 1
    assert PLANTED.casefold() not in "".join(shown).casefold()


def test_rows_come_back_as_they_went(report: ExtractionReport) -> None:
    rows = [json.loads(line) for line in lines_of(report)]
    assert len(rows) == 18
    written = tuple(row.model_copy(update={"present": (), "evidence": ""}) for row in report.rows)
    again = ExtractionReport.model_validate({**summary(report), "rows": rows})
    assert again == report.model_copy(update={"rows": written})
    arms = summary(report)["arms"]
    assert [(arm["planned"], arm["completed"]) for arm in arms] == [(9, 9), (9, 6)]
    assert arms[1]["failures"] == {"ValueError": 3} and "rows" not in summary(report)
    assert sum(len(row.get("leaked", ())) for row in rows) == report.arms[0].entity_leakage.hits == 9


def test_the_page_is_whole_and_says_what_was_measured_with_what(report: ExtractionReport) -> None:
    page = html_page(extraction(report))
    needs_nothing_else(page)
    assert HOSTILE not in page and "&lt;script&gt;" in page and HOSTILE in "".join(read(page).words)
    assert page.count("<table>") == page.count("<caption>") == 3 and "<th>" not in page
    words = words_of(page)
    figures = ("100.0%", "3 of 9 prompts (ValueError 3)", "extraction-targeted-health", "seed 4", "0123abc")
    assert all(figure in words for figure in figures)
    for expected in (
        "2030-01-01T00:00:00+00:00",
        "an invented machine",
        "python 3.11.0",
        "– direct identifiers",
        "Names, numbers, addresses: each identifies a person by itself.",
        "Recall@1 overlap",
        "a cluster bootstrap, 2,000 resamples, over prompts or over documents",
        "What was done with the entities",
    ):
        assert expected in words


def test_a_report_of_nothing_says_not_measured() -> None:
    class Down:
        def ask(self, question: str) -> Answer:
            raise ConnectionError

    attack = ExtractionAttack(Aim.UNTARGETED, n=2)
    words = words_of(html_page(extraction(report_on({"origin": Down()}, attack, SensitiveIndex([])))))
    assert "not measured" in words and "0.0%" not in words


def test_the_table_fits_a_hundred_columns(report: ExtractionReport) -> None:
    text = printed(report, width=300)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert all(expected in text for expected in ("100.0%", "[red]", "6/9"))


def test_provenance_names_versions_and_the_processor_and_what_makes_it_fast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = provenance_here({"k": "5"}, commit="0123abc")
    assert made.versions["python"].startswith("3.")
    assert (made.settings, made.commit) == ({"k": "5"}, "0123abc")
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr("eval.provenance.CPU_FILE", file)
    assert provenance_here({}).hardware == f"{platform.processor() or platform.machine()}, {MACHINE}"
    file.write_text("processor\t: 0\nmodel name\t: Invented 9000\nflags\t\t: fpu avx512_bf16 amx_bf16\n")
    assert provenance_here({}).hardware == f"Invented 9000 (amx_bf16, avx512_bf16), {MACHINE}"


def test_every_arm_has_a_bar_with_its_interval_in_every_panel(report: ExtractionReport) -> None:
    panels = extraction(report).sections[0].plots[0].series
    whole, kinds = panels[:4], panels[4:]
    assert [each.name for each in whole] == ["Entity leakage", "Query leakage", "Coverage", "Copied prompts"]
    assert [each.name for each in kinds] == ["Direct identifiers", "Quasi-identifiers", "Attributes"]
    names = [arm.name for arm in report.arms]
    assert all([point.label for point in panel.points] == names for panel in whole)
    # The arm that fails on every third prompt met no quasi-identifier, which is no zero.
    assert [len(panel.points) for panel in kinds] == [2, 1, 2]
    leaked = [(arm.entity_leakage.value, arm.entity_leakage.interval) for arm in report.arms]
    assert [(point.y, point.ends) for point in whole[0].points] == leaked


def test_a_report_is_three_files(report: ExtractionReport, tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    assert write_extraction(report, folder) == folder / "report.html"
    assert len((folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()) == 18
    assert json.loads((folder / "summary.json").read_text(encoding="utf-8"))["attack"]["seed"] == 4
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "rows.jsonl", "summary.json"]
