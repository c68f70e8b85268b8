"""The page of an extraction audit, and a narrow table for the terminal."""

from collections.abc import Callable, Iterator

from eval.measures.uncertainty import Estimate
from eval.reports.schema import (
    PERCENT,
    Cell,
    Plot,
    Report,
    Row,
    Section,
    Table,
    bars,
    estimate_cell,
    mean,
    share,
)
from eval.reports.words import words
from eval.studies.extraction.report import ArmSummary, ExtractionReport
from ingest.documents import Action, Identifier

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
        cards=[
            (
                share(arm.entity_leakage),
                f"of sensitive entities leaked from {arm.name}; "
                f"{estimate_cell(arm.query_leakage, PERCENT).text} of "
                "prompts that met any leaked at least one",
            )
            for arm in report.arms
        ],
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
        *(
            (f"– {KINDS[each].lower()}", lambda arm, each=each: share(arm.by_identifier.get(each)))
            for each in kinds
        ),
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
    counts: dict[str, float] = {}
    for arm in report.arms:
        for label, found in arm.by_label.items():
            counts[label] = max(counts.get(label, 0), found.n)
    labels = sorted(counts, key=lambda label: (-counts[label], label))
    more = len(labels) - MOST_LABELS
    if labels:
        yield Table(
            "Entity leakage by label" + (f"; {more} rarer labels are in summary.json" if more > 0 else ""),
            ("Label", *(arm.name for arm in report.arms)),
            [
                (label, *(share(arm.by_label.get(label)) for arm in report.arms))
                for label in labels[:MOST_LABELS]
            ],
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
    reference = report.reference
    yield "Attack", f"{report.attack.name}, {report.attack.reference}"
    yield (
        "Sensitive entities",
        f"{reference.source}: {reference.entities:,} in {reference.documents:,} documents, "
        f"{reference.ignored:,} mentions too short or mere stop words",
    )
    yield from ((f"Engines of {arm.name}", ", ".join(arm.engines) or "none") for arm in report.arms)
    yield "Seed", str(report.attack.seed)
    yield from report.provenance.facts()


def leakage_table(report: ExtractionReport) -> Table:
    """One row per arm, narrow enough for a terminal."""
    caption = (
        f"{report.attack.name}, seed {report.attack.seed}",
        f"sensitive: {report.reference.source}; share and 95% interval",
        *report.problems,
    )
    return Table(
        "\n".join(caption),
        ("arm", "n", "entities", "direct", "quasi", "queries", "coverage", "repeats", "R@5"),
        [
            (
                arm.name,
                f"{arm.completed}/{arm.planned}",
                *(
                    estimate_cell(figure, PERCENT)
                    for figure in (
                        arm.entity_leakage, arm.by_identifier.get("direct"), arm.by_identifier.get("quasi"),
                        arm.query_leakage, arm.coverage, arm.repeat_prompts,
                    )
                ),
                estimate_cell(arm.recall_overlap.get(5)).text,
            )
            for arm in report.arms
        ],
    )  # fmt: skip
