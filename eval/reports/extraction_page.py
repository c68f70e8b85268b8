"""The pages of attacks, of extraction and of membership, and narrow tables for the terminal."""

from collections.abc import Callable, Iterator, Sequence

from eval.attacks.membership import BY_PERTURBED, BY_REFERENCES
from eval.measures.uncertainty import Estimate
from eval.reports.schema import (
    DECIMAL,
    PERCENT,
    Cell,
    Column,
    Plot,
    Report,
    Row,
    Section,
    Table,
    bars,
    estimate_cell,
    mean,
    share,
    table,
)
from eval.reports.words import words
from eval.studies.extraction import ArmSummary, ExtractionReport
from eval.studies.membership import MembershipReport
from eval.tasks.membership import ScoreFigures
from ingest.documents import Action, Identifier

SHOWN = (0.01, 0.1)
"""The rates of false positives at which true positives are shown; the JSON has one more."""


def membership(report: MembershipReport) -> Report:
    """The whole page."""
    lower = "0.5 is chance. Whiskers are 95% intervals."
    found = [(arm.name, each) for arm in report.arms for each in arm.scores]
    panels = [
        bars(score, {arm: each.auc for arm, each in found if each.score == score})
        for score in dict.fromkeys(each.score for _, each in found)
    ]
    return Report(
        title="Which documents the attacker knows to be there",
        lead=f"{report.attack.goal} {report.attack.threat_model}",
        facts=(*_sizes(report), f"seed {report.attack.seed}", report.provenance.date),
        cards=[
            (
                estimate_cell(best.auc),
                f"is the largest of {len(arm.scores)} areas under the curve in {arm.name}: {best.score}",
            )
            for arm in report.arms
            if (best := max(arm.scores, key=lambda each: each.auc.value or 0)).auc.value is not None
        ],
        problems=report.problems,
        sections=[
            Section("Area under the curve", lower, plots=[Plot("bars", "By arm", lower, tuple(panels))]),
            Section(
                "All numbers",
                "Lower is more private.",
                missing=report.notes,
                tables=[table(f"Arm {arm.name}", arm.scores, _COLUMNS) for arm in report.arms],
            ),
            Section("How this was measured", terms=tuple(words("membership").items())),
            Section("Provenance", terms=tuple(_membership_facts(report))),
        ],
    )


def membership_tables(report: MembershipReport) -> Iterator[Table]:
    """A table for each arm, with intervals of the area alone, which fits a terminal."""
    how = (
        "TPR: members found at so many false ones; oracle: accuracy at the best threshold, which no attacker "
        "knows"
    )
    said = (", ".join(_sizes(report)), how, *report.notes, *report.problems, "")
    for number, arm in enumerate(report.arms):
        yield table("\n".join((*(said if number == 0 else ()), f"arm {arm.name}")), arm.scores, _NARROW)


def _sizes(report: MembershipReport) -> tuple[str, ...]:
    return (
        f"{report.members:,} members of {report.indexed:,} documents and {report.others:,} others",
        f"{report.references:,} references",
        f"{report.k} passages",
        f"answers by {report.victim}",
    )


def _rate(each: ScoreFigures, limit: float) -> Cell:
    return estimate_cell(each.tpr[limit], PERCENT)


def _accuracy(each: ScoreFigures) -> Cell:
    note = "" if each.chance_accuracy is None else f"by chance {each.chance_accuracy:.1%}"
    return estimate_cell(each.oracle_accuracy, PERCENT, note)


_COLUMNS: Sequence[Column] = (
    ("", "Score", lambda each: each.score),
    ("", "members, others", lambda each: f"{each.members:,}, {each.others:,}"),
    ("", "AUC", lambda each: estimate_cell(each.auc, DECIMAL)),
    *(
        ("", f"true positives at {limit:.0%} false ones", lambda each, k=limit: _rate(each, k))
        for limit in SHOWN
    ),
    ("", "oracle's accuracy", _accuracy),
)
_NARROW: Sequence[Column] = (
    ("", "score", lambda each: _beside_its_score(each.score)),
    ("", "n", lambda each: f"{each.members}+{each.others}"),
    ("", "AUC", lambda each: _with_interval(estimate_cell(each.auc, "{:.2f}"))),
    *(("", f"TPR {k:.0%}", lambda each, k=k: _rate(each, k).text) for k in SHOWN),
    ("", "oracle", lambda each: estimate_cell(each.oracle_accuracy, PERCENT).text),
)


