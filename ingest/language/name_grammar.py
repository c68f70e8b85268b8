"""The grammar of a person's name: which words can be part of one, how far it goes, what it is not."""

from ingest.language.tokens import ALL_CAPS, CAPITAL, INITIAL, LOWER, Tokens
from ingest.language.vocabulary import words

PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "das", "du", "la", "le")
    + ("el", "al", "bin", "ibn", "ben", "ter", "ten", "zu", "af", "av", "y", "e", "st")
)
SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv", "esq"))
CASE_GAPS = frozenset((" ", "-", "‑", "'", "’", "\u00a0", "  "))
MAX_WORDS = 6
NO_SURNAMES = (
    "not_names",
    "weekday_months",
    "organization_cues",
    "eponym_nouns",
    "titles",
    "place_words",
) + ("street_words", "jobs", "medications", "diseases", "symptoms", "countries", "demonyms")
"""The lists whose words end a name even directly behind a given name."""
FUNCTION_WORDS = frozenset(
    ("the", "and", "but", "for", "from", "his", "her", "has", "had", "was", "are", "who", "you", "she")
    + ("they", "this", "that", "with", "can", "could", "would", "should", "please", "thanks", "how")
    + ("what", "when", "where", "why", "did", "does", "not", "yes", "here", "there", "also", "then")
    + ("phone", "fax", "email", "date", "subject", "sent", "cell", "home", "work", "mail", "re", "fwd")
)
NO_PLAIN_NAMES = (
    ("common_words", "not_names", "given_names_ambiguous", "cities", "countries", "states")
    + ("demonyms", "religions", "languages", "organizations", "genders", "medications", "diseases")
    + ("departments", "medical_tests", "procedures", "symptoms", "titles", "jobs", "place_words")
)
"""The lists whose words, capitalized, need not be names."""

ABBREVIATIONS = frozenset(
    ("us", "uk", "eu", "un", "am", "pm", "po", "ny", "la", "dc", "bc", "ad", "md", "ba", "ma")
    + ("bs", "ms", "rn", "phd", "id", "iv", "im", "eg", "ie", "er", "or", "ct", "mr", "ie", "st")
    + ("qc", "rn", "pc", "dr", "jd", "cv", "vs", "pt", "ot", "tb", "pa", "np", "do", "ed", "ob", "nb")
)


def stops_name(word: str) -> bool:
    """Whether ``word``, though capitalized, is no part of a person's name."""
    if word in words("given_names", "given_names_ambiguous", "surnames"):
        return word in words("weekday_months")
    return word in words("not_names", "common_words", "organization_cues", "street_words")


def looks_like_name(tokens: Tokens, index: int) -> bool:
    """A capitalized word that no list calls an ordinary word."""
    if index >= len(tokens):
        return False
    shape = tokens.shapes[index]
    return shape in (CAPITAL, ALL_CAPS) and not stops_name(tokens.folded[index])


def plain_name(tokens: Tokens, index: int) -> bool:
    """A capitalized word that is a name and nothing else: no ordinary word, month or place."""
    if not looks_like_name(tokens, index):
        return False
    word = tokens.folded[index]
    return word in words("given_names") or word not in words(*NO_PLAIN_NAMES)


def surname(tokens: Tokens, index: int) -> bool:
    """A capitalized word of the surname list."""
    return (
        index < len(tokens)
        and tokens.shapes[index] in (CAPITAL, ALL_CAPS)
        and tokens.folded[index] in words("surnames")
    )


def _continues(tokens: Tokens, index: int) -> bool:
    gap, before = tokens.gap(index), tokens.shapes[index - 1]
    if gap not in CASE_GAPS:
        initial = before == INITIAL or tokens.folded[index - 1] in SUFFIXES | {"st"}
        if not (gap in (". ", ".", ".-", ".\u00a0") and initial):
            return False
    elif gap in ("'", "’") and before not in (INITIAL, CAPITAL):
        return False
    if tokens.shapes[index] == INITIAL:
        return tokens.folded[index] != "i" or tokens.text[tokens.ends[index] :][:1] == "."
    if looks_like_name(tokens, index) or tokens.folded[index] in SUFFIXES:
        return True
    return _everyday_surname(tokens, index)


