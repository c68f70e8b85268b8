"""From tokens to running text, and from sentences to passages long enough to give context."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models.training.corpora.detokenize import Style, joined
from models.training.examples import Example, Mention

PASSAGE_WORDS = 120

# After these a sentence is over; after anything else (a heading, a list item) the line is.
_ENDS = tuple(".?!…:;,\"”’)'")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of one document: ``mentions`` in code points; ``unsure`` labels may be unmarked in it."""

    id: str
    group: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    unsure: frozenset[str] = frozenset()


def ordered(mentions: Iterable[Mention], text: str) -> tuple[Mention, ...]:
    """The distinct mentions in order.

    Raises:
        ValueError: one is empty or lies outside ``text``.
    """
    found = tuple(sorted(set(mentions)))
    if any(not 0 <= mention.start < mention.end <= len(text) for mention in found):
        raise ValueError("a mention lies outside its text")
    return found


def placed(marks: Iterable[Mention], places: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """``marks`` over half-open ranges of tokens, as mentions over code points."""
    for mark in marks:
        if not 0 <= mark.start < mark.end <= len(places):
            raise ValueError("a mark lies outside its tokens")
        yield Mention(places[mark.start][0], places[mark.end - 1][1], mark.label)


def sentence(
    name: str,
    group: str,
    tokens: Sequence[str],
    marks: Iterable[Mention],
    style: Style,
    unsure: frozenset[str] = frozenset(),
) -> Sentence:
    """A sentence from its tokens, with ``marks`` over half-open ranges of them."""
    text, places = joined(tokens, style)
    return Sentence(name, group, text, ordered(placed(marks, places), text), unsure)


def passages(
    corpus: str, sentences: Iterable[Sentence], asked: tuple[str, ...], words: int = PASSAGE_WORDS
) -> Iterator[Example]:
    """Neighboring sentences of one group, joined while they hold at most ``words`` words together.

    With ``words`` 0 every sentence stays alone. A sentence without text is dropped.
    """
    pending: list[Sentence] = []
    count = 0
    for one in sentences:
        size = len(one.text.split())
        if not size:
            continue
        if pending and (one.group != pending[0].group or count + size > words):
            yield merged(corpus, pending, asked)
            pending, count = [], 0
        pending.append(one)
        count += size
    if pending:
        yield merged(corpus, pending, asked)


def merged(corpus: str, sentences: Sequence[Sentence], asked: tuple[str, ...]) -> Example:
    """One example from consecutive sentences; what is unsure in one of them is not asked."""
    text = ""
    mentions: list[Mention] = []
    for one in sentences:
        if text:
            text += " " if text.endswith(_ENDS) else "\n"
        mentions += [Mention(m.start + len(text), m.end + len(text), m.label) for m in one.mentions]
        text += one.text
    unsure = frozenset().union(*(one.unsure for one in sentences))
    return Example(
        f"{corpus}:{sentences[0].id}",
        corpus,
        sentences[0].group,
        text,
        tuple(sorted(mentions)),
        tuple(label for label in asked if label not in unsure),
    )
