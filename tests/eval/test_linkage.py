"""Linking a few known claims to a sanitized document. All texts are invented, but for the last test."""

import json
import math
import random
import time
from collections.abc import Sequence
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.attacks import linkage
from eval.attacks.claims import Access, RuleAtomizer
from eval.attacks.linkage import Bm25, Candidate, Dense, Hits, Link, Linker, Rouge, Search
from eval.measures.overlap import rouge_l, stems
from ingest.language.sentences import split_sentences
from models.vectors import Vectors
from tests.commands import public_data
from tests.hashing_encoder import HashingEncoder

WORDS = "heron mill boiler dam otter rust bread flood potter 3 72/8".split()
CLAIMS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
PERSONS = st.lists(st.lists(CLAIMS, min_size=1, max_size=4), min_size=1, max_size=6)
SEARCHES: list[Search] = [  # to add one, add a line
    Bm25(),
    Bm25(depth=4),
    Dense(HashingEncoder()),
    Dense(HashingEncoder(), depth=3),
    Rouge(),
    Rouge(depth=3),
]
WAYS: list[tuple[Any, Any]] = list(product(("joined", "each"), ("claims", "documents")))


def scores_slowly(search: Search, query: str, units: Sequence[str]) -> list[float]:
    """The score of each unit by the formula, one after the other."""
    if isinstance(search, Dense):
        return [float(np.dot(*search.encoder.encode([query, unit]))) for unit in units]
    if isinstance(search, Rouge):
        return [rouge_l(stems(query), stems(unit)).recall for unit in units]
    assert isinstance(search, Bm25)
    texts = [[word.rstrip(".") for word in unit.split()] for unit in units]
    mean, scores = sum(map(len, texts)) / len(texts), []
    for text in texts:
        score = 0.0
        for term in query.split():
            having, times = sum(term in each for each in texts), text.count(term)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            score += idf * times / (times + search.k1 * (1 - search.b + search.b * len(text) / mean))
        scores.append(score)
    return scores


def linked_slowly(linker: Linker, known: Sequence[str], candidates: Sequence[Candidate]) -> int | None:
    """The rule of votes word for word."""
    whole = linker.over == "documents"
    units = [(p, u) for p, each in enumerate(candidates) for u in ([each.text] if whole else each.claims)]
    counted: list[tuple[int, float]] = []
    reserve: list[tuple[int, float]] = []
    for query in [" ".join(known)] if linker.asks == "joined" else known:
        scored = scores_slowly(linker.search, query, [unit for _, unit in units])
        scores = [round(each, linkage.DIGITS) for each in scored]
        ranked = sorted(range(len(units)), key=lambda unit: (-scores[unit], unit))[: linker.search.depth]
        least = linkage.NEARLY * scores[ranked[0]]
        near = [unit for unit in ranked if scores[unit] > 0 and scores[unit] >= least]
        crowded = len(near) == linker.search.depth < len(units)
        (reserve if crowded else counted).extend((units[unit][0], scores[unit]) for unit in near)
    votes = counted or reserve
    places = sorted({place for place, _ in votes})
    sums = [round(sum(score for place, score in votes if place == each), linkage.DIGITS) for each in places]
    counts = [sum(place == each for place, _ in votes) for each in places]
    order = sorted(zip(counts, sums, [-place for place in places], strict=True))
    return -order[-1][2] if order else None


@settings(max_examples=600)
@given(
    st.sampled_from(SEARCHES),
    st.sampled_from(WAYS),
    PERSONS,
    st.lists(st.lists(CLAIMS, max_size=3), min_size=1, max_size=4),
)
def test_the_fast_linker_is_the_slow_one(
    search: Search, way: tuple[Any, Any], persons: list[list[str]], known: list[list[str]]
) -> None:
    candidates, linker = [Candidate(". ".join(claims), claims) for claims in persons], Linker(search, *way)
    expected = [linked_slowly(linker, each, candidates) if each else None for each in known]
    assert [each and each.place for each in linker.link(known, candidates)] == expected


def hits(*units: int, scores: Sequence[float] = (), crowded: bool = False) -> Hits:
    return Hits(np.array(units, np.int64), np.array(scores or [1.0] * len(units)), crowded)


OWNERS = np.array([0, 0, 1, 1, 2])
"""Units 0 and 1 are of the document 0, units 2 and 3 of the document 1, unit 4 of the document 2."""


@pytest.mark.parametrize(
    ("answers", "link"),
    [
        # One claim finds 0, two find 1.
        ([hits(0), hits(2), hits(3)], Link(1, 2, 2.0)),
        # Both claims of a document that are near one known claim vote.
        ([hits(4), hits(2, 3)], Link(1, 2, 2.0)),
        # One vote each: the higher sum wins, then the first document.
        ([hits(0, scores=[3]), hits(4, scores=[5])], Link(2, 1, 5.0)),
        ([hits(4), hits(2)], Link(1, 1, 1.0)),
        # A crowded answer is kept in reserve ...
        ([hits(0, 1, 2, crowded=True), hits(4)], Link(2, 1, 1.0)),
        # ... and counts where there is no other.
        ([hits(0, 2, crowded=True), hits(2, 4, crowded=True), hits()], Link(1, 2, 2.0)),
        ([hits(), hits()], None),
        ([], None),
    ],
)
def test_votes_by_hand(answers: list[Hits], link: Link | None) -> None:
    assert linkage.vote(answers, OWNERS) == link


