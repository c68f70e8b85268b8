"""What can be quoted from passages: sentences, joined to units that can be read on their own.

In a dialogue the unit is a question with its reply. What only frames a text (headings, mail headers,
greetings, signatures, questions without a reply) is never quoted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ingest.language.sentences import split_sentences
from retrieval.citations import without_marks
from retrieval.documents import Passage, RetrievedPassage
from retrieval.generators.relevance import content_words

REPLY_WORDS = 24
"""A reply is quoted until it has this many words."""
MAX_REPLY = 3
"""The most sentences of a reply in its unit."""
SHORT = 4
"""A sentence with fewer words that carry content is quoted with the one before it in its turn."""
FRAGMENT = 3
"""What has fewer words that carry content, and replies to nothing, is not quoted."""
HEADING_WORDS = 9
"""A line with at most this many words and no closing punctuation is a heading."""

_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"(?:(?:[>|*•-]+>?|\(?\d{1,2}[.)]|\([a-z]\)|[a-z]\))\s+)+")
_LABEL = re.compile(r"[^\W_][^:?!\n]{0,40}:(?=\s|$)")
_HEADER = re.compile(r"(?:from|to|cc|bcc|date|sent|subject|re|fwd?|reply-to|attachments?)\s*:", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:(?:dear|hello|hi|hey|good (?:morning|afternoon|evening))\b[^.!?]{0,40}[,.!:]?"
    r"|(?:(?:kind|best|warm|with (?:kind|best)) )?(?:regards|wishes|greetings)(?:[,.!].{0,40})?"
    r"|yours (?:sincerely|faithfully|truly)(?:[,.!].{0,40})?"
    r"|best,?|thanks(?: a lot)?[,.!]?|cheers,?|sincerely,?)$",
    re.IGNORECASE,
)
_SPEAKER_LINE = re.compile(r"\([^()]{1,40}\)$")
_ASIDE = re.compile(r"(?<=[?？])\s*\([^()]*\)$")
_CHAT_ENDING = re.compile(r"(?<=[a-z][a-z][.?!])\s+(?=[a-z])")
_CLOSED = re.compile(r"[.!?:;…。！？][\"')\]”’»]*$")


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
        for raw in split_sentences(paragraph):
            words = without_marks(raw)
            item = _ITEM.match(words)
            body = words[item.end() :] if item else words
            label = _LABEL.match(body)
            if item or label or _SPEAKER_LINE.match(body):
                turn, speaker = turn + 1, label[0] if label else ""
            if body:
                frames = _frames(body, bool(item))
                yield from _said_in_chat(Sentence(mark, stretch, turn, body, speaker, bool(label), frames))


def _said_in_chat(sentence: Sentence) -> Iterator[Sentence]:
    """Its sentences where it is a line of chat in lower case, which the rules for prose leave whole."""
    if not (sentence.opens and sentence.said[:1].islower()):
        yield sentence
        return
    for n, piece in enumerate(_CHAT_ENDING.split(sentence.text)):
        yield replace(sentence, text=piece, opens=n == 0)


def _frames(text: str, item: bool) -> bool:
    if _HEADER.match(text) or _GREETING.match(text) or _SPEAKER_LINE.match(text):
        return True
    words = _WORD.findall(text)
    if len(words) > HEADING_WORDS or _LABEL.match(text) or item:
        return not words
    shouted = len(words) > 1 and all(word.isupper() and len(word) > 3 for word in words[:2])
    opening = text[:1].isupper() and not any(char.isdigit() for char in text) and not _CLOSED.search(text)
    return not words or shouted or opening


def units_of(sentences: Sequence[Sentence]) -> list[Unit]:
    """The units in reading order; no sentence stands in two."""
    units: list[Unit] = []
    place = 0
    while place < len(sentences):
        if sentences[place].frames:
            place += 1
        elif sentences[place].asks:
            asked = _questions(sentences[place:])
            place += len(asked)
            while place < len(sentences) and _SPEAKER_LINE.match(sentences[place].text):
                place += 1
            reply = _reply(asked[0].stretch, sentences[place:])
            place += len(reply)
            if reply:
                units.append(Unit((*asked, *reply), len(asked)))
        else:
            _add(units, sentences[place], place and sentences[place - 1])
            place += 1
    return [unit for unit in units if unit.asked or sum(map(_content, unit.sentences)) >= FRAGMENT]


def _questions(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The first, which asks, and the questions that follow it in its turn."""
    first = sentences[0]
    return [
        *takewhile(
            lambda each: each.asks and (each.stretch, each.turn) == (first.stretch, first.turn), sentences
        )
    ]


def _reply(stretch: int, sentences: Sequence[Sentence]) -> list[Sentence]:
    """What is said next, up to another question; nothing if a question comes first."""
    found: list[Sentence] = []
    words = 0
    for after in sentences[:MAX_REPLY]:
        if after.stretch != stretch or after.frames or after.asks or (found and after.turn != found[0].turn):
            break
        found.append(after)
        words += len(_WORD.findall(after.said))
        if words >= REPLY_WORDS:
            break
    return found


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
