"""The table of the Text Anonymization Benchmark in Markdown, with what each measure cannot see."""

from collections.abc import Callable, Mapping, Sequence

from eval.measures.clustered import BY_WORDS
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import NOTHING, Cell, Column, estimate_cell, table
from eval.studies.intact.order import DEVIATIONS, comes_out
from eval.studies.intact.report import BenchmarkFigures, BenchmarkRow, ClusterFigures, OrderFact

WHOLE, SIGNED = "{:.1%}", "{:+.3f}"
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


def nmi_columns() -> list[Column]:
    """A column for each engine, with its ceiling and chance, of rows that have figures ``nmi``."""
    return [
        ("", "NMI by words", lambda each: nmi_cell(each.nmi, by_words=True)),
        ("", "NMI by the encoder", lambda each: nmi_cell(each.nmi, by_words=False)),
    ]


def nmi_cell(figures: Mapping[str, ClusterFigures], by_words: bool) -> Cell:
    """Mean and standard deviation, then ceiling and chance."""
    found = next((each for engine, each in figures.items() if (engine == BY_WORDS) is by_words), None)
    if found is None:
        return NOTHING
    note = f"ceiling {_spread(found.ceiling)}, chance {found.chance[0]:.3f}"
    return Cell(_spread(found.kept), note=note)


def _spread(figures: tuple[float, float]) -> str:
    return f"{figures[0]:.3f} ± {figures[1]:.3f}"


def benchmark_table(found: BenchmarkFigures) -> str:
    """A row for each method, and where it takes its spans from."""

    def recall(name: str) -> Callable[[BenchmarkRow], Cell]:
        return lambda row: estimate_cell(getattr(row.masked, name), WHOLE)

    columns: list[Column] = [
        ("", "method", lambda row: row.method),
        ("", "spans", lambda row: row.spans),
        ("", "direct entities", recall("direct")),
        ("", "quasi entities", recall("quasi")),
        ("", "mentions", recall("mentions")),
        ("", "tokens", recall("tokens")),
        ("", "token precision", recall("token_precision")),
        ("", "mention precision", recall("mention_precision")),
        ("", "weighted precision", recall("weighted_precision")),
        ("", "TPS", lambda row: estimate_cell(row.tps)),
        ("", "TPI", lambda row: estimate_cell(row.tpi)),
        *nmi_columns(),
        ("", "TRIR", lambda row: estimate_cell(row.trir)),
        ("", "TRIR, minus suppression", lambda row: _signed(row.trir_minus_suppression)),
    ]
    return markdown_table(table("", found.rows, columns), words=2)


def _signed(estimate: Estimate | None) -> Cell:
    return estimate_cell(estimate, SIGNED)


def benchmark_facts(found: BenchmarkFigures) -> str:
    """What was measured on what, and by which engines."""
    first = found.rows[0].masked
    counted = f"{first.direct.n:,} direct and {first.quasi.n:,} quasi entities, {first.mentions.n:,} mentions"
    told = [
        f"recall and precision on {found.marked:,} cases with {counted}",
        f"TPS, TPI, NMI and TRIR on {found.compared:,} cases",
        *(
            [f"{found.individuals:,} individuals, chance {1 / found.individuals:.4f}"]
            if found.individuals
            else []
        ),
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
        ("", "difference", lambda fact: _signed(fact.difference)),
        ("", "comes out", lambda fact: comes_out(fact.difference)),
    ]
    return markdown_table(table("", facts, columns), words=3)


ORDER_IS = (
    "The order that INTACT's authors found, on other cases and with a language model's candidates as most "
    "and least specific: the difference here, and whether it comes out. Intervals are over cases, those of "
    f"NMI {DEVIATIONS:g} standard deviations over pairs of runs. Unclear is an interval that holds zero."
)
