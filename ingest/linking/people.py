"""Which ways of naming somebody name the same person of a document."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ingest.linking.names import Naming, proper
from ingest.rules.names import SUFFIXES

MOST_WORDS = 8
"""A longer mention is no name, and nothing is taken for a form of it."""


@dataclass(frozen=True, slots=True)
class Form:
    """The words of a name, and "m" or "f" where its title tells. Private."""

    words: tuple[str, ...] = field(repr=False)
    title: str = field(default="", repr=False)


def persons(namings: Collection[Naming]) -> dict[Naming, Form]:
    """For each way of naming somebody the fullest form of the same person's name.

    A shorter form joins the one fuller name that it fits; one that fits two stays by itself. A surname
    alone is read with its title, since Mr Keller and Mrs Keller are two. Fuller are names with more words
    that are written out, so that "A. B. Keller" is a form of "Anna Keller" and not the other way round.
    """
    forms = _forms(namings)
    there = set(forms.values())
    # Capitals are initials only where the text never writes the word in another way.
    small = {naming.words for naming in namings if not naming.capitals}
    index, titles, wholes = _Index(), dict[Form, str](), dict[Form, Form]()
    for form in sorted(there, key=_fullness):
        whole = form
        for reading in _readings(form.words, capitals=form.words not in small):
            fitting = (each for each in index.fitting(reading) if _allows(form, titles[each], there))
            if found := list(islice(fitting, 2)):
                whole = found[0] if len(found) == 1 else form
                break
        wholes[form] = whole
        if whole is form:
            index.add(form)
        titles[whole] = titles.get(whole) or form.title
    return {naming: wholes[form] for naming, form in forms.items()}


def _forms(namings: Iterable[Naming]) -> dict[Naming, Form]:
    """Namings as forms: a longer name is one form whatever its titles, which count where they agree."""
    told: dict[tuple[str, ...], set[str]] = {}
    for naming in namings:
        told.setdefault(naming.words, set()).add(naming.title)
    agreed = {words: "".join(titles) for words, titles in told.items() if len(titles - {""}) == 1}
    return {
        naming: Form(naming.words, naming.title if _bare(naming.words) else agreed.get(naming.words, ""))
        for naming in namings
    }


def _bare(words: tuple[str, ...]) -> bool:
    """Whether a surname stands alone, or with nothing but initials and particles."""
    return len(proper(words)) < 2


def _fullness(form: Form) -> tuple[int, int, int, tuple[str, ...], str]:
    written = sum(len(word) > 1 and word not in SUFFIXES for word in form.words)
    # "m" and "f" come before "": a bare surname joins a titled one and not the other way round.
    title = form.title or "z"
    return -written, -len(form.words), -sum(map(len, form.words)), form.words, title


def _allows(form: Form, title: str, there: Collection[Form]) -> bool:
    """Whether titles leave it open that a form names the person whose title is given.

    Where the text has Mr Keller and Mrs Keller, neither can be taken for an Anna Keller without a title.
    """
    if not form.title or title:
        return not form.title or form.title == title
    return not _bare(form.words) or Form(form.words, "f" if form.title == "m" else "m") not in there


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the words of a form may mean; ``whole`` where it must be all of a name. Private."""

    words: tuple[str, ...] = field(repr=False)
    whole: bool = False


def _readings(words: tuple[str, ...], *, capitals: bool) -> Iterator[_Reading]:
    """The readings of a form, the likeliest first; the first that fits anybody holds."""
    yield _Reading(words)
    if len(words) == 1 and capitals and 2 <= len(words[0]) <= 3:
        yield _Reading(tuple(words[0]))  # AK
    if len(words) == 2 and len(words[0]) > 1 == len(words[1]):
        yield _Reading(words[::-1])  # Keller A.
    if len(words) > 2 and len(words[-1]) > 1:
        middle = tuple(word for word in words[1:-1] if len(word) > 1)
        if len(middle) < len(words) - 2:
            # "A. B. Keller" can be an Anna Keller, but not an Anna C. Keller
            yield _Reading((words[0], *middle, words[-1]), whole=True)


class _Index:
    """Names by each of their words and by each ordered pair of words or initials.

    Forms look in the shortest list that can hold what they fit: trying all names with a common first name
    or surname would take quadratic time.
    """

    def __init__(self) -> None:
        self._by_word: dict[str, list[Form]] = {}
        self._by_pair: dict[tuple[str, str], list[Form]] = {}

    def add(self, form: Form) -> None:
        """Let other forms be found to fit this name."""
        words = form.words
        if len(words) > MOST_WORDS:
            return
        for word in set(words):
            self._by_word.setdefault(word, []).append(form)
        later = ((one, other) for n, one in enumerate(words) for other in words[n + 1 :])
        pairs = {(a, b) for one, other in later for a in (one, one[0]) for b in (other, other[0])}
        for pair in pairs:
            self._by_pair.setdefault(pair, []).append(form)

    def fitting(self, reading: _Reading) -> Iterator[Form]:
        """The names that a reading fits."""
        words = reading.words
        if len(words) == 1:
            return (form for form in self._by_word.get(words[0], ()) if _called(words[0], form.words))
        shortest = min((self._by_pair.get(pair, []) for pair in pairwise(words)), key=len)
        lengths = range(len(words), len(words) + 1 if reading.whole else MOST_WORDS + 1)
        return (form for form in shortest if len(form.words) in lengths and _fits(words, form.words))


def _called(word: str, name: tuple[str, ...]) -> bool:
    """Whether a person is called by a word of the name; by a letter only where it is all of the surname.

    "K." can be Josef K., but hardly a K. Braun and not the J. K. of another case.
    """
    return len(word) > 1 or name == (word,) or (name[-1] == word and any(len(each) > 1 for each in name))


def _fits(reading: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Whether each word is, in order, a word of the name or its initial.

    A leading initial is that of the first given name. Initials alone run from it to the surname's.
    """
    if len(reading[0]) == 1 and name[0][0] != reading[0]:
        return False
    if any(len(word) > 1 for word in reading):
        return _within(reading, name)
    core = [word for word in name if word not in SUFFIXES]
    return len(core) > 1 and core[-1][0] == reading[-1] and _within(reading[:-1], core[:-1])


def _within(reading: Iterable[str], name: Iterable[str]) -> bool:
    rest = iter(name)
    return all(any(word == part or word == part[0] for part in rest) for word in reading)
