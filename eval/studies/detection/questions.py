"""The rows of the table, in its order."""

from collections.abc import Collection

from eval.studies.detection.cases import POLITICS
from eval.studies.detection.extras import MEDQUAD
from eval.studies.detection.intervals import Measure
from eval.studies.detection.report import Question
from eval.studies.detection.tasks import BOTH_WAYS, tasks

TAB = "tab"

ASKED_EXACT, ASKED_TOUCHED = f"{POLITICS}.asked.exact", f"{POLITICS}.asked.touched"
ASKED_NEW = f"{POLITICS}.asked.new"
GENERALIZED, SPEED = f"{MEDQUAD}.generalized", f"{TAB}.speed"

_ASKED_TITLES = {
    ASKED_EXACT: "CrossNER politics, its own labels asked, exact",
    ASKED_TOUCHED: "CrossNER politics, its own labels asked, any overlap",
    ASKED_NEW: "CrossNER politics, the same, only labels that training never asked by, exact",
}


def corpus_names() -> list[str]:
    """All benchmark corpora, in the order of the table."""
    return [*dict.fromkeys(task.corpus for task in tasks()), POLITICS, MEDQUAD]


def questions(corpora: Collection[str]) -> tuple[Question, ...]:
    """Every measure of every task on some corpora, then the other measures.

    The key of a share ends in its measure, so one task can answer several questions.
    """
    rows = [
        _question(task.key, task.corpus, task.title, measure) for task in tasks() for measure in task.measures
    ]
    rows += [
        _question(key, POLITICS, title, measure)
        for key, title in _ASKED_TITLES.items()
        for measure in BOTH_WAYS
    ]
    harmless = "MedQuAD, no people in it: characters that the sanitizer changes (lower is better)"
    rows += [
        Question(key=GENERALIZED, corpus=MEDQUAD, title=harmless),
        Question(key=SPEED, corpus=TAB, title="speed, characters a second", unit="characters a second"),
    ]
    return tuple(row for row in rows if row.corpus in corpora)


def _question(key: str, corpus: str, title: str, measure: Measure) -> Question:
    titled = title if measure is Measure.SHARE else f"{title}: {measure}"
    return Question(key=f"{key}.{measure}", corpus=corpus, title=titled)
