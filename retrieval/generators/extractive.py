"""Answers without a language model: the most relevant sentences of the passages.

Sentences are ranked by their cosine with the question, plus bonuses for shared words and for the
similarity of their passage, and chosen one by one by maximal marginal relevance (Carbonell
and Goldstein, SIGIR 1998), so that the second sentence does not repeat the first.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ingest.language.sentences import split_sentences
from retrieval.citations import NO_ANSWER, citations_of, without_marks
from retrieval.documents import Answer, RetrievedPassage

if TYPE_CHECKING:
    from ingest.protocols import Encoder

FLOOR = 0.4
"""The lowest relevance of the best sentence for an answer; fitted to the embedded encoder."""
MAX_SENTENCES = 3
MAX_CANDIDATES = 64
"""The most sentences to rank, best passages first; limits the time of an answer."""
SHARE_OF_BEST = 0.7
"""The relevance of further sentences, as a share of the best one's."""
WORD_WEIGHT = 0.15
PASSAGE_WEIGHT = 0.1
REPETITION_WEIGHT = 0.4
SHORT_WORDS = 4
"""A sentence with fewer words needs its neighbor."""

STOP_WORDS = frozenset(
    "a about an and any are as at be been by can could did do does for from had has have he her his "
    "how i in is it its me my of on or our she should so than that the their them there they this to "
    "was we were what when where which who whom whose why will with would you your".split()
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: ``mark`` is its passage's, ``place`` its own among the sentences of all passages."""

    mark: int
    place: int
    text: str = field(repr=False)


class ExtractiveGenerator:
    """Quotes up to three sentences word for word, each followed by the mark of its passage.

    Args:
        encoder: measures the similarity of sentence and question.
        floor: relevance below which there is no answer. Relevance, at most 1.25, is the cosine, 0.15
            times the share of the question's words and 0.1 times the passage's similarity, added up;
            another encoder than the embedded one needs another floor.
    """

    def __init__(self, encoder: "Encoder", floor: float = FLOOR) -> None:
        self._encoder = encoder
        self._floor = floor

    @property
    def name(self) -> str:
        """The engine's name in answers and reports."""
        return "extractive"

    def generate(self, question: str, passages: Sequence[RetrievedPassage]) -> Answer:
        """The best sentences, or the sentence for no answer; deterministic."""
        marked = dict(enumerate(passages, start=1))
        question = question.encode("utf-8", "replace").decode("utf-8").strip()
        sentences = _sentences_of(marked)
        if not question or not sentences:
            return Answer(NO_ANSWER, (), tuple(passages), self.name)
        vectors = self._encoder.encode([question, *(sentence.text for sentence in sentences)])
        nearness = vectors[1:] @ vectors[0]
        bonus = [_bonus(question, sentence, marked) for sentence in sentences]
        relevance = nearness.astype(np.float64) + np.array(bonus)
        chosen = self._choose(sentences, relevance, vectors[1:])
        text = " ".join(f"{sentence.text} [{sentence.mark}]" for sentence in chosen)
        cited = citations_of({sentence.mark for sentence in chosen}, marked)
        return Answer(text or NO_ANSWER, cited, tuple(passages), self.name)

    def _choose(
        self,
        sentences: Sequence[Sentence],
        relevance: NDArray[np.float64],
        vectors: NDArray[np.float32],
    ) -> list[Sentence]:
        best = float(relevance.max())
        if best < self._floor:
            return []
        chosen: list[Sentence] = []
        value = np.where(relevance >= max(self._floor, SHARE_OF_BEST * best), relevance, -np.inf)
        while len(chosen) < MAX_SENTENCES and value.max() > 0:
            sentence = sentences[int(value.argmax())]
            value[sentence.place] = -np.inf
            wanted = (sentence, *_needed_neighbor(sentence, sentences))
            added = [new for new in wanted if new not in chosen]
            if len(chosen) + len(added) > MAX_SENTENCES:
                continue
            chosen += added
            for new in added:
                repetition = np.clip(vectors @ vectors[new.place], 0, None)
                value = np.minimum(value, relevance - REPETITION_WEIGHT * repetition)
                value[new.place] = -np.inf
        return _in_reading_order(chosen)


def _sentences_of(marked: dict[int, RetrievedPassage]) -> list[Sentence]:
    """The first sentences in order; duplicates from overlapping passages are dropped."""
    texts: dict[str, int] = {}
    for mark, retrieved in marked.items():
        for sentence in split_sentences(retrieved.passage.text):
            texts.setdefault(without_marks(sentence), mark)
    first = islice(texts.items(), MAX_CANDIDATES)
    return [Sentence(mark, place, text) for place, (text, mark) in enumerate(first)]


def _bonus(question: str, sentence: Sentence, marked: dict[int, RetrievedPassage]) -> float:
    asked = _content_words(question)
    shared = len(asked & _content_words(sentence.text)) / len(asked) if asked else 0.0
    similarity = min(1.0, max(0.0, marked[sentence.mark].similarity))
    return WORD_WEIGHT * shared + PASSAGE_WEIGHT * similarity


def _content_words(text: str) -> set[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    # Strip the plural s; finer stemming did not help.
    return {word.removesuffix("s") if len(word) > 3 else word for word in words} - STOP_WORDS


def _in_reading_order(chosen: Sequence[Sentence]) -> list[Sentence]:
    """The passage of the best sentence first; within a passage, the original order."""
    marks = [sentence.mark for sentence in chosen]
    return sorted(chosen, key=lambda sentence: (marks.index(sentence.mark), sentence.place))


def _needed_neighbor(sentence: Sentence, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentence after a question or a short one; in dialogue it has the answer."""
    asks = sentence.text.rstrip("\"')]”’»").endswith(("?", "？"))
    if not asks and len(_WORD.findall(sentence.text)) >= SHORT_WORDS:
        return
    after = sentences[sentence.place + 1 : sentence.place + 2]
    before = sentences[max(0, sentence.place - 1) : sentence.place]
    for neighbor in (*after, *(() if asks else before)):
        if neighbor.mark == sentence.mark:
            yield neighbor
            return
