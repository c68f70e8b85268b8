"""Which mentions of persons, or of organizations, name the same one.

Of persons the reader decides, within what names themselves settle. It has learned of too few organizations
with several names: of these, and without a reader, a short form joins the one fuller name that it fits.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ingest.documents import Span
from ingest.language.name_grammar import SUFFIXES
from ingest.language.naming import folded_word, naming_of, proper, words_of

MOST_WORDS = 8
"""A longer mention is no name and has no shorter forms."""
_INITIALS = re.compile(r"[A-Z](?:\.?[ -]?[A-Z]){1,3}\.?")
_DOTTED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,10}")
_BEHIND = re.compile(
    r"\s{0,2}[(\[]\s?(?:(?:the|or|hereinafter|hereafter)\s)?[\"“„'‘]?([^()\[\]\n\"“”„]{2,80}?)[\"”“'’]?\s?[)\],;]"
)
_IN_ITSELF = re.compile(r"(?<=\S)\s*\(([^()]*)\)$")
_LEGAL = {
    **{each: each for each in "ltd inc llc llp lp plc co corp pty gmbh ag kg kgaa ug ohg se ev sa".split()},
    **{each: each for each in "sas sarl srl bv nv oy oyj ab asa aps sro kft".split()},
    **{"limited": "ltd", "incorporated": "inc", "company": "co", "corporation": "corp"},
}


@dataclass(frozen=True, slots=True)
class Form:
    """The folded words of a name, and the gender of its title: "m", "f" or "". Private.

    ``whole`` has a given name and a surname; ``ranked`` a title that says no gender, such as Dr.
    """

    words: tuple[str, ...] = field(repr=False)
    title: str = field(default="", repr=False)
    whole: bool = False
    ranked: bool = field(default=False, compare=False)


def person_at(text: str, span: Span) -> Form:
    """The form of name at a mention of a person."""
    naming = naming_of(text, span)
    return Form(naming.words, naming.title, len(proper(naming.words)) > 1, naming.ranked)


def persons_at(text: str, spans: Sequence[Span]) -> list[Form]:
    """The forms of name at mentions of persons; initials and accounts of one whole name have that form."""
    forms = [person_at(text, span) for span in spans]
    by_ends = defaultdict[tuple[str, str], set[Form]](set)
    by_account = defaultdict[str, set[Form]](set)
    for form in set(forms):
        if form.whole:
            by_ends[form.words[0][0], form.words[-1][0]].add(replace(form, title=""))
            for account in {*spellings(form.words)} - {*form.words}:
                by_account[account].add(replace(form, title=""))

    def spelled(form: Form, span: Span) -> Form:
        named = by_account.get(form.words[0], ()) if text[span.start : span.end].islower() else ()
        if len(form.words) == len(named) == 1:
            return next(iter(named))
        letters = _INITIALS.fullmatch(text[span.start : span.end])
        short = tuple(filter(str.isalpha, letters[0].casefold())) if letters else ()
        there = by_ends.get((short[0], short[-1]), ()) if short else ()
        meant = [each for each in islice(there, MOST_WORDS) if _fits(short, each.words)]
        return meant[0] if len(meant) == len(there) == 1 else form

    return [spelled(form, span) for form, span in zip(forms, spans, strict=True)]


def spellings(words: tuple[str, ...]) -> Collection[str]:
    """annakeller, kelleranna, akeller, kellera, annak and the like; for a single word that word."""
    name = [word for word in words if word not in SUFFIXES]
    if not name or len(name) > MOST_WORDS:
        return ()
    first, last, given, family = name[0], name[-1], "".join(name[:-1]), "".join(name[1:])
    initials = "".join(word[0] for word in name[:-1])
    found = {first, last, family, "".join(name), first + last, last + first, last + given, family + first}
    found |= {first[0] + last, last + first[0], first[0] + family, family + first[0], first + last[0]}
    found |= {initials + last, last + initials}
    # Two letters fit too many people to identify one.
    return [spelled for spelled in found if len(spelled) > 2]


def organizations_at(text: str, spans: Sequence[Span]) -> list[Form]:
    """The forms of name at mentions of organizations.

    That of a short form in brackets behind one name is that name.
    """
    said = [text[span.start : span.end] for span in spans]
    forms = [_organization(without_bracket(each)) for each in said]
    meant: dict[Form, set[Form]] = {}
    for span, name, form in zip(spans, said, forms, strict=True):
        behind = _IN_ITSELF.search(name) or _BEHIND.match(text, span.end)
        other, name = behind[1] if behind else "", without_bracket(name)
        if _shortens(other, name):
            meant.setdefault(_organization(other), set()).add(form)
        elif _shortens(name, other):
            meant.setdefault(form, set()).add(_organization(other))
    return [next(iter(meant[each])) if len(meant.get(each, ())) == 1 else each for each in forms]


def without_bracket(said: str) -> str:
    """A name without another one in brackets behind it: "World Health Organization (WHO)"."""
    return _IN_ITSELF.sub("", said)


def _shortens(short: str, long: str) -> bool:
    """Whether one is short for the other: WHO for World Health Organization, Keller for Keller & Sons."""
    (word, *more), name = organization_of(short)[0], " ".join(sum(organization_of(long), ()))
    if more or len(word) < 2 or " " not in name or word[0] != name[0]:
        return False
    rest = iter(name)
    return word == name.split()[0] or (
        sum(map(str.isupper, short)) > 1 and all(each in rest for each in word)
    )


def _organization(said: str) -> Form:
    return Form(sum(organization_of(said), ()))


def organization_of(said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folded words of an organization's name, and its legal form; never both empty."""
    undotted = _DOTTED.sub(lambda dotted: dotted[0].replace(".", ""), re.sub("[&+]", " and ", said))
    written = [folded_word(word) for word in words_of(undotted)]
    if len(written) > 1 and written[0] == "the":
        del written[0]
    end = len(written)
    while end > 0 and (written[end - 1] in _LEGAL or (end < len(written) and written[end - 1] == "and")):
        end -= 1
    if end == 0:
        return tuple(written) or (said.casefold(),), ()
    return tuple(written[:end]), tuple(_LEGAL[word] for word in written[end:] if word in _LEGAL)


