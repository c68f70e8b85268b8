"""Answers without a language model: what the passages say, word for word.

Units (a sentence, or a question of a dialogue with its reply) are ranked by relevance and chosen one by one
by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), so that the second does not repeat the
first.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors
from retrieval.citations import NO_ANSWER, citations_of
from retrieval.documents import Answer, RetrievedPassage
from retrieval.generators.relevance import Scored, naming, relevances
from retrieval.guards.orders import gives_orders
from retrieval.quoting.frames import closed
from retrieval.quoting.kept import Known, digest_of
from retrieval.quoting.turns import Sentence, Unit, sentences_of, speakers_of, units_of
from retrieval.writing import Writing, at_once

if TYPE_CHECKING:
    from ingest.protocols import Encoder

# Fitted to the 120 development questions of benchmarks/answer_questions.jsonl with the embedded encoder and
# hybrid search, the default of retrieval, by python -m benchmarks.answers --fit: the largest sum of the share
# of answers that cite a right document and the share of refusals among the questions that no document
# answers. Weights (relevance.py) and the shares below were chosen on the same questions; the held-out ones
# took no part.
FLOOR = 0.37
"""The lowest relevance of the best unit for an answer."""
MAX_UNITS = 3
"""One more may follow that is from another text and has as many words of the question as the best one."""
MAX_WORDS = 90
"""Further units are left out where the answer would have more words."""
MAX_CANDIDATES = 64
"""The most sentences to rank, best passages first; limits the time of an answer."""
SHARE_OF_BEST = 0.7
"""The relevance of further units, as a share of the best one's."""
SHARE_ELSEWHERE = 0.5
"""The same for a unit of another text that has as many words of the question: it may say the contrary."""
REPETITION_WEIGHT = 0.15


class ExtractiveGenerator:
    """Quotes three units at most, rarely four, word for word, each followed by the mark of its passage.

    Args:
        encoder: measures the similarity of unit and question.
        floor: relevance below which there is no answer, from 0 to 1.06 (``relevances``); another encoder
            than the embedded one needs another floor.
        known: the vectors of units that the collection keeps; what it has none of is encoded.
    """

    def __init__(
        self, encoder: "Encoder", floor: float = FLOOR, known: Known = lambda passage_ids: {}
    ) -> None:
        self._encoder = encoder
        self._floor = floor
        self._known = known

    @property
    def name(self) -> str:
        """The engine's name in answers and reports."""
        return "extractive"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The best units, or the sentence for no answer; deterministic."""
        marked = dict(enumerate(passages, start=1))
        sentences = _judged(sentences_of(marked, MAX_CANDIDATES))
        units = units_of(sentences)
        relevance, vectors = self._ranked(question, units, passages)
        chosen = self._chosen(question, units, relevance, vectors)
        text = _joined(chosen, speakers_of(sentences))
        cited = citations_of({sentence.mark for unit in chosen for sentence in unit.sentences}, marked)
        return at_once(Answer(text or NO_ANSWER, cited, tuple(passages), self.name))

    def best(self, question: str, passages: Sequence[RetrievedPassage]) -> float:
        """The relevance of the best unit, which the floor is compared with; 0 if nothing can be quoted."""
        units = units_of(_judged(sentences_of(dict(enumerate(passages, start=1)), MAX_CANDIDATES)))
        return float(self._ranked(question, units, passages)[0].max(initial=0.0))

    def _ranked(
        self, question: str, units: Sequence[Unit], passages: Sequence[RetrievedPassage]
    ) -> tuple[NDArray[np.float64], Vectors]:
        """The relevance of each unit, none for an empty question, and the vectors of the units."""
        question = question.encode("utf-8", "replace").decode("utf-8").strip()
        if not question or not units:
            return np.zeros(0), np.zeros((0, self._encoder.dim), np.float32)
        known = self._known([each.passage.passage_id for each in passages])
        digests = [digest_of(unit.text) for unit in units]
        new = {digest: unit.text for digest, unit in zip(digests, units, strict=True) if digest not in known}
        asked, *rows = self._encoder.encode([question, *new.values()])
        found = {**known, **dict(zip(new, rows, strict=True))}
        vectors = np.stack([asked, *(found[digest] for digest in digests)])
        return relevances(question, _scored(units), vectors), vectors[1:]

    def _chosen(
        self, question: str, units: Sequence[Unit], relevance: NDArray[np.float64], vectors: Vectors
    ) -> list[Unit]:
        best = float(relevance.max(initial=0.0))
        if not len(relevance) or best < self._floor:
            return []
        chosen: list[Unit] = []
        words, quoted = 0, set[str]()
        first = int(relevance.argmax())
        named = naming(question, [unit.said for unit in units], first)
        named &= np.array([unit.stretch != units[first].stretch for unit in units])
        enough = np.where(named, SHARE_ELSEWHERE, SHARE_OF_BEST) * best
        value = np.where(relevance >= enough, relevance, -np.inf)
        while len(chosen) <= MAX_UNITS and value.max() > 0:
            n = int(value.argmax())
            value[n] = -np.inf
            if len(chosen) == MAX_UNITS and not named[n]:
                continue
            said = {sentence.said for sentence in units[n].sentences}
            length = len(units[n].text.split())
            if chosen and (said & quoted or words + length > MAX_WORDS):
                continue
            chosen.append(units[n])
            words, quoted = words + length, quoted | said
            repetition = np.clip(vectors @ vectors[n], 0, None)
            value = np.minimum(value, relevance - REPETITION_WEIGHT * repetition)
        return chosen


def _judged(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences; orders to whoever answers are never quoted, nor who gives them."""
    judged = []
    ordered: tuple[int, int] | None = None
    for sentence in sentences:
        turn = sentence.stretch, sentence.turn
        if gives_orders(sentence.text, behind=turn == ordered):
            ordered = turn
            judged.append(replace(sentence, frames=True))
        else:
            judged.append(replace(sentence, speaker="") if turn == ordered else sentence)
    return judged


def _scored(units: Sequence[Unit]) -> list[Scored]:
    return [Scored(unit.text, unit.sentences[-1].mark, unit.stretch, unit.asked > 0) for unit in units]


def _joined(chosen: Sequence[Unit], speakers: frozenset[str]) -> str:
    """The text of the best one first, then reading order; a mark after each run of sentences."""
    stretches = [unit.sentences[0].stretch for unit in chosen]
    sentences = sorted(
        (sentence for unit in chosen for sentence in unit.sentences),
        key=lambda sentence: (stretches.index(sentence.stretch), sentence.place),
    )
    pieces: list[str] = []
    before: Sentence | None = None
    for sentence in sentences:
        follows = before is not None and (before.mark, before.place + 1) == (sentence.mark, sentence.place)
        follows = follows and (sentence.opens or before is None or closed(before.text))
        if before is not None and not follows:
            pieces.append(f"[{before.mark}]")
        if not follows and not sentence.opens and sentence.speaker in speakers:
            # Who says it stands before sentences that are left out.
            pieces.append(f"{sentence.speaker} …")
        pieces.append(sentence.text)
        before = sentence
    return " ".join([*pieces, f"[{before.mark}]"]) if before is not None else ""
