"""Cities, countries, states, counties, streets and other places."""

import re
from collections.abc import Iterator, Mapping

from ingest.detection.rules.hits import hit
from ingest.detection.rules.lexicon import Match
from ingest.documents import Entity, Span
from ingest.language.tokens import ALL_CAPS, CAPITAL, LOWER, NUMBER, Tokens
from ingest.language.vocabulary import words

KINDS = {
    "cities": ("city name", 0.75),
    "countries": ("country", 0.9),
    "states": ("state or province", 0.8),
    "places": ("place", 0.8),
}
LOCATIVES = frozenset(("in", "from", "at", "near", "to", "outside", "around", "through", "via"))
EVERYDAY = frozenset(("van", "mobile", "split", "queens", "corona", "surat", "ordu", "mus"))
"""Towns that are also ordinary words or names, but in no list of those."""
HEADS = frozenset(
    ("city", "town", "village", "borough", "district", "province", "state", "county", "municipality")
    + ("region", "parish", "port", "island", "isle", "suburb", "commune", "gulf", "bay", "mount")
    + ("lake", "fort", "cape", "river", "camp")
)
BARE_HEADS = frozenset(("mount", "lake", "fort", "cape", "river", "camp", "port", "county"))
LIVING = frozenset(
    ("live", "lives", "lived", "living", "reside", "resides", "resided", "residing", "born", "based")
    + ("practising", "practicing", "detained", "located", "situated", "arrested", "died", "raised")
    + ("settled", "stayed", "staying", "grew", "work", "works", "worked", "working", "hospital")
    + ("prison", "court", "police", "imprisoned", "stationed", "lawyer", "house", "home", "flat")
    + ("moved", "travelled", "traveled", "returned", "went", "fled", "flew", "transferred", "deported")
    + ("came", "originally", "moving", "resident", "native", "residents", "visited", "back")
)
STATE_ABBREVIATION = re.compile(
    r"(?<=, )(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI"
    r"|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|ON|QC|BC|AB|MB|SK|NS|NB|NL|PE|NSW|VIC|QLD|TAS)"
    r"(?=[ ]+\d{4,5}|[ ]+[A-Z]\d[A-Z]|[ ]*[,.;)\n]|[ ]*$)"
)


def _proper(tokens: Tokens, match: Match) -> bool:
    shapes = tokens.shapes[match.first : match.end]
    if tokens.caseless:
        return len(tokens.folded[match.first]) > 3 or match.end > match.first + 1
    if shapes[0] == ALL_CAPS and len(shapes) == 1:
        return len(tokens.folded[match.first]) > 3 or match.kind == "countries"
    return shapes[0] != LOWER and shapes[-1] != LOWER


def _located(tokens: Tokens, match: Match) -> bool:
    """Whether a word before or after the match indicates a place."""
    before = match.first - 1
    if before >= 0 and tokens.folded[before] in LOCATIVES and tokens.gap(match.first) == " ":
        return True
    after = match.end
    if after >= len(tokens) or tokens.gap(after) != ", ":
        return False
    return tokens.folded[after] in words("countries", "states", "state_codes") and (
        tokens.shapes[after] != LOWER
    )


