"""The output guard: an answer leaves without what the policy would have replaced.

What stands word for word in a retrieved passage was let out by the policy already. Of all else, the detector
and the policy of the collection replace what they would replace in a document; a generator that only quotes
says nothing else. The guard works on streams: what it lets out of a text does not depend on how the text was
cut.

What is judged is the sentence. One of fewer than three words is no sentence: "Mara. Vell." reads as a name.
It waits for the next one, and both are judged together, with the full stop between them and without it, after
what was let out before. So text comes out later by the length of the next sentence, and by 400 characters at
most. A mark inside a word, as in "Ma[1]ra", is read as a blank and as nothing.

Out of reach are a name across two longer sentences, of which the first has gone when the second is judged;
more than three marks in words, of which some stand for blanks and some for nothing; and a number that the
numbers of passages spell.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise, product
from pathlib import Path

from ingest.documents import Action, Decision, Document, Span
from ingest.errors import SanitizationError
from ingest.language.normalize import fixed_text
from ingest.language.sentences import ABBREVIATIONS, MAX_CHARACTERS
from ingest.protocols import Sanitizer
from ingest.spans import Replacement, merged, substitute
from ingest.wording.replace import render
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import RetrievedPassage
from retrieval.protocols import Generator
from retrieval.writing import Writing, filtered

FEWEST, MOST = 6, 200
"""Letters and digits of a canary. Shorter ones would stand in ordinary words."""
_WORD = re.compile(r"\w+")


class Canaries:
    """Finds what must never leave, by its letters and digits alone, without case, accents and width.

    Raises ConfigurationError if one has too few or too many letters and digits.
    """

    def __init__(self, strings: Sequence[str] = ()) -> None:
        bare = {_letters(each)[0] for each in strings}
        if not all(FEWEST <= len(each) <= MOST for each in bare):
            raise ConfigurationError(
                f"A canary has {FEWEST} to {MOST} letters and digits, and one given has not: leave it out or "
                "choose another."
            )
        self.longest = max(map(len, bare), default=0)
        # The longest first: of two that begin at one place it is the one to remove.
        ordered = sorted(bare, key=lambda each: (-len(each), each))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if bare else None

    def spans(self, text: str) -> Iterator[Span]:
        """Where one stands in ``text``."""
        if self._pattern is None:
            return
        letters, places = _letters(text)
        for found in self._pattern.finditer(letters):
            yield Span(places[found.start()], places[found.end() - 1] + 1)


def canaries_in(file: Path) -> Canaries:
    """The canaries of a file, one in each line; raises ConfigurationError if none can be read."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError("generator.canaries is no text file in UTF-8 that can be read.") from None
    strings = [line for line in lines if line.strip()]
    if not strings:
        raise ConfigurationError("generator.canaries holds none: write one in each line.")
    return Canaries(strings)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of ``text``, folded, and the place in it of each."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for each in unicodedata.normalize("NFKD", char).casefold():
            if each.isalnum():
                letters.append(each)
                places.append(place)
    return "".join(letters), places


class Released:
    """The words of passages, which a policy has let out; passages that adjoin are read on as one text."""

    def __init__(self, passages: Sequence[RetrievedPassage]) -> None:
        texts = [_WORD.findall(text) for text in _texts(passages)]
        # Two spaces between texts: no run goes on from one to the next.
        said = [" ".join(words) for words in (*texts, _WORD.findall(NO_ANSWER))]
        self._said = f" {'  '.join(said)} "
        self._places: dict[str, list[int]] = {}
        place = 0
        for words in texts:
            for word in words:
                self._places.setdefault(word.casefold(), []).append(place)
                place += 1
            place += 1

    def holds(self, said: str) -> bool:
        """Whether the words of ``said`` stand somewhere one after the other; false where it has none."""
        words = _WORD.findall(said)
        return bool(words) and f" {' '.join(words)} " in self._said

    def runs(self, word: str, before: dict[int, int]) -> dict[int, int]:
        """How many words up to this one stand one after the other, by place; ``before`` is of the last."""
        return {place: before.get(place - 1, 0) + 1 for place in self._places.get(word.casefold(), ())}


