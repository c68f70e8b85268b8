"""Sentences that give orders to whoever answers are told from those that give them to people.

``tests/order_lines.txt`` has two parts. The first was written before the last lines to learn from; nobody
read which of them were missed, but limit and scale were chosen with its shares in sight. The second was
written and asked once when all was done, and is the figure: 27 of 40 orders, and 1 of 60 ordinary ones. The
patterns that stood here before found 12 of the 80 orders of the first part. All lines have one author, so
that figures on others' wordings are lower. Nearly all ordinary ones are instructions in the words of orders;
the tests of documents and leaflets say what the judge costs elsewhere.
"""

from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest
from safetensors import safe_open

from app.demo import corpus_path
from benchmarks.orders import SENTENCES, WEIGHTS, lines
from eval.corpora.corpus import Selection
from eval.corpora.loaders import load
from ingest.language.sentences import split_sentences
from models.corpora.documents import medquad_answers
from retrieval.guards.orders import LONGEST, gives_orders
from tests.commands import public_data

SHOWN, KEPT = (
    [each.splitlines() for each in part.split("[ordinary]\n")]
    for part in (Path(__file__).parents[1] / "order_lines.txt")
    .read_text(encoding="utf-8")
    .removeprefix("[orders]\n")
    .split("[orders]\n")
)


@pytest.mark.parametrize(
    ("part", "sizes", "least", "most"), [(SHOWN, [80, 221], 62, 10), (KEPT, [40, 60], 27, 1)]
)
def test_sentences_that_were_not_learned(
    part: list[list[str]], sizes: list[int], least: int, most: int
) -> None:
    orders, ordinary = part
    assert not {*orders, *ordinary} & {line for line, _ in lines()}
    assert [len(orders), len(ordinary)] == sizes
    assert sum(map(gives_orders, orders)) >= least
    assert sum(map(gives_orders, ordinary)) <= most


def test_the_weights_are_learned_from_the_sentences_as_they_are() -> None:
    with safe_open(WEIGHTS, "numpy") as stored:
        assert stored.metadata() == {"learned": sha256(SENTENCES.read_bytes()).hexdigest()}


def test_ordinary_documents() -> None:
    documents = load("demo", corpus_path(), Selection()).documents
    sentences = [each for document in documents for each in split_sentences(document.text)]
    assert len(sentences) > 1_900
    assert sum(map(gives_orders, sentences)) <= 1


def test_leaflets() -> None:
    """Of 5,000 sentences for patients, many of them instructions, at most one in 500 is not quoted."""
    answers = medquad_answers(public_data("medquad"))
    sentences = [each for answer in islice(answers, 0, None, 20) for each in split_sentences(answer.text)]
    assert len(sentences) > 4_000
    assert sum(map(gives_orders, sentences)) <= len(sentences) / 500


@pytest.mark.parametrize("sentence", ["", " ", "\ud800", "…", "\x00", "0", "x" * 10 * LONGEST])
def test_odd_sentences_give_no_orders(sentence: str) -> None:
    assert not gives_orders(sentence)
