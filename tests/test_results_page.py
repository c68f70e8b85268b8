"""The page of results: what it says of each corpus, and that it is what its files make. Data is invented."""

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.arguments import parser
from benchmarks.results_corpus import command
from benchmarks.results_goals import Goal, goals_table
from benchmarks.results_page import DOCS, RESULTS, files, keep, kept_reports, main, page, stale
from benchmarks.results_plots import as_file, title_of, tradeoff_plots, weight_plots
from eval.measures.contrasts import Figure
from eval.measures.intervals import Share, share_of
from eval.trip_rag.files import write_report
from eval.trip_rag.report import CanaryFigures, Summary, TripRagReport
from models.errors import LetheError
from tests.test_trip_rag_page import (
    HOSTILE,
    figures,
    promise,
    quick_report,
    whole_report,
)
from tests.test_trip_rag_summary import rows_of

SVG = "{http://www.w3.org/2000/svg}"


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


def test_the_page_is_what_the_results_make() -> None:
    assert stale(RESULTS, DOCS) == [], "run: python -m benchmarks.results_page"


def test_kept_results_have_no_rows_and_few_digits() -> None:
    for path in RESULTS.glob("*.json"):
        told = path.read_text(encoding="utf-8")
        assert not TripRagReport.model_validate_json(told).rows, path.name
        assert not re.search(r"\.\d{5}", told), path.name


def test_the_page_shows_every_result(made: str) -> None:
    for part in (
        "| Recall@1 overlap of trip, over that of redact | ≥ 1.50 | ≥ 2.00 | 1.69 / 1.24 | 1.69 (1.56 to "
        "1.84) |",
        "- [letters](#letters)",
        "| Documents | 1,200, 1,234,567 characters |",
        "| Split | all documents searched, 1% asked about |",
        "| Sensitive entities | 7,654, gold annotations |",
        "| Date | 2030-01-01T00:00:00+00:00 |\n| Commit | 0123abc |\n| Machine | an invented machine |",
        "| trip | all-MiniLM-L6-v2 | 0.710 (0.680–0.740) | 0.760 (0.730–0.790) | 0.790 (0.760–0.820) "
        "| 0.640 (0.592–0.686) | 0.703 / 0.760 / 0.789 | 0.929 / 0.702 / 0.679 |",
        "| trip | all-MiniLM-L6-v2 | 0.115 (0.085–0.145) | 0.054 (0.024–0.084) | 0.171 (0.141–0.201) "
        "| 0.077 / 0.081 | 0.364 / 0.444 |",
        "extraction (health, untargeted); verbatim (worst case), k = 5",
        "| redact | 0.050 (0.037–0.067) | 0.050 (0.037–0.067) | 0.000 (0.000–0.005) | 0.050 (0.037–0.067) |",
        "| 0.21 | 0.48 |",
        "| presidio | 0.310 (0.281–0.341) | 0.510 (0.488–0.532) | 0.600 (0.578–0.621) | 1 |",
        "| redact | 812 in 60 | 0.119 (0.099–0.144) |",
        "| method | k | documents | e-mail address | age |",
        "| trip | 5 | 30 | 0.000 (0.000–0.114) | 0.100 (0.035–0.256) |",
        "| 0.6858 / 0.7447 / 0.1043 |",
        "| P and D | -0.050 (-0.150 to +0.050) | 5,432 | +0.1342 | +0.0764 |",
        "| beta | +0.610 | 36 |",
        "| 0.2, 0.2 | 0.547 (0.517–0.577) |",
        "![Recall@1 overlap by identifiers left](results/letters-recall.svg)",
        "![Recall@1 overlap by sensitive entities left](results/letters-recall-all.svg)",
        "![ROUGE-L by sensitive entities left](results/letters-answers.svg)",
        "![Identifiers left in the index](results/letters-weights-leakage.svg)",
        "by the identifiers that are left: 31 of 37, 23 of them by trip alone; by all sensitive entities: "
        "19 of 38, 7 of them by trip alone.",
        "| method | points | area, identifiers | area, all |",
        "| trip | 11 | 0.853 (0.803–0.903) | 0.734 (0.684–0.784) |\n| random | 11 | 0.512 (0.462–0.562) | ",
        "| lprag | 8 | 0.411 (0.361–0.461) | – |\n| extract | 1 | – | 0.301 (0.251–0.351) |",
        "| trip: at most 5 % of identifiers | 90 % | 1,200 | 800 of 1,000 | 20 | 0.020 | 0.100 | 0.025 |",
        "| trip: at most 5 % of all | 90 % | 1,200 | 600 of 1,000 | 30 | 0.030 | 0.100 | 0.050 |",
        "| scores alone: at most 5 % of identifiers | 90 % | 1,200 | 500 of 1,000 | 40 | 0.040 ",
        "| scores alone: at most 5 % of all | 90 % | 1,200 | 400 of 1,000 | 48 | 0.048 | 0.100 | 0.120 |",
        "- paraphrase: needs a language model",
        "models.md#how-many-scored-snippets-it-takes",
    ):
        assert part in made
    assert "Not measured in this run." not in made
    assert not re.search(r"@[A-Z]+@|None|\bnan\b", made)


