"""Persons in running text: titles, given names, initials, surnames, relations.

Each rule checks one position and returns the person found there, or None.
"""

from collections.abc import Iterator, Set

from ingest.detection.rules.hits import person
from ingest.detection.rules.organizations import FUNCTION_WORDS
from ingest.detection.rules.roles import ROLES, bracketed
from ingest.documents import Entity
from ingest.language.name_grammar import (
    eponym,
    initials_end,
    is_no_person,
    looks_like_name,
    name_end,
    plain_name,
    surname,
)
from ingest.language.tokens import ALL_CAPS, CAPITAL, INITIAL, LOWER, NUMBER, Tokens
from ingest.language.vocabulary import words

TITLE_GAPS = frozenset((" ", ". ", ".", "  ", " . ", "\u00a0", ".\u00a0", "\uf020"))


ORDINARY = ("not_names", "weekday_months", "common_words", "medications")
FORMAL = frozenset(("mr", "mrs", "ms", "miss", "mx", "dr"))
"""Titles after which an ordinary word with a capital may be a name: Mr. Buy, Dr Long."""
ADDRESSED = frozenset(
    ("speaker", "chairman", "chair", "secretary", "prime", "justice", "who", "apt", "suite", "unit")
    + ("then", "there", "now", "today", "yesterday", "tomorrow")
)
"""Whoever or whatever is no name after a title: Mr. Speaker, Elm Dr Apt 4, the Dr. Then."""


def _titled(tokens: Tokens, index: int) -> Entity | None:
    """Dr. Kumar, Mr Tevfik Quillan, Mr A., nurse Anna: the name without the title."""
    folded, titles = tokens.folded, words("titles")
    weak = folded[index] in words("titles_weak")
    start = index + 1
    while start < min(len(tokens), index + 4) and folded[start] in titles and tokens.gap(start) in TITLE_GAPS:
        weak = weak and folded[start] in words("titles_weak")
        start += 1
    if start >= len(tokens) or tokens.gap(start) not in TITLE_GAPS:
        return None
    if tokens.gap(start)[0] == "." and not _abbreviated(tokens, start - 1):
        return None
    shape = tokens.shapes[start]
    if shape == LOWER:
        return _titled_lower(tokens, start, weak)
    if shape == INITIAL:
        if weak and initials_end(tokens, start) == start:
            return None
        end = name_end(tokens, start)
    elif shape in (CAPITAL, ALL_CAPS) and (not weak or _after_weak(tokens, start)):
        if not surname(tokens, start) and folded[start] in words(*ORDINARY):
            return _titled_word(tokens, index, start)
        end = name_end(tokens, start)
    else:
        return None
    return person(tokens, start, end, 0.75 if weak else 0.95, "title")


def _titled_word(tokens: Tokens, index: int, start: int) -> Entity | None:
    """Mr. Buy: an ordinary word, which the context may overrule; not MR Brain, not Elm Dr. The house."""
    title, word = tokens.folded[index], tokens.folded[start]
    if title not in FORMAL or tokens.shapes[index] != CAPITAL or tokens.shapes[start] != CAPITAL:
        return None
    street = title == "dr" and tokens.gap(index) == " " and tokens.shapes[index - 1] in (CAPITAL, NUMBER)
    if street or word in FUNCTION_WORDS | ADDRESSED:
        return None
    if word in words("weekday_months", "medications", "jobs", "titles"):
        return None
    return person(tokens, start, name_end(tokens, start), 0.6, "title-word")


def _abbreviated(tokens: Tokens, index: int) -> bool:
    """Whether a period after the title belongs to it: Dr. and Capt., but neither MS. nor doctor."""
    length = tokens.ends[index] - tokens.starts[index]
    return tokens.shapes[index] == CAPITAL and length <= 4 or (tokens.caseless and length < 5)


def _after_weak(tokens: Tokens, start: int) -> bool:
    known = words("given_names", "given_names_ambiguous", "surnames")
    return plain_name(tokens, start) or (looks_like_name(tokens, start) and tokens.folded[start] in known)


def _titled_lower(tokens: Tokens, start: int, weak: bool) -> Entity | None:
    word, folded = tokens.folded[start], tokens.folded
    if word in PARTICLE_STARTS and looks_like_name(tokens, start + 1):
        return person(tokens, start, name_end(tokens, start + 1), 0.9, "title")
    known = word in words("given_names", "surnames")
    if not tokens.caseless or not known or (weak and word in words("common_words")):
        return None
    end = start + 1
    if end < len(tokens) and tokens.gap(end) == " " and folded[end] in words("surnames"):
        end += folded[end] not in words("common_words")
    return person(tokens, start, end, 0.8, "title")


