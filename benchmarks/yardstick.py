"""Tables of what annotators marked, of searching and of answers, for README.md and docs/results.md.

The references are not Lethe's: annotators said what must go, in documents that nothing learned from. The
files are those that ``lethe bench marks``, ``benchmarks.searching`` and ``benchmarks.answers`` wrote.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kept import read
from eval.measures.uncertainty import Estimate, paired_ratio
from eval.reports.render import markdown_table
from eval.reports.schema import DASH, Cell, Plot, Point, Row, Series, Table, estimate_cell, paired_cell
from eval.studies.marks.methods import LETHE, LOWEST, ORACLE, ORIGIN, RANDOM, REDACT, TRIP
from eval.studies.marks.study import MEAN, MarkedPart, MarksReport
from eval.tasks.marks import ANY, CHANGED, ENTITIES_STANDING, LEFT, TOUCHED, WORDS_STANDING
from ingest.deciding.baselines.within_rules import RULES_ALONE

RESULTS = Path(__file__).parent / "results"
HELD_OUT = "held out"
WHOLE = "{:.0%}"
NAMES: Mapping[str, str] = {
    ORIGIN: "unsanitized",
    REDACT: "everything redacted",
    RULES_ALONE: "hard rules alone",
    RANDOM: "hard rules and a random choice",
    LOWEST: "hard rules and lowest divergence",
    TRIP: "TRIP-RAG (`trip`), not calibrated",
    LETHE: "Lethe (`lethe`)",
    ORACLE: "oracle: what annotators say",
}
CORPORA: Mapping[str, str] = {
    "visits_mail_gold": "visits and mail",
    "spia_cases": "court cases",
    "spia_posts": "posts",
}
ASKED: Mapping[str, str] = {
    "mts_dialog": "dialogues",
    "aci_bench": "visits",
    "aeslc": "mails",
    "tab": "court cases",
}
SUMMED_UP = (
    ("left", 2, LEFT),
    ("left of what should be generalized", 1, LEFT),
    ("a word still stands", 2, WORDS_STANDING),
    ("changed needlessly", 0, TOUCHED),
)
"""What of the marks the summary shows: in words, must and count."""
CLASSES = (("DIRECT", 2), ("QUASI", 2), ("QUASI", 1), ("SENSITIVE", 1))
HYBRID, WORDS, PASSAGES = "hybrid", "words first", "bare passages"
COMPARED = (ORIGIN, RANDOM, TRIP, LETHE)
"""The methods that ways of searching are shown for."""


def tables() -> dict[str, str]:
    """Every table in Markdown, by its name in the templates."""
    marks = MarksReport.model_validate_json(read(RESULTS / "marks.json"))
    found = json.loads(read(RESULTS / "searching.json"))
    answers = json.loads(read(RESULTS / "answers.json"))
    sizes = json.loads(read(RESULTS / "search_scale.json"))
    made = {
        "yardstick": _summary(marks, found),
        "marks": _classes(marks),
        "paired": _paired(marks),
        "needless": _needless(marks),
        "overlap": _overlap(found),
        "searching": _ways(found),
        "search_ratios": _ratios(found),
        "search_scale": _scale(sizes),
        "answered": _answers(answers),
    }
    return {name: markdown_table(each).rstrip() for name, each in made.items()} | {
        "marked_documents": _documents(marks),
        "searched_documents": _searched(found),
        "differences": _differences(marks),
        "quoted": _quoted(answers),
        "measured": _measured(marks, found),
        "search_scale_made": _scale_made(sizes),
    }


def cost() -> Plot:
    """What each method costs and what it leaves, by corpus: the first picture of the README."""
    marks = MarksReport.model_validate_json(read(RESULTS / "marks.json"))
    shown = {REDACT: "everything redacted", RANDOM: "as much, drawn", TRIP: "trip", LETHE: "lethe"}
    series = []
    for corpus, part in _parts(marks):
        for words, must, count in (
            ("changed, though it may stay", 0, TOUCHED),
            ("left, though it has to go", 2, LEFT),
        ):
            points = [
                Point(0, found.value, name, (found.low or 0.0, found.high or 0.0))
                for method, name in shown.items()
                if (found := _share(part, method, ANY, must, count)) and found.value is not None
            ]
            size = _size(_share(part, LETHE, ANY, must, count))
            series.append(Series(f"{corpus} (n {size}): {words}", tuple(points)))
    words = "Of the mentions that annotators marked, with 95 % intervals: what it cost, and what it left."
    return Plot("bars", "What it cost, what it protects", words, tuple(series))


def _parts(report: MarksReport) -> Iterator[tuple[str, MarkedPart]]:
    """The held-out part of each corpus, by its name on the pages."""
    for corpus in report.corpora:
        for part in corpus.parts:
            if part.name == HELD_OUT:
                yield CORPORA.get(corpus.name, corpus.name), part


def _share(part: MarkedPart, method: str, kind: str, must: int, count: str) -> Estimate | None:
    """A figure as the mean of the annotators, or as the only one sees it."""
    found = {
        each.annotator: each.estimate
        for each in part.figures
        if (each.method, each.kind, each.must, each.count) == (method, kind, must, count)
    }
    return found.get(MEAN) or next(iter(found.values()), None)


def _percent(estimate: Estimate | None) -> Cell:
    return Cell(DASH) if estimate is None or estimate.value is None else estimate_cell(estimate, WHOLE)


def _summary(marks: MarksReport, found: Mapping[str, Any]) -> Table:
    methods = [each for each in NAMES if each != LOWEST]
    rows: list[Row] = []
    for words, must, count in SUMMED_UP:
        for name, part in _parts(marks):
            shares = {method: _share(part, method, ANY, must, count) for method in methods}
            if (size := _size(shares[LETHE])) not in (DASH, "0"):
                rows.append((f"{words}: {name}", size, *(_percent(each) for each in shares.values())))
    for corpus in ASKED:
        firsts = {method: _first(found, corpus, method) for method in methods}
        size = _size(firsts[LETHE])
        rows.append((f"found first: {ASKED[corpus]}", size, *(_percent(each) for each in firsts.values())))
    return Table("", ("share", "n", *(NAMES[method] for method in methods)), rows)


def _size(estimate: Estimate | None) -> str:
    return DASH if estimate is None or estimate.value is None else f"{estimate.n:g}"


def _paired(marks: MarksReport) -> Table:
    """What a method leaves and changes needlessly minus what Lethe does, paired by document."""
    parts = list(_parts(marks))
    shown = [each for each in SUMMED_UP if each[1:] in ((2, LEFT), (0, TOUCHED))]
    head = ["minus Lethe", *(f"{words}: {name}" for words, _, _ in shown for name, _ in parts)]
    rows: list[Row] = [
        (
            NAMES[method],
            *(
                estimate_cell(_difference(part, method, must, count), "{:+.1%}")
                for _, must, count in shown
                for _, part in parts
            ),
        )
        for method in marks.methods
        if method not in (ORIGIN, LETHE, ORACLE)
    ]
    return Table("", head, rows)


def _difference(part: MarkedPart, method: str, must: int, count: str) -> Estimate | None:
    """The difference to Lethe, ``minus_trip`` in the file, as the mean of annotators or one sees it."""
    wanted = (method, ANY, must, count)
    found = {
        each.annotator: each.minus_trip
        for each in part.figures
        if (each.method, each.kind, each.must, each.count) == wanted
    }
    return found.get(MEAN) or next(iter(found.values()), None)


def _differences(marks: MarksReport) -> str:
    """How much less Lethe leaves than as many things drawn, in words."""
    told = []
    for name, part in _parts(marks):
        if (found := _difference(part, RANDOM, 2, LEFT)) and found.value is not None:
            low, high = found.interval or (found.value, found.value)
            told.append(f"{100 * found.value:.0f} points in {name} ({100 * low:.0f}–{100 * high:.0f})")
    return f"{', '.join(told[:-1])} and {told[-1]}"


def _quoted(answers: Mapping[str, Any]) -> str:
    """How often the answers are right without a language model, in words."""
    part = answers["shares"]["apart"]
    right, none = (Estimate(**part[name]) for name in ("right sentence", "says so when there is none"))
    shown = [f"{each.hits:.0f} of {each.n:.0f} {_between(each)}" for each in (right, none)]
    return (
        f"the quoted sentence was right for {shown[0]} questions in other words than the text, "
        f"and for {shown[1]} without an answer it said that there is none"
    )


def _between(estimate: Estimate) -> str:
    low, high = estimate.interval or (0.0, 1.0)
    return f"({100 * low:.0f}–{100 * high:.0f} %)"


def _measured(marks: MarksReport, found: Mapping[str, Any]) -> str:
    """When the summary was measured, in words."""
    made = found["provenance"]
    return (
        f"Marks were measured on {marks.provenance.date[:10]} (commit {marks.provenance.commit}), "
        f"searching on {made['date'][:10]} ({made['commit']})"
    )


def _first(found: Mapping[str, Any], corpus: str, method: str) -> Estimate | None:
    """The share of questions whose own document comes first."""
    return _searching(found, corpus, method, HYBRID, "first")


def _searching(found: Mapping[str, Any], corpus: str, method: str, way: str, figure: str) -> Estimate | None:
    methods = found["corpora"].get(corpus, {}).get("summary", {})
    ways = next((ways for name, ways in methods.items() if name.partition(", ")[0] == method), None)
    return None if ways is None else Estimate(**ways[way][figure])


def _overlap(found: Mapping[str, Any]) -> Table:
    """Recall@1 overlap, and beside it the difference to lethe, paired by question."""
    corpora = [corpus for corpus in ASKED if corpus in found["corpora"]]
    rows: list[Row] = [
        (
            NAMES[method],
            *(
                paired_cell(
                    _searching(found, corpus, method, HYBRID, "overlap"),
                    _searching(found, corpus, method, HYBRID, "overlap_minus_trip"),
                )
                for corpus in corpora
            ),
        )
        for method in NAMES
        if method not in (ORIGIN, ORACLE)
    ]
    return Table("", ("method", *(ASKED[corpus] for corpus in corpora)), rows)


def _classes(marks: MarksReport) -> Table:
    head = [
        "corpus, method",
        *(f"{kind}, must {must}" for kind, must in CLASSES),
        "a word of a mark, must 2, stands",
        "all words of a thing, must 2, stand",
        "extracted",
    ]
    rows: list[Row] = [
        (
            f"{name}: {NAMES[method]}",
            *(_percent(_share(part, method, kind, must, LEFT)) for kind, must in CLASSES),
            *(_percent(_share(part, method, ANY, 2, each)) for each in (WORDS_STANDING, ENTITIES_STANDING)),
            _percent(part.extracted.get(method)),
        )
        for name, part in _parts(marks)
        for method in marks.methods
        if method != ORIGIN
    ]
    return Table("", head, rows)


def _needless(marks: MarksReport) -> Table:
    parts = list(_parts(marks))
    head = [
        "method",
        *(
            f"{name}: {_size(_share(part, LETHE, ANY, 0, TOUCHED))} marks that may stay"
            for name, part in parts
        ),
        *(f"{name}: unmarked text" for name, _ in parts),
    ]
    rows: list[Row] = [
        (
            NAMES[method],
            *(_percent(_share(part, method, ANY, 0, TOUCHED)) for _, part in parts),
            *(estimate_cell(_share(part, method, "", 0, CHANGED), "{:.1%}") for _, part in parts),
        )
        for method in marks.methods
        if method != ORIGIN
    ]
    return Table("", head, rows)


def _ways(found: Mapping[str, Any]) -> Table:
    corpora = {name: found["corpora"][name]["summary"] for name in ASKED if name in found["corpora"]}
    ways: Sequence[str] = list(next(iter(next(iter(corpora.values())).values())))
    rows: list[Row] = [
        (
            f"{ASKED[corpus]}: {NAMES.get(method.partition(', ')[0], method)}",
            *(estimate_cell(Estimate(**figures[way]["first"])) for way in ways),
        )
        for corpus, methods in corpora.items()
        for method, figures in methods.items()
        if method.partition(", ")[0] in COMPARED
    ]
    return Table("", ("corpus, method", *ways), rows)


def _ratios(found: Mapping[str, Any]) -> Table:
    """How often Lethe's hybrid search finds a document first, as a share of what searches of originals do."""
    bases = {PASSAGES: "passages by vectors", WORDS: "words first", HYBRID: "hybrid"}
    ranks = {name: found["corpora"][name]["ranks"] for name in ASKED if name in found["corpora"]}
    rows: list[Row] = [
        (
            ASKED[name],
            *(
                estimate_cell(paired_ratio(_hits(of[LETHE][HYBRID]), _hits(of[ORIGIN][base])), "{:.2f}")
                for base in bases
            ),
        )
        for name, of in ranks.items()
    ]
    return Table("", ("lethe, hybrid, divided by", *bases.values()), rows)


