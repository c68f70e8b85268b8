"""What attackers got: extraction, which is table 2 of the paper, guessing and reconstruction."""

from collections.abc import Sequence

from eval.report_charts import chart, share_bar
from eval.trip_rag import published
from eval.trip_rag.cells import (
    PUBLISHED,
    estimate_html,
    folded,
    missing,
    nothing,
    panel,
    published_html,
    row,
    section,
    share_html,
    table,
)
from eval.trip_rag.report import AttackFigures, TripRagReport

Victim = tuple[str, str, int]
"""Attack, generator and number of passages."""

PERCENT = "{:.0%}"


def leakage(report: TripRagReport) -> str:
    """Table 2: each method against each victim."""
    title = "Leakage under extraction"
    if not report.attacks:
        return section(title, "What prompts get out of a server.", missing("No attack was run."))
    victims = list(dict.fromkeys(victim_of(each) for each in report.attacks))
    names = list(dict.fromkeys(each.method for each in report.attacks))
    found = {(each.method, victim_of(each)): each for each in report.attacks}
    charts = [
        chart(
            "Identifiers",
            _told(victim),
            [
                share_bar(name, place, found[name, victim].identifiers)
                for place, name in enumerate(names)
                if (name, victim) in found
            ],
        )
        for victim in victims
    ]
    return section(
        title,
        "Of the sensitive entities of the original documents behind what was retrieved, the share that "
        "came out in the output; lower is better. The verbatim victim repeats all it is given, so no "
        "prompt gets more out of any model that reads the same passages. The paper has no row for Redact.",
        f'<div class="charts">{"".join(charts)}</div>',
        panel(_victims(names, victims, found)),
        folded("Prompts, copies and failures", _details(report.attacks)),
    )


def victim_of(figures: AttackFigures) -> Victim:
    """Whom an attack was run on."""
    return figures.attack, figures.generator, figures.k


def _told(victim: Victim) -> str:
    attack, generator, k = victim
    return f"{attack}; victim {generator}, k = {k}"


def _victims(
    names: Sequence[str], victims: Sequence[Victim], found: dict[tuple[str, Victim], AttackFigures]
) -> str:
    rows = []
    for name in names:
        cells = []
        for victim in victims:
            each = found.get((name, victim))
            cells += (
                [nothing(), nothing()]
                if each is None
                else [share_html(each.identifiers), share_html(each.all_entities)]
            )
        printed = [published.LEAKAGE.get(name, {}).get(corpus) for corpus in published.CORPORA]
        rows.append(row(name, [*cells, *(published_html(value, PERCENT) for value in printed)]))
    groups = [(_told(victim), ("identifiers", "all")) for victim in victims]
    return table(
        "Entity leakage: identifiers, and all sensitive entities. The paper counts privacy entities in "
        "what Llama-2-7b-chat writes from five passages, and does not say of how many.",
        "Method",
        [*groups, (PUBLISHED, published.CORPORA)],
        rows,
    )


def _details(attacks: Sequence[AttackFigures]) -> str:
    rows = [
        row(
            each.method,
            [
                f"{each.prompts:,}",
                f"{each.failed:,}",
                share_html(each.prompts_leaking),
                share_html(each.repeat_prompts),
                share_html(each.repeat_passages),
                share_html(each.rouge_recall_prompts),
                share_html(each.rouge_f_prompts),
            ],
            _told(victim_of(each)),
        )
        for each in attacks
    ]
    heads = (
        "Prompts answered", "Not measured", "Prompts leaking", "Copied prompts", "Copied passages",
        "ROUGE-L recall above 0.5", "ROUGE-L F above 0.5",
    )  # fmt: skip
    return table("Every attack; a copy is 20 or more words in a row.", "Method, victim", [("", heads)], rows)


def guessing(report: TripRagReport) -> str:
    """Entity inference and reconstruction."""
    title = "Guessing and reconstruction"
    if not report.guesses:
        return section(title, "What can be guessed of what was taken.", missing("Nothing was guessed."))
    rows = [
        row(
            each.method,
            [
                *(share_html(share) for share in (each.top1, each.prior_top1)),
                nothing() if each.chance_top1 is None else f"{each.chance_top1:.1%}",
                *(share_html(share) for share in (each.top5, each.prior_top5)),
                *(estimate_html(value) for value in (each.rouge_l, each.rebuilt_rouge_l)),
                *(share_html(share) for share in (each.entities_left, each.entities_recovered)),
            ],
            f"{each.slots:,} slots in {each.documents:,} documents",
        )
        for each in report.guesses
    ]
    groups = [
        ("original ranked first", ("guessed", "prior", "chance")),
        ("among the first five", ("guessed", "prior")),
        ("ROUGE-L with the original", ("as written", "rebuilt")),
        ("sensitive entities there", ("as written", "rebuilt")),
    ]
    return section(
        title,
        "An attacker who reads the index ranks candidates for every replaced slot and puts the best ones in. "
        "Guesses no better than the prior, which always says what is said most often, learned nothing from "
        "the text; lower is better throughout. A slot that shows its original is not counted as guessed.",
        panel(table("White-box guessing, with intervals over documents.", "Method", groups, rows)),
    )
