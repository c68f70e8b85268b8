"""Organizations: known ones, and capitalized phrases with a word such as Ltd, Hospital or Court."""

from collections.abc import Iterator, Mapping

from ingest.detection.rules.hits import hit
from ingest.detection.rules.lexicon import Match
from ingest.documents import Entity
from ingest.labels import ORGANIZATION
from ingest.language.tokens import ALL_CAPS, CAPITAL, INITIAL, LOWER, Tokens
from ingest.language.vocabulary import words

CONNECTORS = frozenset(("of", "and", "for", "the", "in", "on", "de", "des", "du", "la", "del", "der"))
FIRM = frozenset(
    ("ltd", "limited", "inc", "incorporated", "gmbh", "llc", "llp", "plc", "corp", "corporation")
    + ("company", "co", "sa", "spa", "ag", "kg", "bv", "nv", "ab", "oy", "lp", "srl")
)
MAX_WORDS = 7
GAPS = frozenset((" ", "-", "'", "’", " & ", "&", "\u00a0", "’ ", "' "))


def _capital(tokens: Tokens, index: int) -> bool:
    return 0 <= index < len(tokens) and tokens.shapes[index] in (CAPITAL, ALL_CAPS, INITIAL)


def spoils(tokens: Tokens, index: int) -> bool:
    """Whether a capitalized word cannot be part of a name: The, At, Monday, Mr."""
    word = tokens.folded[index]
    if word in FUNCTION_WORDS or word in words("weekday_months"):
        return True
    opens = tokens.opens_sentence(index)
    return opens and word in words("common_words") and word not in words("surnames", "not_names")


FUNCTION_WORDS = frozenset(
    ("the", "a", "an", "this", "that", "these", "those", "in", "on", "at", "by", "to", "from", "if")
    + ("when", "while", "after", "before", "his", "her", "their", "our", "your", "my", "its", "it")
    + ("he", "she", "they", "we", "you", "i", "as", "but", "or", "so", "is", "was", "no", "not")
    + ("mr", "mrs", "ms", "dr", "re", "fw", "fwd", "subject", "please", "thanks", "and", "with")
    + ("under", "article", "each", "any", "all", "some", "both", "such", "since", "where", "which")
)


def _back(tokens: Tokens, cue: int) -> int:
    first = cue
    while first > 0 and cue - first < MAX_WORDS:
        gap, before = tokens.gap(first), first - 1
        dotted = gap in (". ", ".") and tokens.shapes[before] == INITIAL
        if tokens.folded[before] == "st" and gap in (". ", " "):
            dotted = True
        possessive = tokens.folded[before] == "s" and gap == " " and tokens.gap(before) in ("'", "’")
        if not (gap in GAPS or dotted):
            break
        if possessive and before > 0 and _capital(tokens, before - 1):
            first = before - 1
            continue
        if _capital(tokens, before):
            if spoils(tokens, before):
                break
            first = before
            continue
        linked = tokens.folded[before] in ("of", "and", "for", "de", "der", "du", "des")
        if linked and gap == " " and _capital(tokens, before - 1) and not spoils(tokens, before - 1):
            if tokens.folded[before] == "and" and cue - first > 2:
                break
            first = before - 1
            continue
        break
    return first


def _forward(tokens: Tokens, cue: int) -> int:
    end = cue + 1
    while end < len(tokens) and end - cue < MAX_WORDS:
        gap = tokens.gap(end)
        firm = gap in (", ", " ") and tokens.folded[end] in FIRM and tokens.shapes[end] != LOWER
        if (gap in GAPS and _capital(tokens, end) and not spoils(tokens, end)) or firm:
            end += 1
            continue
        after = end
        while after < len(tokens) and tokens.folded[after] in CONNECTORS and after - end < 3:
            if tokens.gap(after) != " " or tokens.folded[after] == "and" and end == cue + 1:
                break
            after += 1
        linked = after > end and after < len(tokens) and tokens.gap(after) in (" ", "-")
        in_place = linked and tokens.folded[end] in ("in", "on")
        if not linked or in_place or not _capital(tokens, after) or spoils(tokens, after):
            break
        end = after + 1
    return end