def _texts(passages: Sequence[RetrievedPassage]) -> Iterator[str]:
    found = sorted((each.passage for each in passages), key=lambda each: (each.doc_id, each.start))
    text, end = "", ("", 0)
    for passage in found:
        if text and end != (passage.doc_id, passage.start):
            yield text
            text = ""
        text, end = text + passage.text, (passage.doc_id, passage.end)
    yield text


WITHHELD = "[withheld]"
"""Stands for a canary, and for a sentence that could not be checked."""
LEFT_OUT = "…"
"""Stands for the rest of a quotation that is longer than allowed."""
AHEAD = 80
"""How many characters are read beyond a sentence before it goes: a name may go on there."""
BEHIND = 600
"""How many characters before a sentence the detector reads with it."""
MOST_HELD = 256
"""How many characters may wait for the end of what they are composed with."""
FEWEST_WORDS = 3
"""How many words make a sentence that is judged alone."""
MOST_MIXED = 3
"""How many marks inside words are read each as a blank and as nothing; more are all read as the same."""

_ASCII = r"[\t\n\x20-\x7e]"
# Between two of these, what makes text fixed has nothing to do.
_PIECE = re.compile(
    rf"{_ASCII}+(?={_ASCII})|(?s:.{{1,{MOST_HELD - 1}}}?){_ASCII}(?={_ASCII})|(?s:.{{{MOST_HELD}}}(?=.))"
)
_END = re.compile(r"\n|(?P<word>\w*)[.!?…]+[\"')\]”’»]*(?=\s)|[。！？]")
_MARK = re.compile(r"\[[0-9]+(?:\s*[,;]\s*[0-9]+)*\]")
# Beside a sign too, as in an address; what stands before the comma or full stop behind a word is not inside.
_INSIDE = re.compile(rf"(?<=[^\s\]])(?:{_MARK.pattern})+(?=[^\w\s]?\w)")
_NO_DIGIT = re.compile(r"[^0-9]")
_BETWEEN = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may say.

    ``sanitizer`` is that of the collection's policy, and safe to share between threads; None for a generator
    that only quotes, whose words the policy has let out. ``quote`` is the longest run of words, 1 or more,
    that may be quoted from one passage, None for any length.
    """

    sanitizer: Sanitizer | None = field(repr=False)
    canaries: Canaries = field(default_factory=Canaries, repr=False)
    quote: int | None = None


class GuardedAnswers:
    """The answers of ``generator`` as they may leave."""

    def __init__(self, generator: Generator, rules: AnswerRules) -> None:
        self._generator = generator
        self._rules = rules

    @property
    def name(self) -> str:
        return self._generator.name

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The guarded answer; raises what the generator raises."""
        return filtered(self._generator.write(question, passages), AnswerGuard(self._rules, passages))


