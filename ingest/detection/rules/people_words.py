"""Attributes of persons: gender, job, nationality, ethnicity, religion, marital status."""

import re
from collections.abc import Iterator, Mapping

from ingest.detection.rules.hits import hit
from ingest.detection.rules.lexicon import Match
from ingest.documents import Entity, Span
from ingest.language.tokens import LOWER, Tokens
from ingest.language.vocabulary import words

LANGUAGE_BEFORE = frozenset(
    ("speak", "speaks", "spoke", "speaking", "spoken", "language", "fluent", "fluently", "translated")
    + ("into", "learn", "learned", "learns", "studied", "understand", "understands", "in", "read")
    + ("reads", "write", "writes", "native", "broken", "and", "or", "little", "some", "any", "no")
)
LANGUAGE_AFTER = frozenset(("speaking", "language", "speaker", "speakers", "interpreter", "fluently"))
SPOKEN = re.compile(r"\b(?:spe[a]?k\w*|spoke\w*|fluent\w*|language\w*|translat\w+|interpret\w+)\b")

EVERYDAY = frozenset(("polish", "pole", "poles", "swede", "swedes", "roma", "creole"))
"""Words for origins with another meaning in lower case."""
GENERAL_AFTER = frozenset(
    ("pattern", "reproductive", "genitalia", "infertility", "partner", "partners", "hormone", "sex")
    + ("hormones", "connector", "sexual", "urethra", "pelvis")
)
EMPLOYED = re.compile(
    r"\b(?:work(?:s|ed|ing)?|employed|job|position|career|trained|trains|serves|served)[ ]as[ ]"
    r"(?:an?[ ])?(?:part[- ]time[ ]|full[- ]time[ ])?"
    r"((?:[a-z]{2,15}[ -]){0,2}[a-z]{2,14}(?:er|or|ist|ian|ant|man|woman|ent|eer|nurse|cook|chef))\b"
)
JOB_BEFORE = frozenset(
    ("a", "an", "as", "retired", "former", "occupation", "profession", "job", "ex", "my", "his")
    + ("her", "assistant", "head", "chief", "senior", "junior", "trainee", "the", "our")
)
BEING = frozenset(
    ("is", "was", "am", "m", "s", "be", "been", "being", "as", "become", "became", "retired")
    + ("former", "works", "worked", "work", "occupation", "profession", "job", "career")
)
JOB_FIELDS = frozenset(("occupation", "profession", "job", "position", "title", "role", "employment"))
SINGLE = re.compile(
    r"(?:\b(?:is|was|am|are|he's|she's|i'm|I'm|currently|remains|marital status[:]?|status:)[ ])"
    r"(single|separated|engaged)\b(?![ -](?:most|best|largest|biggest|in|file|by|with))"
)
MARITAL_FIELD = re.compile(r"(?i:marital status)[ ]?[:=][ ]?([A-Za-z][a-z]{2,12})")
ETHNIC = re.compile(
    r"\b((?i:white|black))(?=[ ](?i:male|female|man|woman|boy|girl|gentleman|lady|person|patient"
    r"|american)\b)"
)
RACE = re.compile(r"(?i:race|ethnicity|identif\w+ as)[ ]?(?::|is|as)?[ ](?:an?[ ])?((?i:white|black))\b")


def _before(tokens: Tokens, index: int) -> str:
    return tokens.folded[index - 1] if index > 0 and tokens.gap(index) in (" ", "-", "'", "’") else ""


def _after(tokens: Tokens, end: int) -> str:
    return tokens.folded[end] if end < len(tokens) and tokens.gap(end) in (" ", "-") else ""


