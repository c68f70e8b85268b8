"""Find the name in an annotated mention: some corpora mark "the painter Ana Ruiz , born in 1902" whole."""

import re
from collections.abc import Sequence

Range = tuple[int, int]

PRONOUNS = frozenset(
    "i me my mine myself you your yours he him his himself she her hers herself it its itself we us our ours "
    "ourselves they them their theirs themselves who whom whose this that these those one a an "
    "some both all each another others".split()
)
_ARTICLES = frozenset(("the", "a", "an"))
_POSSESSIVES = frozenset(("'s", "’s", "'", "’"))
_PARTICLES = frozenset("de von van der den la le da di du del dos el al bin ibn ben y ter - ' ’ . l'".split())
_CONNECTORS = _PARTICLES | frozenset("of the and & 's ’s for in on at des , – to / st".split())
# After one of these the rest of a mention describes the person.
_BOUNDS = frozenset(", ( [ — – who whose of from in at as and &".split())
# Before a name these mean that it is another person's.
_BEFORE_OTHERS = frozenset(
    ", ( [ — – who whose of from in at as for to on with by wearing receive known named".split()
)
_LONGEST_DESCRIPTION = 4
_ROLES = frozenset(
    "president minister prime secretary general director governor mayor king queen prince princess "
    "emperor pope tsar czar chief officer commander colonel captain major professor doctor judge justice "
    "lord lady sir madam master mistress mother father god christ saint aunt uncle papa mamma mama boys "
    "girls ladies gentlemen chancellor senator congressman deputy foreign defense press leader chair "
    "chairman chairperson christian christians catholic catholics muslim muslims jew jews indian indians "
    "republican republicans democrat democrats libertarian socialist editor ceo user users student "
    "students team fans best actor actress honor assistant manager my lords arabs tatars afghans refugee "
    "refugees immigrant immigrants agnostics engineers counsel imam solicitor critics ambassador baron "
    "viking vikings youtubers bangladeshis rohingya mr mrs ms miss messrs mlle mme madame monsieur dr".split()
)
_PEOPLES = re.compile(r"\w+(?:icans|ricans|eans|ians|ists|ese|omans|ermans|usians)")
_CAPITAL = re.compile(r"[^\W\d_]")
_DATE = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred)\b",
    re.IGNORECASE,
)
_LONGEST_DATE = 6


def is_pronoun(tokens: Sequence[str]) -> bool:
    """Whether a mention is a single pronoun."""
    return len(tokens) == 1 and tokens[0].lower() in PRONOUNS


def is_date(tokens: Sequence[str]) -> bool:
    """Whether a mention of a time has figures or the name of a day or month."""
    return bool(_DATE.search(" ".join(tokens)))


def is_long(tokens: Sequence[str]) -> bool:
    """Whether a mention of a time includes other words."""
    return len(tokens) > _LONGEST_DATE


def without_possessive(tokens: Sequence[str]) -> int:
    """The number of tokens before a possessive ending."""
    end = len(tokens)
    while end and tokens[end - 1] in _POSSESSIVES:
        end -= 1
    return end


def person_in(tokens: Sequence[str], alone: bool = True) -> Range | None:
    """The personal name in a mention of a person, half-open; unless ``alone``, of two words or more."""
    end = without_possessive(tokens)
    found = _head_name(tokens, end) or _last_name(tokens, end)
    if found is None:
        return None
    words = [token.lower() for token in tokens[found[0] : found[1]] if _capital(token)]
    no_name = len(words) == 1 and (not alone or _PEOPLES.fullmatch(words[0]))
    return None if no_name or all(word.rstrip(".") in _ROLES for word in words) else found


def _head_name(tokens: Sequence[str], end: int) -> Range | None:
    """A name that the mention begins with, or comes to after at most a few words of description."""
    # Past "the painter" in "the painter Ana Ruiz"; not past "a native" in "a native of Ruiz".
    begin = 1 if end and tokens[0].lower() in _ARTICLES else 0
    start = next((number for number in range(begin, end) if _capital(tokens[number])), end)
    if start > _LONGEST_DESCRIPTION or not _BEFORE_OTHERS.isdisjoint(tokens[:start]):
        return None
    stop = _run(tokens, start, end)
    if stop == start or (stop < end and tokens[stop] not in _BOUNDS):
        return None
    return start, stop


def _last_name(tokens: Sequence[str], end: int) -> Range | None:
    """A name of several words that the mention ends with ("Japanese author Ana Ruiz")."""
    for start in range(1, end - 1):
        if tokens[start - 1] in _BEFORE_OTHERS:
            return None
        if _capital(tokens[start]) and not _capital(tokens[start - 1]) and _run(tokens, start, end) == end:
            return (start, end) if tokens[start - 1] not in _PARTICLES else None
    return None


def name_in(tokens: Sequence[str]) -> Range | None:
    """The name of a place, organization or event without its article, half-open, or None."""
    end = without_possessive(tokens)
    start = 1 if end and tokens[0].lower() in _ARTICLES else 0
    words = tokens[start:end]
    if not any(map(_capital, words)):
        return None
    fits = [_capital(word) or word[:1].isdigit() for word in words]
    joined = all(fit or word in _CONNECTORS for fit, word in zip(fits, words, strict=True))
    return (start, end) if fits[0] and joined and fits[-1] else None


def is_name(words: Sequence[str]) -> bool:
    """Whether every word begins with a capital and no article or role is among them."""
    return (
        bool(words)
        and all(_capital(word) or word in _PARTICLES for word in words)
        and not any(word.lower() in _ARTICLES for word in words)
        and not all(word.lower().rstrip(".") in _ROLES or not _capital(word) for word in words)
    )


def _capital(token: str) -> bool:
    found = _CAPITAL.search(token)
    return found is not None and found.group().isupper()


def _run(tokens: Sequence[str], start: int, end: int) -> int:
    """The end of the capitalized words from ``start``, including particles between them."""
    stop = last = start
    while stop < end and (_capital(tokens[stop]) or (stop > start and _joins(tokens, stop))):
        stop += 1
        if _capital(tokens[stop - 1]) or tokens[stop - 2] == "-":
            last = stop
    return last


def _joins(tokens: Sequence[str], number: int) -> bool:
    """Whether the word at ``number`` is no capital and yet inside a name: "von", the end of "Kwok - hung"."""
    return tokens[number] in _PARTICLES or (tokens[number - 1] == "-" and tokens[number].isalpha())
