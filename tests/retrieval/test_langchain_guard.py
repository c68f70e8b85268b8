"""The output guard at the end of a LangChain chain. All names and passages are invented."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableGenerator, RunnablePassthrough

from ingest.deciding.baselines.uniform import REDACT
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from retrieval.guards.answers import AnswerRules
from retrieval.langchain_adapters import OutputGuard
from tests.doubles import PhraseDetector

NAMES = {"Mara Vell": "person full name", "Tobin Aske": "person full name"}
GUARD = OutputGuard(
    AnswerRules(DecidingSanitizer(PhraseDetector(NAMES), REDACT, RiskPrior(), language="any"))
)
CONTEXT = [Document("Tobin Aske signed it."), Document("It was raining.")]
ANSWER = "Tobin Aske signed it [1]. Then Mara Vell left. " + "It was raining [2]. " * 12
LET_OUT = ANSWER.replace("Mara Vell", "somebody")


def answering(pieces: Iterator[Any]) -> Iterator[str]:
    """Writes the answer word by word, as a model would."""
    for _ in pieces:
        pass
    for word in ANSWER.split(" ")[:-1]:
        yield f"{word} "


async def answering_later(pieces: AsyncIterator[Any]) -> AsyncIterator[str]:
    async for _ in pieces:
        pass
    for piece in answering(iter(())):
        yield piece


def chain() -> Runnable[Any, str]:
    found: Runnable[Any, Any] = RunnablePassthrough.assign(context=lambda _: CONTEXT)
    return found | RunnablePassthrough.assign(answer=RunnableGenerator(answering, answering_later)) | GUARD


def test_what_stands_in_the_context_stays_and_other_names_go() -> None:
    assert GUARD.invoke({"context": CONTEXT, "answer": ANSWER}) == LET_OUT
    assert "Aske" not in GUARD.invoke({"answer": ANSWER})
    assert GUARD.invoke({"context": CONTEXT}) == ""
    # A name across two documents is in neither.
    context = [Document("It was signed by Mara"), Document("Vell is a village.")]
    assert "Mara Vell" not in GUARD.invoke({"context": context, "answer": "Then Mara Vell left."})
    late: Iterator[dict[str, Any]] = iter([{"answer": "Then Mara Vell left."}, {"context": CONTEXT}])
    with pytest.raises(ConfigurationError, match=r"^OutputGuard: the context came after the answer; send it"):
        list(GUARD.transform(late))


def test_it_guards_a_chain_that_streams_and_an_asynchronous_one() -> None:
    async def streamed() -> str:
        return "".join([piece async for piece in chain().astream(asked)])

    asked = {"question": "Who signed it?"}
    pieces = list(chain().stream(asked))
    assert "".join(pieces) == LET_OUT
    assert len(pieces) > 3
    assert chain().invoke(asked) == LET_OUT
    assert asyncio.run(streamed()) == asyncio.run(chain().ainvoke(asked)) == LET_OUT


@given(st.lists(st.integers(0, len(ANSWER)), max_size=8))
def test_how_the_answer_is_cut_changes_nothing(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(ANSWER)]
    pieces: list[dict[str, Any]] = [{"context": CONTEXT}]
    pieces += [{"answer": ANSWER[start:end]} for start, end in zip(ends, ends[1:], strict=False)]
    assert "".join(GUARD.transform(iter(pieces))) == LET_OUT
