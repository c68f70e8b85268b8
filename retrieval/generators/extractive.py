"""Answers without a language model: what the passages say, word for word.

Every sentence is read together with the question (``models.answers``). The likeliest is quoted with the
sentence before where it needs that, and with others that answer too; nothing is where none is likely enough.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from ingest.language.sentences import quotable_spans
from models.answers import AnswerReader, Judged, embedded_answers
from retrieval.citations import NO_ANSWER, citations_of, without_marks
from retrieval.documents import Answer, RetrievedPassage
from retrieval.guards.orders import gives_orders
from retrieval.writing import Writing, at_once

FLOOR = -2.5
"""The log-odds of the best sentence from which there is an answer."""
LATER = 1.5
"""What a sentence loses for each text that search found before its own."""
DOCUMENTS = 3
"""Only the first documents are read, with what stands beside their passages."""
FURTHER = 2.5
"""How much less likely a further sentence of the same text may be."""
MAX_SENTENCES, MAX_WORDS = 3, 90
"""Further sentences are left out where the answer would have more."""


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence: the mark of its passage, its stretch of text, its place there, and what is judged of it.

    Stretches are numbered from 0, that of the passage found first.
    """

    mark: int
    stretch: int
    place: int
    text: str = field(repr=False)
    judged: Judged

    @property
    def value(self) -> float:
        """How likely it answers, and was found for that."""
        return self.judged.answers - LATER * self.stretch