def test_another_encoder_has_no_published_figures_beside_it(made: str) -> None:
    (row,) = re.findall(r"\| trip \| another-encoder \| 0\.660 .*", made)
    assert row.endswith("| – | – |")


def test_every_row_of_a_table_has_as_many_cells_as_its_head(made: str) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(tables) > 15
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1, table.splitlines()[0]


def test_what_users_named_is_no_markup(made: str) -> None:
    assert HOSTILE not in made
    assert "&lt;script&gt;" in made


def test_every_link_of_the_page_leads_somewhere(whole: TripRagReport, made: str) -> None:
    written = files({"letters": whole})
    images = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", made)
    assert set(images) == set(written) - {"results.md"}
    assert len(images) == 6
    models = (DOCS / "models.md").read_text(encoding="utf-8")
    assert "### How many scored snippets it takes\n" in models


def test_a_quick_run_says_what_it_left_out() -> None:
    told = page({"quick": quick_report()})
    for title in (
        "Leakage under extraction", "Guesses and reconstruction", "Canaries", "Ablations",
        "Whether the scores differ", "Weights", "Promised thresholds",
    ):  # fmt: skip
        assert f"### {title}\n\nNot measured in this run." in told
    assert "### Not in the tables" not in told
    assert "left: nothing was compared; by all sensitive entities: nothing was compared." in told
    assert not re.search(r"@[A-Z]+@|None", told)


def test_where_nothing_identifies_the_second_areas_still_stand() -> None:
    report = whole_report()
    second = report.model_copy(update={"frontier": quick_report().frontier})
    told = page({"second": second})
    assert "left: nothing was compared; by all sensitive entities: 19 of 38, " in told
    assert "| trip | 11 | – | 0.734 (0.684–0.784) |\n| random | 11 | – | 0.623 (0.573–0.673) |\n" in told


def test_without_results_the_page_says_so() -> None:
    told = page({})
    assert "No corpus was measured yet." in told
    assert "## What the figures say" in told
    assert not re.search(r"@[A-Z]+@", told)


# -- goals -------------------------------------------------------------------------------------------------


def cells_of(report: TripRagReport) -> dict[str, str]:
    """The measured cell of each goal, by its title."""
    rows = [line.strip("| ").split(" | ") for line in goals_table({"one": report}).splitlines()[2:]]
    return {row[0]: row[-1] for row in rows}


def promised(whose: str, policy: str, most: str = "5.0 %") -> str:
    """The title of a promise."""
    return f"promises of at most {most} of {whose} left by {policy}: made and broken"


def test_goals_tell_what_was_reached_and_missed(whole: TripRagReport) -> None:
    assert cells_of(whole) == {
        "Recall@1 overlap of trip, over that of redact": "1.69 (1.56 to 1.84)",
        "Recall@1 overlap of trip": "0.71 (0.68 to 0.74)",
        "identifiers extracted from the verbatim victim, minus those of redact": (
            "*+0.000* (-0.022 to +0.022)"
        ),
        "all sensitive entities extracted from the verbatim victim, relative to no sanitizing": (
            "*-93.0 %* (-94.1 % to -91.7 %)"
        ),
        "ROUGE-L of answers, relative to redact": "+20.4 % (-8.2 % to +60.5 %)",
        "points of baselines that Lethe's curve dominates, by identifiers in the index": (
            "**83.8 %** (70.0 % to 95.0 %)"
        ),
        "the same, by all sensitive entities in the index": "**50.0 %**",
        promised("identifiers", "trip"): "2.0 %, 20 of 1,000 splits; made in 800",
        promised("identifiers", "trip", "1.0 %"): "none made",
        promised("all sensitive entities", "trip"): "3.0 %, 30 of 1,000 splits; made in 600",
        promised("identifiers", "scores alone"): "4.0 %, 40 of 1,000 splits; made in 500",
        promised("all sensitive entities", "scores alone"): "4.8 %, 48 of 1,000 splits; made in 400",
    }


