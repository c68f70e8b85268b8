"""Pairs of texts before and after IncogniText, in a file and as conversations. Invented texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.protecting.authors import Author, Incognito
from ingest.protecting.incognitext import FEEDBACK, INCOGNITEXT, Variant
from ingest.protecting.pairs import FIELDS, Pair, conversation, pairs_text, read_pairs
from ingest.protecting.protocols import Inference, Wanted
from models.errors import ConfigurationError
from models.language.reading import behind_mark

PAIR = Pair("7", "sex", "male", "female", "My wife snores.", "My husband snores.")

words = st.text(min_size=1).filter(str.strip)


@given(st.lists(st.builds(Pair, words, words, words, words, words, words), max_size=4))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text(pairs_text(pairs), encoding="ascii")
    assert read_pairs(path) == pairs


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "1",
        "{}",
        '"x"',
        *(json.dumps({**asdict(PAIR), name: value}) for name in FIELDS for value in (1, " ")),
    ],
)
def test_a_line_that_is_no_pair_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{pairs_text([PAIR])}\n{line}\n")
    with pytest.raises(
        ConfigurationError, match="^Line 3 of .*pairs.jsonl is no pair: it needs author, "
    ) as caught:
        read_pairs(path)
    assert "snores" not in str(caught.value) and caught.value.__cause__ is None


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="could not be read .IsADirectoryError."):
        read_pairs(tmp_path)


def test_a_line_is_a_chat_too() -> None:
    messages = json.loads(pairs_text([PAIR]))["messages"]
    assert [(each["role"], each["content"]) for each in messages] == [
        (each.role, each.content) for each in conversation(PAIR)
    ]


def test_no_text_is_in_a_repr() -> None:
    assert repr(PAIR) == "Pair(attribute='sex')"


def test_a_conversation_is_what_a_rewriter_is_told_that_knows_truth_and_target() -> None:
    system, user, answer = conversation(PAIR)
    assert (system.role, user.role, answer.role) == ("system", "user", "assistant")
    for told in ("Attribute: sex", "Wanted value: female", "True value: male", "Text:\nMy wife snores."):
        assert told in user.content
    assert behind_mark(answer.content) == "My husband snores."


class Wife:
    """Infers and rewrites what one word says, unless it is told not to."""

    name, attributes = "wife (test double)", ("sex", "age")

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        sex = "male" if "wife" in texts[0] else "nobody knows"
        return [{"sex": Inference((sex,), 1.0), "age": Inference(("30",), 1.0)}]

    def rewrite(self, text: str, wanted: Wanted) -> str | None:
        return text.replace("wife", "husband") if wanted.attribute == "sex" else text


def loop(variant: Variant) -> Incognito:
    known = {"sex": "male", "age": "30"}
    texts = {PAIR.original: Author("7", known), "The kettle broke.": Author("8", {"sex": "male"})}
    made = Incognito(
        variant,
        lambda shown: Wife(),
        Wife(),
        texts,
        lambda attribute, guess, truth: guess == truth,
        lambda author, attribute, truth: "female",
    )
    made.rewrite([AnnotatedText(text, []) for text in (*texts, "The mill broke.")])
    return made


def test_pairs_are_of_texts_that_misled_and_of_no_other() -> None:
    # The age stays inferred, the kettle was safe before, and nobody is known to have written of the mill.
    assert list(loop(INCOGNITEXT).pairs()) == [PAIR]


def test_without_a_target_there_are_no_pairs() -> None:
    assert list(loop(FEEDBACK).pairs()) == []
