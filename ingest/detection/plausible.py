"""Post-processing of a learned model's spans: drop implausible ones, join pieces of numbers."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.detection.forms import LOOK_BACK, has_form
from ingest.detection.lengths_of_time import with_lengths_of_time
from ingest.detection.rules.known_parts import PLAIN_TITLES
from ingest.documents import Span
from ingest.labels import EMAIL, NAMES, PERSON, label_of
from ingest.language.name_grammar import eponym, eponym_noun_at
from ingest.language.tokens import Tokens, tokenize
from ingest.language.vocabulary import WORD, fold, words
from models.detectors.words import FoundSpan

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
    + ("staff", "claim", "email", "mail", "e", "address")
)
FUNCTION_WORDS = frozenset(
    ("a", "the", "this", "that", "these", "those", "of", "and", "or", "in", "on", "at", "to", "for", "by")
    + ("with", "from", "as", "is", "was", "are", "were", "be", "been", "its", "if", "so", "then", "there")
    + ("here", "when", "where", "while", "s", "t", "o", "ma", "am", "hm", "hmm", "um", "uh", "okay", "okey")
)
"""In lower case, in which none is an initial."""
INSIDE_NUMBERS = frozenset(("", "/", "-", ".", "_"))
HEADINGS = frozenset(("EENT", "HEENT", "HENT", "HPI", "PMH", "PSH", "CVS", "MSK"))
"""Headings of clinic notes that models take for names; none is one."""
SECRET = NUMBERS | {"password", "PIN code", "secret key"}
SPEAKERS = frozenset(
    ("guest", "family", "clinician", "doctor", "patient", "nurse", "speaker", "interviewer", "interviewee")
    + ("agent", "customer", "caller", "assistant")
)
"""Words of speaker marks: Guest_family, Speaker_2."""
FREE = frozenset(("password", "PIN code", "account handle", "secret key", "gender"))
"""Labels that any sign or word can have."""


def plausible(spans: Sequence[FoundSpan], text: str) -> list[FoundSpan]:
    """Join numbers, and drop spans without a name or content: "MRN", "of the", "Mr", "/".

    Also drops headings that were taken for names, and eponyms, such as Parkinson in Parkinson's disease, and
    relabels durations found as dates.
    """
    relabelled = with_lengths_of_time(spans, text)
    kept = [span for span in joined(relabelled, text) if _says_something(span, text)]
    if not any(_may_be_eponym(span, text) for span in kept):
        return kept
    tokens = tokenize(text)
    return [span for span in kept if not (_may_be_eponym(span, text) and _is_eponym(span, tokens))]


def joined(spans: Iterable[FoundSpan], text: str) -> list[FoundSpan]:
    """Join numbers that touch or overlap, such as 28411/96 found in pieces, under the riskiest label.

    Spans of other labels are unchanged; the result is in text order.
    """
    ordered = sorted(spans, key=lambda s: (s.start, s.end))
    others = [span for span in ordered if span.label not in NUMBERS]
    whole: list[FoundSpan] = []
    for span in (span for span in ordered if span.label in NUMBERS):
        if whole and (span.start < whole[-1].end or text[whole[-1].end : span.start] in INSIDE_NUMBERS):
            whole[-1] = _one(whole[-1], span)
        else:
            whole.append(span)
    return sorted([*whole, *others], key=lambda s: (s.start, s.end))


def _one(left: FoundSpan, right: FoundSpan) -> FoundSpan:
    kind = max(left, right, key=lambda span: (label_of(span.label).risk, span.score))
    end, score = max(left.end, right.end), max(left.score, right.score)
    return replace(kind, start=left.start, end=end, score=score)


def _says_something(span: FoundSpan, text: str) -> bool:
    said = text[span.start : span.end]
    found = WORD.findall(said)
    if "_" in said and span.label not in SECRET and found and all(map(_marks_a_speaker, found)):
        return False
    before, after = text[max(0, span.start - LOOK_BACK) : span.start], text[span.end : span.end + LOOK_BACK]
    if not has_form(span.label, said, before, after):
        return False
    if span.label in FREE:
        return True
    if not found or all(word in FUNCTION_WORDS for word in found):
        return False
    folded = {fold(word) for word in found}
    if span.label in NUMBERS or span.label == EMAIL:
        return not folded <= ANNOUNCING
    if span.label != PERSON:
        return True
    return not (folded <= PLAIN_TITLES or is_heading(Span(span.start, span.end), text))


def is_heading(span: Span, text: str) -> bool:
    """Whether a span is a heading of clinic notes, before its colon."""
    return text[span.start : span.end].rstrip(":") in HEADINGS and ":" in text[span.end - 1 : span.end + 1]


def _marks_a_speaker(word: str) -> bool:
    return fold(word) in SPEAKERS or (word.isdigit() and len(word) < 3)


def _may_be_eponym(span: FoundSpan, text: str) -> bool:
    return span.label in NAMES and all(
        fold(word) in words("eponyms") for word in WORD.findall(_named(span, text))
    )


def _is_eponym(span: FoundSpan, tokens: Tokens) -> bool:
    first = bisect_left(tokens.starts, span.start)
    end = bisect_left(tokens.starts, span.start + len(_named(span, tokens.text)))
    stands_for_a_disease = first < end and eponym(tokens, first, end)
    return stands_for_a_disease and eponym_noun_at(tokens, tokens.possessive_end(end))


def _named(span: FoundSpan, text: str) -> str:
    return text[span.start : span.end].removesuffix("'s").removesuffix("’s")
