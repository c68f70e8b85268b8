"""Link the forms of name that refer to the same person of a document."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ingest.language.name_grammar import SUFFIXES
from ingest.language.naming import Naming, proper

MOST_WORDS = 8
"""A longer mention is no name and has no shorter forms."""


@dataclass(frozen=True, slots=True)
class Form:
    """The words of a name, and the gender of its title: "m", "f" or "". Private."""

    words: tuple[str, ...] = field(repr=False)
    title: str = field(default="", repr=False)


def persons(namings: Collection[Naming]) -> dict[Naming, Form]:
    """For each form of name the fullest form of the same person's name.

    A shorter form joins the one fuller name that it fits; one that fits two stays separate. A surname alone
    is read with its title, since Mr Keller and Mrs Keller are two people. Names with more written-out words
    are fuller: "A. B. Keller" is a form of "Anna Keller", not the other way round.
    """
    forms = _forms(namings)
    there = set(forms.values())
    # Capitals are initials only if the text never writes the word in another case.
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
    """Namings as forms. A longer name is one form with any title; its title counts if all agree."""
    titles_of: dict[tuple[str, ...], set[str]] = {}
    for naming in namings:
        titles_of.setdefault(naming.words, set()).add(naming.title)
    agreed = {words: "".join(titles) for words, titles in titles_of.items() if len(titles - {""}) == 1}
    return {
        naming: Form(naming.words, naming.title if _bare(naming.words) else agreed.get(naming.words, ""))
        for naming in namings
    }


def _bare(words: tuple[str, ...]) -> bool:
    """Whether a surname is alone, or has only initials and particles with it."""
    return len(proper(words)) < 2


def _fullness(form: Form) -> tuple[int, int, int, tuple[str, ...], str]:
    written = sum(len(word) > 1 and word not in SUFFIXES for word in form.words)
    # "m" and "f" come before "": a bare surname joins a titled one and not the other way round.
    title = form.title or "z"
    return -written, -len(form.words), -sum(map(len, form.words)), form.words, title


def _allows(form: Form, title: str, there: Collection[Form]) -> bool:
    """Whether the form's title is compatible with ``title``.

    If the text has Mr Keller and Mrs Keller, neither can be linked to an Anna Keller without a title.
    """
    if not form.title or title:
        return not form.title or form.title == title
    return not _bare(form.words) or Form(form.words, "f" if form.title == "m" else "m") not in there


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reading of the words of a form; ``whole`` if it must match an entire name. Private."""

    words: tuple[str, ...] = field(repr=False)
    whole: bool = False


def _readings(words: tuple[str, ...], *, capitals: bool) -> Iterator[_Reading]:
    """The readings of a form, likeliest first; the first with a match counts."""
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
    """Names indexed by each word and by each ordered pair of words or initials.

    A lookup scans the shortest candidate list: trying all names with a common first name or surname would
    take quadratic time.
    """

    def __init__(self) -> None:
        self._by_word: dict[str, list[Form]] = {}
        self._by_pair: dict[tuple[str, str], list[Form]] = {}

    def add(self, form: Form) -> None:
        """Index a name, so that ``fitting`` can find it."""
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
    """Whether one word can refer to the name; a letter only if it is the whole surname.

    "K." can be Josef K., but not K. Braun or J. K.
    """
    return len(word) > 1 or name == (word,) or (name[-1] == word and any(len(each) > 1 for each in name))


def _fits(reading: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Whether each word is, in order, a word of the name or its initial.

    A leading initial must be that of the first given name. Initials alone must end with the surname's.
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
