"""Yes/no questions that a language model writes about a text. The model is scripted, texts are invented."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.membership import QUOTED, Interrogator, YesNo, nearest, questions_in
from models.errors import ModelUnavailable
from models.language.asking import Asker, InMemory
from models.language.openai_compatible import OpenAICompatibleModel
from tests.chat_server import Reply, chat_server, says
from tests.hashing_encoder import HashingEncoder

TEXT = "Ada mends a kiln at the weir. The kiln is red."
ENCODER = HashingEncoder()


def written(*rows: object) -> str:
    return json.dumps({"questions": rows})


def row(question: str, answer: str = "yes") -> dict[str, str]:
    return {"question": question, "answer": answer}


def test_questions_are_read_with_what_is_right() -> None:
    answer = written(row(" Does Ada mend a kiln? ", "Yes"), row("Is the kiln blue?", "no"))
    found = questions_in(f"Here they are.\n```json\n{answer}\n```")
    assert found == [YesNo("Does Ada mend a kiln?", True), YesNo("Is the kiln blue?", False)]


def test_what_has_another_form_is_left_out() -> None:
    bad = [row("Why?", "because"), row("  "), "Is it?", {"question": "Is it?"}, row("IS IT RED?"), 3, None]
    assert questions_in(written(row("Is it red?"), *bad)) == [YesNo("Is it red?", True)]
    for nothing in ("", "I cannot.", "[]", '{"questions": 3}', '{"questions": {}}', written(), written(3)):
        assert questions_in(nothing) is None


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda some: st.lists(some), max_leaves=5))
def test_no_answer_breaks_the_reader(rows: object) -> None:
    questions_in(json.dumps({"questions": rows}))


def test_the_nearest_questions_stay_in_their_order() -> None:
    asked = [YesNo(each, True) for each in ("Does it rain?", "Does Ada mend a kiln?", "Is the kiln red?")]
    assert nearest(TEXT, asked, ENCODER, 2) == asked[1:]
    assert nearest(TEXT, asked, ENCODER, 9) == asked


def test_a_model_writes_questions_and_is_asked_once_more_where_none_can_be_read() -> None:
    one = written(row("Is the kiln red?"), row("Does it rain?", "no"))
    with chat_server(says(one), says("{broken"), says(written(row("Is there a weir?"))), says("No.")) as chat:
        asker = Asker(OpenAICompatibleModel(chat.url, "m"), InMemory())
        interrogator = Interrogator(asker, ENCODER, kept=1)
        texts = [TEXT, "A weir.", "A heron."]
        assert interrogator.plan(texts).questions == 3
        found = list(interrogator.questions(texts))
        # Asked again, everything is answered already.
        assert list(interrogator.questions(texts)) == found
    assert found == [[YesNo("Is the kiln red?", True)], [YesNo("Is there a weir?", True)], []]
    assert len(chat.requests) == 5 and asker.usage.unreadable == 2
    model = OpenAICompatibleModel(chat.url, "m").name
    assert interrogator.name == f"interrogation[{model}, prompt interrogate v1; hashed words]"


def test_the_beginning_of_a_long_text_is_shown_and_a_model_that_fails_ends_the_run() -> None:
    with chat_server(says(written(row("Is it?"))), Reply(b"{}", status=401)) as chat:
        interrogator = Interrogator(Asker(OpenAICompatibleModel(chat.url, "m")), ENCODER)
        assert list(interrogator.questions(["x" * QUOTED + "y"])) == [[YesNo("Is it?", True)]]
        with pytest.raises(ModelUnavailable):
            list(interrogator.questions([TEXT]))
    request = chat.requests[0]
    assert request["messages"][1]["content"].endswith("x") and "give" in request["messages"][0]["content"]