def _listed(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    doubtful = words("common_words", "given_names", "given_names_ambiguous", "surnames", "weekday_months")
    for kind, (label, confidence) in KINDS.items():
        for match in matches.get(kind, ()):
            if not _proper(tokens, match):
                continue
            word, single = tokens.folded[match.first], match.end == match.first + 1
            located = _located(tokens, match)
            everyday = word in EVERYDAY or word in words("common_words", "weekday_months")
            if single and everyday and not located:
                continue
            if single and tokens.caseless and word in doubtful and not located:
                continue
            doubt = single and word in doubtful and not located
            yield hit(match.span(tokens), label, 0.4 if doubt else confidence, "place-list")


def _capital(tokens: Tokens, index: int) -> bool:
    return (
        0 <= index < len(tokens)
        and tokens.shapes[index] in (CAPITAL, ALL_CAPS)
        and tokens.folded[index] not in words("not_names", "weekday_months", "titles")
    )


def _back(tokens: Tokens, index: int, limit: int) -> int:
    """The first of the capitalized words directly before word ``index``."""
    first = index
    while first > 0 and index - first < limit:
        if tokens.gap(first) not in (" ", "-", "'", "’") or not _capital(tokens, first - 1):
            break
        if tokens.folded[first - 1] in words("common_words") and tokens.opens_sentence(first - 1):
            break
        first -= 1
    return first


def _ended(tokens: Tokens, index: int) -> Entity | None:
    """Orange County, Hudson River, 12 Baker Street, Marsh Lane Prison."""
    word = tokens.folded[index]
    if tokens.shapes[index] == LOWER or index == 0:
        return None
    first = _back(tokens, index, 3)
    if first == index or tokens.folded[first] in ("the", "this", "that"):
        return None
    if word == "county":
        if index + 1 < len(tokens) and tokens.folded[index + 1] in words("organization_cues"):
            return None
        return hit(tokens.span(first, index + 1), "county", 0.85, "county")
    if word in words("street_words"):
        if word in ("dr", "court", "st", "way", "trail", "close", "gardens", "via"):
            return None  # the patterns find these by their context
        if first > 0 and tokens.shapes[first - 1] == NUMBER and tokens.gap(first) == " ":
            first -= 1
        return hit(tokens.span(first, index + 1), "street address", 0.7, "street")
    return hit(tokens.span(first, index + 1), "place", 0.65, "place-word")


def _headed(tokens: Tokens, index: int) -> Entity | None:
    """The City of Warsaw, Mount Baker, Lake Como, County Derry."""
    after = index + 1
    if after < len(tokens) and tokens.folded[after] == "of" and tokens.gap(after) == " ":
        after += 1
    elif tokens.folded[index] not in BARE_HEADS or tokens.shapes[index] == LOWER:
        return None
    if after >= len(tokens) or tokens.gap(after) != " " or not _capital(tokens, after):
        return None
    if tokens.folded[after] in words("common_words", "organization_cues"):
        return None
    end = _name_end(tokens, after)
    if end is None:
        return None
    county = tokens.folded[index] == "county"
    return hit(tokens.span(index, end), "county" if county else "place", 0.6, "place-head")


def _lived(tokens: Tokens, index: int) -> Entity | None:
    """Lives in Quellby, was born in Ostrava: a capitalized word in the position of a town."""
    after = index + 1
    if after >= len(tokens) or not _capital(tokens, after) or tokens.gap(after) != " ":
        return None
    if tokens.shapes[after] == ALL_CAPS or index == 0 or tokens.shapes[index] != LOWER:
        return None
    if tokens.folded[after] in words("common_words", "organization_cues", "given_names"):
        return None
    cue = tokens.folded[index - 1] in LIVING
    if not cue and tokens.folded[index] not in ("in", "near"):
        return None
    end = _name_end(tokens, after)
    if end is None:
        return None
    label = "city name" if cue else "place"
    return hit(tokens.span(after, end), label, 0.6 if cue else 0.35, "place-cue")


def _name_end(tokens: Tokens, first: int) -> int | None:
    """The end of up to three capitalized words; None if they end as an organization."""
    end = first + 1
    while end - first < 3 and _capital(tokens, end) and tokens.gap(end) in (" ", "-"):
        end += 1
    return None if tokens.folded[end - 1] in words("organization_cues") else end


def _cued(tokens: Tokens) -> Iterator[Entity | None]:
    ending = words("place_words", "street_words")
    for index, word in enumerate(tokens.folded):
        if word in ending:
            yield _ended(tokens, index)
        if word in HEADS:
            yield _headed(tokens, index)
        if word in ("in", "to", "from", "near", "of"):
            yield _lived(tokens, index)


def places(tokens: Tokens, matches: Mapping[str, list[Match]]) -> list[Entity]:
    """The places of the text, from lists and context; may overlap."""
    found = [*_listed(tokens, matches), *(entity for entity in _cued(tokens) if entity)]
    found.extend(
        hit(Span(*match.span()), "state or province", 0.85, "state-code")
        for match in STATE_ABBREVIATION.finditer(tokens.text)
    )
    return found