class AnswerGuard:
    """Lets an answer out as it is written: feed it piece by piece, then close it.

    Held back is at most a sentence of 400 characters, or short ones with the next and as long together, what
    is read beyond it, ``ahead``, and 256 characters. A canary is found whole unless more than ``ahead``
    characters lie between its ends. One answer, one guard, one thread.
    """

    def __init__(self, rules: AnswerRules, passages: Sequence[RetrievedPassage]) -> None:
        self.ahead = max(AHEAD, 2 * rules.canaries.longest)
        self._rules = rules
        self._released = Released(passages)
        self._marks = {str(mark) for mark in range(1, len(passages) + 1)}
        self._raw = self._text = self._behind = ""
        self._quoted: dict[int, int] = {}
        self._leaving_out = False

    def feed(self, text: str) -> str:
        self._raw += text
        while piece := _PIECE.match(self._raw):
            self._raw = self._raw[piece.end() :]
            self._text += fixed_text(piece[0])
        return "".join(self._sentences(last=False))

    def close(self) -> str:
        self._text += fixed_text(self._raw)
        self._raw = ""
        return "".join(self._sentences(last=True))

    def _sentences(self, *, last: bool) -> Iterator[str]:
        while self._text:
            ends = _ends_of(self._text, last)
            if not ends or not (last or len(self._text) >= ends[-1] + self.ahead):
                return
            end, said = self._checked(ends)
            self._behind = (self._behind + self._text[:end])[-BEHIND:]
            self._text = self._text[end:]
            yield said

    def _checked(self, ends: Sequence[int]) -> tuple[int, str]:
        """The text up to the last end, or to the end of what lies across it, as it may go."""
        end = ends[-1]
        read = self._text[: end + self.ahead]
        # Short sentences are read on from what was let out before.
        counts = (_words(read[begin:end]) for begin, end in pairwise([0, *ends]))
        joins = [0, *ends[:-1]] if next(filter(None, counts), FEWEST_WORDS) < FEWEST_WORDS else []
        replacements = [(span, WITHHELD) for span in self._rules.canaries.spans(self._unmarked(read))]
        sanitizer = self._rules.sanitizer
        if sanitizer is not None and not self._is_quoted(read, end, after=bool(joins)):
            replacements += self._decided(sanitizer, read, end, joins)
        # What begins beyond the sentence belongs to the next one.
        within = [each for each in merged(replacements) if each[0].start < end]
        end = max([end, *(span.end for span, _ in within)])
        return end, self._shortened(substitute(read[:end], within))

    def _is_quoted(self, read: str, end: int, *, after: bool) -> bool:
        """Whether all but the marks stands in a passage as one piece, or says nothing.

        ``after`` is whether the last words before it have to stand there too.
        """
        said = self._unmarked(read[:end])
        if not _WORD.search(said):
            return True
        if any(found.start() < end for found in _INSIDE.finditer(read)):
            return False
        before = _WORD.findall(self._unmarked(self._behind))[1 - FEWEST_WORDS :] if after else []
        return self._released.holds(" ".join([*before, said]))

    def _decided(self, sanitizer: Sanitizer, read: str, end: int, joins: Sequence[int]) -> list[Replacement]:
        """What the policy replaces in the text that was read, whichever way it is read."""
        shift = len(self._behind)
        readings = self._readings(read, [shift + each for each in joins])
        outcomes = sanitizer.sanitize([Document("answer", text) for text in readings])
        spans: list[tuple[int, int, str]] = []
        for (text, places), outcome in zip(readings.items(), outcomes, strict=True):
            if isinstance(outcome, SanitizationError):
                return [(Span(0, end), f"{WITHHELD} ")]
            gone = [each for each in outcome.decisions if self._must_go(text, each)]
            spans += [
                (places[span.start] - shift, places[span.end - 1] + 1 - shift, words)
                for span, words in render(text, gone).replacements
            ]
        # Of what began before, the rest goes, but for the blank between the sentences.
        first = len(read) - len(read.lstrip())
        begun = [(start if start >= 0 else min(first, end - 1), end, words) for start, end, words in spans]
        # Of a mark that is cut nothing stays: its rest would be a number without a mark.
        marks = [found.span() for found in _MARK.finditer(read) if not self._blank(found).strip()]
        return [(_with_whole(marks, start, end), words) for start, end, words in begun if end > 0]

    def _readings(self, read: str, joins: Sequence[int]) -> dict[str, list[int]]:
        """How what was let out and what is judged can be read: texts, with the place of each character.

        ``joins`` are ends of short sentences, beyond which a reader may read on.
        """
        whole = self._behind + read
        plain = self._unmarked(whole)
        inside = [found.span() for found in _INSIDE.finditer(whole)]
        behind = [span for span in inside if span[0] < len(self._behind)]
        ahead = inside[len(behind) :]
        few = inside and len(ahead) <= MOST_MIXED
        chosen = product((False, True), repeat=len(ahead)) if few else [[True] * len(ahead)]
        some = [[*behind, *compress(ahead, each)] for each in chosen]
        return {
            text: places
            for said in (plain, _run_on(plain, joins))
            for without in ([], *some)
            for text, places in [_squeezed(said, without)]
        }

    def _must_go(self, text: str, decision: Decision) -> bool:
        span = decision.entity.span
        return decision.action is not Action.KEEP and not self._released.holds(text[span.start : span.end])

    def _shortened(self, text: str) -> str:
        """The text without words that continue a quotation beyond the longest that is allowed."""
        if self._rules.quote is None:
            return text
        pieces: list[str] = []
        start = 0
        for word in _WORD.finditer(self._unmarked(text)):
            between, start = text[start : word.start()], word.end()
            self._quoted = self._released.runs(word[0], self._quoted)
            too_long = max(self._quoted.values(), default=0) > self._rules.quote
            if self._leaving_out:
                between = "".join(_MARK.findall(between)) + " " * (not too_long)
            left = "" if self._leaving_out else LEFT_OUT
            pieces += between, left if too_long else word[0]
            self._leaving_out = too_long
        rest = text[start:]
        return "".join([*pieces, "".join(_MARK.findall(rest)) if self._leaving_out else rest])

    def _unmarked(self, text: str) -> str:
        """The text with blanks for the marks of passages, which are no words of it.

        Of what looks like a mark and is none, the numbers stay: they say what the same in plain text would.
        """
        return _MARK.sub(self._blank, text)

    def _blank(self, mark: re.Match[str]) -> str:
        of_passages = self._marks.issuperset(re.findall(r"[0-9]+", mark[0]))
        return " " * len(mark[0]) if of_passages else _NO_DIGIT.sub(" ", mark[0])