PARTICLE_STARTS = frozenset(("van", "von", "de", "der", "den", "di", "da", "del", "la", "le", "al"))


def _given(tokens: Tokens, index: int) -> Entity | None:
    """Anna, Anna Keller, Jean-Luc B. van der Berg: begins with an unambiguous given name."""
    if tokens.folded[index] not in words("given_names"):
        return None
    if tokens.shapes[index] == ALL_CAPS and not _shouted(tokens, index):
        return None
    end = name_end(tokens, index)
    return person(tokens, index, end, 0.9 if end > index + 1 else 0.7, "given-name")


def _shouted(tokens: Tokens, index: int) -> bool:
    """Whether a neighboring word is in capitals too, so that this word is no acronym."""
    gaps = (" ", ", ")
    before = tokens.gap(index) in gaps and tokens.shapes[index - 1] == ALL_CAPS
    after = tokens.gap(index + 1) in gaps and tokens.shapes[index + 1] == ALL_CAPS
    return (before or after) and tokens.ends[index] - tokens.starts[index] > 3


def _ambiguous_given(tokens: Tokens, index: int) -> Entity | None:
    """Will Smith, Grace O. Park: an ambiguous given name needs a surname after it."""
    after = index + 1
    if after >= len(tokens) or tokens.gap(after) not in (" ", "-", "\u00a0"):
        return None
    if tokens.folded[index] not in words("given_names_ambiguous", "surnames"):
        return None
    if tokens.shapes[after] == INITIAL:
        after = initials_end(tokens, after)
    if not (plain_name(tokens, after) or surname(tokens, after)):
        return None
    if _no_pair(tokens, index, after) or not _pair(tokens, index, after):
        return None
    return person(tokens, index, name_end(tokens, index), 0.7, "ambiguous-given-name")


def _no_pair(tokens: Tokens, index: int, after: int) -> bool:
    """Whether either word rules out a name: Judge Advocate, London Borough."""
    first, last = tokens.folded[index], tokens.folded[after]
    if tokens.shapes[after] == ALL_CAPS != tokens.shapes[index]:
        return True
    if first in words("titles", "not_names"):
        return True
    if surname(tokens, after):
        return False
    return last in words("titles", "jobs", "place_words") or first in words("cities", "countries", "states")


def _pair(tokens: Tokens, index: int, after: int) -> bool:
    """Whether one of the two words is a clear name, so that the ambiguous other one counts too."""
    first, last = tokens.folded[index], tokens.folded[after]
    given = first in words("given_names_ambiguous")
    if given and surname(tokens, after) and _acts(tokens, after + 1):
        return True
    opens = first in words("common_words") and tokens.opens_sentence(index)
    if last in words("common_words") and (opens or not given):
        return False
    if opens and not surname(tokens, after):
        return False
    return given or last in words("given_names", "surnames")


def _acts(tokens: Tokens, index: int) -> bool:
    """Whether the word describes a person or an action."""
    return index < len(tokens) and tokens.gap(index) == " " and tokens.folded[index] in DEEDS


DEEDS = frozenset(
    ("is", "was", "has", "had", "presents", "presented", "returns", "returned", "reports", "reported")
    + ("says", "said", "who", "denies", "states", "stated", "comes", "came", "wrote", "called")
)


def _initialed(tokens: Tokens, index: int) -> Entity | None:
    """J. K. Ostrander, E. Torvik, J.R.R. van Tolkien."""
    after = initials_end(tokens, index)
    if after == index or after >= len(tokens) or tokens.gap(after) not in (". ", ".", ".\u00a0"):
        return None
    if index > 0 and tokens.gap(index) in (" ", "-") and tokens.folded[index - 1] in LETTERED:
        return None
    heading = after == index + 1 and tokens.gap(index).endswith("\n")
    if (heading or tokens.shapes[after] == ALL_CAPS) and tokens.folded[after] not in words(
        "surnames", "given_names"
    ):
        return None
    if looks_like_name(tokens, after) and (
        plain_name(tokens, after) or tokens.folded[after] in words("surnames")
    ):
        return person(tokens, index, name_end(tokens, after), 0.85, "initials")
    if tokens.folded[after] in PARTICLE_STARTS:
        end = name_end(tokens, after)
        if end > after + 1:
            return person(tokens, index, end, 0.85, "initials")
    return None


LETTERED = frozenset(
    ("vitamin", "hepatitis", "type", "appendix", "annex", "exhibit", "figure", "table", "class")
    + ("influenza", "group", "plan", "section", "part", "option", "grade", "schedule", "article")
)


