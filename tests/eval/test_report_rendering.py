"""Cells, tables, plots and pages whatever they are of. All data is invented."""

import re
from itertools import islice
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from eval.measures.uncertainty import Estimate
from eval.reports import render as plots
from eval.reports import schema
from eval.reports.render import LOOKS, draw, html_page, markdown_table, terminal_table
from eval.reports.schema import NOTHING, Cell, Plot, Point, Report, Row, Section, Series, Table, estimate_cell
from tests.commands import imported_by
from tests.pages import drawings_of, needs_nothing_else, read, words_of

HOSTILE = '<script>alert("x")</script>'


def curve(name: str, *points: tuple[float, float]) -> Series:
    return Series(name, tuple(Point(x, y, f"{x:g}") for x, y in points))


PLOTS = (
    Plot("bars", "Bars", "how", (schema.bars("one", {"a": Estimate(0.5, 0.4, 0.6), "b": Estimate(0.25)}),)),
    Plot("curves", "Curves", "how", (curve("one", (0.1, 0.4), (0.3, 0.8)),), "across", "up"),
    Plot("marks", "Marks", "how", (curve("one", (0.1, 0.4), (0.3, 0.8)),), "across", "up"),
    Plot(
        "maps",
        "Maps",
        "how",
        (Series("m", (Point(0.2, 1.0, "0.500", z=0.5),)),),
        "across",
        "up",
    ),
)


def page_of(*plots: Plot, words: str = "words", table: Table | None = None) -> str:
    section = Section(words, words, plots, (words,), [table] if table else (), [(words, words)])
    return html_page(Report(words, words, (words,), [section], [(Cell(words), words)], [words]))


@pytest.mark.parametrize(
    ("cell", "text", "ends", "note"),
    [
        (schema.share(Estimate(0.25, 0.1, 0.5, 3, 12)), "25.0%", ("10.0", "50.0"), "3 of 12"),
        (schema.share(Estimate(0.25, hits=3, n=1_200)), "25.0%", None, "3 of 1,200"),
        (schema.mean(Estimate(0.5, 0.25, 0.75, n=7)), "0.500", ("0.250", "0.750"), "n = 7"),
        (schema.mean(Estimate(0.5, n=7)), "0.500", None, "n = 7"),
        (estimate_cell(Estimate(0.5, 0.25)), "0.500", None, ""),
        (estimate_cell(Estimate(-0.00001, -0.2, 0.1), "{:+.1%}"), "+0.0%", ("-20.0", "+10.0"), ""),
        (
            estimate_cell(Estimate(20_841, 20_133, 21_485), "{:,.0f}"),
            "20,841",
            ("20,133", "21,485"),
            "",
        ),
        (schema.printed(0.0), "0.000", None, ""),
        (schema.printed(None), "–", None, ""),
    ],
)
def test_cells_tell_what_they_count(cell: Cell, text: str, ends: tuple[str, str] | None, note: str) -> None:
    assert (cell.text, cell.ends, cell.note) == (text, ends, note)


def test_what_was_not_measured_is_no_zero() -> None:
    assert NOTHING.text == "not measured"
    for estimate in (None, Estimate(), Estimate(why_not="nobody asked")):
        assert schema.share(estimate) == schema.mean(estimate) == estimate_cell(estimate) == NOTHING
        drawn = schema.bars("one", {"a": estimate, "b": Estimate(0.0)})
        assert [each.label for each in drawn.points] == ["b"]


def test_a_table_in_markdown_aligns_figures_to_the_right() -> None:
    signed = estimate_cell(Estimate(0.1, -0.2, 0.3), "{:+.1f}")
    table = Table("c", ("x", "y"), [("a", estimate_cell(Estimate(0.5, 0.25, 0.75))), ("b", NOTHING)])
    assert markdown_table(table) == (
        "| x | y |\n| --- | ---: |\n| a | 0.500 (0.250–0.750) |\n| b | not measured |\n"
    )
    assert markdown_table(table, words=2).splitlines()[1] == "| --- | --- |"
    # Signs are kept apart from the dash of an interval.
    assert "| +0.1 (-0.2 to +0.3) |" in markdown_table(Table("c", ("rho",), [(signed,)]))
    cells = [Cell("a", mark="em"), Cell("b", mark="strong"), Cell("c`|d", mark="code"), Cell("", mark="code")]
    assert markdown_table(Table("", "abcd", [cells])).splitlines()[2] == "| *a* | **b** | `c'/d` | ` ` |"


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=4))
def test_no_words_end_a_cell_or_a_row_or_are_markup(rows: list[list[str]]) -> None:
    lines = markdown_table(Table("", ("a", "b"), rows)).split("\n")
    assert len(lines) == len(rows) + 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines[:-1])
    assert not any(re.search("<|>", line) for line in lines)


def shown(table: Table, width: int, narrow: bool) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(terminal_table(table, width, narrow))
    return capture.get()


def test_a_terminal_shows_the_interval_below_and_no_markup_of_users() -> None:
    table = Table("t", ("arm", "share"), [("[red]", schema.share(Estimate(0.25, 0.1, 0.5, 3, 12)))])
    for narrow in (True, False):
        said = shown(table, 60, narrow)
        assert said.count("[red]") == 1 and "25.0%" in said and ("10.0-50.0" in said) is narrow


SYSTEMS = ("collection", "origin", "redact", "rules alone", "random within rules", "chance")
NAMES = ("left-direct", "singled-out", "found-first")