def _genders(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for match in matches.get("genders", ()):
        if _after(tokens, match.end) in GENERAL_AFTER or _before(tokens, match.first) in ("isle", "con"):
            continue
        yield hit(match.span(tokens), "gender", 0.7, "gender")


def _origins(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for kind in ("demonyms", "ethnicities"):
        for match in matches.get(kind, ()):
            everyday = match.end == match.first + 1 and tokens.shapes[match.first] == LOWER
            if everyday and not (tokens.caseless or tokens.folded[match.first] in ("caucasian",)):
                continue
            if everyday and tokens.folded[match.first] in EVERYDAY:
                continue
            yield hit(match.span(tokens), "nationality", 0.8, "origin")
    for pattern in (ETHNIC, RACE):
        for found in pattern.finditer(tokens.text):
            yield hit(Span(*found.span(1)), "nationality", 0.75, "ethnicity")


def _languages(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for match in matches.get("languages", ()):
        if tokens.shapes[match.first] == LOWER and not tokens.caseless:
            continue
        start = tokens.starts[max(0, match.first - 6)]
        spoken = SPOKEN.search(tokens.text, start, tokens.starts[match.first])
        before = _before(tokens, match.first)
        after = _after(tokens, match.end)
        if after in LANGUAGE_AFTER or (spoken is not None and before in LANGUAGE_BEFORE):
            yield hit(match.span(tokens), "language", 0.85, "language")


def _religions(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for match in matches.get("religions", ()):
        if tokens.shapes[match.first] != LOWER or tokens.caseless:
            if tokens.folded[match.first] == "christian" and tokens.shapes[match.first] != LOWER:
                after = match.end < len(tokens) and tokens.shapes[match.end] != LOWER
                if after and tokens.gap(match.end) == " ":
                    continue
            yield hit(match.span(tokens), "religion", 0.8, "religion")


def _marital(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for match in matches.get("marital_statuses", ()):
        yield hit(match.span(tokens), "marital status", 0.75, "marital-status")
    for pattern in (SINGLE, MARITAL_FIELD):
        for found in pattern.finditer(tokens.text):
            yield hit(Span(*found.span(1)), "marital status", 0.7, "marital-status")


def _held(tokens: Tokens, first: int) -> bool:
    """Whether the words before a job assign it to a person."""
    if first > 0 and tokens.folded[first - 1] in JOB_FIELDS and tokens.gap(first).strip() == ":":
        return True
    before = _before(tokens, first)
    if before in BEING:
        return True
    if before not in JOB_BEFORE or first < 2:
        return False
    return tokens.folded[first - 2] in BEING


def _jobs(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for match in matches.get("jobs", ()):
        single = match.end == match.first + 1
        if single and tokens.folded[match.first] in words("jobs_weak"):
            continue
        yield hit(
            match.span(tokens), "job title", 0.7, "job-cue" if _held(tokens, match.first) else "job-list"
        )
    for match in matches.get("jobs_weak", ()):
        if _held(tokens, match.first):
            yield hit(match.span(tokens), "job title", 0.6, "job-cue")
    for found in EMPLOYED.finditer(tokens.text):
        last = found.group(1).rsplit(" ", 1)[-1]
        if last not in NO_JOBS:
            yield hit(Span(*found.span(1)), "job title", 0.55, "job-shape")


NO_JOBS = frozenset(
    ("other", "together", "better", "after", "never", "under", "over", "either", "longer", "for")
    + ("however", "her", "another", "whether", "later", "further", "rather", "matter", "computer")
    + ("center", "weather", "winter", "summer", "september", "october", "november", "december")
    + ("man", "woman", "different", "current", "important", "recent", "patient", "or", "moment")
    + ("constant", "consistent", "independent", "agreement", "department", "water", "power", "order")
    + ("client", "present", "letter", "paper", "number", "member", "treatment", "environment", "floor")
)


def people_words(tokens: Tokens, matches: Mapping[str, list[Match]]) -> list[Entity]:
    """The attributes of people in the text; may overlap."""
    return [
        *_genders(tokens, matches),
        *_origins(tokens, matches),
        *_languages(tokens, matches),
        *_religions(tokens, matches),
        *_marital(tokens, matches),
        *_jobs(tokens, matches),
    ]