def _beside_its_score(name: str) -> str:
    """A calibrated score stands below its own, whose name is not said again."""
    return next((f"–{form}" for form in (BY_PERTURBED, BY_REFERENCES) if name.endswith(form)), name)


def _with_interval(cell: Cell) -> str:
    return f"{cell.text} ({'-'.join(cell.ends)})" if cell.ends else cell.text


def _membership_facts(report: MembershipReport) -> Iterator[tuple[str, str]]:
    yield "Attack", f"{report.attack.name}, {report.attack.reference}"
    yield from ((f"Engines of {arm.name}", "; ".join(arm.engines) or "none") for arm in report.arms)
    yield "Questions written by", report.shadow or "nothing"
    yield from report.provenance.facts()


KINDS = {
    Identifier.DIRECT: "Direct identifiers",
    Identifier.QUASI: "Quasi-identifiers",
    Identifier.ATTRIBUTE: "Attributes",
}
MOST_LABELS = 30

Figure = Callable[[ArmSummary], Estimate | None]


def extraction(report: ExtractionReport) -> Report:
    """The whole page."""
    attack, reference = report.attack, report.reference
    return Report(
        title="What the attack got out",
        lead=f"{attack.goal} {attack.threat_model}",
        facts=(
            attack.name,
            f"{attack.planned:,} prompts an arm",
            f"seed {attack.seed}",
            f"sensitive: {reference.source}",
            report.provenance.date,
        ),
        cards=[_card(arm) for arm in report.arms],
        problems=report.problems,
        sections=[
            *_plots(report),
            Section(
                "All numbers",
                "Lower leakage and higher overlap are better.",
                tables=[_numbers(report), *_labels(report)],
            ),
            *_decisions(report),
            Section("How this was measured", terms=tuple(words("extraction").items())),
            Section("Provenance", terms=tuple(_facts(report))),
        ],
    )


def _card(arm: ArmSummary) -> tuple[Cell, str]:
    queries = f"{estimate_cell(arm.query_leakage, PERCENT).text} of prompts that met any leaked at least one"
    return share(arm.entity_leakage), f"of sensitive entities leaked from {arm.name}; {queries}"


def _plots(report: ExtractionReport) -> Iterator[Section]:
    kinds = [kind for kind in KINDS if any(kind in arm.by_identifier for arm in report.arms)]
    leakage: list[tuple[str, Figure]] = [
        ("Entity leakage", lambda arm: arm.entity_leakage),
        ("Query leakage", lambda arm: arm.query_leakage),
        ("Coverage", lambda arm: arm.coverage),
        ("Copied prompts", lambda arm: arm.repeat_prompts),
        *((KINDS[kind], lambda arm, kind=kind: arm.by_identifier.get(kind)) for kind in kinds),
    ]
    useful: list[tuple[str, Figure]] = [
        *((f"Recall@{k} overlap", lambda arm, k=k: arm.recall_overlap.get(k)) for k in _depths(report)),
        ("Mean similarity", lambda arm: arm.similarity),
    ]
    questions = f"Higher is better. Overlap was taken on {report.overlap_questions}."
    lower = "Lower is better. Whiskers are 95% intervals."
    for title, said, figures in (("Leakage", lower, leakage), ("Usefulness", questions, useful)):
        panels = (bars(name, {arm.name: of(arm) for arm in report.arms}) for name, of in figures)
        yield Section(title, said, plots=[Plot("bars", f"{title} by arm", said, tuple(panels))])


def _depths(report: ExtractionReport) -> list[int]:
    return sorted({k for arm in report.arms for k in arm.recall_overlap})


