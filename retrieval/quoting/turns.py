"""What can be quoted from passages: sentences, joined to units that can be read on their own.

In a dialogue the unit is a question with its reply. What only frames a text (headings, mail headers,
greetings, signatures, questions without a reply) is never quoted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, takewhile

from ingest.language.sentences import split_sentences
from retrieval.citations import without_marks
from retrieval.documents import Passage, RetrievedPassage
from retrieval.quoting.frames import (
    blocks_of,
    frames,
    is_sentence,
    signature,
    signs_off,
    stage_direction,
)
from retrieval.quoting.words import content_words

REPLY_WORDS = 24
"""A reply is quoted until it has this many words."""
MAX_REPLY = 3
"""The most sentences of a reply in its unit."""
SHORT = 4
"""A sentence with fewer words that carry content is quoted with the one before it in its turn."""
FRAGMENT = 3
"""What has fewer words that carry content, and replies to nothing, is not quoted; a whole sentence with a
verb needs one fewer."""

_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"(?:(?:[>|*•-]+>?|\(?\d{1,2}[.)]|\([a-z]\)|[a-z]\))\s+)+")
_LABEL = re.compile(r"[^\W_][^:?!\n]{0,40}:(?=\s|$)")
_REPLACED = re.compile(r"\bsomebody\b", re.IGNORECASE)
_ASIDE = re.compile(r"(?<=[?？])\s*\([^()]*\)$")
_CHAT_ENDING = re.compile(r"(?<=[a-z][a-z][.?!])\s+(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence word for word, but for white space and list marks.

    ``mark`` is its passage's, ``place`` its own in reading order; ``stretch`` numbers the texts that can be
    read on, ``turn`` the turns and paragraphs. ``speaker`` is the label of its turn, "" without one; it
    stands in ``text`` too where the sentence ``opens`` the turn. ``frames`` is true for what is never quoted.
    """

    mark: int
    stretch: int
    turn: int
    text: str = field(repr=False)
    speaker: str = field(default="", repr=False)
    opens: bool = False
    frames: bool = False
    place: int = 0

    @property
    def said(self) -> str:
        """The text without the speaker's label."""
        return self.text[len(self.speaker) :].strip() if self.opens else self.text

    @property
    def asks(self) -> bool:
        """Whether it ends as a question, what stands in brackets after it aside."""
        text = _ASIDE.sub("", self.text)
        return text.rstrip("\"')]”’»").endswith(("?", "？"))


@dataclass(frozen=True, slots=True)
class Unit:
    """Sentences in reading order, scored and quoted together; the first ``asked`` of them are questions."""

    sentences: tuple[Sentence, ...]
    asked: int = 0

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def stretch(self) -> int:
        """The text it stands in."""
        return self.sentences[-1].stretch

    @property
    def said(self) -> str:
        """Its words without the labels of speakers."""
        return " ".join(sentence.said for sentence in self.sentences)


def sentences_of(marked: Mapping[int, RetrievedPassage], most: int) -> list[Sentence]:
    """At most ``most`` sentences, those of the best passages; passages of a document in its order.

    Passages that adjoin are read on as one stretch of text.
    """
    room = {mark: most for mark in marked}
    for mark in sorted(marked):
        room[mark] = most
        most = max(0, most - len(split_sentences(marked[mark].passage.text)))
    found: list[Sentence] = []
    before: Passage | None = None
    for mark in _in_document_order(marked):
        passage = marked[mark].passage
        joins = before is not None and (before.doc_id, before.end) == (passage.doc_id, passage.start)
        last = found[-1] if found else Sentence(0, 0, 0, "")
        inside = joins and before is not None and not before.text[len(before.text.rstrip()) :].count("\n")
        stretch = last.stretch + (not joins)
        read = _read(passage.text, mark, stretch, last.turn + (not inside), last.speaker if inside else "")
        found += [*read][: room[mark]]
        before = passage if room[mark] else None
    return [replace(sentence, place=place) for place, sentence in enumerate(found)]


def units_in(text: str) -> list[Unit]:
    """The units of a passage that is read alone."""
    sentences = _read(text, mark=1, stretch=1, turn=1, speaker="")
    return units_of([replace(sentence, place=place) for place, sentence in enumerate(sentences)])


def _in_document_order(marked: Mapping[int, RetrievedPassage]) -> list[int]:
    """The documents by their best passage, the passages of each by where they start."""
    best: dict[str, int] = {}
    for mark in sorted(marked):
        best.setdefault(marked[mark].passage.doc_id, mark)
    return sorted(
        marked, key=lambda mark: (best[marked[mark].passage.doc_id], marked[mark].passage.start, mark)
    )