def _hits(ranks: Sequence[int]) -> list[float]:
    return [float(rank == 1) for rank in ranks]


def _answers(answers: Mapping[str, Any]) -> Table:
    parts: Mapping[str, Mapping[str, Any]] = answers["shares"]
    rows: list[Row] = [
        (name, *(estimate_cell(Estimate(**part[name])) for part in parts.values()))
        for name in next(iter(parts.values()))
        if name != "no other document"  # An answer quotes one text, so that it equals "right document".
    ]
    return Table("", ("share", *(f"questions {part}" for part in parts)), rows)


def _documents(marks: MarksReport) -> str:
    """How many documents of each corpus there are, and what of them was learned from or looked at."""
    lines = []
    for corpus in marks.corpora:
        counts = ", ".join(f"{count:,} {name}" for name, count in corpus.exposures.items())
        held = next(part.documents for part in corpus.parts if part.name == HELD_OUT)
        lines.append(f"- {CORPORA.get(corpus.name, corpus.name)}: {held:,} measured ({counts})")
    lines += [f"- {name}: not measured, {reason}" for name, reason in marks.absent.items()]
    made = marks.provenance
    lines.append(
        f"- made by `lethe bench marks {marks.command}`, seed {marks.seed}, on {made.date[:10]}, "
        f"{made.hardware}, commit {made.commit}"
    )
    return "\n".join(lines)


