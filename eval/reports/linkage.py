"""The report of the linkage study in Markdown."""

import math
from collections.abc import Callable, Iterator

from eval.measures.uncertainty import Estimate
from eval.reports.render import asked, markdown_table
from eval.reports.schema import DASH, Cell, Column, Row, Table, estimate_cell, printed, share, table
from eval.reports.words import words
from eval.studies.linkage.report import BM25, ROUGE, AttackFigures, LinkageReport, MethodFigures, Outcome
from eval.tasks.linkage import BINS, Distances

_HOW_TO_READ = (
    "An attacker who knows a few claims of an original looks for its sanitized document, and reads there "
    "what he did not know. *Linked right* is the share of all documents that he found; where his search "
    "found nothing, the document is skipped: counted as not linked, and, most pessimistically, as linked "
    "right. A distance is between the claims that he did not know and the document that he took, right or "
    "wrong: 0 says all of them, 1 nothing. Skipped documents are left out of it, or count 0 (pessimistic) or "
    "1 (optimistic). Distances above 0 for a wrong link are failures of the linker, not protection. In "
    "parentheses are 95% intervals over documents."
)
_USE = (
    "Facts are the words and numbers of the original that say something, claims are all of its claims; both "
    "are looked for in its own sanitized text. By chance: the same facts in the sanitized text of another "
    "document."
)
_COHERENCE = (
    "Coherence, from 1 to 5, is what a language model says of each sanitized text; *not judged* are empty "
    "texts, and those of which no answer could be read, asked for twice. They count nowhere else."
)
_TEXTS = (
    "*Lexical* is 1 - ROUGE-L recall of the document linked by ROUGE, *improved* that of the one linked "
    "by BM25; both need the other linkers, which --quick leaves out. MAUVE compares the sets, with "
    "{encoder} in place of gpt2-large. Details are what people annotated."
)
PUBLISHED = "published, not comparable"
_PUBLISHED = (
    "Figures of Xin et al. for other records, sanitizers and methods: there language models judge "
    "claims, link, paraphrase what is known and answer the exam. Their order may be compared with ours, "
    "their size may not."
)
_SAID_BEFORE = ("linker", "known claims")
_PARTS = {
    "linker": ("Linked right by the linker", "{0.linker}"),
    "choice": ("Linked right by the claims that are known", "{0.choice} {0.k}"),
    "words": ("Linked right, and claim distance, by the words of the known claims", "{0.words}"),
    "known": ("Linked right, and claim distance, by the number of known claims", "last {0.k}"),
}
"""The title of each part's table, and how it calls an attack."""


def markdown(report: LinkageReport) -> str:
    """All tables."""
    return "\n".join(_lines(report)) + "\n"


def tables(report: LinkageReport) -> dict[str, str]:
    """Each table in Markdown, by its name in the template of the page; attacks are by their part."""
    found = {
        "linked": _linked_table(report),
        "texts": _texts_table(report),
        "use": _use_table(report),
        "categories": _categories_table(report),
        "distribution": _distribution_table(report),
        **{part: _attacks_table(report, part) for part in _PARTS if report.attacks},
        **_published_tables(),
    }
    return {name: markdown_table(each).rstrip() for name, each in found.items()}


def _lines(report: LinkageReport) -> Iterator[str]:
    made = tables(report)
    yield from ("# Linking known claims to sanitized documents", "", _HOW_TO_READ, "")
    yield from (facts(report), "")
    if report.warning:
        yield from (f"**Warning**: {report.warning}.", "")
    yield from ("## Linked, and told", "", made["linked"], "", overlap(report), "")
    yield from ("## Distances of texts", "", made["texts"], "", _TEXTS.format_map(report.engines), "")
    yield from ("## What stays useful", "", _USE, "", made["use"], "", answering(report), "")
    if report.attacks:
        for part, (title, _) in _PARTS.items():
            yield from (f"## {title}", "", made[part], "")
    if report.usage:
        yield from (_COHERENCE, "", asked(report.usage), "")
    yield from ("## Claims told by category", "", f"Rated claims told, by {report.engines['judge']}.", "")
    yield from (made["categories"], "")
    yield from ("## Distances by right and wrong links", "", made["distribution"], "")
    yield from (f"## A False Sense of Privacy: {PUBLISHED}", "", _PUBLISHED, "")
    for name in ("published_medqa", "published_wildchat", "published_linkage", "published_version_1"):
        yield from (made[name], "")


