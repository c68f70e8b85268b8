"""What attackers and readers of an index got, as tables in markdown; empty where nothing was measured."""

from eval.measures.intervals import counted_share
from eval.trip_rag import published
from eval.trip_rag.cells import DASH, PUBLISHED
from eval.trip_rag.page_attacks import Victim, victim_of
from eval.trip_rag.report import TripRagReport
from eval.trip_rag.table import estimate_cell, markdown_table, share_cell


def extraction(report: TripRagReport, identifiers: bool) -> str:
    """A row a method, a column a victim: shares of identifiers, or of all sensitive entities.

    The paper's shares stand beside the latter, which is what it counts.
    """
    attacks = report.attacks
    if not attacks:
        return ""
    victims = dict.fromkeys(victim_of(each) for each in attacks)
    found = {
        (each.method, victim_of(each)): share_cell(
            each.identifiers if identifiers else each.all_entities, intervals=True
        )
        for each in attacks
    }
    rows = []
    for name in dict.fromkeys(each.method for each in attacks):
        row = [name, *(found.get((name, victim), DASH) for victim in victims)]
        rows.append(row if identifiers else [*row, *_leakage_printed(name)])
    theirs = () if identifiers else tuple(f"{PUBLISHED}: {name}" for name in published.CORPORA)
    return markdown_table(("method", *(_told(victim) for victim in victims), *theirs), rows)


def _told(victim: Victim) -> str:
    attack, generator, k = victim
    return f"{attack}; {generator}, k = {k}"


def _leakage_printed(method: str) -> list[str]:
    theirs = published.LEAKAGE.get(method, {})
    return [f"{theirs[name]:.2f}" if name in theirs else DASH for name in published.CORPORA]


def index_reader(report: TripRagReport) -> str:
    """What stands word for word in the sanitized index of each method."""
    rows = [
        (
            each.method,
            *(share_cell(share, intervals=True) for share in (each.identifiers, each.disclosed, each.kept)),
            f"{each.documents_failed:,}",
        )
        for each in report.methods
    ]
    return markdown_table(
        ("method", "identifiers", "all sensitive entities", "mentions kept", "documents failed"), rows
    )


def copies(report: TripRagReport) -> str:
    """Every attack: prompts, and how many of them leaked or got a copy of a passage."""
    rows = [
        (
            each.method,
            _told(victim_of(each)),
            f"{each.prompts:,}",
            f"{each.failed:,}",
            *(
                share_cell(share)
                for share in (
                    each.prompts_leaking,
                    each.repeat_prompts,
                    each.repeat_passages,
                    each.rouge_recall_prompts,
                    each.rouge_f_prompts,
                )
            ),
        )
        for each in report.attacks
    ]
    head = (
        "method", "attack and victim", "prompts answered", "failed", "leaking", "copied prompts",
        "copied passages", "ROUGE-L recall above 0.5", "ROUGE-L F above 0.5",
    )  # fmt: skip
    return markdown_table(head, rows) if rows else ""


def guesses(report: TripRagReport) -> str:
    """Entity inference, and what the guesses rebuild."""
    rows = [
        (
            each.method,
            f"{each.slots:,} in {each.documents:,}",
            share_cell(each.top1, intervals=True),
            share_cell(each.prior_top1, intervals=True),
            DASH if each.chance_top1 is None else f"{each.chance_top1:.3f}",
            *(share_cell(share, intervals=True) for share in (each.top5, each.prior_top5)),
            f"{estimate_cell(each.rouge_l)} → {estimate_cell(each.rebuilt_rouge_l)}",
            f"{share_cell(each.entities_left)} → {share_cell(each.entities_recovered)}",
        )
        for each in report.guesses
    ]
    head = (
        "method", "slots in documents", "ranked first", "same, prior", "same, chance", "first five",
        "same, prior", "ROUGE-L with the original", "sensitive entities there",
    )  # fmt: skip
    return markdown_table(head, rows) if rows else ""


def canaries(report: TripRagReport) -> str:
    """Of what was planted, the share that came out, by label."""
    found = report.canaries
    labels = list(dict.fromkeys(label for each in found for label in each.recall))
    rows = [
        (
            each.method,
            f"{each.k}",
            f"{each.documents:,}",
            *(
                share_cell(each.recall[label], intervals=True) if label in each.recall else DASH
                for label in labels
            ),
        )
        for each in found
    ]
    return markdown_table(("method", "k", "documents", *labels), rows) if rows else ""


def promises(report: TripRagReport) -> str:
    """How often thresholds could be promised, and how often the promise was broken."""
    rows = [
        (
            f"{each.policy}: at most {100 * each.max_leak:g} % of {each.counted}",
            f"{100 * each.confidence:g} %",
            f"{each.documents:,}",
            f"{each.promised:,} of {each.splits:,}",
            f"{each.violated:,}",
            share_cell(counted_share(each.violated, each.splits)),
            f"{1 - each.confidence:.3f}",
            share_cell(counted_share(each.violated, each.promised)),
        )
        for each in report.promises
    ]
    head = (
        "promise",
        "confidence",
        "documents",
        "promised",
        "broken",
        "of all splits",
        "at most",
        "of those promised",
    )
    return markdown_table(head, rows) if rows else ""
