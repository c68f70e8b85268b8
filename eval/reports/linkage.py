"""The report of the linkage study in Markdown."""

import math
from collections.abc import Callable, Iterator, Mapping

from eval.measures.uncertainty import Estimate
from eval.reports.render import asked, markdown_table
from eval.reports.schema import DASH, Cell, Column, Row, Table, estimate_cell, printed, share, table
from eval.reports.words import words
from eval.studies.linkage.report import (
    BM25,
    ROUGE,
    Attack,
    AttackFigures,
    LinkageReport,
    MethodFigures,
    Outcome,
)
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
PUBLISHED = "published, not comparable"
_SAID_BEFORE = ("linker", "known claims")
_PARTS: Mapping[str, tuple[str, Callable[[Attack], str]]] = {
    "linker": ("Linked right by the linker", lambda each: each.linker),
    "choice": ("Linked right by the claims that are known", lambda each: f"{each.choice} {each.k}"),
    "words": ("Linked right, and claim distance, by the words of the known claims", lambda each: each.words),
    "known": (
        "Linked right, and claim distance, by the number of known claims",
        lambda each: f"last {each.k}",
    ),
}


def markdown(report: LinkageReport) -> str:
    """All tables."""
    return "\n".join(_lines(report)) + "\n"


def tables(report: LinkageReport) -> dict[str, str]:
    """Each table in Markdown, by its name in the template of the page; attacks are by their part."""
    found = {
        "linked": linked_table(report),
        "texts": texts_table(report),
        "use": use_table(report),
        "categories": categories_table(report),
        "distribution": distribution_table(report),
        **{part: attacks_table(report, part) for part in _PARTS if report.attacks},
        **published_tables(),
    }
    return {name: markdown_table(each).rstrip() for name, each in found.items()}


def _lines(report: LinkageReport) -> Iterator[str]:
    made = tables(report)
    yield from ("# Linking known claims to sanitized documents", "", _HOW_TO_READ, "")
    yield from (facts(report), "")
    if report.warning:
        yield from (f"**Warning**: {report.warning}.", "")
    yield from ("## Linked, and told", "", made["linked"], "", overlap(report), "")
    yield from ("## Distances of texts", "", made["texts"], "", _use_of_texts(report), "")
    yield from ("## What stays useful", "", _USE, "", made["use"], "", answering(report), "")
    if report.attacks:
        for part, (title, _) in _PARTS.items():
            yield from (f"## {title}", "", made[part], "")
    if report.usage:
        yield from (_COHERENCE, "", asked(report.usage), "")
    yield from ("## Claims told by category", "", f"Rated claims told, by {report.engines['judge']}.", "")
    yield from (made["categories"], "")
    yield from ("## Distances by right and wrong links", "", made["distribution"], "")
    yield from (f"## A False Sense of Privacy: {PUBLISHED}", "", published_words(), "")
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
    if report.usage:
        return (
            f"Exam questions are answered by {report.answerer}; by chance {report.chance_answer:.3f} are "
            "right. What it answers where everything was removed is what it knows without a text."
        )
    return (
        f"Exam questions are answered by {report.answerer}, which is no language model and knows no "
        f"medicine; by chance {report.chance_answer:.3f} are right. It cannot tell how useful a text is for "
        "an exam."
    )


def _use_of_texts(report: LinkageReport) -> str:
    return (
        "*Lexical* is 1 - ROUGE-L recall of the document linked by ROUGE, *improved* that of the one linked "
        "by BM25; both need the other linkers, which --quick leaves out. MAUVE compares the sets, with "
        f"{report.engines['encoder']} in place of gpt2-large. Details are what people annotated."
    )


def linked_table(report: LinkageReport) -> Table:
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


def texts_table(report: LinkageReport) -> Table:
    """A row for each method: the measures that compare words, vectors and sets."""

    def under(linker: str) -> Callable[[MethodFigures], Cell]:
        found = {
            outcome.method: outcome
            for each in report.attacks
            if each.part == "linker" and each.attack.linker == linker
            for outcome in each.outcomes
        }
        return lambda each: _mean(found[each.method].lexical) if found else Cell(DASH)

    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "lexical", under(ROUGE)),
        ("", "improved lexical", under(BM25)),
        ("", "embedding distance", lambda each: _mean(each.embedding)),
        ("", "1 - MAUVE", lambda each: Cell(DASH) if each.mauve is None else f"{1 - each.mauve:.3f}"),
        ("", "details hidden", lambda each: _mean(each.hidden)),
    ]
    return table("", report.methods, columns)


