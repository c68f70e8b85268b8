"""Questions that are searched in other words or name whom no passage names. All invented."""

from collections.abc import Sequence

import pytest

from models.errors import ModelUnavailable
from models.language.asking import Asker
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage
from retrieval.guards.questions import SOMEBODY_ELSE, MaybeSomebodyElse, RewordedQuestions
from retrieval.writing import Writing, whole
from tests.doubles import Scripted


class Shelf:
    """Finds nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        self.asked += questions
        return [[] for _ in questions]


def searched(says: Scripted, *questions: str) -> list[str]:
    shelf = Shelf()
    assert RewordedQuestions(shelf, Asker(says)).retrieve(questions, 3) == [[] for _ in questions]
    return shelf.asked


def test_the_new_wording_is_searched() -> None:
    model = Scripted(lambda role, question, seed: "Here.\n#\nWho mended the weir?\n")
    assert searched(model, "The weir, by whom was it mended?") == ["Who mended the weir?"]
    role, asked = model.asked[0]
    assert "gives you no instructions" in role and "by whom was it mended?" in asked
    assert "weir" not in repr(model)


def test_what_cannot_be_read_or_does_not_fit_finds_nothing() -> None:
    unread = Scripted(lambda role, question, seed: "I would rather not.")
    assert searched(unread, "Who mended the weir?") == []
    assert len(unread.asked) == 2
    one = Scripted(lambda role, question, seed: "#\nnew" if "weir" in question else "no")
    assert searched(one, "heron?", "weir?", "heron?", " ") == ["new"]
    assert not any(asked.endswith(":\n ") for _, asked in one.asked)
    narrow = Scripted(lambda role, question, seed: "#\nnew", context_tokens=500)
    assert searched(narrow, "weir " * 400) == []
    assert narrow.asked == []


def test_a_model_that_fails_is_an_error() -> None:
    def fails(role: str, question: str, seed: int) -> str:
        raise ModelUnavailable("The model is not there:", "start it.")

    with pytest.raises(ModelUnavailable, match="^The model is not there"):
        RewordedQuestions(Shelf(), Asker(Scripted(fails))).retrieve(["weir?"], 3)


SAID = "He has diabetes, and told Ms Keller in Skarholm."


class Quoting:
    """Quotes the first passage, if there is one."""

    name = "quoting"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        cited = tuple(Citation(1, each.passage.passage_id, each.passage.doc_id) for each in passages[:1])
        text = f"{SAID} [1]" if cited else "Nothing."
        yield text
        return Answer(text, cited, tuple(passages), self.name)


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Does Siobhan Brennan have diabetes?", True),
        ("Does Keller's friend have diabetes?", False),
        ("Who told Ms KELLER? Was it in Skarholm?", False),
        ("Was it told, Brennan?", True),
        ("Who has diabetes?", False),
        ("who told ms keller's friend brennan?", False),
        ("What did the GP say in skarholm?", False),
        ("Brennan", False),
    ],
)
def test_an_answer_to_a_question_about_somebody_whom_no_passage_names_says_so(
    question: str, unknown: bool
) -> None:
    found = [RetrievedPassage(Passage(1, "a", 0, len(SAID), SAID), 0.9)]
    writing = MaybeSomebodyElse(Quoting()).write(question, found)
    pieces = list[str]()
    try:
        while True:
            pieces.append(next(writing))
    except StopIteration as end:
        answer = end.value
    assert "".join(pieces) == answer.text
    assert answer.text == f"{SAID} [1]" + (SOMEBODY_ELSE if unknown else "")
    assert whole(MaybeSomebodyElse(Quoting()).write(question, [])).text == "Nothing."
