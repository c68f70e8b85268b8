"""The report as Markdown: one row per question, one column per detector."""

from collections.abc import Iterable

from eval.reports.render import markdown_table
from eval.reports.schema import Cell, Row, Table, estimate_cell
from eval.studies.detection.study import DetectionReport
from eval.studies.detection.tasks import MEDICAL_CONTENT

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


def figures_table(report: DetectionReport, questions: Iterable[str] | None = None) -> str:
    """The table of all questions, or of those with the given keys.

    Rows without any figure are kept: not measured is not zero.
    """
    wanted = None if questions is None else set(questions)
    rows: list[Row] = []
    for each in report.questions:
        if wanted is None or each.key in wanted:
            style = "{:.3f}" if each.unit == "share" else "{:,.0f}"
            figures = (report.figure(each.key, name).estimate for name in report.detectors)
            rows.append((each.title, *(estimate_cell(figure, style) for figure in figures)))
    return markdown_table(Table("", ("figure", *report.detectors), rows))


def markdown(report: DetectionReport) -> str:
    """Table, definitions, data and machine."""
    here = report.provenance
    sizes = [
        (name, f"{size.records:,}", f"{size.characters:,}", f"{size.mentions:,}")
        for name, size in report.corpora.items()
    ]
    parts = [
        figures_table(report),
        "".join(f"- {line}\n" for line in DEFINITIONS),
        markdown_table(Table("", ("corpus", "texts", "characters", "mentions"), sizes)),
        f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not recorded'}, "
        f"seeds {', '.join(f'{name} {seed}' for name, seed in report.seeds.items())}, "
        f"{report.resamples:,} redraws.\n",
    ]
    return "\n".join(parts)


def misses_table(report: DetectionReport, detector: str) -> str:
    """The sampled misses and false alarms of one detector, as places and shapes."""
    columns = ("sort", "corpus", "record", "start", "end", "label", "length", "shape")
    rows: list[Row] = [
        (*(str(getattr(miss, name)) for name in columns[:-1]), Cell(miss.shape, mark="code"))
        for miss in report.misses
        if miss.detector == detector
    ]
    return markdown_table(Table("", columns, rows), words=len(columns))