def _read(text: str, mark: int, stretch: int, turn: int, speaker: str) -> Iterator[Sentence]:
    for number, paragraph in enumerate(re.split(r"\n[ \t\r]*\n", text)):
        if number:
            turn, speaker = turn + 1, ""
        signed = False
        for raw, listed in _lines(paragraph):
            words = without_marks(raw)
            item = _ITEM.match(words)
            body = words[item.end() :] if item else words
            label = _LABEL.match(body)
            if item or listed or label or stage_direction(body):
                turn, speaker = turn + 1, label[0] if label else ""
            if body:
                framed = frames(body, listed or bool(item)) or (signed and signature(body))
                signed = framed and (signed or signs_off(body))
                yield from _said_in_chat(Sentence(mark, stretch, turn, body, speaker, bool(label), framed))


def _lines(paragraph: str) -> Iterator[tuple[str, bool]]:
    """Its sentences, each with whether it begins a line of a list that has no marks."""
    for block, listed in blocks_of(paragraph):
        for n, sentence in enumerate(split_sentences(block)):
            yield sentence, listed and n == 0


def _said_in_chat(sentence: Sentence) -> Iterator[Sentence]:
    """Its sentences where it is a line of chat in lower case, which the rules for prose leave whole."""
    if not (sentence.opens and sentence.said[:1].islower()):
        yield sentence
        return
    for n, piece in enumerate(_CHAT_ENDING.split(sentence.text)):
        yield replace(sentence, text=piece, opens=n == 0)


def units_of(sentences: Sequence[Sentence]) -> list[Unit]:
    """The units in reading order; no sentence stands in two."""
    units: list[Unit] = []
    place = 0
    while place < len(sentences):
        if sentences[place].frames:
            place += 1
        elif sentences[place].asks:
            asked = _asked(sentences[place:])
            reply = _reply(asked[-1], sentences[place + len(asked) :])
            if reply:
                units.append(Unit((*asked, *reply), len(asked)))
                place = reply[-1].place - sentences[0].place + 1
            else:
                place += len([*takewhile(lambda each: each.asks, asked)])
        else:
            _add(units, sentences[place], place and sentences[place - 1])
            place += 1
    return [unit for unit in units if unit.asked or _says_something(unit)]


def _asked(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The first, which asks, with the questions that follow in its turn; a speaker's whole turn if short."""
    first = sentences[0]
    turn = [*takewhile(lambda each: (each.stretch, each.turn) == (first.stretch, first.turn), sentences)]
    said = sum(len(_WORD.findall(each.text)) for each in turn if not each.asks)
    if first.speaker and said <= REPLY_WORDS and not any(each.frames for each in turn):
        return turn
    return [*takewhile(lambda each: each.asks, turn)]


def _reply(asked: Sentence, sentences: Sequence[Sentence]) -> list[Sentence]:
    """What is said next, up to another question; nothing if a question comes first.

    A speaker's question is replied to by another speaker, in a later turn.
    """
    after = [*dropwhile(lambda each: stage_direction(each.text), sentences)][:MAX_REPLY]
    if asked.speaker and not (after and _replies(after[0], asked)):
        return []
    found: list[Sentence] = []
    words = 0
    for each in after:
        elsewhere = each.stretch != asked.stretch or (found and each.turn != found[0].turn)
        if elsewhere or each.frames or each.asks:
            break
        found.append(each)
        words += len(_WORD.findall(each.said))
        if words >= REPLY_WORDS:
            break
    return found


def _replies(sentence: Sentence, asked: Sentence) -> bool:
    """Whether it opens a turn of somebody else; replacements leave speakers with one label."""
    same = sentence.speaker.casefold() == asked.speaker.casefold()
    return sentence.opens and (not same or _REPLACED.search(sentence.speaker) is not None)


def _says_something(unit: Unit) -> bool:
    content = sum(map(_content, unit.sentences))
    return content >= FRAGMENT or (
        content == FRAGMENT - 1 and any(is_sentence(each.said) for each in unit.sentences)
    )


def _add(units: list[Unit], sentence: Sentence, previous: "Sentence | int") -> None:
    """As a unit of its own, or to the one before it where it is too short to be read alone."""
    before = units[-1] if units else None
    if before is not None and before.sentences[-1] is previous and not before.asked:
        near = (previous.stretch, previous.turn) == (sentence.stretch, sentence.turn)
        if near and _content(sentence) < SHORT:
            units[-1] = Unit((*before.sentences, sentence))
            return
    units.append(Unit((sentence,)))


def _content(sentence: Sentence) -> int:
    return len(content_words(sentence.said))


def speakers_of(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Labels that open more than one turn: people who speak, not the fields of a form."""
    counts = Counter(sentence.speaker for sentence in sentences if sentence.opens)
    return frozenset(speaker for speaker, n in counts.items() if n > 1)