FIGURES = [
    schema.share(Estimate(0.123, 0.101, 0.145)),
    schema.share(Estimate(1.0, 0.949, 1.0)),
    Cell("not measured"),
]
AUDITED = Table(
    "An invented verdict about an invented collection",
    ("measure", *SYSTEMS),
    [[name, *FIGURES, *FIGURES] for name in NAMES],
)
"""A table as an audit has it; the figures are invented."""


@pytest.mark.parametrize("width", [50, 60, 70, 79, 80, 160])
@pytest.mark.parametrize("narrow", [True, False])
def test_a_terminal_of_any_width_is_shown_whole_words_and_figures(width: int, narrow: bool) -> None:
    said = shown(AUDITED, width, narrow)
    assert max(len(line.rstrip()) for line in said.splitlines()) <= width
    words = re.findall(r"[^\s()]+", said)
    assert {*NAMES, *" ".join(SYSTEMS).split(), "12.3%", "100.0%", "measured"} <= set(words)
    assert "…" not in said and ("94.9-100.0" in words) is (narrow or width < 70)


def test_a_table_that_fits_80_columns_stays_one() -> None:
    lines = shown(AUDITED, 80, narrow=True).splitlines()
    (row,) = [line.split() for line in lines if line.strip().startswith("left-direct")]
    assert row == ["left-direct", "12.3%", "100.0%", "not", "12.3%", "100.0%", "not"]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.kind)
def test_a_plot_is_the_same_each_time_and_needs_nothing_else(plot: Plot) -> None:
    drawn = draw(plot)
    assert drawn is not None
    draw.cache_clear()
    assert draw(plot) == drawn
    needs_nothing_else(page_of(plot))
    root = ElementTree.fromstring(drawn)
    assert (root.get("role"), root.get("aria-label")) == ("img", f"{plot.title}. how")
    words = {(each.text or "").strip() for each in root.iter("text")}
    assert {point.label for series in plot.series for point in series.points} <= words
    assert {plot.across, plot.up} - {""} <= words


@pytest.mark.parametrize("kind", ["bars", "curves", "marks", "maps"])
def test_a_plot_escapes_what_users_named(kind: str) -> None:
    names = (HOSTILE, "_$x^2$", "a & b", "日本 \N{GRINNING FACE}")
    points = {name: (Point(0.0, 0.5, name, z=0.5), Point(0.5, 0.5, name, z=1.0)) for name in names}
    series = tuple(Series(*each) for each in points.items())
    page = page_of(Plot(kind, HOSTILE, HOSTILE, series, HOSTILE, HOSTILE))  # type: ignore[arg-type]
    assert HOSTILE not in page
    (drawing,) = drawings_of(page)
    words = {(each.text or "").strip() for each in drawing.iter("text")}
    assert set(names) <= words


def test_more_leakage_is_to_the_right_and_better_above() -> None:
    path = r'<path d="M ([\d.]+) ([\d.]+) \s*L ([\d.]+) ([\d.]+)\s*"'
    lines = [list(map(float, each)) for each in re.findall(path, draw(PLOTS[1]) or "")]
    ((x1, y1, x2, y2),) = [each for each in lines if each[0] != each[2] and each[1] != each[3]]
    assert x1 < x2 and y1 > y2


def test_fourteen_curves_look_different_without_color() -> None:
    looks = islice(plots._looks(), LOOKS)
    assert len({(look["marker"], look["markerfacecolor"] == "none") for look in looks}) == LOOKS == 14


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_every_point_has_a_mark(points: list[tuple[float, float]]) -> None:
    drawn = draw(Plot("marks", "t", "w", (curve("one", *points), Series("none", ())), "a", "u"))
    assert drawn is not None
    ElementTree.fromstring(drawn)
    assert "none" not in re.findall(r">\s*(\w+)\s*</text>", drawn), "an empty curve is in no legend"
    assert len(re.findall(r"<use ", drawn)) >= len(set(points))


def test_without_matplotlib_the_page_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    draw.cache_clear()
    cell = schema.share(Estimate(0.25, hits=1, n=4))
    page = page_of(PLOTS[0], table=Table("c", ("a", "b"), [("row", cell)]))
    draw.cache_clear()
    page_words = words_of(page)
    assert "matplotlib is not installed: pip install 'lethe[reports]'." in page_words
    assert "row 25.0% 1 of 4" in page_words and "<svg" not in page


def test_matplotlib_and_jinja_are_imported_late() -> None:
    assert imported_by("import eval.reports.files", ("matplotlib", "jinja2", "rich")) == []


def test_a_page_escapes_every_part() -> None:
    rows: list[Row] = [(Cell(HOSTILE, note=HOSTILE), HOSTILE)]
    table = Table(HOSTILE, (HOSTILE, HOSTILE), rows, ((HOSTILE, 1),), HOSTILE)
    page = page_of(words=HOSTILE, table=table)
    assert HOSTILE not in page and "<script" not in page
    assert read(page).open == []
    assert words_of(page).count(HOSTILE) == 20


def test_figures_of_a_page_have_intervals_and_counts_below() -> None:
    cell = estimate_cell(Estimate(0.25, 0.1, 0.5), schema.PERCENT, "3 of 12")
    page = page_of(table=Table("c", ("a", "b"), [("row", cell)]))
    figure = "25\\.0% <small>10\\.0 to 50\\.0</small> <small>3 of 12</small>"
    assert page.count("<tr") == 2
    grouped = page_of(table=Table("c", ("x", "a", "b"), [], (("g", 2),)))
    assert grouped.count("<tr") == 2, "groups have a line of heads of their own"
    assert re.search(f'<td data-head="[^"]*">{figure}</td>', page) and "Not a verdict." in page
