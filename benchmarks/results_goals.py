"""What the benchmark of whole methods is meant to reach, beside what was measured: for docs/results.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from eval.measures.contrasts import Figure
from eval.trip_rag import published
from eval.trip_rag.report import PromiseFigures, Summary, TripRagReport
from eval.trip_rag.table import markdown_table

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Goal:
    """At least ``least`` is wanted and ``aim`` hoped for, at most where ``lower``; None where nothing is.

    ``told`` writes a value, ``printed`` is the paper's counterpart by corpus, empty where it has none.
    """

    title: str
    value: Callable[[Summary], Figure | None]
    told: Callable[[float], str]
    least: float | None
    aim: float | None
    lower: bool = False
    printed: Mapping[str, float] | None = None

    def cells(self) -> list[str]:
        """The goal itself: its title, both borders and the paper's figures."""
        sign = "≤" if self.lower else "≥"
        borders = ("–" if each is None else f"{sign} {self.told(each)}" for each in (self.least, self.aim))
        printed = (self.told(each) for each in (self.printed or {}).values())
        return [self.title, *borders, " / ".join(printed) or "–"]

    def cell(self, found: Figure | None) -> str:
        """A measured value: bold where it misses what is wanted, italic where it reaches what is hoped."""
        if found is None:
            return "not measured"
        told = self.told(found.value)
        if self._short_of(found.value, self.least):
            told = f"**{told}**"
        elif self.aim is not None and not self._short_of(found.value, self.aim):
            told = f"*{told}*"
        if found.interval is not None:
            told += f" ({' to '.join(map(self.told, found.interval))})"
        return told

    def _short_of(self, value: float, border: float | None) -> bool:
        if border is None:
            return False
        return value > border + ROUNDING if self.lower else value < border - ROUNDING


def _number(value: float) -> str:
    return f"{value:.2f}"


def _difference(value: float) -> str:
    # Adding nought makes -0.0 a plain one.
    return f"{round(value, 3) + 0.0:+.3f}"


def _change(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:+.1f} %"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _relative(of: str, to: str, figure: Callable[[published.Answers], float]) -> dict[str, float]:
    """One method's published figure over another's, by corpus of the paper."""
    answers = published.ANSWERS
    return {name: figure(answers[of][name]) / figure(answers[to][name]) for name in published.CORPORA}


def _changes(ratios: Mapping[str, float]) -> dict[str, float]:
    return {name: ratio - 1 for name, ratio in ratios.items()}


LEAKAGE_RATIOS = {
    name: published.LEAKAGE["trip"][name] / published.LEAKAGE["origin"][name] for name in published.CORPORA
}
GOALS = (
    Goal(
        "Recall@1 overlap of trip, over that of redact",
        lambda found: found.recall_ratio,
        _number,
        least=1.5,
        aim=2.0,
        printed=_relative("trip", "redact", lambda row: row.recall[1]),
    ),
    Goal(
        "Recall@1 overlap of trip",
        lambda found: found.recall,
        _number,
        least=None,
        aim=0.8,
        printed={name: published.ANSWERS["trip"][name].recall[1] for name in published.CORPORA},
    ),
    Goal(
        "identifiers extracted from the verbatim victim, minus those of redact",
        lambda found: found.identifier_excess,
        _difference,
        least=0.02,
        aim=0.0,
        lower=True,
    ),
    Goal(
        "all sensitive entities extracted from the verbatim victim, relative to no sanitizing",
        lambda found: found.leakage_change,
        _change,
        least=-0.5,
        aim=-0.75,
        lower=True,
        printed=_changes(LEAKAGE_RATIOS),
    ),
    Goal(
        "ROUGE-L of answers, relative to redact",
        lambda found: found.rouge_change,
        _change,
        least=0.15,
        aim=0.4,
        printed=_changes(_relative("trip", "redact", lambda row: row.rouge_l)),
    ),
    Goal(
        "points of baselines that Lethe's curve dominates, by identifiers in the index",
        lambda found: found.dominated,
        _percent,
        least=0.9,
        aim=1.0,
    ),
    Goal(
        "the same, by all sensitive entities in the index",
        lambda found: found.dominated_all,
        _percent,
        least=0.9,
        aim=1.0,
    ),
)


def goals_table(reports: Mapping[str, TripRagReport]) -> str:
    """Every goal with what each corpus has, and every promise with how often it was broken."""
    columns = list(reports.values())
    rows = [[*goal.cells(), *(goal.cell(goal.value(each.summary)) for each in columns)] for goal in GOALS]
    promises = dict.fromkeys(_kind(each) for one in columns for each in one.promises)
    rows += [_promise(kind, columns) for kind in promises]
    measured = (f"{name}: {_size(each)}" for name, each in reports.items())
    head = ("figure", "at least", "aim", "published, other data", *measured)
    return markdown_table(head, rows)


def _size(report: TripRagReport) -> str:
    corpus = report.corpus
    return f"{corpus.documents:,} documents, {corpus.questions:,} questions"


Kind = tuple[str, str, float, float]
"""Policy, what is counted, limit and confidence of a promise."""


def _kind(promise: PromiseFigures) -> Kind:
    return promise.policy, promise.counted, promise.max_leak, promise.confidence


def _promise(kind: Kind, reports: Sequence[TripRagReport]) -> list[str]:
    policy, counted, limit, confidence = kind
    whose = "all sensitive entities" if counted == "all" else counted
    goal = Goal(
        f"promises of at most {_percent(limit)} of {whose} left by {policy}: made and broken",
        lambda found: None,
        _percent,
        least=1 - confidence,
        aim=None,
        lower=True,
    )
    checks = [{_kind(each): each for each in one.promises} for one in reports]
    return [*goal.cells(), *(_broken(goal, each.get(kind)) for each in checks)]


def _broken(goal: Goal, check: PromiseFigures | None) -> str:
    if check is None:
        return goal.cell(None)
    if not check.promised:
        return "none made"
    told = goal.cell(Figure(check.violated / check.splits))
    return f"{told}, {check.violated:,} of {check.splits:,} splits; made in {check.promised:,}"
