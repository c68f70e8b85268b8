"""The report of INTACT's comparison in Markdown."""

from collections.abc import Collection, Mapping, Sequence

from eval.measures.preserved import BY_WORDS, SHARES
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import DASH, DECIMAL, NOTHING, PERCENT, Cell, Column, Table, estimate_cell, table
from eval.studies.intact.order import DEVIATIONS, METHODS, comes_out
from eval.studies.intact.report import (
    BenchmarkFigures,
    ClusterFigures,
    IntactReport,
    KindFigures,
    MethodFigures,
    OrderFact,
    Validation,
)
from eval.studies.intact.study import ALL

SIGNED = "{:+.3f}"
UNSEEN_BY: Mapping[str, str] = {
    "recall": "what the one annotator of a case did not mark; what the words that are put in still tell; "
    "people outside of the case. Function words and titles count as masked: an untouched text has some",
    "precision": "whether a mention was harmless in its company, or that a method kept part of a value",
    "TPS, TPI": "sentences: a value is compared with its replacement alone, so that a false value of the "
    "same kind keeps much, and broken grammar costs nothing. Who masks other spans divides a text otherwise",
    "NMI": "single facts: it tells whether documents stay in one of four groups. Deviations are over runs "
    "of k-means, not over cases, and differences below 0.1 are noise",
    "TRIR": "other attackers: this one compares words with a public part of the same judgment, and a "
    "language model finds more. What suppression leaves is told by the story around the mentions. Only the "
    "applicant is looked for, and no attribute of theirs",
}
"""What each measure cannot see."""


def _nmi_cell(figures: Mapping[str, ClusterFigures], by_words: bool) -> Cell:
    """Mean and standard deviation, then ceiling and chance."""
    found = next((each for engine, each in figures.items() if (engine == BY_WORDS) is by_words), None)
    if found is None:
        return NOTHING
    kept, ceiling = ("{:.3f} ± {:.3f}".format(*each) for each in (found.kept, found.ceiling))
    return Cell(kept, note=f"ceiling {ceiling}, chance {found.chance[0]:.3f}")


_NMI: Sequence[Column] = (
    ("", "NMI by words", lambda each: _nmi_cell(each.nmi, by_words=True)),
    ("", "NMI by the encoder", lambda each: _nmi_cell(each.nmi, by_words=False)),
)


def benchmark_table(found: BenchmarkFigures) -> str:
    """A row for each method, and where it takes its spans from."""

    def masked(share: str) -> Column:
        head = f"{share} entities" if share in ("direct", "quasi") else share.replace("_", " ")
        return "", head, lambda row: estimate_cell(getattr(row.masked, share), PERCENT)

    columns: list[Column] = [
        ("", "method", lambda row: row.method),
        ("", "spans", lambda row: row.spans),
        *(masked(share) for share in SHARES if share != "entities"),
        ("", "TPS", lambda row: estimate_cell(row.tps)),
        ("", "TPI", lambda row: estimate_cell(row.tpi)),
        *_NMI,
        ("", "TRIR", lambda row: estimate_cell(row.trir)),
        ("", "TRIR, minus suppression", lambda row: estimate_cell(row.trir_minus_suppression, SIGNED)),
    ]
    return markdown_table(table("", found.rows, columns), words=2)


def benchmark_facts(found: BenchmarkFigures) -> str:
    """What was measured on what, and by which engines."""
    first, people = found.rows[0].masked, found.individuals
    counted = f"{first.direct.n:,} direct and {first.quasi.n:,} quasi entities, {first.mentions.n:,} mentions"
    told = [
        f"recall and precision on {found.marked:,} cases with {counted}",
        f"TPS, TPI, NMI and TRIR on {found.compared:,} cases",
        *([f"{people:,} individuals, chance {1 / people:.4f}"] if people else []),
        *(f"{name}: {engine}" for name, engine in found.engines.items()),
        *(f"{row.method} ({row.spans}): {row.failed:,} cases failed" for row in found.rows if row.failed),
    ]
    return "; ".join(told)


def cannot_see() -> str:
    """A line for each measure."""
    return "\n".join(f"- {name} cannot see {what}." for name, what in UNSEEN_BY.items())


def order_table(facts: Sequence[OrderFact]) -> str:
    """Each published order, the difference here, and whether it comes out."""
    columns: list[Column] = [
        ("", "measure", lambda fact: fact.measure),
        ("", "higher", lambda fact: fact.higher),
        ("", "lower", lambda fact: fact.lower),
        ("", "difference", lambda fact: estimate_cell(fact.difference, SIGNED)),
        ("", "comes out", lambda fact: comes_out(fact.difference)),
    ]
    return markdown_table(table("", facts, columns), words=3)


_ORDER_IS = (
    "The order that INTACT's authors found, on other cases and with a language model's candidates as most "
    "and least specific: the difference here, and whether it comes out. Intervals are over cases, those of "
    f"NMI {DEVIATIONS:g} standard deviations over pairs of runs. Unclear is an interval that holds zero."
)


_HOW_TO_READ = (
    "Every method replaces the same annotated spans: these figures say nothing about detection. TPS is "
    "the share of a text's information that stays (1 is the original), similarity the mean cosine of an "
    "original with what stands in its place. Truthful and less specific are shares by an automatic check, "
    "which is a proxy, on the cases that its rules were not chosen on. Fallback is the share of spans "
    "with words that name the kind alone. TRIR is the share of cases whose person an attacker names from "
    "public text. The pool attacker knows the method and all values of the corpus, and is right if the "
    "original is among his first five guesses; prior guesses by frequency. Persons and codes get a letter "
    "or number under every method and are left out of all but TPS, similarity, NMI and TRIR. NMI is how far "
    "clusters of the texts are those of the originals: mean and standard deviation over runs, with that of "
    "originals among themselves as ceiling, and shuffled labels as chance. In parentheses are 95% intervals "
    "over cases."
)
_TABLE_IS = (
    "Nothing was learned from these cases. Methods on gold spans replace every mention that the benchmark's "
    "annotators marked, harmless ones too; the others read the raw text alone. Recall of entities is the "
    "share with all mentions masked, precision the share of what was masked that has to go, by tokens, by "
    "mentions, and by tokens weighted by their information."
)