def _searched(found: Mapping[str, Any]) -> str:
    made = found["provenance"]
    corpora = {said: found["corpora"][name] for name, said in ASKED.items() if name in found["corpora"]}
    counts = ", ".join(
        f"{corpus['questions']:,} questions about {corpus['documents']:,} {said}"
        for said, corpus in corpora.items()
    )
    return (
        f"{counts}; `python -m benchmarks.searching DATA`, on {made['date'][:10]}, "
        f"{made['hardware']}, commit {made['commit']}"
    )


def _scale(sizes: Mapping[str, Any]) -> Table:
    """Milliseconds in the median by size: FAISS alone, and the store with the index that was published."""
    head = (
        "passages", "all compared, FAISS alone", "this index, FAISS alone", "by vectors", "and words",
        "times this index alone", "and the encoder", "Recall@10",
    )  # fmt: skip
    rows: list[Row] = []
    for size in sizes.values():
        own, grouped = size[size["published"]], size["published"] == "grouped"
        times = own["hybrid"]["times"]
        rows.append(
            (
                f"{size['passages']:,}{', in lists' if grouped else ''}",
                _milliseconds(size["exact"]["faiss"]),
                *(_milliseconds(own[way]) for way in ("faiss", "dense", "hybrid")),
                f"{times['value']:.2f} ({times['low']:.2f} to {times['high']:.2f})",
                _milliseconds(own["hybrid and encoder"]),
                f"{size['recall']['10']:.3f}" if grouped else "1",
            )
        )
    return Table("", head, rows)


def _milliseconds(figure: Mapping[str, Any]) -> str:
    return f"{figure['milliseconds']['0.5']:.1f} ms"


def _scale_made(sizes: Mapping[str, Any]) -> str:
    made = [(size["passages"], size["provenance"]) for size in sizes.values()]
    one = next(iter(sizes.values()))
    told = [f"{count:,} passages on {how['date'][:10]}, commit {how['commit']}" for count, how in made]
    return (
        f"`python -m benchmarks.search_scale DATA --passages N`, {one['questions']} questions, "
        f"threads: {one['provenance']['settings']['threads']}, {made[0][1]['hardware']}: {'; '.join(told)}"
    )