def by_reading(
    forms: Sequence[Form], in_fields: Collection[int], likely: Sequence[Sequence[int]]
) -> list[int]:
    """For each mention the number of the first that names the same.

    ``likely`` are for each the earlier mentions that are likely the same, likeliest first; where none is,
    words decide. A whole name is always the same, and so is a title with its name; titles of two genders
    never are, nor two names ``in_fields``: the surname of a patient is often that of the next of kin. Two
    whole names with nothing in common are two people.
    """
    firsts, titles, of_fields = list[int](), dict[int, str](), dict[int, tuple[str, ...]]()
    ranked, bearers = dict[int, bool](), defaultdict[str, set[int]](set)
    settled, by_form, wholes = dict[Form, int](), dict[Form, int](), defaultdict[int, list[Form]](list)
    for number, (form, fuller) in enumerate(zip(forms, by_words(forms, in_fields), strict=True)):
        own = replace(form, title="") if form.whole else form
        there = [firsts[other] for other in likely[number]] + [by_form.get(fuller, number)]
        fitting = (
            each
            for each in there
            if not {titles.get(each, ""), form.title} >= {"m", "f"}
            and not (form.whole and wholes[each] and _apart(form, wholes[each][:MOST_WORDS]))
            and (number not in in_fields or of_fields.get(each, form.words) == form.words)
        )
        other = _other_bearer(form, bearers[form.words[-1]], ranked) if number not in in_fields else None
        if other is not None and {titles.get(other, ""), form.title} >= {"m", "f"}:
            other = None
        first = settled[own] if own in settled else next(fitting, number) if other is None else other
        firsts.append(first)
        titles[first] = titles.get(first) or form.title
        ranked[first] = ranked.get(first, False) or form.ranked
        by_form.setdefault(fuller, first)
        if form.whole:
            bearers[form.words[-1]].add(first)
            if form not in wholes[first][-MOST_WORDS:]:
                wholes[first].append(form)
        if form.whole or form.title:
            settled.setdefault(own, first)
        if number in in_fields:
            of_fields.setdefault(first, form.words)
    return firsts


