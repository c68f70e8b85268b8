"""The output guard: an answer leaves without what the policy would have replaced.

What stands word for word in a retrieved passage was let out by the policy already. Of all else, the detector
and the policy of the collection replace what they would replace in a document. The guard works on streams:
what it lets out of a text does not depend on how the text was cut.

What is judged is the sentence. Two that follow one another, such as a first name and a surname with a full
stop each, may come from two passages and be read as one, and the numbers of passages may spell a number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingest.documents import Action, Decision, Document, Span
from ingest.errors import SanitizationError
from ingest.language.normalize import fixed_text
from ingest.language.sentences import ABBREVIATIONS, MAX_CHARACTERS
from ingest.protocols import Sanitizer
from ingest.rendering.replace import render
from ingest.spans import Replacement, merged, substitute
from retrieval.documents import Answer, RetrievedPassage
from retrieval.guards.canaries import Canaries
from retrieval.guards.released import Released
from retrieval.protocols import Generator

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

_ASCII = r"[\t\n\x20-\x7e]"
# Between two of these, what makes text fixed has nothing to do.
_PIECE = re.compile(
    rf"{_ASCII}+(?={_ASCII})|(?s:.{{1,{MOST_HELD - 1}}}?){_ASCII}(?={_ASCII})|(?s:.{{{MOST_HELD}}}(?=.))"
)
_END = re.compile(r"\n|(?P<word>\w*)[.!?…]+[\"')\]”’»]*(?=\s)|[。！？]")
_MARK = re.compile(r"\[[0-9]+(?:\s*[,;]\s*[0-9]+)*\]")
_NO_DIGIT = re.compile(r"[^0-9]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may say.

    ``sanitizer`` is that of the collection's policy, and safe to share between threads. ``quote`` is the
    longest run of words, 1 or more, that may be quoted from one passage, None for any length.
    """

    sanitizer: Sanitizer = field(repr=False)
    canaries: Canaries = field(default_factory=Canaries, repr=False)
    quote: int | None = None

    def guarded(self, answer: Answer) -> Answer:
        """The answer as it may leave, with the citations whose marks are left."""
        guard = AnswerGuard(self, answer.passages)
        text = guard.feed(answer.text) + guard.close()
        left = tuple(each for each in answer.citations if f"[{each.mark}]" in text)
        return replace(answer, text=text, citations=left)


class GuardedAnswers:
    """The answers of ``generator`` as they may leave."""

    def __init__(self, generator: Generator, rules: AnswerRules) -> None:
        self._generator = generator
        self._rules = rules

    @property
    def name(self) -> str:
        """The name of the generator."""
        return self._generator.name

    def generate(self, question: str, passages: Sequence[RetrievedPassage]) -> Answer:
        """The guarded answer; raises what the generator raises."""
        return self._rules.guarded(self._generator.generate(question, passages))


class AnswerGuard:
    """Lets an answer out as it is written: feed it piece by piece, then close it.

    Held back is at most a sentence of 400 characters, what is read beyond it, ``ahead``, and 256 characters.
    A canary is found whole unless more than ``ahead`` characters lie between its ends. One answer, one guard,
    one thread.
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
        """What may go now that ``text`` has come."""
        self._raw += text
        self._text += "".join(self._fixed())
        return "".join(self._sentences(last=False))

    def close(self) -> str:
        """The rest; the guard is spent."""
        self._text += fixed_text(self._raw)
        self._raw = ""
        return "".join(self._sentences(last=True))

    def _fixed(self) -> Iterator[str]:
        while piece := _PIECE.match(self._raw):
            self._raw = self._raw[piece.end() :]
            yield fixed_text(piece[0])

    def _sentences(self, *, last: bool) -> Iterator[str]:
        while self._text:
            end = _end_of(self._text, last)
            if end is None or not (last or len(self._text) >= end + self.ahead):
                return
            end, said = self._checked(end)
            self._behind = (self._behind + self._text[:end])[-BEHIND:]
            self._text = self._text[end:]
            yield said

    def _checked(self, end: int) -> tuple[int, str]:
        """The text up to ``end``, or to the end of what lies across it, as it may go."""
        read = self._text[: end + self.ahead]
        replacements = [(span, WITHHELD) for span in self._rules.canaries.spans(self._unmarked(read))]
        if not self._is_quoted(read[:end]):
            replacements += self._decided(read, end)
        # What begins beyond the sentence belongs to the next one.
        within = [each for each in merged(replacements) if each[0].start < end]
        end = max([end, *(span.end for span, _ in within)])
        return end, self._shortened(substitute(read[:end], within))

    def _is_quoted(self, text: str) -> bool:
        """Whether all but the marks stands in a passage as one piece, or says nothing."""
        said = self._unmarked(text)
        return self._released.holds(said) or not _WORD.search(said)

    def _decided(self, read: str, end: int) -> list[Replacement]:
        """What the policy replaces in the text that was read."""
        shift = len(self._behind)
        text, places = _squeezed(self._unmarked(self._behind + read))
        (outcome,) = self._rules.sanitizer.sanitize([Document("answer", text)])
        if isinstance(outcome, SanitizationError):
            return [(Span(0, end), f"{WITHHELD} ")]
        gone = [each for each in outcome.decisions if self._must_go(text, each)]
        spans = [
            (places[span.start] - shift, places[span.end - 1] + 1 - shift, words)
            for span, words in render(text, gone).replacements
        ]
        return [(Span(max(start, 0), end), words) for start, end, words in spans if end > 0]

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


def _squeezed(text: str) -> tuple[str, list[int]]:
    """The text with one blank where several stood, and the place that each character had.

    A detector does not read a name on across the wide gap that a mark leaves.
    """
    places = [
        place
        for place, char in enumerate(text)
        if char not in " \t" or place == 0 or text[place - 1] not in " \t"
    ]
    return "".join(text[place] for place in places), places


def _end_of(text: str, last: bool) -> int | None:
    """Where the first sentence ends; None if more text is needed to say so."""
    for found in _END.finditer(text, 0, MAX_CHARACTERS + 1):
        word = found["word"]
        inside = word is not None and (len(word) == 1 or word.casefold() in ABBREVIATIONS)
        if found.end() <= MAX_CHARACTERS and not inside:
            return found.end()
    if len(text) <= MAX_CHARACTERS:
        return len(text) if last else None
    blank = max(text.rfind(" ", 0, MAX_CHARACTERS), text.rfind("\t", 0, MAX_CHARACTERS))
    return blank + 1 or MAX_CHARACTERS