def test_a_promise_that_breaks_too_often_is_missed(whole: TripRagReport) -> None:
    broken = whole.promises[0].model_copy(update={"violated": 101})
    cells = cells_of(whole.model_copy(update={"promises": (broken,)}))
    assert cells[promised("identifiers", "trip")] == "**10.1 %**, 101 of 1,000 splits; made in 800"


def test_without_what_is_compared_nothing_is_measured(whole: TripRagReport) -> None:
    cells = cells_of(whole.model_copy(update={"summary": Summary(), "promises": ()}))
    assert len(cells) == 7
    assert set(cells.values()) == {"not measured"}


@pytest.mark.parametrize("title", ["identifiers extracted", "all sensitive entities extracted", "ROUGE-L"])
def test_next_to_nothing_has_no_sign_of_less(whole: TripRagReport, title: str) -> None:
    least = Figure(-1e-5, -2e-5, 1e-5)
    changed = {"identifier_excess": least, "leakage_change": least, "rouge_change": least}
    summary = whole.summary.model_copy(update=changed)
    (told,) = (
        v for k, v in cells_of(whole.model_copy(update={"summary": summary})).items() if k.startswith(title)
    )
    assert re.findall(r"[+-]0\.0+", told) and "-0.0" not in told


def test_each_corpus_has_its_column_and_promises_of_others_are_not_its_own(whole: TripRagReport) -> None:
    table = goals_table({"one": quick_report(), "two": whole}).splitlines()
    assert table[0].endswith(
        "other data | one: 1,200 documents, 400 questions | two: 1,200 documents, 400 questions |"
    )
    told = {line.strip("| ").split(" | ")[0]: line for line in table}
    assert told[promised("identifiers", "trip")].endswith(
        "| not measured | 2.0 %, 20 of 1,000 splits; made in 800 |"
    )
    one = whole.model_copy(update={"promises": (promise("trip", "all", 0.05, promised=100, violated=4),)})
    kinds = {"policy": "scores alone", "counted": "identifiers", "max_leak": 0.02, "confidence": 0.95}
    for name, other in kinds.items():
        changed = one.promises[0].model_copy(update={name: other, "violated": 3})
        rows = goals_table({"one": one, "two": one.model_copy(update={"promises": (changed,)})}).splitlines()
        assert rows[-2].endswith("| 0.4 %, 4 of 1,000 splits; made in 100 | not measured |")
        assert rows[-1].endswith("| not measured | 0.3 %, 3 of 1,000 splits; made in 100 |")


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 3), st.booleans())
def test_what_is_aimed_at_is_never_a_miss(value: float, least: float, more: float, lower: bool) -> None:
    aim = least - more if lower else least + more
    goal = Goal("t", lambda found: None, "{:.3f}".format, least, aim, lower)
    cell = goal.cell(Figure(value))
    reaches = value <= aim if lower else value >= aim
    misses = value > least + 1e-6 if lower else value < least - 1e-6
    assert cell.strip("*") == f"{value:.3f}"
    assert not reaches or cell == f"*{value:.3f}*"
    assert not misses or cell == f"**{value:.3f}**"


# -- commands ----------------------------------------------------------------------------------------------


def test_the_command_is_the_one_that_was_given(whole: TripRagReport) -> None:
    given = "PATH --corpus mts_dialog --split test"
    known = whole.model_copy(update={"command": given})
    assert f"| Command | `lethe bench trip-rag {given}` |" in page({"one": known})
    asked = parser().parse_args(shlex.split(command(known).strip("`"))[1:])
    assert (asked.path, asked.corpus, asked.split) == ("PATH", "mts_dialog", "test")