def _everyday_surname(tokens: Tokens, index: int) -> bool:
    """Lotte Gentle, Ruben Winter: a capitalized everyday word directly behind a given name."""
    word = tokens.folded[index]
    return (
        tokens.shapes[index] == CAPITAL
        and tokens.gap(index) == " "
        and len(word) > 2
        and word in words("common_words")
        and tokens.folded[index - 1] in words("given_names")
        and word not in words(*NO_SURNAMES)
        and word not in FUNCTION_WORDS
    )


def name_end(tokens: Tokens, first: int, limit: int = MAX_WORDS) -> int:
    """The end (exclusive) of the name that starts with the word ``first``.

    Initials, further capitalized words, particles between them (van der) and suffixes (Jr) belong to
    it; a line break, an ordinary word or a possessive 's ends it.
    """
    end = first + 1
    while end < len(tokens) and end - first < limit:
        if _continues(tokens, end):
            end += 1
            continue
        after = end
        while after < len(tokens) and after - end < 3 and _is_particle(tokens, after):
            after += 1
        if after > end and looks_like_name(tokens, after) and tokens.gap(after) in CASE_GAPS:
            end = after + 1
            continue
        break
    return end


def _is_particle(tokens: Tokens, index: int) -> bool:
    return (
        tokens.folded[index] in PARTICLES
        and tokens.shapes[index] in (LOWER, CAPITAL)
        and tokens.gap(index) in CASE_GAPS
        and tokens.gap(index) not in ("'", "’")
    )


def initials_end(tokens: Tokens, first: int) -> int:
    """The end of a run of initials (J. K., J.K.); ``first`` if none starts there."""
    end = first
    while (
        end < len(tokens)
        and end - first < 4
        and tokens.shapes[end] == INITIAL
        and (end == first or tokens.gap(end) in (".", ". ", ".-"))
        and tokens.text[tokens.ends[end] : tokens.ends[end] + 1] == "."
    ):
        end += 1
    if "".join(tokens.folded[first:end]) in ABBREVIATIONS:
        return first
    return end


def is_no_person(tokens: Tokens, first: int, end: int) -> bool:
    """Whether the context indicates a disease, an institution, a street or a saint's name."""
    folded = tokens.folded
    after = tokens.possessive_end(end)
    if after < len(tokens) and tokens.gap(after) in (" ", "-", "\n"):
        word = folded[after]
        if eponym_noun_at(tokens, after):
            return True
        capital = tokens.shapes[after] != LOWER and tokens.gap(after) != "\n"
        cues = words("organization_cues", "street_words", "place_words")
        if capital and word in cues and word not in words("surnames"):
            return True
    if end < len(tokens) and tokens.gap(end) == " & " and tokens.shapes[end] == CAPITAL:
        return True
    before = folded[first - 1] if first > 0 else ""
    if before in PLACE_STARTS and tokens.gap(first) in (" ", ". ") and first + 1 >= end:
        return tokens.shapes[first - 1] != LOWER
    if tokens.gap(first) == "-" and tokens.shapes[first - 1] == CAPITAL:
        return before not in words("given_names", "given_names_ambiguous")
    return tokens.gap(first) == " & "


PLACE_STARTS = frozenset(
    ("st", "saint", "sankt", "san", "santa", "sao", "los", "fort", "port", "lake", "mount", "new")
)


def eponym_noun_at(tokens: Tokens, after: int) -> bool:
    """A disease or an instrument at the word ``after``, or behind one learned word or acronym."""
    nouns = words("eponym_nouns")
    if tokens.gap(after) == "\n":
        return False
    if tokens.folded[after] in nouns:
        return True
    behind = after + 1
    if behind >= len(tokens) or tokens.folded[after] in words("common_words"):
        return False
    return tokens.folded[behind] in nouns and tokens.gap(behind) in (" ", ") ", "-")


def eponym(tokens: Tokens, first: int, end: int) -> bool:
    """Whether the words are nothing but names that stand for diseases, and no given name leads."""
    given = words("given_names")
    return tokens.folded[first] not in given and all(
        word in words("eponyms") for word in tokens.folded[first:end]
    )