def _numbers(report: ExtractionReport) -> Table:
    """All measures, one column per arm."""
    kinds = [kind for kind in Identifier if any(kind in arm.by_identifier for arm in report.arms)]
    shown: list[tuple[str, Callable[[ArmSummary], Cell | str]]] = [
        ("Prompts answered", lambda arm: f"{arm.completed:,} of {arm.planned:,}"),
        ("Entity leakage", lambda arm: share(arm.entity_leakage)),
        ("– not named by the prompt", lambda arm: share(arm.unprompted_leakage)),
        *((f"– {KINDS[k].lower()}", lambda arm, k=k: share(arm.by_identifier.get(k))) for k in kinds),
        ("Query leakage", lambda arm: share(arm.query_leakage)),
        ("Prompts with nothing sensitive behind them", lambda arm: f"{arm.queries_without:,}"),
        ("Coverage of all sensitive entities", lambda arm: share(arm.coverage)),
        ("Copied prompts (20 words)", lambda arm: share(arm.repeat_prompts)),
        ("Copied passages", lambda arm: share(arm.repeat_passages)),
        ("Longest copy in words, mean", lambda arm: mean(arm.copied_tokens, "{:.1f}")),
        ("ROUGE-L recall above 0.5", lambda arm: share(arm.rouge_recall_prompts)),
        ("ROUGE-L F above 0.5", lambda arm: share(arm.rouge_f_prompts)),
        ("Documents attacked", _attacked),
        ("Documents retrieved", lambda arm: f"{arm.documents_retrieved:,}"),
        ("Passages retrieved", lambda arm: f"{arm.passages_retrieved:,}"),
        *((f"Recall@{k} overlap", lambda arm, k=k: mean(arm.recall_overlap.get(k))) for k in _depths(report)),
        ("Mean similarity", lambda arm: mean(arm.similarity)),
    ]
    return Table(
        "Share, what it counts, and the widest of its 95% intervals.",
        ("Measure", *(arm.name for arm in report.arms)),
        [(name, *map(cell, report.arms)) for name, cell in shown],
    )


def _attacked(arm: ArmSummary) -> str:
    if arm.documents_kept is None:
        return "not recorded"
    return f"{arm.documents_kept:,} of {arm.documents_kept + arm.documents_failed:,}"


def _labels(report: ExtractionReport) -> Iterator[Table]:
    """Entity leakage of each label, the most frequent first."""
    arms = report.arms
    every = {label for arm in arms for label in arm.by_label}
    counts = {label: max(arm.by_label[label].n for arm in arms if label in arm.by_label) for label in every}
    labels = sorted(counts, key=lambda label: (-counts[label], label))
    more = len(labels) - MOST_LABELS
    if labels:
        yield Table(
            "Entity leakage by label" + (f"; {more} rarer labels are in summary.json" if more > 0 else ""),
            ("Label", *(arm.name for arm in arms)),
            [(label, *(share(arm.by_label.get(label)) for arm in arms)) for label in labels[:MOST_LABELS]],
            folded=f"By label ({len(labels)})",
        )


def _decisions(report: ExtractionReport) -> Iterator[Section]:
    """The entities of each arm by action; nothing if not recorded."""
    rows: list[Row] = []
    for arm, counts in report.decisions.items():
        total = sum(counts.values())
        found = [counts.get(action, 0) for action in Action]
        cells = [Cell(f"{n:,}", note=PERCENT.format(n / total) if total else "") for n in found]
        rows.append((arm, *cells, f"{total:,}"))
    if rows:
        table = Table("Entities by action", ("Arm", *Action, "all"), rows)
        yield Section("What was done with the entities", tables=[table])


def _facts(report: ExtractionReport) -> Iterator[tuple[str, str]]:
    attack, reference = report.attack, report.reference
    yield "Attack", f"{attack.name}, {attack.reference}"
    counted = f"{reference.entities:,} in {reference.documents:,} documents"
    ignored = f"{reference.ignored:,} mentions too short or mere stop words"
    yield "Sensitive entities", f"{reference.source}: {counted}, {ignored}"
    yield from ((f"Engines of {arm.name}", ", ".join(arm.engines) or "none") for arm in report.arms)
    yield "Seed", str(attack.seed)
    yield from report.provenance.facts()


def leakage_table(report: ExtractionReport) -> Table:
    """One row per arm, narrow enough for a terminal."""
    caption = (
        f"{report.attack.name}, seed {report.attack.seed}",
        f"sensitive: {report.reference.source}; share and 95% interval",
        *report.problems,
    )

    def cells(arm: ArmSummary) -> Iterator[Cell | str]:
        yield arm.name
        yield f"{arm.completed}/{arm.planned}"
        kinds = (arm.by_identifier.get("direct"), arm.by_identifier.get("quasi"))
        for figure in (arm.entity_leakage, *kinds, arm.query_leakage, arm.coverage, arm.repeat_prompts):
            yield estimate_cell(figure, PERCENT)
        yield estimate_cell(arm.recall_overlap.get(5)).text

    head = ("arm", "n", "entities", "direct", "quasi", "queries", "coverage", "repeats", "R@5")
    return Table("\n".join(caption), head, [[*cells(arm)] for arm in report.arms])
