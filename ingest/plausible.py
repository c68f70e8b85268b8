"""What a learned model says of words that can be no mention, or of a number word by word, set right."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from ingest.rules.vocabulary import WORD, fold, words
from models.windows import FoundSpan

NUMBERS = frozenset(
    ("social security number", "passport number", "bank account number", "credit card number", "phone number")
    + ("national id number", "tax number", "driving licence number", "medical record number", "case number")
    + ("health insurance number", "employee number", "reference number", "IBAN", "phone IMEI", "vehicle VIN")
)
ANNOUNCING = frozenset(
    ("mrn", "ssn", "nhs", "iban", "imei", "vin", "id", "no", "nr", "number", "code", "passport", "account")
    + ("reference", "ref", "case", "file", "docket", "invoice", "order", "ticket", "booking", "policy")
    + ("phone", "tel", "telephone", "mobile", "fax", "cell", "licence", "license", "permit", "employee")
    + ("application", "appeal", "complaint", "chart", "record", "records", "member", "card", "tax", "vat")
    + ("staff", "claim")
)
FUNCTION_WORDS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "of", "and", "or", "in", "on", "at", "to", "for")
    + (
        "by",
        "with",
        "from",
        "as",
        "is",
        "was",
        "are",
        "were",
        "be",
        "been",
        "its",
        "if",
        "so",
        "than",
        "then",
    )
    + ("there", "here", "when", "where", "while", "s", "t", "o")
)
"""In lower case, where none of them is an initial."""
INSIDE_NUMBERS = frozenset(("", "/", "-", ".", "_"))
PERSON = "person full name"


def plausible(spans: Sequence[FoundSpan], text: str) -> list[FoundSpan]:
    """Whole numbers, and no span that holds no name and no content: "MRN", "of the", "Mr", "/"."""
    return [span for span in joined(spans, text) if _says_something(span, text)]


def joined(spans: Iterable[FoundSpan], text: str) -> list[FoundSpan]:
    """Numbers that touch, taken for several kinds of number, are one: 28411/96. The surest names its kind.

    Spans of other labels stay as they are, and the order is that of the text.
    """
    ordered = sorted(spans, key=lambda s: (s.start, s.end))
    others = [span for span in ordered if span.label not in NUMBERS]
    whole: list[FoundSpan] = []
    for span in (span for span in ordered if span.label in NUMBERS):
        if whole and text[whole[-1].end : span.start] in INSIDE_NUMBERS:
            surest = max(whole[-1], span, key=lambda s: s.score)
            whole[-1] = replace(surest, start=whole[-1].start, end=max(whole[-1].end, span.end))
        else:
            whole.append(span)
    return sorted([*whole, *others], key=lambda s: (s.start, s.end))


def _says_something(span: FoundSpan, text: str) -> bool:
    found = WORD.findall(text[span.start : span.end])
    if not found or all(word in FUNCTION_WORDS for word in found):
        return False
    folded = {fold(word) for word in found}
    if span.label in NUMBERS:
        return not folded <= ANNOUNCING
    return span.label != PERSON or not folded <= _mere_titles()


@cache
def _mere_titles() -> frozenset[str]:
    """Titles that are no surname: Mr and Dr, but neither King nor Judge."""
    return words("titles") - words("surnames", "given_names", "given_names_ambiguous")
