"""Where a visit identifies the patient: values of the metadata, located in dialogue and note.

The rules that decide which occurrences count:

- First and family name: the whole word in any case. A name that is also a common word counts only with a
  capital letter, next to the patient's other name, or after a form of address.
- Age: the number, in digits or in words, where "year old", "years of age", "y.o." (or months, if the
  metadata counts months) follows it, or "age", "aged" or "age of" stands before it.
- Gender: a word for the patient's own gender (female, woman, lady, girl; male, man, gentleman, boy) with an
  age or a word of description ("pleasant", "elderly", an ethnic group) among the five words before it.
  Elsewhere such a word mostly refers to another person, or is an exclamation.
"""

import re
from collections.abc import Iterator, Mapping

from models.corpora.examples import Mention

FIRST_NAME, FAMILY_NAME = "patient's first name", "patient's family name"
AGE, GENDER = "patient's age", "patient's gender"

COMMON_WORDS = frozenset(
    "baker bill brown carol cook cooper cruz dale dean fisher frank gene grace grant gray green hill hills "
    "hope hunter jack joy king lane lee long mark mason may miller page park price ray rich rob rose "
    "summers walker ward wells white will wood woods young".split()
)
"""Names that also are words of the language."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

_ADDRESS = r"\b(?:mr|mrs|ms|miss|dr|doctor)\s*\.?\s+"
_OLD = r"[\s-]*{unit}s?(?:[\s-]*old\b|\s+of\s+age\b)"
_Y_O = r"\s*y\.?\s?o\b"
_AGE_BEFORE = r"\bage[ds]?:?(?:\s+of)?\s+"
_WORDS_OF = {"female": "female|woman|lady|girl", "male": "male|man|gentleman|boy"}
_DESCRIBED = (
    r"(?:\b(?:year|month)s?[\s-]*old|\by\.?\s?o\b\.?|\b(?:elderly|middle-aged|pleasant|cooperative|healthy|"
    r"white|caucasian|black|african[\s-]american|asian|hispanic|latino|latina))\b"
)


def occurrences(text: str, metadata: Mapping[str, str]) -> list[Mention]:
    """The places of the patient's names, age and gender in one text, in order, each labeled by what it is.

    ``metadata`` has ``patient_firstname``, ``patient_familyname``, ``patient_age`` and ``patient_gender``;
    missing or unusable values are skipped.
    """
    first, family = (metadata.get(f"patient_{part}name", "").strip() for part in ("first", "family"))
    found = {
        *_named(text, first, family, FIRST_NAME),
        *_named(text, family, first, FAMILY_NAME),
        *_aged(text, metadata.get("patient_age", "").strip()),
        *_gendered(text, metadata.get("patient_gender", "").strip().lower()),
    }
    return sorted(found)


def _named(text: str, name: str, other: str, label: str) -> Iterator[Mention]:
    if not any(letter.isalpha() for letter in name):
        return
    for match in re.finditer(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
        word = match.group()
        if word.lower() not in COMMON_WORDS or word[0].isupper() or _clearly_a_name(text, match, other):
            yield Mention(*match.span(), label)


def _clearly_a_name(text: str, match: re.Match[str], other: str) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if re.search(_ADDRESS + "$", before[-20:], re.IGNORECASE):
        return True
    beside = re.escape(other)
    return bool(other) and bool(
        re.search(rf"\b{beside}\s+$", before[-len(other) - 5 :], re.IGNORECASE)
        or re.match(rf"\s+{beside}\b", after, re.IGNORECASE)
    )


def _aged(text: str, age: str) -> Iterator[Mention]:
    number = re.match(r"\d+", age)
    if number is None:
        return
    forms = "|".join((re.escape(number.group()), *_in_words(int(number.group()))))
    unit = "month" if "month" in age else "year"
    after = _OLD.format(unit=unit) + (f"|{_Y_O}" if unit == "year" else "")
    patterns = (
        rf"(?<![\w.,/])(?P<age>{forms})(?={after})",
        rf"{_AGE_BEFORE}(?P<age>{forms})\b(?![.,/]\d)",
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield Mention(*match.span("age"), AGE)


def _in_words(number: int) -> list[str]:
    """A pattern for a number below a hundred in words; empty for others."""
    if number < len(_ONES):
        return [_ONES[number]]
    if number >= 100:
        return []
    tens = _TENS[number // 10 - 2]
    return [rf"{tens}[\s-]+{_ONES[number % 10]}" if number % 10 else tens]


def _gendered(text: str, gender: str) -> Iterator[Mention]:
    if gender not in _WORDS_OF:
        return
    between = r"(?:[^\w\n]+[\w'.-]+){0,4}?[^\w\n]+"
    pattern = rf"{_DESCRIBED}{between}\b(?P<word>{_WORDS_OF[gender]})\b"
    for match in re.finditer(pattern, text, re.IGNORECASE):
        yield Mention(*match.span("word"), GENDER)
