"""Mentions side by side that are one item: a date with its time, a surname with its initials."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.detection.patterns.words import MONTHS
from ingest.detection.sources import is_doubted
from ingest.documents import Entity, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.language.vocabulary import WORD, fold
from ingest.spans import joined, union_of
from models.detectors.words import Need

MOMENTS = frozenset(("date", "time"))
JOBS = frozenset(("job title", "job area", "demographic attribute"))
_KIND_OF = {**dict.fromkeys(MOMENTS, "date"), **dict.fromkeys(JOBS, "job title")}
"""The labels whose mentions are joined as one item under another label."""
_NAMED_BY_LAST = frozenset(
    (("time", "date"), ("demographic attribute", "job title"), ("job area", "job title"))
)
_JOINTS = {
    "date": re.compile(r",? (?:at |on |@ ?)?|T|\u00a0"),
    "person age": re.compile(r"[ -]"),
    "job title": re.compile(r" (?:and )?|, "),
    PERSON: re.compile(", "),
    ORGANIZATION: re.compile(",? | (?:and|&|of) "),
}
"""What stands between the parts of a moment, of an age, of a job, of a surname and its initials, of an
institution and of a firm and its legal form."""
_INSTITUTIONS = frozenset(
    ("commission", "ministry", "department", "committee", "board", "council", "authority", "agency")
    + ("institute", "association", "society", "federation", "centre", "center", "office", "service")
)
"""The last words of names that begin with two fields: the Equality and Fairness Commission."""
_GOVERNING = _INSTITUTIONS | {"court", "ministry", "university", "bank", "house", "chamber", "school"}
_LEGAL_FORMS = frozenset(("LLC", "LLP", "LP", "L.P", "Inc", "Ltd", "Corp", "PLC", "GmbH", "L.L.C"))
_INITIALS = re.compile(r"(?:[A-Z]\.[ -]?){1,3}|[A-Z]{1,2}")
LEADING = frozenset(
    ("head", "director", "manager", "chief", "president", "chair", "chairman", "chairwoman", "professor")
    + ("dean", "secretary", "minister", "member", "vp", "lead", "coordinator", "supervisor", "student")
    + ("bs", "ba", "ms", "ma", "bsc", "msc", "phd", "mphil", "bachelor", "master", "masters", "degree")
)
"""The last words of a job or a degree whose field follows."""
ZONE = re.compile(
    r" (?:(?:Eastern|Central|Mountain|Pacific|Greenwich)(?: (?:Standard|Daylight|Mean))?(?: Time)?"
    r"|(?:Standard|Daylight) Time|[ECMP][SD]T|GMT|UTC|CES?T|BST)\b"
)
_CLOCK = re.compile(
    r"(?i)(?:[0-2]?[0-9][:.][0-5][0-9](?:[:.,][0-9]+)*(?: ?[ap]\.?m\.?)?|[0-2]?[0-9] ?[ap]\.?m\.?"
    rf"|noon|midnight|[a-z]+ o'clock)(?:{ZONE.pattern})?"
)
WEEKDAY = re.compile(r"(?i)(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?")
_MONTH_AND_DAY = re.compile(
    rf"(?i)(?:{MONTHS})\.?(?: [0-3]?[0-9](?:st|nd|rd|th)?)?"
    rf"|[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{MONTHS})\.?"
)
YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_RETIRED = frozenset(
    ("retired", "former", "serving", "acting", "senior", "junior", "trainee", "assistant", "deputy", "new")
    + ("consultant", "specialist", "locum", "visiting", "associate", "principal", "registered", "chartered")
)


def united(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """The mentions by place; the parts of one moment, age or name as one."""
    parts: dict[str, list[Entity]] = {kind: [] for kind in (*_JOINTS, "")}
    for entity in sorted(entities, key=lambda entity: entity.span):
        kind = _KIND_OF.get(entity.label, entity.label)
        parts[kind if kind in _JOINTS else ""].append(entity)

    def meet(one: Entity, other: Entity) -> bool:
        between = _JOINTS[_KIND_OF.get(one.label, one.label)]
        apart = one.span.end <= other.span.start
        if not apart or between.fullmatch(text, one.span.end, other.span.start) is None:
            return False
        said, behind = text[one.span.start : one.span.end], text[other.span.start : other.span.end]
        if one.label in MOMENTS:
            return _one_moment(said, behind)
        gap = text[one.span.end : other.span.start]
        if one.label in JOBS and not _one_job(one.label, other.label, said, gap, behind):
            return False
        return (
            is_doubted(one)
            and is_doubted(other)
            and (one.label in JOBS or _one_item(one.label, said, gap, behind))
        )

    def join(one: Entity, other: Entity) -> Entity:
        first = other if (one.label, other.label) in _NAMED_BY_LAST else one
        return replace(first, span=union_of(one.span, other.span), need=_highest(one.need, other.need))

    united = [_with_zone(each, text) for kind in _JOINTS for each in joined(parts[kind], meet, join)]
    return sorted([*parts[""], *united], key=lambda entity: entity.span)


def _with_zone(entity: Entity, text: str) -> Entity:
    zone = ZONE.match(text, entity.span.end) if entity.label in MOMENTS else None
    return entity.at(Span(entity.span.start, zone.end())) if zone else entity


def _one_job(label: str, behind_label: str, said: str, gap: str, behind: str) -> bool:
    """Whether two mentions say one job: retired dentist; Chair and Chief Officer; Manager, Customer Care."""
    if gap == " ":
        return behind_label == "job title" and fold(said) in _RETIRED
    if label != "job title" or not (said[0].isupper() and behind[0].isupper()):
        return False
    if gap == ", ":
        return fold(WORD.findall(said)[-1]) in LEADING
    return behind_label == "job title"


def _one_moment(said: str, behind: str) -> bool:
    """Whether a date and its time, or a weekday and its date, are side by side; never two of a kind."""
    if WEEKDAY.fullmatch(said):
        return not WEEKDAY.search(behind)
    if YEAR.fullmatch(behind):
        return _MONTH_AND_DAY.fullmatch(said) is not None
    alone = _CLOCK.fullmatch(said) is not None, _CLOCK.fullmatch(behind) is not None
    return alone[0] != alone[1] and not _CLOCK.search(said if alone[1] else behind)


def _one_item(label: str, said: str, gap: str, behind: str) -> bool:
    """Whether a surname has its initials behind it, an age its unit, an institution its second field."""
    if label == PERSON:
        return _INITIALS.fullmatch(behind) is not None
    if label == ORGANIZATION:
        if not gap.strip(", "):
            return behind.rstrip(".") in _LEGAL_FORMS
        ends = {fold(word) for word in WORD.findall(behind)[-1:]}
        if gap == " of ":
            return fold(WORD.findall(said)[-1]) in _GOVERNING
        return WORD.fullmatch(said) is not None and not said.isupper() and ends <= _INSTITUTIONS
    return not behind[0].isdigit()


def _highest(one: Need | None, other: Need | None) -> Need | None:
    if one is None or other is None:
        return one or other
    return Need(max(one.tells, other.tells), max(one.should, other.should), max(one.must, other.must))
