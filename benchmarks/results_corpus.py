"""The part of docs/results.md on one corpus: its card, and every table and plot in the page's order."""

from html import escape

from benchmarks import results_leakage as leakage
from benchmarks import results_usefulness as usefulness
from benchmarks.results_plots import title_of, tradeoff_plots, weight_plots
from eval.trip_rag.page_words import facts
from eval.trip_rag.report import Frontier, TripRagReport

MISSING = "Not measured in this run."
NO_COMMAND = "not kept with this report"
SHOWN = (
    "Corpus", "License", "Documents", "Questions", "Split", "Sensitive entities", "Answers by", "Date",
    "Commit", "Machine",
)  # fmt: skip
"""The facts that stand open; the others unfold."""


def plots_of(name: str, report: TripRagReport) -> dict[str, str]:
    """Every plot of a corpus, by the name of its file."""
    drawn = {**tradeoff_plots(report), **weight_plots(report)}
    return {f"{name}-{plot}.svg": svg for plot, svg in drawn.items()}


def corpus_section(name: str, report: TripRagReport, plots: str) -> str:
    """The section of a corpus in markdown; ``plots`` is the folder that its plots stand in."""
    images = {
        file.removeprefix(f"{name}-").removesuffix(".svg"): f"![{title_of(svg)}]({plots}/{file})"
        for file, svg in plots_of(name, report).items()
    }
    parts = [
        f"## {name}",
        _card(report),
        *_usefulness(report),
        *_leakage(report),
        "### Ablations",
        usefulness.ablations(report) or MISSING,
        "### Whether the scores differ",
        usefulness.features(report) or MISSING,
        *_weights(report, images),
        *_tradeoff(report, images),
        "### Promised thresholds",
        leakage.promises(report) or MISSING,
        *_absent(report),
    ]
    return "\n\n".join(part.strip() for part in parts)


def _card(report: TripRagReport) -> str:
    told = dict(facts(report))
    shown = [("Command", command(report)), *((name, told.pop(name)) for name in SHOWN)]
    return f"{_facts(shown)}\n{_folded('settings and versions', _facts(list(told.items())))}"


def _facts(pairs: list[tuple[str, str]]) -> str:
    rows = "".join(f"| {name} | {_plain(value)} |\n" for name, value in pairs)
    return f"| | |\n| --- | --- |\n{rows}"


def _plain(words: str) -> str:
    """As a cell of a table shows it: nothing of it is markup."""
    return escape(" ".join(words.split()), quote=False).replace("|", "\\|")


def command(report: TripRagReport) -> str:
    """What makes the report again from the corpus in the folder PATH, if the report keeps it."""
    return f"`lethe bench trip-rag {report.command}`" if report.command else NO_COMMAND


def _usefulness(report: TripRagReport) -> list[str]:
    return [
        "### Usefulness",
        usefulness.retrieval(report),
        f"Answers by {report.generator}, from five passages:",
        usefulness.answers(report),
    ]


def _leakage(report: TripRagReport) -> list[str]:
    attacked = [
        "Identifiers that came out:",
        leakage.extraction(report, identifiers=True),
        "All sensitive entities that came out:",
        leakage.extraction(report, identifiers=False),
        _folded("prompts and copies of every attack", leakage.copies(report)),
    ]
    return [
        "### Leakage under extraction",
        *(attacked if report.attacks else [MISSING]),
        "### What a reader of the whole index finds",
        leakage.index_reader(report),
        "### Guesses and reconstruction",
        leakage.guesses(report) or MISSING,
        "### Canaries",
        leakage.canaries(report) or MISSING,
    ]


def _weights(report: TripRagReport, images: dict[str, str]) -> list[str]:
    if not report.grid:
        return ["### Weights", MISSING]
    return [
        "### Weights",
        "\n".join(image for plot, image in images.items() if plot.startswith("weights")),
        usefulness.weight_correlations(report),
        _folded(f"all {len(report.grid)} pairs of weights", usefulness.grid(report)),
    ]


def _tradeoff(report: TripRagReport, images: dict[str, str]) -> list[str]:
    found, everything = report.frontier, report.frontier_all
    points = len(report.methods) + len(report.sweep)
    return [
        "### Privacy against usefulness",
        "\n".join(image for plot, image in images.items() if not plot.startswith("weights")),
        f"Points of baselines that Lethe dominates, by the identifiers that are left: {_dominated(found)}; "
        f"by all sensitive entities: {_dominated(everything)}.",
        usefulness.areas(report) or MISSING,
        _folded(f"all {points} points", usefulness.all_points(report)),
    ]


def _dominated(found: Frontier) -> str:
    if not found.points:
        return "nothing was compared"
    return f"{found.dominated:,} of {found.points:,}, {found.by_trip:,} of them by trip alone"


def _absent(report: TripRagReport) -> list[str]:
    told = "\n".join(f"- {name}: {_plain(reason)}" for name, reason in report.absent.items())
    return ["### Not in the tables", told] if told else []


def _folded(summary: str, table: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{table.strip()}\n\n</details>"