def test_no_command_is_made_up(made: str) -> None:
    assert "| Command | not kept with this report |" in made
    assert "lethe bench trip-rag PATH" not in made


def test_the_commands_of_kept_results_are_those_of_the_verb() -> None:
    for name, report in kept_reports().items():
        asked = parser().parse_args(shlex.split(command(report).strip("`"))[1:])
        assert asked.corpus == report.corpus.name, name


# -- plots -------------------------------------------------------------------------------------------------


def test_a_plot_is_a_document_with_all_that_the_page_draws(whole: TripRagReport) -> None:
    drawn = {**tradeoff_plots(whole), **weight_plots(whole)}
    assert list(drawn) == [
        "recall", "recall-all", "answers", "weights-recall", "weights-leakage", "weights-answers",
    ]  # fmt: skip
    for svg in drawn.values():
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert title_of(svg)
        assert not re.search(r"<script|href|url\(|@import", svg)
    assert len(re.findall(r"<polyline", drawn["recall"])) == 5
    legend = re.findall(r'<text x="42" y="12">(.*?)</text>', drawn["recall"])
    assert legend == list(dict.fromkeys(each.method for each in (*whole.methods, *whole.sweep)))
    assert drawn["weights-recall"].count('class="heat"') == 36
    assert drawn["weights-answers"].count('class="solid"') == 36


@pytest.mark.parametrize(
    ("plot", "title", "told"),
    [
        ("recall", "Recall@1 overlap by identifiers left", "identifiers left 7.0%, usefulness 0.710"),
        (
            "recall-all",
            "Recall@1 overlap by sensitive entities left",
            "sensitive entities left 27.0%, usefulness 0.710",
        ),
        ("answers", "ROUGE-L by sensitive entities left", "sensitive entities left 27.0%, usefulness 0.171"),
    ],
)
def test_each_trade_off_shows_the_leakage_and_use_of_its_title(
    whole: TripRagReport, plot: str, title: str, told: str
) -> None:
    drawn = tradeoff_plots(whole)[plot]
    assert title_of(drawn) == title
    assert f"<title>trip: default, {told}</title>" in drawn


def test_every_class_of_a_plot_has_a_style(whole: TripRagReport) -> None:
    for svg in {**tradeoff_plots(whole), **weight_plots(whole)}.values():
        style = svg.split("<style>")[1].split("</style>")[0]
        used = {name for names in re.findall(r'class="([^"]+)"', svg) for name in names.split()}
        assert {name for name in used if f".{name} " not in style} == set()
        assert not {name for name in re.findall(r"var\((--[^)]+)\)", style) if f"{name}:" not in style}


def test_a_plot_holds_its_legend_and_its_title() -> None:
    items = "".join(
        f'<li><svg viewBox="0 0 34 14"><path class="mark" d="M0 0"/></svg>{name}</li>' for name in "abcdef"
    )
    figure = (
        '<figure class="chart plot"><figcaption><strong>A &amp; B</strong><span>how</span></figcaption>'
        '<div class="wide"><svg viewBox="0 0 960 460"><path class="axis" d="M0 0"/></svg></div>'
        f'<ul class="legend">{items}</ul></figure>'
    )
    root = ElementTree.fromstring(as_file(figure))
    left, top, width, height = (int(number) for number in root.attrib["viewBox"].split())
    assert (root.attrib["width"], root.attrib["height"]) == (str(width), str(height))
    assert title_of(as_file(figure)) == "A & B"
    places = re.findall(r'transform="translate\((\d+) (\d+)\)"', as_file(figure))
    lines = {int(y) for x, y in places if (x, y) != ("0", "0") and y != "0"}
    assert len(lines) == 2
    assert all(y + 14 <= top + height for y in lines)
    assert all(int(x) + 42 < left + width for x, _ in places)


def test_nothing_measured_makes_no_plot(whole: TripRagReport) -> None:
    def without(*shares: str) -> TripRagReport:
        unknown = dict.fromkeys(shares, Share(0, 0, None))
        bare = tuple(each.model_copy(update=unknown) for each in whole.methods)
        return whole.model_copy(update={"methods": bare, "sweep": (), "grid": ()})

    empty = without("identifiers", "disclosed")
    assert tradeoff_plots(empty) == weight_plots(empty) == {}
    assert list(tradeoff_plots(without("identifiers"))) == ["recall-all", "answers"]
    assert list(tradeoff_plots(without("disclosed"))) == ["recall"]


