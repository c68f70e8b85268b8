"""Token-level corpora: their lines as sentences of running text, and sentences joined to passages."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from models.corpora.detokenize import PLAIN, SPLIT, Style, joined
from models.corpora.examples import Example, Mention
from models.corpora.labels import PLACE, block_of, label_map
from models.corpora.names import is_date, is_long, is_pronoun, name_in, person_in, without_possessive
from models.corpora.records import Row

PASSAGE_WORDS = 120

# These end a sentence; any other line (a heading, a list item) ends as a line.
_ENDS = tuple(".?!…:;,\"”’)'")
GUM_STYLE = Style(hyphens=True, dashes=True)

# Role words by which a contract names its parties.
PARTIES = frozenset(
    "bank borrower borrowers lender lenders company agent guarantor guarantors party parties buyer seller "
    "purchaser issuer holder trustee landlord tenant".split()
)
_PARTY_WORDS = PARTIES | frozenset(("the", "remarketing", "paying", "administrative", "collateral"))

# A line that names one of these does hold a place, though its corpus marks none.
_GEOGRAPHY = re.compile(
    r"\b(?:China|Japan|Taiwan|Korea|India|Italy|France|Spain|Germany|Finland|Sweden|Denmark|Norway|Iceland|"
    r"Netherlands|Belgium|Switzerland|Austria|Portugal|Greece|Poland|Hungary|Russia|Israel|Turkey|Iran|Iraq|"
    r"Egypt|Tunisia|Morocco|Algeria|Lebanon|Saudi|Pakistan|Thailand|Singapore|Brazil|Argentina|Chile|Cuba|"
    r"Mexico|Canada|Quebec|Ontario|Newfoundland|Australia|Zealand|States|USA?|U ?\. ?S|UK|Kingdom|England|"
    r"Scotland|Wales|Britain|Ireland|Europe|Africa|Americas?|Asia|Hong|London|Paris|Rome|Tokyo|Boston|"
    r"York|California|Texas|Utah|Ohio|Pennsylvania|Massachusetts|Sardinia|Sicily|Puerto)\b"
)
_HANDLE = re.compile(r"@\w+")
_HANDLE_NAME = re.compile(r"\w{2,}")
# "meet me @ the gym": no account.
_NO_HANDLES = frozenset("the my a an work home school this that his her our your".split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of one document: ``mentions`` in code points; ``unsure`` labels may be unmarked in it."""

    id: str
    group: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    unsure: frozenset[str] = frozenset()


def ordered(mentions: Iterable[Mention], text: str) -> tuple[Mention, ...]:
    """The distinct mentions in order. Raises ValueError where one is empty or lies outside ``text``."""
    found = tuple(sorted(set(mentions)))
    if any(not 0 <= mention.start < mention.end <= len(text) for mention in found):
        raise ValueError("a mention lies outside its text")
    return found


def _sentence(
    corpus: str,
    row: Row,
    group: str,
    marks: Iterable[Mention],
    made: tuple[str, Sequence[tuple[int, int]]],
    unsure: frozenset[str] = frozenset(),
) -> Sentence:
    """A line with ``marks`` over half-open ranges of tokens, whose text and places are ``made``."""
    (text, places), table = made, label_map(corpus)
    mentions: list[Mention] = []
    for mark in marks:
        if not 0 <= mark.start < mark.end <= len(places):
            raise ValueError("a mark lies outside its tokens")
        start, end = places[mark.start][0], places[mark.end - 1][1]
        mentions += [Mention(start, end, ours) for ours in table.get(mark.label, ())]
    return Sentence(row["id"], group, text, ordered(mentions, text), unsure)


def passages(
    corpus: str, sentences: Iterable[Sentence], asked: tuple[str, ...], words: int = PASSAGE_WORDS
) -> Iterator[Example]:
    """Neighbors of one group joined up to ``words`` words, with 0 each alone; without empty ones."""
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
    """One example from consecutive sentences; labels unsure in any of them are not in ``asked``."""
    text = ""
    mentions: list[Mention] = []
    for one in sentences:
        if text:
            text += " " if text.endswith(_ENDS) else "\n"
        mentions += [Mention(m.start + len(text), m.end + len(text), m.label) for m in one.mentions]
        text += one.text
    unsure = frozenset().union(*(one.unsure for one in sentences))
    first, sure = sentences[0], tuple(label for label in asked if label not in unsure)
    return Example(f"{corpus}:{first.id}", corpus, first.group, text, tuple(sorted(mentions)), sure)


def marks_of(row: Row, key: str = "ner") -> list[Mention]:
    """The marks of a line as half-open ranges of tokens, under the corpus's own labels."""
    return [Mention(int(first), int(last) + 1, str(label)) for first, last, label in row[key]]


def tokens_of(row: Row) -> list[str]:
    """The tokens of a line."""
    return [str(token) for token in row["tokens"]]


def plain(corpus: str, row: Row, group: str, style: Style = PLAIN) -> Sentence:
    """A line whose labels are mapped by the table alone."""
    return _sentence(corpus, row, group, marks_of(row), joined(tokens_of(row), style))