def _cued(tokens: Tokens, cue: int) -> tuple[int, int] | None:
    if tokens.shapes[cue] == LOWER:
        return None
    first, end = _back(tokens, cue), _forward(tokens, cue)
    size = end - first
    if size < 2:
        return None
    phrase = tokens.folded[first:end]
    of_texts = phrase[0] in TEXTS and phrase[1] == "of"
    if all(word in GENERIC for word in phrase) or of_texts or phrase[-1] in TEXTS:
        return None
    return first, end


TEXTS = frozenset(
    ("act", "acts", "agreement", "bill", "charter", "code", "codes", "constitution", "convention")
    + ("decree", "guidelines", "manual", "memorandum", "ordinance", "protocol", "regulation", "regulations")
    + ("rule", "rules", "statute", "statutes", "treaty")
)
"""Texts, not organizations: the Rules of Court, the Police Act, Companies Regulations."""


GENERIC = frozenset(
    ("bank", "party", "parties", "group", "board", "services", "service", "company", "of", "and")
    + ("the", "power", "gas", "energy", "capital", "trust", "fund", "system", "systems", "police")
    + ("office", "solutions", "for", "in", "commission", "government", "court", "press", "media")
)


def _covers_public(tokens: Tokens, first: int, end: int, public: set[tuple[int, int]]) -> bool:
    return any(start <= first and end <= stop for start, stop in public) or (first, end) in public


def _acronym(tokens: Tokens, end: int) -> int | None:
    """The word after an opening bracket, if it is an acronym: (the "NBI"), (LRB)."""
    index = end
    if index < len(tokens) and "(" in tokens.gap(index) and len(tokens.gap(index)) < 5:
        if tokens.folded[index] in ("the", "hereinafter"):
            index += 1
        if index < len(tokens) and tokens.shapes[index] == ALL_CAPS:
            return index
    return None


def _firms(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[tuple[int, int, float]]:
    for match in matches.get("organizations", ()):
        shapes = tokens.shapes[match.first : match.end]
        single = match.end == match.first + 1
        word = tokens.folded[match.first]
        if single and (len(word) < 4 and shapes[0] != ALL_CAPS):
            continue
        if shapes[0] != LOWER and not (single and word in words("common_words", "given_names")):
            yield match.first, match.end, 0.85
    cues = words("organization_cues")
    for index, word in enumerate(tokens.folded):
        if word in cues:
            extent = _cued(tokens, index)
            if extent is not None:
                yield *extent, 0.8 if word in FIRM else 0.65


def organizations(tokens: Tokens, matches: Mapping[str, list[Match]]) -> list[Entity]:
    """The organizations of the text except the most public ones; may overlap.

    An acronym introduced in brackets after an organization is found everywhere.
    """
    public = {(match.first, match.end) for match in matches.get("public_bodies", ())}
    found: list[Entity] = []
    acronyms: set[str] = set()
    for first, end, confidence in _firms(tokens, matches):
        if _covers_public(tokens, first, end, public):
            continue
        found.append(hit(tokens.span(first, end), ORGANIZATION, confidence, "organization"))
        introduced = _acronym(tokens, end)
        if introduced is not None and len(tokens.folded[introduced]) < 8:
            acronyms.add(tokens.folded[introduced])
    for index, word in enumerate(tokens.folded):
        if tokens.shapes[index] != ALL_CAPS:
            continue
        if word in acronyms:
            found.append(hit(tokens.span(index, index + 1), ORGANIZATION, 0.6, "acronym"))
        elif _bodied(tokens, index):
            found.append(hit(tokens.span(index, index + 1), ORGANIZATION, 0.4, "acronym"))
    return found


def _bodied(tokens: Tokens, index: int) -> bool:
    """The NBI decided: an acronym after ``the`` that is no test, disease or molecule."""
    word = tokens.folded[index]
    known = words("not_names", "medical_tests", "diseases", "departments", "procedures", "countries")
    if not 3 <= len(word) <= 5 or word in known or tokens.gap(index) != " ":
        return False
    after = tokens.folded[index + 1] if index + 1 < len(tokens) else ""
    return tokens.folded[index - 1] == "the" and after not in words("eponym_nouns", "symptoms")