def use_table(report: LinkageReport) -> Table:
    """A row for each method: what its own document keeps, exam questions and classes."""
    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "facts kept", lambda each: estimate_cell(each.facts)),
        ("", "by chance", lambda each: estimate_cell(each.facts_by_chance)),
        ("", "times redact", lambda each: _or_dash(each.facts_over_redact, "{:.2f}")),
        ("", "claims said", lambda each: estimate_cell(each.claims)),
        ("", "in part or whole", lambda each: estimate_cell(each.claims_partly)),
        ("", "exam" if report.usage else "exam, nearest option", lambda each: _or_dash(each.accuracy)),
        ("", "label counts", lambda each: Cell(DASH) if each.classes is None else f"{each.classes:.3f}"),
        ("", "labels right", lambda each: _or_dash(each.classed_right)),
    ]
    if "coherence" in report.engines:
        columns += [
            ("", "coherence", lambda each: _or_dash(each.coherence)),
            ("", "not judged", lambda each: f"{each.not_judged:,}"),
        ]
    return table("", report.methods, columns)


def attacks_table(report: LinkageReport, part: str) -> Table:
    """A row for each method, a column for each attack that differs in one part."""
    _, named = _PARTS[part]
    chosen = [each for each in report.attacks if each.part == part]
    head = ["method", *(named(each.attack) for each in chosen)]
    methods = [each.method for each in report.methods]
    rows: list[Row] = [
        [method, *(estimate_cell(_under(each, method).linkage.rate) for each in chosen)] for method in methods
    ]
    if part in ("words", "known"):
        rows += [
            [f"{method}: distance", *(_mean(_under(each, method).distance) for each in chosen)]
            for method in methods
        ]
        rows += [
            ["known claims alone: distance", *(estimate_cell(each.outcomes[0].overlap) for each in chosen)],
            ["bigrams of the original", *(estimate_cell(each.outcomes[0].wording) for each in chosen)],
        ]
    return Table("", head, rows)


def categories_table(report: LinkageReport) -> Table:
    """A row for each category, a column for each method."""
    names = dict.fromkeys(name for each in report.methods for name in each.categories)
    rows: list[Row] = [
        [name.replace("_", " "), *(_counted(each.categories.get(name)) for each in report.methods)]
        for name in names
    ]
    return Table("", ["category", *(each.method for each in report.methods)], rows)


def distribution_table(report: LinkageReport) -> Table:
    """A row for each method and kind of link, a column for each bin of the claim distance."""
    head = ["method", "link", *(f"{place / BINS:.1f}–" for place in range(BINS)), "1"]
    rows: list[Row] = [
        [each.method, link, *(f"{count:,}" for count in counts)]
        for each in report.methods
        for link, counts in (("right", each.distribution.right), ("wrong", each.distribution.wrong))
    ]
    return Table("", head, rows)


def published_words() -> str:
    """Why the published figures stand apart."""
    return (
        "Figures of Xin et al. for other records, sanitizers and methods: there language models judge "
        "claims, link, paraphrase what is known and answer the exam. Their order may be compared with ours, "
        "their size may not."
    )


def published_tables() -> dict[str, Table]:
    """What the paper printed."""
    printed_there = words("linkage")
    measures = [
        "lexical", "improved lexical", "semantic distance", "utility", "1 - MAUVE", "embedding distance",
        "details hidden",
    ]  # fmt: skip
    links = ["first 3", "random 3", "last 3"]
    linkers = ["BM25 single", "BM25 majority", "GRIT single", "GRIT majority"]
    return {
        "published_medqa": _published("MedQA", measures, printed_there["medqa"]),
        "published_wildchat": _published("WildChat", measures, printed_there["wildchat"]),
        "published_linkage": _published("MedQA, linked right", [*links, *linkers], printed_there["linkage"]),
        "published_version_1": _published(
            "MedQA, linked right, version 1", links, printed_there["linkage_version_1"]
        ),
    }


def _published(title: str, head: list[str], rows: Mapping[str, list[float]]) -> Table:
    def shown(value: float) -> Cell:
        return printed(None if math.isnan(value) else value, "{:.2f}")

    return Table("", [title, *head], [[name, *map(shown, row)] for name, row in rows.items()])


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
