"""The report of the study of attributes in Markdown."""

from collections.abc import Callable, Iterator

from eval.measures.claim_distance import COHERENCE, FAITHFUL, MEANING, READABILITY, UTILITY
from eval.reports.render import asked, markdown_table
from eval.reports.schema import DASH, PERCENT, Cell, Column, Table, estimate_cell, table
from eval.studies.attributes import ALL, AttackFigures, AttributesReport, MethodFigures

_HOW_TO_READ = (
    "*Strict* is the share of known attributes that an attacker's first guess says; *lenient* counts half of "
    "what is nearly right; *three* has it among three guesses; *prior* is the most frequent value, without "
    "reading. *IPR* and *CPR* are what is protected of each person, and of all attributes. *ROUGE-L*, *BLEU* "
    "and *cosine* compare a text with its original, *unchanged* are texts that stayed as they were; what was "
    "*not rewritten* counts nowhere, so such a method is not comparable with the others. In "
    "parentheses are 95% intervals over texts. A method with a star says something false of the author, or "
    "nothing keeps it from doing so, and is not for a knowledge base."
)
_JUDGED = (
    "*Readability* and *meaning*, from 1 to 10, compare a text with its original, *faithful* is 1 where it "
    "says nothing new, and *utility* the mean of the three in [0, 1]. *Coherence*, from 1 to 5, is that of "
    "the text alone. *Not judged* counts answers that could not be read, asked for twice, and empty texts; "
    "they count nowhere else."
)
_KINDS = ("strict", "lenient", "first_three", "prior")


def inferred_table(report: AttributesReport) -> Table:
    """What is inferred of all attributes together, and what stays of the texts."""
    rows = [(method, attack) for method in report.methods for attack in method.attacks]
    columns: list[Column] = [
        ("", "method", lambda row: _named(row[0])),
        ("", "attacker", lambda row: row[1].attacker),
        *(("inferred", kind.replace("first_", ""), _kind(kind)) for kind in _KINDS),
        ("protected", "IPR", lambda row: estimate_cell(row[1].protection.individual, PERCENT)),
        ("protected", "CPR", lambda row: estimate_cell(row[1].protection.collective, PERCENT)),
        ("kept", "ROUGE-L", lambda row: estimate_cell(row[0].rouge)),
        ("kept", "BLEU", lambda row: estimate_cell(row[0].bleu)),
        ("kept", "cosine", lambda row: estimate_cell(row[0].cosine)),
        ("kept", "unchanged", lambda row: estimate_cell(row[0].unchanged, PERCENT)),
        ("kept", "not rewritten", lambda row: f"{row[0].failed:,}"),
    ]
    return table("Inferred, and kept", rows, columns)


def attributes_table(report: AttributesReport) -> Table:
    """What is inferred by attribute, strictly."""
    rows = [
        (method, attack, name)
        for name in report.attributes
        for method in report.methods
        for attack in method.attacks
    ]
    columns: list[Column] = [
        ("", "attribute", lambda row: row[2]),
        ("", "method", lambda row: _named(row[0])),
        ("", "attacker", lambda row: row[1].attacker),
        ("", "strict", lambda row: estimate_cell(row[1].by_attribute[row[2]].strict, PERCENT)),
        ("", "prior", lambda row: estimate_cell(row[1].by_attribute[row[2]].prior, PERCENT)),
    ]
    return table("By attribute", rows, columns)


def judged_table(report: AttributesReport) -> Table:
    """What a language model says of the texts."""

    def score(name: str) -> Column:
        return "", name, lambda each: estimate_cell(each.judged[name]) if name in each.judged else DASH

    scores = map(score, (UTILITY, READABILITY, MEANING, FAITHFUL, COHERENCE))
    unread: Column = ("", "not judged", lambda each: str(each.not_judged))
    return table("Judged", report.methods, [("", "method", _named), *scores, unread])


def loops_table(report: AttributesReport) -> Table:
    """How the loops ended, and after how many rewritings of an attribute."""
    rows = [each for each in report.methods if each.rounds]
    ends = list(dict.fromkeys(end for each in rows for by in each.stops.values() for end in by))
    most = max((n for each in rows for n in each.rounds), default=0)

    def ended(end: str) -> Column:
        return ("ended", end, lambda each: str(sum(by.get(end, 0) for by in each.stops.values())))

    def rounds(number: int) -> Column:
        return ("rewritings", str(number), lambda each: str(each.rounds.get(number, 0)))

    columns: list[Column] = [("", "method", _named), *map(ended, ends), *map(rounds, range(most + 1))]
    return table("Loops", rows, columns)


def markdown(report: AttributesReport) -> str:
    """All tables."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: AttributesReport) -> Iterator[str]:
    yield from ("# What is inferred of people", "", _HOW_TO_READ, "")
    yield from (f"{report.documents} texts; seed {report.seed}. What it cannot see: {report.blind}.", "")
    yield markdown_table(inferred_table(report), words=2)
    yield markdown_table(attributes_table(report), words=3)
    if any(each.rounds for each in report.methods):
        yield markdown_table(loops_table(report))
    if report.judges:
        yield from (_JUDGED, "", markdown_table(judged_table(report)), f"By {'; '.join(report.judges)}.", "")
    for name, engine in report.engines.items():
        yield from (f"{name}: {engine}.", "")
    if report.usage:
        yield from (asked(report.usage), "")
    yield "; ".join(f"{name}: {value}" for name, value in report.provenance.settings.items())


def _named(method: MethodFigures) -> str:
    return method.method if method.truthful else f"{method.method} *"


def _kind(kind: str) -> Callable[[tuple[MethodFigures, AttackFigures]], Cell]:
    return lambda row: estimate_cell(getattr(row[1].by_attribute[ALL], kind), PERCENT)
