"""The report of the study of defences in Markdown."""

from collections.abc import Callable, Iterator, Sequence

from eval.attacks.adaptive import Follow, RandomText
from eval.attacks.extraction import Unchanged
from eval.reports.render import markdown_table
from eval.reports.schema import DECIMAL, PERCENT, Cell, Column, Table, estimate_cell, table
from eval.studies.defences import ALL, ALL_QUOTES, NONE, DefenceFigures, DefencesReport

_HOW_TO_READ = (
    "One undefended system, then each defence by itself, then all. The undefended system has the original "
    "documents, an obedient model by rule that does whatever its prompt tells it, a prompt without rules, "
    "and no limits: the worst case. *Suite*, *follow* and *random-text* are shares of all sensitive "
    "entities that as many questions of one caller bring out: prompts in their order, prompts that go on "
    "from answers, and random words, which is chance. *Covered* are documents of which harmless questions "
    "about concepts bring out a passage; further attacks that were asked for have the same in columns of "
    "their names. *Injected* are answers that do what a poisoned document is there "
    "for; *by chance* they do so without it. *Member* is how often the best passage is more similar to a "
    "document that is stored than to one that is not; chance is 0.5. *Canaries* are planted secrets that "
    "come out. *Facts*, *found first* and *refused* are of harmless questions, five of each caller: facts "
    "of the sentences beside the question that the answer states, the document asked about is found "
    "first, and nothing is answered; *attacks refused* are questions of attackers that a limit refused. "
    "The gate for commands stands alone and is not in *all*: the commands of these attacks have one "
    "wording, which it knows, and an attacker who knows the gate takes another. *Search by vectors alone* "
    "is no defence: noise in vectors compares with it, since words are searched as they are and say what "
    "noise hides. In parentheses are 95% intervals. No budget counts a single question: those about a "
    "candidate or a secret, and those that meet a poisoned document, come from callers of their own."
)
_ATTACKS = (Unchanged.name, Follow.name, RandomText.name)
_CURVES = (NONE, "sanitized index", ALL, ALL_QUOTES)


def markdown(report: DefencesReport) -> str:
    """All tables."""
    return "\n".join(_lines(report)) + "\n"


def leaks_table(report: DefencesReport) -> Table:
    """What attackers get."""
    drawn: list[Column] = [("sensitive entities", name, _drawn(name, report.budget)) for name in _ATTACKS]
    also: list[Column] = [("documents", name, _also(name)) for name in report.defences[0].also]
    columns: Sequence[Column] = [
        ("", "Defence", lambda each: each.defence),
        *drawn,
        ("documents", "covered", lambda each: estimate_cell(each.covered, PERCENT)),
        *also,
        ("answers", "injected", lambda each: estimate_cell(each.injected, PERCENT)),
        ("answers", "by chance", lambda each: estimate_cell(each.injected_without, PERCENT)),
        ("documents ", "member", lambda each: estimate_cell(each.member, DECIMAL)),
        ("secrets", "canaries", lambda each: estimate_cell(each.canaries, PERCENT)),
    ]
    return table("What attackers get", report.defences, columns)


def costs_table(report: DefencesReport) -> Table:
    """What it costs users."""
    columns: Sequence[Column] = [
        ("", "Defence", lambda each: each.defence),
        ("", "facts", lambda each: estimate_cell(each.facts, PERCENT)),
        ("", "found first", lambda each: estimate_cell(each.found_first, PERCENT)),
        ("", "refused", lambda each: estimate_cell(each.refused, PERCENT)),
        ("", "attacks refused", lambda each: estimate_cell(each.refused_attacks, PERCENT)),
    ]
    return table("What harmless questions get", report.defences, columns)


def commands_table(report: DefencesReport) -> Table:
    """Answers that follow a poisoned document, by what it is there for."""
    own: list[Column] = [("", name, _by(name)) for name in report.defences[0].injected_by]
    return table(
        "Answers that follow a poisoned document",
        report.defences,
        [("", "Defence", lambda each: each.defence), *own],
    )


def curves_table(report: DefencesReport) -> Table:
    """Sensitive entities by the number of questions."""
    rows = [(each, attack) for each in report.defences if each.defence in _CURVES for attack in _ATTACKS]
    budgets = list(report.defences[0].drawn[Follow.name])

    def cell(budget: int) -> Column:
        return ("", f"{budget} questions", lambda row: estimate_cell(row[0].drawn[row[1]][budget], PERCENT))

    return table(
        "Sensitive entities that come out",
        rows,
        [
            ("", "Defence", lambda row: row[0].defence),
            ("", "attack", lambda row: row[1]),
            *map(cell, budgets),
        ],
    )


def _drawn(attack: str, budget: int) -> Callable[[DefenceFigures], Cell]:
    return lambda each: estimate_cell(each.drawn[attack][budget], PERCENT)


def _also(attack: str) -> Callable[[DefenceFigures], Cell]:
    return lambda each: estimate_cell(each.also[attack], PERCENT)


def _by(command: str) -> Callable[[DefenceFigures], Cell]:
    return lambda each: estimate_cell(each.injected_by.get(command), PERCENT)


def _lines(report: DefencesReport) -> Iterator[str]:
    yield from ("# Defences", "", _HOW_TO_READ, "", facts(report), "")
    for shown in (leaks_table(report), costs_table(report), commands_table(report)):
        yield from (f"## {shown.caption}", "", markdown_table(shown).rstrip(), "")
    curves = curves_table(report)
    yield from (f"## {curves.caption}", "", markdown_table(curves, words=2).rstrip(), "")
    yield from ("## Not in the table", "", f"Always on: {'; '.join(report.always)}.", "")
    if report.need_a_model:
        yield from (f"Not measured, since a model is needed: {'; '.join(report.need_a_model)}.", "")
    yield f"Lethe has none of these: {'; '.join(report.absent)}."
    failed = {each.defence: each.not_measured for each in report.defences if each.not_measured}
    if failed or report.failed:
        said = "; ".join(f"{name} {count:,}" for name, count in failed.items()) or "no case"
        yield ""
        yield f"Not measured: {said}; {report.failed:,} documents could not be sanitized."


def facts(report: DefencesReport) -> str:
    """What was measured, with what and on what, as one sentence."""
    parts = [
        f"{report.documents:,} documents with {report.entities:,} sensitive entities ({report.reference})",
        f"{report.held_out:,} more are held out",
        f"{report.budget:,} questions of each attack",
        f"{report.poisoned:,} questions with poisoned documents",
        f"{report.harmless:,} harmless questions",
        f"{report.k} passages each",
        *(f"{name}: {value:g}" for name, value in report.limits.items()),
        f"seed {report.seed}",
        *(f"{name}: {value}" for name, value in report.provenance.facts()),
    ]
    return "; ".join(each.rstrip(".") for each in parts) + "."
