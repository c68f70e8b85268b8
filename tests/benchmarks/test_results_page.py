"""The page of results: what it says of each corpus, and that it is what its files make. Data is invented."""

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest

from app.cli.arguments import parser
from benchmarks.kept import read
from benchmarks.results_page import DOCS, RESULTS, keep, kept_reports, main, page
from benchmarks.results_tables import command
from eval.measures.uncertainty import Estimate, share_of
from eval.reports.files import write_comparison
from eval.studies.compare.report import CanaryFigures, TripRagReport
from models.errors import LetheError
from tests.eval.test_trip_rag_page import HOSTILE, figures, quick_report, whole_report
from tests.eval.test_trip_rag_summary import rows_of


@pytest.fixture(scope="module")
def whole() -> TripRagReport:
    canaries = CanaryFigures(
        method="trip", k=5, documents=30, recall={"e-mail address": share_of(0, 30), "age": share_of(3, 30)}
    )
    further = figures("trip", 0.66, 0.07).model_copy(update={"encoder": "another-encoder"})
    return whole_report().model_copy(update={"canaries": (canaries,), "encoders": (further,)})


@pytest.fixture(scope="module")
def made(whole: TripRagReport) -> str:
    return page({"letters": whole})


def test_kept_figures_have_few_digits() -> None:
    paths = list(RESULTS.glob("*.json.gz"))
    assert paths
    for path in paths:
        stored = TripRagReport.model_validate_json(read(path)).model_dump_json(exclude={"rows"})
        assert not re.search(r"\.\d{5}", stored), path.name


def test_the_page_has_a_table_for_each_question(made: str) -> None:
    for part in (
        "| trip | 0.710 (0.680–0.740) | 0.703 | 0.929 |\n| random |",
        "| trip | 0.171 (0.141–0.201) | 0.081 | 0.444 |\n| random |",
        "| age: trip | 0.100 (0.035–0.256) |\n| e-mail address: trip | 0.000 (0.000–0.114) |\n",
        "| letters: redact | 812 slots in 60 documents | 0.119 (0.099–0.144) | 0.110 (0.090–0.133) | 0.021 | "
        "0.900 → 0.910 | 0.100 → 0.190 |\n",
        "| 0.6858 |\n",
        "| letters: P and D | -0.050 (-0.150 to +0.050) | 5,432 | +0.1342 | +0.0764 |",
        "| beta | +0.610 |\n| gamma | +0.720 |\n",
        "| Documents | 1,200, 1,234,567 characters |",
        "| Split | all documents searched, 1% asked about |",
        "| Sensitive entities | 7,654, gold annotations |",
        "| Date | 2030-01-01T00:00:00+00:00 |\n| Machine | an invented machine |\n| Commit | 0123abc |",
        "| Not in the tables | paraphrase: needs a language model",
        "- **Recall@k overlap.** Of the documents",
    ):
        assert part in made, part
    assert not re.search(r"{[{%]|None(?! of)|\bnan\b", made)


def test_corpora_stand_side_by_side_and_without_any_the_page_says_so(whole: TripRagReport) -> None:
    made = page({"one": whole, "two": quick_report()})
    assert "| method | one | two | published: ChatDoctor | published: EnronQA |\n" in made
    assert "| trip | 0.710 (0.680–0.740) | 0.710 (0.680–0.740) | 0.703 | 0.929 |\n" in made
    assert "| beta | +0.610 | – |\n" in made
    text = page({})
    assert "No corpus was measured yet." in text
    assert "## What must go, and what it costs" in text
    assert "| method | letters |" not in text and not re.search(r"{[{%]", text)


def test_tables_are_whole_what_users_named_is_no_markup_and_links_lead_somewhere(made: str) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(tables) == 19
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1, table.splitlines()[0]
    assert HOSTILE not in made
    assert "&lt;script&gt;" in made
    pages = {f"{name}.md" for name in ("benchmark", "bits", "linkage", "wording")}
    assert set(re.findall(r"\]\(([^)]+)\)", made)) == pages
    assert all((DOCS / name).exists() for name in pages)


# -- commands ----------------------------------------------------------------------------------------------