def markdown(report: IntactReport) -> str:
    """The tables: methods over all kinds, kinds, the rungs taken, the benchmark, and the published order."""
    lines = list[str]()
    if report.methods:
        lines += ["# Truthful sanitization of annotated spans", "", _HOW_TO_READ, "", methods_table(report)]
        lines += [kinds_table(report), rungs_table(report)]
        lines += [validation_table(report.validation) if report.validation else ""]
    lines += [*(f"- {name} is absent: {reason}" for name, reason in report.absent.items()), ""]
    if (found := report.benchmark) is not None:
        lines += ["## The Text Anonymization Benchmark", "", _TABLE_IS, "", benchmark_table(found)]
        lines += [cannot_see(), "", f"{benchmark_facts(found)}.", ""]
    return "\n".join([*lines, _ORDER_IS, "", order_table(report.order), facts(report)]) + "\n"


def methods_table(report: IntactReport) -> str:
    """A row for each method, over all kinds with a ladder."""
    columns: list[Column] = [
        ("", "method", lambda each: each.method),
        ("", "TPS", lambda each: estimate_cell(each.tps)),
        ("", "similarity", lambda each: estimate_cell(each.similarity)),
        ("", "truthful", lambda each: estimate_cell(_all(each).truthful)),
        ("", "less specific", lambda each: estimate_cell(_all(each).less_specific)),
        ("", "both", lambda each: estimate_cell(_all(each).both)),
        ("", "fallback", lambda each: estimate_cell(_all(each).fallback)),
        *(_NMI if any(each.nmi for each in report.methods) else ()),
        ("", "TRIR", lambda each: estimate_cell(each.trir)),
        ("", "TRIR, minus suppression", lambda each: _or_dash(each.trir_minus_suppression, SIGNED)),
        ("", "found among five", lambda each: estimate_cell(_all(each).guesses.five)),
        ("", "by prior", lambda each: estimate_cell(_all(each).guesses.prior_five)),
    ]
    return markdown_table(table("", report.methods, columns))


def kinds_table(report: IntactReport, methods: Collection[str] = METHODS) -> str:
    """A row for each kind under each of these methods."""
    rows = [
        (method.method, kind, figures)
        for method in report.methods
        if method.method in methods
        for kind, figures in method.kinds.items()
        if kind != ALL
    ]
    columns: list[Column] = [
        ("", "method", lambda row: row[0]),
        ("", "kind", lambda row: row[1]),
        ("", "n", lambda row: f"{row[2].n:,}"),
        ("", "truthful and less specific", lambda row: estimate_cell(row[2].both)),
        ("", "fallback", lambda row: estimate_cell(row[2].fallback)),
        ("", "found first", lambda row: estimate_cell(row[2].guesses.first)),
        ("", "found among five", lambda row: estimate_cell(row[2].guesses.five)),
        ("", "by prior", lambda row: estimate_cell(row[2].guesses.prior_five)),
    ]
    if any(figures.similarity for _, _, figures in rows):
        columns += [("", "similarity", lambda row: _or_dash(row[2].similarity))]
    return markdown_table(table("", rows, columns), words=2)


def rungs_table(report: IntactReport) -> str:
    """How many spans got the first candidate of their ladder, the second, and so on."""
    most = max((rung for method in report.methods for rung in _all(method).rungs), default=0)
    rows: list[Sequence[str]] = [
        [each.method, *(f"{_all(each).rungs.get(number, 0):,}" for number in range(1, most + 1))]
        for each in report.methods
        if _all(each).rungs
    ]
    head = ["method", *(f"rung {number}" for number in range(1, most + 1))]
    return markdown_table(Table("", head, rows)) if rows else ""


def validation_table(validation: Validation) -> str:
    """How far the automatic check agrees with people, by question, kind and system."""
    columns: list[Column] = [
        ("", "question", lambda each: each.question),
        ("", "part", lambda each: each.part),
        ("", "agreement", lambda each: estimate_cell(each.agreement, note=f"n = {each.agreement.n:,}")),
        ("", "always the commoner answer", lambda each: f"{each.majority:.3f}"),
        ("", "kappa", lambda each: estimate_cell(each.kappa)),
        ("", "both yes", lambda each: f"{each.both_yes:,}"),
        ("", "check yes, people no", lambda each: f"{each.only_proxy_yes:,}"),
        ("", "check no, people yes", lambda each: f"{each.only_people_yes:,}"),
        ("", "both no", lambda each: f"{each.both_no:,}"),
    ]
    return markdown_table(table("", validation.figures, columns), words=2)


def _all(method: MethodFigures) -> KindFigures:
    return method.kinds[ALL]


def _or_dash(estimate: Estimate | None, style: str = DECIMAL) -> Cell | str:
    return DASH if estimate is None else estimate_cell(estimate, style)


def facts(report: IntactReport) -> str:
    """Where the figures come from."""
    told = [f"{report.cases:,} cases", f"{report.individuals:,} individuals", f"limit {report.limit:g}"]
    told += [f"seed {report.seed}", *(f"{name}: {engine}" for name, engine in report.engines.items())]
    return "; ".join([*told, *(f"{name}: {value}" for name, value in report.provenance.facts())])
