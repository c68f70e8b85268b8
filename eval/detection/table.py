"""The report as Markdown: a row a question, a column a detector."""

from collections.abc import Iterable, Sequence

from eval.detection.labels import MEDICAL_CONTENT
from eval.detection.report import DetectionReport, Figure, Question
from eval.report import NOT_MEASURED

DEFINITIONS = (
    "Shares lie between 0 and 1; in parentheses the 95% interval: percentiles of a bootstrap that redraws "
    "whole documents (visits, people, templates, reports, blocks of neighboring sentences).",
    "Characters: the union of marked spans against the union of found ones; white space and punctuation at "
    "the rims of a span are not counted.",
    "Entity, any overlap: found spans have at least one character of every mention of the entity. Entity, "
    "full cover: found spans together have every character of every mention, but for titles that lead it "
    "(Mr, Mrs, Ms, Dr, the) and white space and punctuation at its rims. An entity is DIRECT if any mention "
    "of it is, else QUASI if any is.",
    "Spans, any overlap: precision is the share of found spans that share a character with a marked one, "
    "recall the share of marked ones that share one with a found one, F1 their harmonic mean. Exact: same "
    "start and end.",
    "Court cases, posts and visits: labels of medical content alone "
    f"({', '.join(sorted(MEDICAL_CONTENT))}) are not counted among what was found.",
    "Persons, places, organizations: only spans that the detector labels so. Where a corpus marks "
    "descriptions (a neighbor, the harbor), a span that touches one is right.",
    "Visits: whole-word occurrences of the patient's names (a name that is also a common word only where it "
    'is clearly a name), the age beside words such as "year-old", and words for the patient\'s own gender '
    "that follow an age or a description within five words.",
    "CrossNER politics: spans count under the label that the corpus has for them; where found spans overlap, "
    "the surest stays. Only the corpus's own labels are asked; a server asks them beside all others.",
    "Speed: one process over the held-out court cases, one batch to warm up, after everything else.",
)


def markdown_table(report: DetectionReport, questions: Iterable[str] | None = None) -> str:
    """The table of all questions, or of those whose keys are given, ending in a line end.

    A row in which no detector has a figure stays: what was not measured is no zero.
    """
    chosen = report.questions
    if questions is not None:
        wanted = set(questions)
        chosen = tuple(question for question in chosen if question.key in wanted)
    head = _row(["figure", *map(_escaped, report.detectors)])
    rule = _row(["---", *["---:"] * len(report.detectors)])
    rows = [_row([_escaped(question.title), *_cells(report, question)]) for question in chosen]
    return "\n".join([head, rule, *rows]) + "\n"


def markdown(report: DetectionReport) -> str:
    """Table, definitions, data and machine: what stands beside the figures wherever they are shown."""
    here = report.provenance
    sizes = [
        [_escaped(name), f"{size.records:,}", f"{size.characters:,}", f"{size.mentions:,}"]
        for name, size in report.corpora.items()
    ]
    about = [
        f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not told'}, "
        f"seeds {', '.join(f'{name} {seed}' for name, seed in report.seeds.items())}, "
        f"{report.resamples:,} redraws."
    ]
    parts = [
        markdown_table(report),
        "\n".join(f"- {line}" for line in DEFINITIONS) + "\n",
        "\n".join([_row(["corpus", "texts", "characters", "mentions"]), _row(["---", *["---:"] * 3])])
        + "\n"
        + "".join(f"{_row(cells)}\n" for cells in sizes),
        *(f"{line}\n" for line in about),
    ]
    return "\n".join(parts)


def misses_table(report: DetectionReport, detector: str) -> str:
    """The sampled misses and false alarms of one detector, as places and shapes."""
    columns = ("sort", "corpus", "record", "start", "end", "label", "length", "shape")
    rows = [
        [_escaped(str(getattr(miss, name))) for name in columns[:-1]] + [f"`{_code(miss.shape)}`"]
        for miss in report.misses
        if miss.detector == detector
    ]
    return "\n".join([_row(columns), _row(["---"] * len(columns)), *map(_row, rows)]) + "\n"


def _cells(report: DetectionReport, question: Question) -> list[str]:
    return [_cell(report.figure(question.key, name), question.unit) for name in report.detectors]


def _cell(figure: Figure, unit: str) -> str:
    if figure.value is None:
        return NOT_MEASURED
    style = "{:.3f}" if unit == "share" else "{:,.0f}"
    text = style.format(figure.value)
    if figure.low is None or figure.high is None:
        return text
    return f"{text} ({style.format(figure.low)}–{style.format(figure.high)})"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text that can stand in a cell: a pipe would end it."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _code(shape: str) -> str:
    """A shape within backticks; neither a backtick nor a pipe can stand there."""
    return shape.replace("`", "'").replace("|", "/") or " "