class ExtractiveGenerator:
    """Quotes up to three sentences word for word, each run of them followed by the mark of its passage.

    The row of a table is quoted with the heads of its columns.

    Args:
        reader: loads what judges sentences, when it is first needed.
        floor: log-odds below which there is no answer.
    """

    name = "extractive"

    def __init__(self, reader: Callable[[], AnswerReader] = embedded_answers, floor: float = FLOOR) -> None:
        self._reader = reader
        self._floor = floor

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The best sentences, or the sentence for no answer; deterministic."""
        read = _read(passages)
        chosen = self._chosen(self.judged(question, read))
        # What stood beside and is quoted comes behind what was found.
        further = sorted({each.mark for each in chosen if each.mark > len(passages)})
        shown = (*passages, *(read[mark] for mark in further))
        marks = {mark: len(passages) + place for place, mark in enumerate(further, start=1)}
        chosen = [replace(each, mark=marks.get(each.mark, each.mark)) for each in chosen]
        cited = citations_of({each.mark for each in chosen}, dict(enumerate(shown, start=1)))
        return at_once(Answer(_joined(chosen) or NO_ANSWER, cited, shown, self.name))

    def judged(self, question: str, marked: Mapping[int, RetrievedPassage]) -> list[Quotable]:
        """The sentences of the passages in reading order; those that give orders are left out."""
        question = question.encode("utf-8", "replace").decode("utf-8").strip()
        stretches = _stretches(marked) if question else []
        texts = ["".join(marked[mark].passage.text for mark in marks) for marks in stretches]
        spans = [quotable_spans(text) for text in texts]
        judged = self._reader().judged(question, texts, spans)
        found = []
        for number, (marks, text) in enumerate(zip(stretches, texts, strict=True)):
            first, ordered, before = marked[marks[0]].passage.start, False, 0
            for place, (span, each) in enumerate(zip(spans[number], judged[number], strict=True)):
                words = " ".join(text[span[0] : span[1]].split())
                # Who gives an order may go on with it, but for another paragraph.
                ordered = gives_orders(words, behind=ordered and text.count("\n", before, span[0]) < 2)
                before = span[1]
                if not ordered and not _is_head(text, span):
                    mark = next(m for m in marks if first + span[0] < marked[m].passage.end)
                    found.append(Quotable(mark, number, place, quoted(text, span), each))
        return found

    def _chosen(self, sentences: Sequence[Quotable]) -> list[Quotable]:
        """The best one and others of its text, which alone is about the same people, in reading order."""
        best = max(sentences, key=lambda each: each.value, default=None)
        if best is None or best.value < self._floor:
            return []
        own = {each.place: each for each in sentences if each.stretch == best.stretch}
        chosen: list[Quotable] = []
        for each in sorted(own.values(), key=lambda each: -each.value)[: 4 * MAX_SENTENCES]:
            if each.value < max(self._floor, best.value - FURTHER):
                break
            lead = own.get(each.place - 1) if each.judged.led > 0 else None
            new = [one for one in (lead, each) if one is not None and one not in chosen]
            words = sum(len(one.text.split()) for one in (*chosen, *new))
            repeats = any(one.text == each.text for one in chosen)
            if not chosen or (not repeats and words <= MAX_WORDS and len(chosen) < MAX_SENTENCES):
                chosen += new
        return sorted(chosen, key=lambda each: each.place)


def _read(passages: Sequence[RetrievedPassage]) -> dict[int, RetrievedPassage]:
    """The passages of the first documents by their marks, and what stands beside them by further ones."""
    documents = [*dict.fromkeys(each.passage.doc_id for each in passages)][:DOCUMENTS]
    marked = dict(enumerate(passages, start=1))
    known = {each.passage.passage_id for each in passages}
    for each in passages:
        for one in each.beside:
            if one.passage_id not in known:
                known.add(one.passage_id)
                marked[len(marked) + 1] = RetrievedPassage(one, each.similarity, each.score)
    return {mark: each for mark, each in marked.items() if each.passage.doc_id in documents}


def quoted(text: str, span: tuple[int, int]) -> str:
    """A sentence as it is quoted: on one line, the row of a table with the heads of its columns."""
    words = text[span[0] : span[1]]
    first, separator = text.rfind("\n", 0, span[0]) + 1, "\t" if "\t" in words else "|"
    columns = words.count(separator)
    if columns and not text[first : span[0]].strip() and "\n" not in words:
        head, above = "", text[:first].splitlines()
        while above and above[-1].count(separator) == columns:
            head = above.pop()
        heads, cells = (_cells(row, separator) for row in (head, words))
        if all(heads) and len(heads) == len(cells) and not any(map(str.isdigit, head)):
            words = "; ".join(f"{name}: {cell}" for name, cell in zip(heads, cells, strict=True) if cell)
    return without_marks(" ".join(words.split()))


def _is_head(text: str, span: tuple[int, int]) -> bool:
    """Whether this is the head of a table: its words without those of a row say nothing."""
    line, _, below = text[span[0] :].partition("\n")
    separator = "\t" if "\t" in line else "|"
    columns = line.count(separator)
    above = text[: span[0]].rstrip("\n").rpartition("\n")[2]
    return (
        columns > 0
        and below.partition("\n")[0].count(separator) == columns != above.count(separator)
        and not any(map(str.isdigit, line))
    )


def _cells(row: str, separator: str) -> list[str]:
    cells = [" ".join(cell.split()) for cell in row.split(separator)]
    return cells[1:-1] if len(cells) > 2 and not cells[0] and not cells[-1] else cells


def _stretches(marked: Mapping[int, RetrievedPassage]) -> list[list[int]]:
    """The marks of passages that adjoin in their document, in its order; the text of the best one first."""
    order = sorted(marked, key=lambda mark: (marked[mark].passage.doc_id, marked[mark].passage.start))
    found: list[list[int]] = []
    for mark in order:
        before = marked[found[-1][-1]].passage if found else None
        passage = marked[mark].passage
        if before is not None and (before.doc_id, before.end) == (passage.doc_id, passage.start):
            found[-1].append(mark)
        else:
            found.append([mark])
    return sorted(found, key=min)


def _joined(chosen: Sequence[Quotable]) -> str:
    """The sentences in reading order; a mark after each run of them."""

    def run(numbered: tuple[int, Quotable]) -> tuple[int, int]:
        number, each = numbered
        return each.mark, each.place - number

    return " ".join(
        " ".join([*(each.text for _, each in some), f"[{mark}]"])
        for (mark, _), some in groupby(enumerate(chosen), run)
    )