def test_bm25_by_hand() -> None:
    # Units of 2, 2 and 4 terms, 8/3 on the mean. "heron" stands in one of three: ln(1 + 2.5/1.5) = .98083;
    # "mill" in two: ln(1 + 1.5/2.5) = .47000. In the first, tf 1 over 1 + .9(.6 + .4 * 2/(8/3)) = 1.81:
    # (.98083 + .47) / 1.81 = .80157. In the third, "mill" twice: 2 / (2 + .9(.6 + .4 * 4/(8/3))) = 2 / 3.08,
    # so .47 * .64935 = .30520; .47000 / 1.81 = .25967 in the first is less than .95 of that.
    units = ["heron mill", "otter dam", "mill rust mill bread"]
    for query, place, score in (("heron mill", 0, 0.80157), ("mill", 2, 0.30520)):
        (best,) = Bm25(depth=3).hits([query], units)
        assert best.units.tolist() == [place] and best.scores == pytest.approx([score], abs=1e-5)
    # It reads stems and whole numbers and leaves stop words out.
    units = ["72/min is what they counted", "they counted 72 of the herons", "the mill, of which it was"]
    found = Bm25().hits(["72/min", "Counts of HERONS", "the of it"], units)
    assert [each.units.tolist() for each in found] == [[0], [1], []]


def test_rouge_by_hand() -> None:
    # "old mill by the dam" shares "old mill by" with the first and "by the dam" with the second: 3 of 5 each.
    units = ["the old mill burned by night", "by the dam", "otters"]
    (recall,) = Rouge().hits(["old mill by the dam"], units)
    assert recall.units.tolist() == [0, 1] and recall.scores == pytest.approx([0.6, 0.6])


def test_what_cannot_be_found_is_not_linked() -> None:
    there = [Candidate("mill dam", ["mill dam"]), Candidate("", [])]
    for linker in (Linker(search, asks, over) for search in SEARCHES for asks, over in WAYS):
        assert linker.link([["zebra"], [], ["mill"]], there)[:2] == [None, None]
        assert linker.link([["mill"], []], []) == [None, None]
        assert linker.link([["mill"]], [Candidate("", [])]) == [None]
        assert linker.link([], there) == []


def test_names_say_what_was_done_and_no_repr_shows_a_text() -> None:
    assert Linker(Bm25()).name == "bm25[k1 0.9, b 0.4], each over claims"
    assert Bm25(1.5, 0.75, depth=100).name == "bm25[k1 1.5, b 0.75, depth 100]"
    assert Linker(Rouge(), "joined", "documents").name == "ROUGE-L recall, joined over documents"
    assert Dense(HashingEncoder()).name == "dense[hashed words]"
    assert repr(Candidate("heron", ["heron"])) == "Candidate()"


def corpus(persons: int, claims: int, words: int = 5_000) -> list[Candidate]:
    rng = random.Random(0)
    said, shares = [f"w{n}" for n in range(words)], [1 / (n + 1) for n in range(words)]
    drawn = [[" ".join(rng.choices(said, shares, k=10)) for _ in range(claims)] for _ in range(persons)]
    return [Candidate(". ".join(each), each) for each in drawn]


def linked_rightly(linker: Linker, candidates: Sequence[Candidate]) -> int:
    """How many documents are linked to what is known of them."""
    claims = [each.claims for each in candidates]
    known = [[each[place] for place in Access().known(len(each), n)] for n, each in enumerate(claims)]
    links = linker.link(known, candidates)
    return sum(link is not None and link.place == n for n, link in enumerate(links))


class RandomVectors(HashingEncoder):
    """The same unit vector for the same text, as fast as can be: encoding is not what is timed."""

    def __init__(self, texts: Sequence[str]) -> None:
        vectors = np.random.default_rng(0).normal(size=(len(texts), 384)).astype(np.float32)
        self._known = dict(zip(texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._known[text] for text in texts])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bm25", "dense"])
def test_a_thousand_documents_of_fifteen_claims_are_linked_in_time(kind: str) -> None:
    candidates = corpus(1_000, 15)
    texts = list(dict.fromkeys(chain.from_iterable(each.claims for each in candidates)))
    search: Search = Bm25() if kind == "bm25" else Dense(RandomVectors(texts))
    begun = time.monotonic()
    assert linked_rightly(Linker(search), candidates) == 1_000
    # It takes 2 or 3 seconds on two cores.
    assert time.monotonic() - begun < (30 if kind == "bm25" else 60)


PUBLISHED = [*map(Linker, SEARCHES), *(Linker(each, "joined", "documents") for each in (Bm25(), Rouge()))]


@pytest.mark.parametrize("linker", PUBLISHED, ids=lambda linker: f"{linker.name} {linker.search.depth}")
def test_unsanitized_documents_are_linked(linker: Linker) -> None:
    assert linked_rightly(linker, corpus(100, 8, words=300)) >= 95


def test_unsanitized_records_of_a_public_corpus_are_linked() -> None:
    path = public_data("medqa/data.jsonl") / "medqa" / "data.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    # The last sentence is the question of the exam, and no part of the record.
    texts = [" ".join(split_sentences(json.loads(line)["question"])[:-1]) for line in lines]
    texts = random.Random(43).sample(sorted(filter(None, texts)), 300)
    candidates = list(map(Candidate, texts, RuleAtomizer().claims(texts)))
    for linker in (Linker(Bm25()), Linker(Bm25(), "joined", "documents")):
        assert linked_rightly(linker, candidates) >= 0.95 * len(texts), linker.name