# -- files -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, whole: TripRagReport) -> Path:
    """What a run leaves, with more digits than are kept."""
    long = whole.frontier.model_copy(update={"areas": {"trip": Figure(0.123456789, 0.1, 0.2)}})
    run = tmp_path / "run"
    run.mkdir()
    write_report(whole.model_copy(update={"frontier": long}), run)
    return run


def test_a_report_is_kept_without_rows_and_with_four_digits(
    folder: Path, tmp_path: Path, whole: TripRagReport, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results" / "trip_rag"
    row = rows_of("trip", [0.5])[0]
    told = {**json.loads((folder / "report.json").read_text()), "rows": [row.model_dump()]}
    (folder / "report.json").write_text(json.dumps(told))
    assert main(["keep", str(folder), "letters"], results, tmp_path) == 0
    assert capsys.readouterr().out.strip() == str(results / "letters.json")
    kept = kept_reports(results)["letters"]
    assert kept.rows == ()
    assert kept.frontier.areas == {"trip": Figure(0.1235, 0.1, 0.2)}
    assert (kept.corpus, kept.provenance, kept.promises) == (whole.corpus, whole.provenance, whole.promises)
    assert (kept.frontier_all, kept.frontier.by_trip) == (whole.frontier_all, 23)
    assert kept.methods[0].found[5] == Share(360, 400, 0.9, 0.8667, 0.9257)
    assert keep(folder, "letters", results).read_text() == (results / "letters.json").read_text()


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp/x", "Big", "a b"])
def test_a_name_that_is_no_file_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(
        LetheError, match=r"^'.*' is no name of a corpus: give small letters, digits, hyphens and _\.$"
    ):
        keep(folder, name, tmp_path)


def test_what_is_no_report_is_refused_without_its_content(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "report.json"
    told = json.loads(path.read_text())
    told["corpus"]["documents"] = told["seed"] = "Tobias Keller"
    path.write_text(json.dumps(told))
    assert main(["keep", str(folder), "letters"], tmp_path, tmp_path) == 1
    assert capsys.readouterr().err == (
        f"{path}: no report of lethe bench trip-rag (2 fields do not fit, the first is corpus.documents). "
        "Run it again with --output, and keep that.\n"
    )
    path.write_text("[1")
    with pytest.raises(LetheError, match=r"trip-rag \(JSONDecodeError\)\. Run it again with --output"):
        keep(folder, "letters", tmp_path)
    path.write_text("[1]")
    with pytest.raises(LetheError, match=r"no report of lethe bench trip-rag \(TypeError\)"):
        keep(folder, "letters", tmp_path)
    path.unlink()
    with pytest.raises(LetheError, match=r"report\.json: no report .* \(No such file or directory\)\."):
        keep(folder, "letters", tmp_path)
    (tmp_path / "spoiled.json").write_text("{}")
    with pytest.raises(
        LetheError, match=r"spoiled\.json: no report .* fields do not fit, the first is corpus\)"
    ):
        kept_reports(tmp_path)


def test_a_stale_file_fails_the_check_and_is_written_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    docs.mkdir()
    keep(folder, "letters", results)
    assert main(["--check"], results, docs) == 1
    assert "stale: docs/results.md\n" in capsys.readouterr().out
    assert not (docs / "results.md").exists()
    assert main([], results, docs) == 0
    assert "written: docs/results/letters-recall.svg\n" in capsys.readouterr().out
    assert main(["--check"], results, docs) == 0
    assert capsys.readouterr().out == ""
    (docs / "results.md").write_text("by hand")
    (docs / "results" / "gone-recall.svg").write_text("<svg/>")
    (docs / "results" / "letters-answers.svg").unlink()
    assert main(["--check"], results, docs) == 1
    assert capsys.readouterr().out.splitlines() == [
        "stale: docs/results.md",
        "stale: docs/results/gone-recall.svg",
        "stale: docs/results/letters-answers.svg",
    ]
    assert main([], results, docs) == 0
    assert stale(results, docs) == []
    assert not (docs / "results" / "gone-recall.svg").exists()
