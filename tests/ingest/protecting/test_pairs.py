"""Pairs of texts before and after IncogniText, in a file and as conversations. Invented texts."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.protecting.incognitext import Pair, conversation, pairs_text, read_pairs
from models.errors import ConfigurationError
from models.language.protocol import behind_mark

PAIR = Pair("7", "sex", "male", "female", "My wife snores.", "My husband snores.")

words = st.text(min_size=1).filter(str.strip)


@given(st.lists(st.builds(Pair, words, words, words, words, words, words), max_size=4))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text(pairs_text(pairs), encoding="ascii")
    assert read_pairs(path) == pairs


BROKEN = [json.dumps({**asdict(PAIR), name: value}) for name in asdict(PAIR) for value in (1, " ")]


@pytest.mark.parametrize("line", ["{", "[]", "1", "{}", '"x"', *BROKEN])
def test_a_line_that_is_no_pair_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{pairs_text([PAIR])}\n{line}\n")
    told = "^Line 3 of .*pairs.jsonl is no pair: it needs author, "
    with pytest.raises(ConfigurationError, match=told) as caught:
        read_pairs(path)
    assert "snores" not in str(caught.value) and caught.value.__cause__ is None


def test_a_file_that_cannot_be_read_is_refused_and_no_text_is_in_a_repr(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="could not be read .IsADirectoryError."):
        read_pairs(tmp_path)
    assert repr(PAIR) == "Pair(attribute='sex')"


def test_a_conversation_is_what_a_rewriter_is_told_that_knows_truth_and_target() -> None:
    system, user, answer = conversation(PAIR)
    assert (system.role, user.role, answer.role) == ("system", "user", "assistant")
    for told in ("Attribute: sex", "Wanted value: female", "True value: male", "Text:\nMy wife snores."):
        assert told in user.content
    assert behind_mark(answer.content) == "My husband snores."
    messages = json.loads(pairs_text([PAIR]))["messages"]
    assert [(each["role"], each["content"]) for each in messages] == [
        (each.role, each.content) for each in conversation(PAIR)
    ]
