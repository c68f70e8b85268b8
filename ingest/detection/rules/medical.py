"""Medical words: diseases, symptoms, drugs, tests and procedures."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache

from ingest.detection.rules.hits import hit
from ingest.detection.rules.lexicon import Match
from ingest.documents import Entity, Span
from ingest.language.tokens import ALL_CAPS, CAPITAL, LOWER, Tokens
from ingest.language.vocabulary import entries, words

KINDS = {
    "symptoms": "symptom",
    "diseases": "disease",
    "medications": "medication",
    "medical_tests": "medical test",
    "procedures": "procedure",
    "departments": "medical department",
}
_NUMBER = (
    r"(?:\d{1,4}(?:[.,]\d{1,3})?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|fifteen|twenty|thirty|forty|fifty|sixty|ninety|(?:a[ ])?(?:few|couple(?:[ ]of)?|half)|several"
    r"|many|an?)"
)
_DIGITS = r"\d{1,5}(?:[.,/]\d{1,3})?"
DOSAGE = re.compile(
    rf"\b{_DIGITS}(?:[ ]?(?:-|–|to|or)[ ]?{_DIGITS})?[ -]?(?i:mg|mcg|µg|ug|micrograms?|milligrams?"
    r"|grams?|g|ml|milliliters?|millilitres?|cc|units?|iu|meq|tablets?|tabs?|pills?|capsules?|caps?"
    r"|puffs?|drops?|teaspoons?|tablespoons?|tsp|tbsp|sprays?|patch(?:es)?)"
    r"(?:/(?i:ml|kg|day|hr|hour|dose|m2|l|dl))?(?![\w/])"
)
SPOKEN_DOSAGE = re.compile(
    r"\b(?i:one|two|three|four|five|six|ten|fifteen|twenty|thirty|forty|fifty|hundred|half an?)[ ]"
    r"(?i:milligrams?|micrograms?|tablets?|pills?|capsules?|puffs?|drops?|teaspoons?|tablespoons?)\b"
)
FREQUENCY = re.compile(
    rf"\b(?:(?i:once|twice|thrice|{_NUMBER}[ ]times)(?i:[ ](?:an?|per|every|each)[ ]|[ ])(?i:day|daily"
    r"|week|weekly|month|monthly|year|yearly|night|nightly|hour|morning)"
    rf"|(?i:every)[ ](?:(?i:other)[ ]|{_NUMBER}[ ](?:(?:to|-)[ ]\d{{1,2}}[ ])?)?(?i:days?|hours?|weeks?"
    r"|months?|mornings?|nights?|evenings?|minutes?|bedtime)"
    r"|(?i:at bedtime|at night|as needed|before meals|after meals|with meals|nightly)"
    r"|(?i:b\.i\.d|t\.i\.d|q\.i\.d|q\.d|p\.r\.n|q\.h\.s)\.?|(?:BID|TID|QID|PRN|QHS|QD|bid|tid|qid|prn"
    r"|qhs|qd)\b|q\.?\d{1,2}h|q[ ]?\d{1,2}[ ]?hours?|(?:(?<=mg )|(?<=tablet )|(?<=dose ))daily)\b"
)
DURATION = re.compile(
    rf"\b(?i:for|over|past|last|during|within|since|about|around)[ ]"
    rf"(?:(?i:the|at least|about|around|almost|nearly|over)[ ]){{0,2}}(?:(?i:past|last)[ ])?"
    rf"((?i:{_NUMBER})(?:[ ]?(?:-|–|to|or)[ ]?(?i:{_NUMBER}))?[ -](?i:second|minute|hour|day|night|week"
    r"|month|year|decade)s?)\b"
)
AGO = re.compile(
    rf"\b((?i:{_NUMBER})(?:[ ](?:-|–|to|or)[ ](?i:{_NUMBER}))?[ ](?i:second|minute|hour|day|night|week"
    r"|month|year)s?)(?=[ ](?i:ago|history|duration|prior|earlier)\b)"
)
DIAGNOSED = re.compile(
    r"\b(?i:diagnosed[ ](?:\w{1,15}[ ]){0,3}(?:with|as having|as)|diagnos[ie]s(?:[ ]of|[ ]is|:)"
    r"|dx(?:[ ]of|:))[ ](?:(?i:an?|the)[ ])?"
)
ALLERGIC = re.compile(
    r"\b(?i:allergic[ ](?:\w{1,12}[ ])?to|allerg(?:y|ies)(?:[ ](?:to|include|includes|are|is))?[ ]?:?)"
    r"[ ]((?:[\w'’-]{1,20}(?:,[ ]|[ ]and[ ]|[ ]or[ ]|[ ])?){1,8})"
)
PATTERNS: tuple[tuple[re.Pattern[str], int, str, str], ...] = (
    (DOSAGE, 0, "dosage", "dosage"),
    (SPOKEN_DOSAGE, 0, "dosage", "dosage"),
    (FREQUENCY, 0, "frequency", "frequency"),
    (DURATION, 1, "duration", "duration"),
    (AGO, 1, "duration", "duration"),
)
ABBREVIATIONS = frozenset(("als", "aids", "ent", "ct", "ua", "bun", "echo", "soma", "emg", "fit"))
NO_DRUGS = frozenset(("april", "protocol", "parasol", "cholesterol", "jetsetron"))


@cache
def drug_endings() -> tuple[str, ...]:
    """The endings of drug families, as ``str.endswith`` takes them."""
    return entries("drug_suffixes")


def _listed(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    for kind, label in KINDS.items():
        for match in matches.get(kind, ()):
            word = tokens.folded[match.first]
            single = match.end == match.first + 1
            if single and word in ABBREVIATIONS and tokens.shapes[match.first] != ALL_CAPS:
                continue
            confidence = 0.6 if single and word in words("common_words") else 0.85
            yield hit(match.span(tokens), label, confidence, f"{label.replace(' ', '-')}-list")


def _by_suffix(tokens: Tokens) -> Iterator[Entity]:
    endings = drug_endings()
    for index, word in enumerate(tokens.folded):
        if len(word) > 6 and word.endswith(endings) and word not in NO_DRUGS:
            if tokens.shapes[index] in (LOWER, CAPITAL, ALL_CAPS):
                yield hit(tokens.span(index, index + 1), "medication", 0.7, "drug-suffix")


def _diagnoses(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    """A disease or symptom after ``diagnosed with`` and the like."""
    known = {
        match.span(tokens).start: match.span(tokens)
        for kind in ("symptoms", "diseases")
        for match in matches.get(kind, ())
    }
    for cue in DIAGNOSED.finditer(tokens.text):
        span = next((known[at] for at in range(cue.end(), cue.end() + 25) if at in known), None)
        if span is not None and not set(".;\n") & set(tokens.text[cue.end() : span.start]):
            yield hit(Span(span.start, span.end), "diagnosis", 0.9, "diagnosis")


def _allergies(tokens: Tokens, matches: Mapping[str, list[Match]]) -> Iterator[Entity]:
    """Allergens and medications after ``allergic to`` and the like."""
    spans = sorted(
        match.span(tokens) for kind in ("allergens", "medications") for match in matches.get(kind, ())
    )
    starts = [span.start for span in spans]
    for cue in ALLERGIC.finditer(tokens.text):
        for span in spans[bisect_left(starts, cue.start(1)) : bisect_left(starts, cue.end(1))]:
            if span.end <= cue.end(1):
                yield hit(span, "allergy", 0.85, "allergy")


def _patterned(text: str) -> Iterator[Entity]:
    for pattern, group, label, rule in PATTERNS:
        for match in pattern.finditer(text):
            yield hit(Span(*match.span(group)), label, 0.8, rule)


def medical(tokens: Tokens, matches: Mapping[str, list[Match]]) -> list[Entity]:
    """The medical words of the text; may overlap."""
    return [
        *_listed(tokens, matches),
        *_by_suffix(tokens),
        *_diagnoses(tokens, matches),
        *_allergies(tokens, matches),
        *_patterned(tokens.text),
    ]
