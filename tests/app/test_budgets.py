"""What one caller may draw out of a collection. All questions and documents are invented."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from app.server.app import assemble
from app.server.quotas.budgets import MOST_CALLERS, MOST_QUESTIONS, Budgets
from app.server.quotas.later import TryLater
from app.settings.load import ServerSettings
from models.vectors import Vectors
from retrieval.documents import Passage, RetrievedPassage
from tests.doubles import WordEncoder
from tests.serving import One, no_detector

ASKED = "Who was fed at noon by the mill?"
ENCODER = WordEncoder()


EACH = np.eye(MOST_QUESTIONS + 20, dtype=np.float32)


class OneEach(WordEncoder):
    """No two numbers are alike."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        return EACH[[int(text) for text in texts]]


def shown(*numbers: int) -> list[RetrievedPassage]:
    return [RetrievedPassage(Passage(n, f"d{n}", 0, 3, "Fed"), 0.5) for n in numbers]


def hundred() -> int:
    return 100


def waits(call: Callable[..., None], *given: object) -> tuple[int, str]:
    """The seconds and the words of a refusal."""
    with pytest.raises(TryLater) as refused:
        call(*given)
    assert refused.value.status == 429 and refused.value.code.endswith("_budget_exceeded")
    return refused.value.seconds, str(refused.value)


def test_nothing_is_counted_or_kept_where_no_budget_is_set() -> None:
    budgets = Budgets(ServerSettings())
    for _ in range(50):
        budgets.ask("k", "c", ASKED, ENCODER)
        budgets.show("k", "c", shown(*range(100)), hundred)
    assert len(budgets) == 0


def test_a_question_asked_again_and_again_is_refused_until_the_first_is_forgotten() -> None:
    now = 1000.0
    budgets = Budgets(ServerSettings(alike_questions=2, budget_hours=1), lambda: now)
    again = ("k", "c", ASKED, ENCODER)
    budgets.ask(*again)
    now += 60
    budgets.ask("k", "c", "By the mill, who was fed at noon?", ENCODER)
    seconds, said = waits(budgets.ask, *again)
    assert (seconds, said) == (
        3540,
        "This caller has asked 2 questions like this one within 1 h. Ask it again in 3540 s, or let the "
        "operator raise server.alike_questions.",
    )
    budgets.ask("k", "c", "Which boiler is broken in the tower?", ENCODER)
    budgets.ask("other key", "c", ASKED, ENCODER)
    budgets.ask("k", "other collection", ASKED, ENCODER)
    assert "mill" not in repr(budgets._drawn)
    now += 3540
    budgets.ask(*again)
    assert waits(budgets.ask, *again)[0] == 60


def test_only_a_share_of_the_documents_is_shown_to_one_caller() -> None:
    now = 1000.0
    budgets = Budgets(ServerSettings(documents_percent=5, budget_hours=1), lambda: now)
    budgets.show("k", "c", shown(1, 2, 3), hundred)
    now += 600
    budgets.show("k", "c", shown(4, 5), hundred)
    assert waits(budgets.show, "k", "c", shown(6), hundred) == (
        3000,
        "This caller has been shown its share of the documents of this collection within 1 h. Ask again in "
        "3000 s, or let the operator raise server.documents_percent.",
    )
    budgets.show("k", "c", shown(1, 5), hundred)
    budgets.show("other key", "c", shown(6), hundred)
    now += 3000
    budgets.show("k", "c", shown(6, 7, 8), hundred)
    assert waits(budgets.show, "k", "c", shown(9), hundred)[0] == 600


def test_a_small_collection_answers_once_all_the_same() -> None:
    budgets = Budgets(ServerSettings(documents_percent=10))
    budgets.show("k", "c", shown(1, 2, 3), lambda: 3)
    budgets.show("k", "c", shown(3, 1), lambda: 3)
    waits(budgets.show, "k", "c", shown(1, 4), lambda: 4)


@given(st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=5), max_size=60))
def test_no_order_of_questions_shows_more_than_the_share(asked: Sequence[Sequence[int]]) -> None:
    budgets = Budgets(ServerSettings(documents_percent=20))
    seen: set[int] = set()
    for numbers in asked:
        try:
            budgets.show("k", "c", shown(*numbers), hundred)
        except TryLater:
            continue
        seen |= set(numbers)
    assert len(seen) <= 20


def test_what_is_remembered_is_bounded() -> None:
    budgets = Budgets(ServerSettings(alike_questions=1, documents_percent=100))
    for number in range(MOST_CALLERS + 20):
        budgets.show(f"k{number}", "c", shown(1), hundred)
    assert len(budgets) == MOST_CALLERS


def test_other_questions_do_not_wash_out_the_budget_of_like_ones() -> None:
    now = 1000.0
    budgets = Budgets(ServerSettings(alike_questions=1, budget_hours=1), lambda: now)
    budgets.ask("k", "c", "0", OneEach())
    now += 600
    for number in range(1, MOST_QUESTIONS):
        budgets.ask("k", "c", str(number), OneEach())
    for number in range(20):
        assert waits(budgets.ask, "k", "c", str(MOST_QUESTIONS + number), OneEach()) == (
            3000,
            "This caller has asked 1000 questions about this collection within 1 h, the most that are "
            "compared. Ask again in 3000 s, or let the operator lower server.budget_hours or leave out "
            "server.alike_questions.",
        )
    assert len(budgets._drawn["k", "c"].questions) == MOST_QUESTIONS
    assert waits(budgets.ask, "k", "c", "0", OneEach())[0] == 3000
    budgets.ask("other key", "c", "0", OneEach())
    now += 3000
    budgets.ask("k", "c", "0", OneEach())
    assert waits(budgets.ask, "k", "c", str(MOST_QUESTIONS), OneEach())[0] == 600


class Walking:
    """Finds another document for each question."""

    def __init__(self) -> None:
        self._numbers = count()

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [shown(next(self._numbers)) for _ in questions]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/search", {"question": ASKED}),
        ("/v1/chat/completions", {"model": "lethe", "messages": [{"role": "user", "content": ASKED}]}),
    ],
    ids=["search", "chat"],
)
@pytest.mark.parametrize(
    ("limit", "most", "code"),
    [
        ("alike_questions", 3, "question_budget_exceeded"),
        ("documents_percent", 30.0, "collection_budget_exceeded"),
    ],
)
def test_the_routes_that_show_documents_answer_429_with_a_time(
    path: str, body: object, limit: str, most: Any, code: str
) -> None:
    app = assemble(One(Walking()), no_detector, limits=ServerSettings(**{limit: most}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answers = [client.post(path, json=body) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert int(answers[3].headers["retry-after"]) > 86000
    assert code in answers[3].text and "mill" not in answers[3].text