def biomedical(corpus: str, row: Row, number: int) -> Sentence:
    """A line of an abstract; places are not asked where one is named."""
    tokens = tokens_of(row)
    unsure = frozenset((PLACE,) if _GEOGRAPHY.search(" ".join(tokens)) else ())
    group = block_of(_document(row["id"]), number)
    return _sentence(corpus, row, group, marks_of(row), joined(tokens, SPLIT), unsure)


def gum(row: Row) -> Sentence:
    """A line of GUM: every mention, and the names in them."""
    tokens = tokens_of(row)
    named = set(marks_of(row, "named"))
    marks: list[Mention] = []
    for mark in marks_of(row):
        inside = tokens[mark.start : mark.end]
        marks += [_bare(mark, inside), *_names(mark, inside, mark in named)]
    unsure = _long_dates(marks_of(row), tokens, "time")
    return _sentence("gum", row, _document(row["id"]), marks, joined(tokens, GUM_STYLE), unsure)


def re3d(row: Row) -> Sentence:
    """A line of re3d: mentions without the pronouns among them, and the names in them."""
    tokens = tokens_of(row)
    marks: list[Mention] = []
    for mark in marks_of(row):
        inside = tokens[mark.start : mark.end]
        if not is_pronoun(inside) and not (mark.label == "Money" and not is_date(inside)):
            marks += [_bare(mark, inside), *_names(mark, inside, True)]
    unsure = _long_dates(marks_of(row), tokens, "Temporal")
    return _sentence("re3d", row, _document(row["id"]), marks, joined(tokens, SPLIT), unsure)


def sec(row: Row, number: int) -> Sentence:
    """A line of a contract: role words are parties and no names."""
    tokens = tokens_of(row)
    marks: list[Mention] = []
    for mark in marks_of(row):
        words = {word.lower() for word in tokens[mark.start : mark.end]}
        is_party = words <= _PARTY_WORDS and not words.isdisjoint(PARTIES)
        marks.append(replace(mark, label="PARTY") if is_party else mark)
    group = block_of(_document(row["id"]), number)
    return _sentence("sec_filings", row, group, marks, joined(tokens, SPLIT))


def tweet(corpus: str, row: Row, style: Style) -> Sentence:
    """A tweet: what follows an @ is an account, whatever the corpus calls it."""
    tokens = tokens_of(row)
    gold = marks_of(row)
    handles = list(_handles(tokens, gold))
    taken = {number for handle in handles for number in range(handle.start, handle.end)}
    marks = [mark for mark in gold if taken.isdisjoint(range(mark.start, mark.end))]
    return _sentence(corpus, row, row["id"], [*marks, *handles], joined(tokens, style))


def uner(row: Row) -> Sentence:
    """A line of the Web Treebank, which carries its text."""
    text = str(row["text"])
    made = (text, aligned(text, tokens_of(row)))
    return _sentence("uner_ewt", row, _document(row["id"]), marks_of(row), made)


def aligned(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """The half-open places of ``tokens`` in ``text``; ValueError for other text between them."""
    places: list[tuple[int, int]] = []
    end = 0
    for token in tokens:
        start = text.index(token, end)
        if text[end:start].strip():
            raise ValueError("the tokens are not those of the text")
        end = start + len(token)
        places.append((start, end))
    return places


def _document(name: Any) -> str:
    """The prefix before the sentence number: a document, or a part of a corpus."""
    return str(name).rsplit("-", 1)[0]


def _bare(mark: Mention, inside: Sequence[str]) -> Mention:
    """Without the possessive ending, which other corpora leave out."""
    return Mention(mark.start, mark.start + max(1, without_possessive(inside)), mark.label)


def _names(mark: Mention, inside: Sequence[str], named: bool) -> Iterator[Mention]:
    """The name in a mention, as a mark of its own; only of people where the mention is not ``named``."""
    kind = mark.label.lower()
    if kind in ("time", "temporal"):
        if is_date(inside) and not is_long(inside):
            yield Mention(mark.start, mark.end, f"named {mark.label}")
        return
    found = person_in(inside, alone=named) if kind == "person" else name_in(inside) if named else None
    if found is not None:
        yield Mention(mark.start + found[0], mark.start + found[1], f"named {mark.label}")


def _long_dates(marks: Sequence[Mention], tokens: Sequence[str], label: str) -> frozenset[str]:
    """Dates are not asked where one hides in a long mention."""
    times = (tokens[mark.start : mark.end] for mark in marks if mark.label == label)
    return frozenset(("date",) if any(is_long(time) and is_date(time) for time in times) else ())


def _handles(tokens: Sequence[str], gold: Sequence[Mention]) -> Iterator[Mention]:
    longer = {mark.start for mark in gold if mark.end - mark.start > 1 or mark.label in ("LOC", "location")}
    for number, token in enumerate(tokens):
        if _HANDLE.fullmatch(token):
            yield Mention(number, number + 1, "HANDLE")
        elif token == "@" and number + 1 < len(tokens) and number + 1 not in longer:
            after = tokens[number + 1]
            if _HANDLE_NAME.fullmatch(after) and after.lower() not in _NO_HANDLES:
                yield Mention(number, number + 2, "HANDLE")