def _lettered(tokens: Tokens, index: int) -> Entity | None:
    """J.G., the lawyer: two initials that stand for a whole name."""
    end = initials_end(tokens, index)
    if end != index + 2 or tokens.gap(index + 1) != "." or end >= len(tokens):
        return None
    if tokens.shapes[end] != LOWER or not tokens.gap(end).startswith((". ", ".,")):
        return None
    return person(tokens, index, end, 0.45, "letter")


def _surnamed(tokens: Tokens, index: int) -> Entity | None:
    """Xiuhcoatl Martinez: an unknown word before a frequent surname."""
    if not plain_name(tokens, index) or tokens.folded[index] in words("eponyms"):
        return None
    after = index + 1
    if after < len(tokens) and tokens.shapes[after] == INITIAL and tokens.gap(after) == " ":
        after = initials_end(tokens, after)
        gaps: tuple[str, ...] = (". ",)
    else:
        gaps = (" ", "\u00a0")
    if after >= len(tokens) or not surname(tokens, after) or tokens.gap(after) not in gaps:
        return None
    if tokens.folded[after] in words("common_words", "eponyms"):
        return None
    return person(tokens, index, name_end(tokens, index), 0.6, "surname")


def _last_first(tokens: Tokens, index: int) -> Entity | None:
    """Keller, Anna B.; not of the list Tobias Keller, Anna Lind."""
    after = index + 1
    if after >= len(tokens) or tokens.gap(after) != ", " or not surname(tokens, index):
        return None
    word = tokens.folded[after]
    if tokens.shapes[after] not in (CAPITAL, ALL_CAPS) or word not in words("given_names"):
        return None
    if tokens.folded[index] in words("common_words") and tokens.opens_sentence(index):
        return None
    if tokens.gap(index) == " " and tokens.folded[index - 1] in words("given_names"):
        return None
    end = after + 1
    while end < len(tokens) and tokens.shapes[end] == INITIAL and tokens.gap(end) == " ":
        end += 1
    return person(tokens, index, end, 0.8, "last-first")


def _candidates(tokens: Tokens, index: int) -> Iterator[Entity | None]:
    word, shape = tokens.folded[index], tokens.shapes[index]
    if word in words("titles"):
        yield _titled(tokens, index)
    if word in ROLES or word in words("jobs", "jobs_weak"):
        yield bracketed(tokens, index)
    if shape == INITIAL:
        yield _initialed(tokens, index)
        yield _lettered(tokens, index)
    elif shape in (CAPITAL, ALL_CAPS):
        yield _given(tokens, index)
        yield _ambiguous_given(tokens, index)
        yield _surnamed(tokens, index)
        yield _last_first(tokens, index)


DOUBTED = frozenset(
    ("rule:initials", "rule:surname", "rule:ambiguous-given-name", "rule:bracket", "rule:title-word")
)
"""Rules without a name list, which may mistake an ordinary word for a name."""


def ordinary_here(tokens: Tokens, asked: Set[str]) -> Set[str]:
    """The words in no name list that the text also writes in lower case.

    Addresses and file names do not count, as they are always in lower case: t.quorin@example.org, quorin.pdf.
    """
    doubted = asked - words("given_names", "given_names_ambiguous", "surnames")
    if tokens.caseless or not doubted:
        return frozenset()
    return {
        word
        for index, word in enumerate(tokens.folded)
        if word in doubted
        and tokens.shapes[index] == LOWER
        and len(word) > 3
        and not _within_address(tokens, index)
    }


def _within_address(tokens: Tokens, index: int) -> bool:
    before, after = tokens.gap(index), tokens.gap(index + 1)
    inside = before in (".", "/", "\\") or after in (".", "/", "\\")
    return inside or before.endswith(("@", "_")) or after.startswith(("@", "_"))


SURE = frozenset(("rule:title", "rule:last-first"))


def running_text(tokens: Tokens) -> list[Entity]:
    """The persons recognized by a title, a known name or the context; may overlap."""
    first_at = {start: index for index, start in enumerate(tokens.starts)}
    end_at = {end: index + 1 for index, end in enumerate(tokens.ends)}
    found: list[Entity] = []
    doubted: list[tuple[Entity, list[str]]] = []
    for entity in (one for index in range(len(tokens)) for one in _candidates(tokens, index) if one):
        first, end = first_at[entity.span.start], end_at[entity.span.end]
        if entity.source != "rule:title" and is_no_person(tokens, first, end):
            continue
        if entity.source in DOUBTED:
            doubted.append((entity, tokens.folded[first:end]))
        if entity.source in SURE or not eponym(tokens, first, end):
            found.append(entity)
    ordinary = ordinary_here(tokens, {word for _, words_of in doubted for word in words_of})
    refused = {id(entity) for entity, words_of in doubted if not ordinary.isdisjoint(words_of)}
    return [entity for entity in found if id(entity) not in refused]