def test_the_command_is_the_one_that_was_given_and_none_is_made_up(whole: TripRagReport, made: str) -> None:
    given = "PATH --corpus mts_dialog --split test"
    known = whole.model_copy(update={"command": given})
    assert f"| Command | `lethe bench trip-rag {given}` |" in page({"one": known})
    asked = parser().parse_args(shlex.split(command(known))[1:])
    assert (asked.path, asked.corpus, asked.split) == ("PATH", "mts_dialog", "test")
    assert "| Command | `not kept with this report` |" in made
    assert "lethe bench trip-rag PATH" not in made
    for name, report in kept_reports().items():
        assert parser().parse_args(shlex.split(command(report))[1:]).corpus == report.corpus.name, name


# -- files -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, whole: TripRagReport) -> Path:
    """What a run leaves, with more digits than are kept."""
    long = whole.frontier.model_copy(update={"areas": {"trip": Estimate(0.123456789, 0.1, 0.2)}})
    run = tmp_path / "run"
    run.mkdir()
    write_comparison(whole.model_copy(update={"frontier": long}), run)
    return run


def test_a_report_is_kept_with_its_rows_and_with_four_digits(
    folder: Path, tmp_path: Path, whole: TripRagReport, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results" / "trip_rag"
    row = rows_of("trip", [0.123456789])[0]
    (folder / "questions.jsonl").write_text(row.model_dump_json() + "\n")
    assert main(["keep", str(folder), "letters"], results, tmp_path) == 0
    assert capsys.readouterr().out.strip() == str(results / "letters.json.gz")
    kept = kept_reports(results)["letters"]
    assert kept.rows == (row,), "paired figures can be taken again"
    assert kept.frontier.areas == {"trip": Estimate(0.1235, 0.1, 0.2)}
    assert (kept.corpus, kept.provenance, kept.promises) == (whole.corpus, whole.provenance, whole.promises)
    assert (kept.frontier_all, kept.frontier.by_trip) == (whole.frontier_all, 23)
    assert kept.methods[0].found[5] == Estimate(0.9, 0.8667, 0.9257, 360, 400)
    before = (results / "letters.json.gz").read_bytes()
    assert keep(folder, "letters", results).read_bytes() == before


def test_a_name_that_is_no_file_is_refused(folder: Path, tmp_path: Path) -> None:
    refused = r"^'.*' is no name of a corpus: give small letters, digits, hyphens and _\.$"
    for name in ("", "..", "a/b", "/tmp/x", "Big", "a b"):
        with pytest.raises(LetheError, match=refused):
            keep(folder, name, tmp_path)


def test_what_is_no_report_is_refused_without_its_content(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "report.json"
    report = json.loads(path.read_text())
    report["corpus"]["documents"] = report["seed"] = "Tobias Keller"
    path.write_text(json.dumps(report))
    assert main(["keep", str(folder), "letters"], tmp_path, tmp_path) == 1
    assert capsys.readouterr().err == (
        f"{path}: no report of lethe bench trip-rag (2 fields do not fit, the first is corpus.documents). "
        "Run it again with --output, and keep that.\n"
    )
    for broken, why in (("[1", "JSONDecodeError"), ("[1]", "TypeError"), (None, "No such file or directory")):
        path.unlink() if broken is None else path.write_text(broken)
        said = rf"report\.json: no report of lethe bench trip-rag \({why}\)\. Run it again with --output"
        with pytest.raises(LetheError, match=said):
            keep(folder, "letters", tmp_path)
    spoiled = tmp_path / "spoiled.json.gz"
    for content, reason in (
        (gzip.compress(b"{}"), "fields do not fit, the first is corpus"),
        (b"{}", "BadGzipFile"),
        (gzip.compress(b"{}" * 99)[:-9], "EOFError"),
    ):
        spoiled.write_bytes(content)
        with pytest.raises(LetheError, match=rf"spoiled\.json\.gz: no report .*{reason}\)"):
            kept_reports(tmp_path)


def test_a_stale_page_fails_the_check_and_is_written_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, path = tmp_path / "results", tmp_path / "results.md"
    keep(folder, "letters", results)

    def run(*words: str) -> tuple[int, str]:
        return main([*words], results, path), capsys.readouterr().out

    assert run("--check") == (1, f"stale: {path}\n")
    assert not path.exists()
    pages = tmp_path / "pages"
    assert run("--pages", str(pages)) == (0, f"{pages / 'letters' / 'report.html'}\n")
    assert "All 58 points" in (pages / "letters" / "report.html").read_text()
    assert not path.exists()
    assert run() == (0, f"written: {path}\n")
    assert run("--check") == (0, "")
    path.write_text("by hand")
    assert run("--check")[0] == 1
    assert run()[0] == 0
    assert path.read_text() == page(kept_reports(results))