def facts(report: LinkageReport) -> str:
    """What was attacked, with what, and where the figures come from."""
    parts = [
        f"{report.corpus}: {report.split}",
        f"{report.documents:,} documents with {_number(report.claims)} claims each on average",
        f"main attack: {report.engines['linker']}, {report.main.k} {report.main.choice} claims in "
        f"{report.engines['known claims']}",
        *(f"{name}: {engine}" for name, engine in report.engines.items() if name not in _SAID_BEFORE),
        f"seed {report.seed}",
        *(f"{name}: {value}" for name, value in report.provenance.facts()),
    ]
    return "; ".join(each.rstrip(".") for each in parts) + "."


def overlap(report: LinkageReport) -> str:
    """What the attacker could say without a link."""
    main = report.methods[0].main
    return (
        f"By chance {report.chance:.3f} would be linked right. Without a document, from the known claims "
        f"alone, the claim distance is {_number(main.overlap)}; the known claims have "
        f"{_number(main.wording)} of the bigrams of the original."
    )


def answering(report: LinkageReport) -> str:
    """What answered the exam questions."""
    if report.chance_answer is None:
        return "The corpus has no exam questions."
    if not report.usage:
        return f"Answers of {report.answerer} to exam questions are not shown: it knows no medicine."
    return (
        f"Exam questions are answered by {report.answerer}; by chance {report.chance_answer:.3f} are right. "
        "What it answers where everything was removed is what it knows without a text."
    )


def _linked_table(report: LinkageReport) -> Table:
    """A row for each method: links, distances and claims told."""
    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "linked right", lambda each: share(each.main.linkage.rate, "{:.3f}")),
        ("", "minus redact", lambda each: estimate_cell(each.rate_minus_redact, "{:+.3f}")),
        ("", "skipped as right", lambda each: estimate_cell(each.main.linkage.worst)),
        ("", "skipped", lambda each: f"{each.main.linkage.skipped:,}"),
        ("", "claim distance", lambda each: estimate_cell(each.main.distance.mean)),
        ("", "pessimistic", lambda each: estimate_cell(each.main.distance.worst)),
        ("", "optimistic", lambda each: estimate_cell(each.main.distance.best)),
        ("", "claims told", lambda each: share(each.main.leaked, "{:.3f}")),
        ("", "not sanitized", lambda each: f"{each.failed:,}"),
    ]
    if any(each.ratings_missing for each in report.methods):
        columns.append(("", "claims not rated", lambda each: f"{each.ratings_missing:,}"))
    return table("", report.methods, columns)


def _texts_table(report: LinkageReport) -> Table:
    """A row for each method: the measures that compare words, vectors and sets."""

    def under(linker: str) -> Callable[[MethodFigures], Cell]:
        attacks = [each for each in report.attacks if each.part == "linker" and each.attack.linker == linker]
        return lambda each: _mean(_under(attacks[-1], each.method).lexical) if attacks else Cell(DASH)

    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "lexical", under(ROUGE)),
        ("", "improved lexical", under(BM25)),
        ("", "embedding distance", lambda each: _mean(each.embedding)),
        ("", "1 - MAUVE", lambda each: Cell(DASH) if each.mauve is None else f"{1 - each.mauve:.3f}"),
        ("", "details hidden", lambda each: _mean(each.hidden)),
    ]
    return table("", report.methods, columns)


