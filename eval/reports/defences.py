"""The report of the study of defences in Markdown."""

from collections.abc import Callable, Iterator

from eval.attacks.adaptive import Follow, RandomText
from eval.attacks.extraction import Unchanged
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import DECIMAL, PERCENT, Column, Table, estimate_cell, table
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


def _figure(
    group: str, head: str, of: Callable[[DefenceFigures], Estimate | None], style: str = PERCENT
) -> Column:
    return group, head, lambda each: estimate_cell(of(each), style)


_DEFENCE: Column = ("", "Defence", lambda each: each.defence)


def leaks_table(report: DefencesReport) -> Table:
    """What attackers get."""

    def drawn(name: str) -> Column:
        return _figure("sensitive entities", name, lambda each: each.drawn[name][report.budget])

    def also(name: str) -> Column:
        return _figure("documents", name, lambda each: each.also[name])

    columns = [
        _DEFENCE,
        *map(drawn, _ATTACKS),
        _figure("documents", "covered", lambda each: each.covered),
        *map(also, report.defences[0].also),
        _figure("answers", "injected", lambda each: each.injected),
        _figure("answers", "by chance", lambda each: each.injected_without),
        _figure("documents ", "member", lambda each: each.member, DECIMAL),
        _figure("secrets", "canaries", lambda each: each.canaries),
    ]
    return table("What attackers get", report.defences, columns)


def costs_table(report: DefencesReport) -> Table:
    """What it costs users."""
    columns = [
        _DEFENCE,
        _figure("", "facts", lambda each: each.facts),
        _figure("", "found first", lambda each: each.found_first),
        _figure("", "refused", lambda each: each.refused),
        _figure("", "attacks refused", lambda each: each.refused_attacks),
    ]
    return table("What harmless questions get", report.defences, columns)


def commands_table(report: DefencesReport) -> Table:
    """Answers that follow a poisoned document, by what it is there for."""

    def own(name: str) -> Column:
        return _figure("", name, lambda each: each.injected_by.get(name))

    columns = [_DEFENCE, *map(own, report.defences[0].injected_by)]
    return table("Answers that follow a poisoned document", report.defences, columns)


def curves_table(report: DefencesReport) -> Table:
    """Sensitive entities by the number of questions."""
    rows = [
        (each.defence, attack, each.drawn[attack])
        for each in report.defences
        if each.defence in _CURVES
        for attack in _ATTACKS
    ]

    def cell(budget: int) -> Column:
        return "", f"{budget} questions", lambda row: estimate_cell(row[2][budget], PERCENT)

    columns: list[Column] = [("", "Defence", lambda row: row[0]), ("", "attack", lambda row: row[1])]
    columns += map(cell, report.defences[0].drawn[Follow.name])
    return table("Sensitive entities that come out", rows, columns)


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
