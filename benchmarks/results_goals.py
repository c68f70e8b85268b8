"""Goals of the method benchmark beside the measured figures: a table for docs/results.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.measures.uncertainty import Estimate
from eval.reports import published
from eval.reports.published import CORPORA
from eval.reports.schema import DASH, NOTHING, PERCENT, Cell, Mark, Row, Table, estimate_cell
from eval.studies.compare.report import PromiseFigures, TripRagReport

ROUNDING = 1e-9
CHANGE = "{:+.1%}"


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: the minimum ``least`` and the target ``aim``, upper bounds if ``lower``; None without one.

    ``figure`` is a field of the summary, ``printed`` has the published figures by corpus.
    """

    title: str
    figure: str
    style: str
    least: float | None
    aim: float | None
    lower: bool = False
    printed: Sequence[float] = ()

    def cells(self) -> list[Cell | str]:
        """The cells of the goal: title, both bounds and the published figures."""
        sign = "≤" if self.lower else "≥"
        borders = (
            DASH if each is None else f"{sign} {self._formatted(each)}" for each in (self.least, self.aim)
        )
        return [self.title, *borders, " / ".join(map(self._formatted, self.printed)) or DASH]

    def cell(self, found: Estimate) -> Cell:
        """A measured value: bold below the minimum, italic at the target."""
        if found.value is None:
            return NOTHING
        mark: Mark = ""
        if self._short_of(found.value, self.least):
            mark = "strong"
        elif self.aim is not None and not self._short_of(found.value, self.aim):
            mark = "em"
        return replace(estimate_cell(found, self.style), mark=mark)

    def _formatted(self, value: float) -> str:
        return estimate_cell(Estimate(value), self.style).text

    def _short_of(self, value: float, border: float | None) -> bool:
        if border is None:
            return False
        return value > border + ROUNDING if self.lower else value < border - ROUNDING


def _relative(figure: Callable[[published.PublishedAnswers], float]) -> list[float]:
    """The published figures of trip relative to Redact, by corpus."""
    ours, redact = published.ANSWERS["trip"], published.ANSWERS["redact"]
    return [figure(ours[name]) / figure(redact[name]) for name in CORPORA]


TAKEN = [published.LEAKAGE["trip"][name] / published.LEAKAGE["origin"][name] - 1 for name in CORPORA]
BETTER = [each - 1 for each in _relative(lambda row: row.rouge_l)]
RECALLS = [published.ANSWERS["trip"][name].recall[1] for name in CORPORA]
GOALS = (
    Goal(
        "Recall@1 overlap of trip, over that of redact",
        "recall_ratio", "{:.2f}", least=1.5, aim=2.0, printed=_relative(lambda row: row.recall[1]),
    ),
    Goal("Recall@1 overlap of trip", "recall", "{:.2f}", least=None, aim=0.8, printed=RECALLS),
    Goal(
        "identifiers extracted from the verbatim victim, minus those of redact",
        "identifier_excess", "{:+.3f}", least=0.02, aim=0.0, lower=True,
    ),
    Goal(
        "all sensitive entities extracted from the verbatim victim, relative to no sanitizing",
        "leakage_change", CHANGE, least=-0.5, aim=-0.75, lower=True, printed=TAKEN,
    ),
    Goal("ROUGE-L of answers, relative to redact", "rouge_change", CHANGE, 0.15, 0.4, printed=BETTER),
    Goal(
        "points of baselines that Lethe's curve dominates, by identifiers in the index",
        "dominated", PERCENT, least=0.9, aim=1.0,
    ),
    Goal(
        "the same, by all sensitive entities in the index",
        "dominated_all", PERCENT, least=0.9, aim=1.0,
    ),
)  # fmt: skip


def goals_table(reports: Mapping[str, TripRagReport]) -> Table:
    """Every goal with the figures by corpus, and every promise with its rate of violations."""
    columns = list(reports.values())
    rows: list[Row] = [
        [*goal.cells(), *(goal.cell(getattr(each.summary, goal.figure)) for each in columns)]
        for goal in GOALS
    ]
    promises = dict.fromkeys(_kind(each) for one in columns for each in one.promises)
    rows += [_promise(kind, columns) for kind in promises]
    measured = (
        f"{name}: {each.corpus.documents:,} documents, {each.corpus.questions:,} questions"
        for name, each in reports.items()
    )
    return Table("", ("figure", "at least", "aim", "published, other data", *measured), rows)


Kind = tuple[str, str, float, float]
"""Policy, what is counted, limit and confidence of a promise."""


def _kind(promise: PromiseFigures) -> Kind:
    return promise.policy, promise.counted, promise.max_leak, promise.confidence


def _promise(kind: Kind, reports: Sequence[TripRagReport]) -> Row:
    policy, counted, limit, confidence = kind
    whose = "all sensitive entities" if counted == "all" else counted
    title = f"promises of at most {limit:.1%} of {whose} left by {policy}: made and broken"
    goal = Goal(title, "", PERCENT, least=1 - confidence, aim=None, lower=True)
    checks = [{_kind(each): each for each in one.promises} for one in reports]
    return [*goal.cells(), *(_broken(goal, each.get(kind)) for each in checks)]


def _broken(goal: Goal, check: PromiseFigures | None) -> Cell | str:
    if check is None:
        return NOTHING
    if not check.promised:
        return "none made"
    broken = goal.cell(Estimate(check.violated / check.splits))
    counted = f"{check.violated:,} of {check.splits:,} splits; made in {check.promised:,}"
    return replace(broken, text=f"{broken.text}, {counted}")