def _use_table(report: LinkageReport) -> Table:
    """A row for each method: what its own document keeps, exam questions and classes."""
    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "facts kept", lambda each: estimate_cell(each.facts)),
        ("", "by chance", lambda each: estimate_cell(each.facts_by_chance)),
        ("", "times redact", lambda each: _or_dash(each.facts_over_redact, "{:.2f}")),
        ("", "claims said", lambda each: estimate_cell(each.claims)),
        ("", "in part or whole", lambda each: estimate_cell(each.claims_partly)),
    ]
    if report.usage:
        columns += [("", "exam", lambda each: _or_dash(each.accuracy))]
    if any(each.classes is not None for each in report.methods):
        columns += [
            ("", "label counts", lambda each: Cell(DASH) if each.classes is None else f"{each.classes:.3f}"),
            ("", "labels right", lambda each: _or_dash(each.classed_right)),
        ]
    if "coherence" in report.engines:
        columns += [
            ("", "coherence", lambda each: _or_dash(each.coherence)),
            ("", "not judged", lambda each: f"{each.not_judged:,}"),
        ]
    return table("", report.methods, columns)


def _attacks_table(report: LinkageReport, part: str) -> Table:
    """A row for each method, a column for each attack that differs in one part."""
    chosen = [each for each in report.attacks if each.part == part]
    under = {each.method: [_under(attack, each.method) for attack in chosen] for each in report.methods}
    first = [each.outcomes[0] for each in chosen]
    rows: list[Row] = [
        [name, *(estimate_cell(each.linkage.rate) for each in found)] for name, found in under.items()
    ]
    if part in ("words", "known"):
        rows += [[f"{name}: distance", *(_mean(each.distance) for each in of)] for name, of in under.items()]
        rows += [
            ["known claims alone: distance", *(estimate_cell(each.overlap) for each in first)],
            ["bigrams of the original", *(estimate_cell(each.wording) for each in first)],
        ]
    return Table("", ["method", *(_PARTS[part][1].format(each.attack) for each in chosen)], rows)


def _categories_table(report: LinkageReport) -> Table:
    """A row for each category, a column for each method."""
    names = dict.fromkeys(name for each in report.methods for name in each.categories)
    rows: list[Row] = [
        [name.replace("_", " "), *(_counted(each.categories.get(name)) for each in report.methods)]
        for name in names
    ]
    return Table("", ["category", *(each.method for each in report.methods)], rows)


def _distribution_table(report: LinkageReport) -> Table:
    """A row for each method and kind of link, a column for each bin of the claim distance."""
    head = ["method", "link", *(f"{place / BINS:.1f}–" for place in range(BINS)), "1"]
    rows: list[Row] = [
        [each.method, link, *(f"{count:,}" for count in counts)]
        for each in report.methods
        for link, counts in (("right", each.distribution.right), ("wrong", each.distribution.wrong))
    ]
    return Table("", head, rows)


def _published_tables() -> dict[str, Table]:
    """What the paper printed."""
    printed_there = words("linkage")
    measures = "lexical|improved lexical|semantic distance|utility|1 - MAUVE|embedding distance"
    links, linkers = "first 3|random 3|last 3", "BM25 single|BM25 majority|GRIT single|GRIT majority"
    heads = {
        "medqa": f"MedQA|{measures}|details hidden",
        "wildchat": f"WildChat|{measures}|details hidden",
        "linkage": f"MedQA, linked right|{links}|{linkers}",
        "version_1": f"MedQA, linked right, version 1|{links}",
    }

    def published(name: str, head: str) -> Table:
        figures = printed_there["linkage_version_1" if name == "version_1" else name]
        rows = {of: [None if math.isnan(each) else each for each in row] for of, row in figures.items()}
        cells = [[of, *(printed(each, "{:.2f}") for each in row)] for of, row in rows.items()]
        return Table("", head.split("|"), cells)

    return {f"published_{name}": published(name, head) for name, head in heads.items()}


def _under(figures: AttackFigures, method: str) -> Outcome:
    return next(each for each in figures.outcomes if each.method == method)


def _mean(found: Distances) -> Cell:
    return _or_dash(found.mean)


def _or_dash(estimate: Estimate | None, style: str = "{:.3f}") -> Cell:
    return Cell(DASH) if estimate is None or estimate.value is None else estimate_cell(estimate, style)


def _counted(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return Cell(DASH)
    return Cell(f"{estimate.value:.2f}", note=f"{estimate.hits:,} of {estimate.n:,}")


def _number(estimate: Estimate) -> str:
    return DASH if estimate.value is None else f"{estimate.value:.3f}"