def _with_whole(marks: Sequence[tuple[int, int]], start: int, end: int) -> Span:
    """The span, and with it the marks at which it begins or ends inside."""
    cut = [(first, last) for first, last in marks if first < start < last or first < end < last]
    return Span(min([start, *(first for first, _ in cut)]), max([end, *(last for _, last in cut)]))


def _run_on(text: str, joins: Sequence[int]) -> str:
    """The text with blanks for all that stands between the words at some places."""

    def blank(found: re.Match[str]) -> str:
        joined = any(found.start() <= place <= found.end() for place in joins)
        return " " * len(found[0]) if joined else found[0]

    return _BETWEEN.sub(blank, text)


def _squeezed(text: str, without: Sequence[tuple[int, int]]) -> tuple[str, list[int]]:
    """The text without some parts, with one blank where several stood, and the place that each character had.

    A detector does not read a name on across the wide gap that a mark leaves.
    """
    left_out = {place for start, end in without for place in range(start, end)}
    places: list[int] = []
    for place, char in enumerate(text):
        if place in left_out or (char in " \t" and places and text[places[-1]] in " \t"):
            continue
        places.append(place)
    return "".join(text[place] for place in places), places


def _words(sentence: str) -> int:
    """How many words a sentence has; marks are none, and hold none apart."""
    return len(_WORD.findall(_MARK.sub("", sentence)))


def _ends_of(text: str, last: bool) -> list[int]:
    """Where the first sentence ends, or short ones and the next; none if more text is needed to say so."""
    ends: list[int] = []
    for found in _END.finditer(text, 0, MAX_CHARACTERS + 1):
        word = found["word"]
        inside = word is not None and (len(word) == 1 or word.casefold() in ABBREVIATIONS)
        if found.end() <= MAX_CHARACTERS and not inside:
            ends.append(found.end())
            if _words(text[ends[-2] if len(ends) > 1 else 0 : ends[-1]]) >= FEWEST_WORDS:
                return ends
    if len(text) <= MAX_CHARACTERS:
        return [*(each for each in ends if each < len(text)), len(text)] if last else []
    blank = max(text.rfind(" ", 0, MAX_CHARACTERS), text.rfind("\t", 0, MAX_CHARACTERS))
    cut = blank + 1 or MAX_CHARACTERS
    return [*(each for each in ends if each < cut), cut]
