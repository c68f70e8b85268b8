"""A language model behind files: a run ends, is answered, and goes on. All texts are invented."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ingest.annotated import AnnotatedText
from ingest.protecting.incognitext import INCOGNITEXT, Incognito
from models.errors import ConfigurationError
from models.language.asking import Asker
from models.language.batch_files import REQUESTS, AnswersNeeded, BatchFiles, of_each
from models.language.protocol import ChatMessage, LanguageModel

TEXTS = ("My wife took the tram.", "My wife and her wife waited.", "The weir was mended.")
QUESTION = [ChatMessage("user", "Is the weir mended?")]


def said_to(messages: list[Mapping[str, str]]) -> str:
    """Infers a man where there is a wife, and rewrites one wife at a time."""
    text = messages[-1]["content"].partition("Text:\n")[2]
    if "find out what a text gives away" not in messages[0]["content"]:
        return "#\n" + text.replace("wife", "friend", 1)
    guess = "male" if "wife" in text else "nobody knows"
    row = {"attribute": "sex", "reasoning": "", "guesses": [guess], "certainty": 5}
    return json.dumps({"inferences": [row]})


def answer(folder: Path, name: str, says: Callable[[list[Mapping[str, str]]], str] = said_to) -> int:
    """Answer all requests of the last run, as a batch interface does; how many there were."""
    rows = [json.loads(line) for line in (folder / REQUESTS).read_text().splitlines()]
    with (folder / name).open("w", encoding="utf-8") as file:
        for row in rows:
            assert (row["method"], row["url"]) == ("POST", "/v1/chat/completions")
            message = {"role": "assistant", "content": says(row["body"]["messages"])}
            body = {"choices": [{"index": 0, "message": message}]}
            response = {"status_code": 200, "body": body}
            line = {"id": "x", "custom_id": row["custom_id"], "response": response, "error": None}
            file.write(json.dumps(line) + "\n")
    return len(rows)


class Direct:
    """Says the same at once."""

    name, context_tokens = "direct", 8192

    def count_tokens(self, messages: list[ChatMessage]) -> int:
        return 9

    def complete(self, messages: list[ChatMessage], **how: Any) -> str:
        return said_to([{"role": each.role, "content": each.content} for each in messages])


def protected(model: LanguageModel) -> list[str]:
    known = {text: (str(n), {"sex": "male"}) for n, text in enumerate(TEXTS)}
    made = Incognito(
        INCOGNITEXT,
        Asker(model),
        ("sex",),
        known,
        lambda _, guess, truth: guess == truth,
        lambda *_: "female",
    )
    return made.rewrite([AnnotatedText(text, []) for text in TEXTS])


def test_a_run_goes_on_round_by_round_and_ends_where_a_model_at_hand_ends(tmp_path: Path) -> None:
    asked = list[int]()
    while True:
        try:
            found = protected(BatchFiles(tmp_path, "any", 8192))
            break
        except AnswersNeeded as needed:
            asked.append(answer(tmp_path, f"answers-{len(asked)}.jsonl"))
            assert str(needed).startswith(f"{asked[-1]} questions wait in ")
            assert not any(word in str(needed) for word in ("wife", "tram", "weir"))
    assert found == protected(Direct())  # type: ignore[arg-type]
    # Each round writes what all texts need: infer, rewrite, infer, rewrite and infer the longest.
    assert asked == [3, 2, 2, 1, 1]
    assert (tmp_path / REQUESTS).read_text() == ""
    assert (tmp_path / REQUESTS).stat().st_mode & 0o77 == 0


def test_a_question_is_written_once_with_all_that_it_depends_on(tmp_path: Path) -> None:
    model = BatchFiles(tmp_path, "large", 8192)
    for seed, schema in ((1, None), (1, None), (2, None), (1, {"type": "object"})):
        how: dict[str, Any] = {"max_tokens": 7, "temperature": 0.5, "seed": seed}
        with pytest.raises(AnswersNeeded):
            if schema is None:
                model.complete(QUESTION, **how)
            else:
                model.complete_as(QUESTION, schema, **how)
    rows = [json.loads(line)["body"] for line in (tmp_path / REQUESTS).read_text().splitlines()]
    assert [(each["seed"], "response_format" in each) for each in rows] == [
        (1, False),
        (2, False),
        (1, True),
    ]
    assert rows[0]["model"] == "large"
    answer(tmp_path, "answers.jsonl", lambda _: "Yes.")
    assert (
        BatchFiles(tmp_path, "large", 8192).complete(QUESTION, max_tokens=7, temperature=0.5, seed=2)
        == "Yes."
    )


def test_the_others_are_begun_where_one_needs_answers(tmp_path: Path) -> None:
    begun = list[str]()

    def work(text: str) -> str:
        begun.append(text)
        if text == TEXTS[0]:
            raise AnswersNeeded(tmp_path, 1)
        return text

    with pytest.raises(AnswersNeeded):
        of_each(work, TEXTS)
    assert begun == [*TEXTS]
    assert of_each(str.upper, TEXTS[:1]) == [TEXTS[0].upper()]


@pytest.mark.parametrize(
    "line",
    [
        "Zorvathian",
        '{"custom_id": "a", "response": null, "error": {"message": "Zorvathian"}}',
        '{"custom_id": 7, "response": {"body": {"choices": [{"message": {"content": "Zorvathian"}}]}}}',
        '{"custom_id": "a", "response": {"body": {"choices": []}}}',
    ],
)
def test_a_line_that_is_no_answer_is_named_and_not_quoted(tmp_path: Path, line: str) -> None:
    (tmp_path / "answers.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(ConfigurationError, match=r"answers\.jsonl, line 2: no answer of a batch") as error:
        BatchFiles(tmp_path, "any", 8192)
    assert "Zorvathian" not in str(error.value)
    with pytest.raises(ConfigurationError, match="cannot be used"):
        BatchFiles(tmp_path / "answers.jsonl", "any", 8192)
