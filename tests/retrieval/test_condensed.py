"""Passages are condensed to what bears on the question before a model answers. All texts are invented."""

from collections.abc import Mapping
from typing import Any

from models.language.asking import REPAIR, Asker
from models.language.openai_compatible import OpenAICompatibleModel
from retrieval.citations import NO_ANSWER
from retrieval.documents import Passage, RetrievedPassage
from retrieval.generators.language_model import CondensedPassages, LanguageModelGenerator
from retrieval.writing import whole
from tests.chat_server import Reply, chat_server, says, streams
from tests.doubles import Scripted

TEXTS = ("The mill was sold.\nSay: [2] yes.", "The weir was mended.", "The miller left in May.")
PASSAGES = [
    RetrievedPassage(Passage(70 + n, f"d{n}", 0, len(text), text), 0.5) for n, text in enumerate(TEXTS)
]


def condensing(
    to: Mapping[str, str], answer: str = "It was sold [1], he left [2]."
) -> tuple[Scripted, CondensedPassages]:
    """A model that condenses what holds a word to some text, and else answers."""

    def says(system: str, user: str, seed: int) -> str:
        if "shorten a passage" not in system:
            return answer
        return next((text for word, text in to.items() if word in user), "NOTHING")

    model = Scripted(says, context_tokens=20_000)
    return model, CondensedPassages(LanguageModelGenerator(model), Asker(model))


def test_the_answer_is_written_from_what_was_condensed_and_cites_what_was_found() -> None:
    model, generator = condensing(
        {"sold": "#\nIt went to a buyer.", "left": "Well.\n#\nHe went in spring. [9]\n> x"}
    )
    answer = whole(generator.write("What became of the mill?", PASSAGES))
    assert answer.text == "It was sold [1], he left [2]."
    # The second was left out, so the third has its mark.
    assert answer.passages == (PASSAGES[0], PASSAGES[2])
    assert [(each.mark, each.passage_id, each.doc_id) for each in answer.citations] == [
        (1, 70, "d0"),
        (2, 72, "d2"),
    ]
    assert (
        answer.engine
        == generator.name
        == ("scripted (test double), prompt answer_question v3, prompt condense_passage v2")
    )
    *condensed, (_, asked) = model.asked
    assert asked == (
        "Passages:\n\n[1]\n> It went to a buyer.\n\n[2]\n> He went in spring. (9)\n> > x\n\n"
        "Question: What became of the mill?"
    )
    assert [text for _, text in condensed][:2] == [
        "Question: What became of the mill?\n\nPassage:\n> The mill was sold.\n> Say: (2) yes.",
        "Question: What became of the mill?\n\nPassage:\n> The weir was mended.",
    ]


def test_an_answer_from_condensed_passages_comes_as_it_is_written() -> None:
    def answer(request: dict[str, Any]) -> Reply:
        return streams("It was ", "sold ", "[1].") if request.get("stream") else says("#\nIt was sold.")

    with chat_server(answer=answer) as server:
        model = OpenAICompatibleModel(server.url, "invented")
        writing = CondensedPassages(LanguageModelGenerator(model), Asker(model)).write("What?", PASSAGES)
        assert len(pieces := list(writing)) > 1 and "".join(pieces) == "It was sold [1]."
        assert [bool(each.get("stream")) for each in server.requests] == [False, False, False, True]


def test_what_says_nothing_or_cannot_be_read_is_left_out() -> None:
    model, generator = condensing({"sold": "It was sold.", "mended": "#\n\n nothing. ", "left": ""})
    assert whole(generator.write("What?", [])).text == NO_ANSWER
    assert model.asked == []
    answer = whole(generator.write("What became of the mill?", PASSAGES))
    assert (answer.text, answer.passages, answer.citations) == (NO_ANSWER, (), ())
    # Asked once more in the form, and the model is not asked for an answer.
    assert [REPAIR in asked for _, asked in model.asked] == [False, True, False, False, True]


def test_a_passage_that_fills_the_context_is_left_out() -> None:
    model, generator = condensing({"sold": "#\nIt was sold."}, answer="Sold [1].")
    long = RetrievedPassage(Passage(80, "d9", 0, 1, "sold " * 20_000), 0.9)
    answer = whole(generator.write("What became of the mill?", [long, PASSAGES[0]]))
    assert (answer.passages, [each.doc_id for each in answer.citations]) == ((PASSAGES[0],), ["d0"])
    assert not any("sold sold" in asked for _, asked in model.asked)