def _other_bearer(form: Form, bearers: Collection[int], ranked: Mapping[int, bool]) -> int | None:
    """Whom "Mr Keller" means where a Dr Keller and one other Keller were named; None in all other cases."""
    if form.whole or not form.title or form.ranked or not 1 < len(bearers) <= MOST_WORDS:
        return None
    plain = [each for each in bearers if not ranked[each]]
    return plain[0] if len(plain) == 1 else None


def _apart(form: Form, others: Sequence[Form]) -> bool:
    """Whether a whole name shares no word with any of some others, or only the surname, nor an initial."""
    return all(_shares_nothing(form.words, other.words) or _of_one_family(form, other) for other in others)


def _shares_nothing(one: Sequence[str], other: Sequence[str]) -> bool:
    initials = {word[0] for word in one}
    return set(one).isdisjoint((*other, *(word[0] for word in other))) and initials.isdisjoint(other)


def _of_one_family(form: Form, other: Form) -> bool:
    """Whether two given names in front of one surname are not the same name in two forms."""
    first, second = form.words[0], other.words[0]
    given = min(len(first), len(second)) > 1 and first[:2] != second[:2]
    return given and first not in other.words and second not in form.words


def by_words(forms: Sequence[Form], in_fields: Collection[int] = ()) -> list[Form]:
    """For each mention the fullest form of the same name: the only one that it fits, or its own."""
    fixed, there = {forms[number] for number in in_fields}, set(forms)
    by_word, fullest = dict[str, list[Form]](), dict[Form, Form]()
    for form in sorted(there, key=_fullness):
        written = [word for word in form.words if len(word) > 1]
        fuller = min((by_word.get(word, []) for word in written or form.words[:1]), key=len)
        fitting = (
            each
            for each in fuller
            if _fits(form.words, each.words) and _allows(form, each, there) and not {form, each} <= fixed
        )
        found = list(islice(fitting, 2))
        fullest[form] = found[0] if len(found) == 1 else form
        if len(found) != 1 and len(form.words) <= MOST_WORDS:
            for word in {*written, form.words[0][0]}:
                by_word.setdefault(word, []).append(form)
    return [fullest[form] for form in forms]


def _fullness(form: Form) -> tuple[int, int, int, tuple[str, ...], str]:
    written = sum(len(word) > 1 and word not in SUFFIXES for word in form.words)
    # "m" and "f" come before "": a bare surname joins a titled one and not the other way round.
    return -written, -len(form.words), -sum(map(len, form.words)), form.words, form.title or "z"


def _allows(form: Form, fuller: Form, there: Collection[Form]) -> bool:
    """Whether the titles agree; where Mr and Mrs Keller are there, neither is an untitled Anna Keller."""
    if not form.title or fuller.title:
        return form.title in ("", fuller.title)
    return form.whole or Form(form.words, "f" if form.title == "m" else "m", form.whole) not in there


def _fits(short: Sequence[str], name: Sequence[str]) -> bool:
    """Whether each word is, in order, a word of the name or its initial.

    A leading initial must be that of the first given name. Initials alone must end with the surname's.
    """
    rest = iter(name)
    leads = len(short[0]) > 1 or name[0][0] == short[0]
    ends = any(len(word) > 1 for word in short) or (len(short) > 1 and name[-1][0] == short[-1])
    return leads and ends and all(any(word in (part, part[0]) for part in rest) for word in short)
