"""The SPIA posts: their types are noisy, and the invented author's profile tells what a value really is."""

import ast
import re
from collections.abc import Iterator

from models.training.corpora.passages import ordered
from models.training.corpora.records import Row
from models.training.examples import Example, Mention
from models.training.label_maps import asked_labels, mapped

_CORPUS = "spia_posts"
# How far a mark may have slipped from its text.
_SLIP = 4

_FIELDS: dict[str, tuple[str, ...]] = {
    "PERSON": ("Father's Name", "Mother's Name", "Spouse Name", "Emergency Contact Name"),
    "ORG": ("Employer",),
    "NATIONAL_ID": ("National ID",),
    "PASSPORT": ("Passport Number",),
    "LICENCE": ("Driver's License",),
    "PHONE": ("Phone Number", "Work Phone", "Emergency Contact Phone"),
    "EMAIL": ("Email Address", "Work Email"),
    "ADDRESS": ("Address",),
}
# In order: the first that matches the whole value decides.
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("EMAIL", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\.?")),
    ("SSN", re.compile(r"\d{3}-\d{2}-\d{4}")),
    ("NATIONAL_ID", re.compile(r"[A-Z]{2}-ID-\d+")),
    ("LICENCE", re.compile(r"[A-Z]{2}-DL-\d+")),
    ("PHONE", re.compile(r"[#+(]?[\d ().-]{9,}(?:x\d+)*")),
    ("POSTCODE", re.compile(r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}")),
    ("CODE", re.compile(r"[A-Z]?\d{8,9}")),
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\b.*")
_HANDLE = re.compile(r"(?=\S*(?:\d|_|\w\.\w|[a-z][A-Z]))[\w.]+")
_DIGITS = re.compile(r"\d")
_BEFORE_HANDLE = re.compile(r"(?:@|\bUser ?name: ?)$")


def post(row: Row) -> Example:
    """A post with its marks, retyped and put right."""
    about = row["metadata"]["provenance"]["profile"]
    text = str(row["text"])
    known = _known(about)
    name = row["metadata"]["data_id"]
    mentions = ordered(_mentions(text, row["entities"], known, str(about.get("Address", ""))), text)
    return Example(f"{_CORPUS}:{name}", _CORPUS, about["Unique ID"], text, mentions, asked_labels(_CORPUS))


def _mentions(text: str, entities: list[Row], known: dict[str, str], address: str) -> Iterator[Mention]:
    for entity in entities:
        value = str(entity["span_text"])
        start = _start(text, value, int(entity["start_offset"]))
        if start is None:
            continue
        end = start + len(value)
        label = _label(value, str(entity["entity_type"]), text[:start], known, address)
        if label == "HANDLE" and text[:start].endswith("@"):
            start -= 1
        if label == "EMAIL" and value.endswith("."):
            end -= 1
        for ours in mapped(_CORPUS, label):
            yield Mention(start, end, ours)


def _start(text: str, value: str, marked: int) -> int | None:
    """Where ``value`` stands, nearest to where it was marked."""
    places = [place for place in range(marked - _SLIP, marked + _SLIP + 1) if place >= 0]
    found = [place for place in places if text.startswith(value, place)]
    return min(found, key=lambda place: abs(place - marked), default=None)


def _known(about: Row) -> dict[str, str]:
    """The values of the profile, folded, and what they are."""
    values = {_fold(str(about.get(field, ""))): kind for kind, fields in _FIELDS.items() for field in fields}
    first, last = str(about.get("First Name", "")), str(about.get("Last Name", ""))
    values |= {_fold(name): "PERSON" for name in (first, f"{first} {last}")}
    values |= {_fold(handle): "HANDLE" for handle in _handles(about)}
    return {value: kind for value, kind in values.items() if value not in ("", "na", "none")}


def _handles(about: Row) -> list[str]:
    accounts = ast.literal_eval(str(about.get("Social Media Handles", "{}")))
    return [str(handle) for handle in accounts.values()]


def _fold(value: str) -> str:
    return re.sub(r"[^\w]", "", value).lower()


def _label(value: str, given: str, before: str, known: dict[str, str], address: str) -> str:
    kind = known.get(_fold(value))
    if kind == "NATIONAL_ID" and _SHAPES[1][1].fullmatch(value):
        return "SSN"
    if kind is not None:
        return "HANDLE" if kind == "PERSON" and before.endswith("@") else kind
    for shape, pattern in _SHAPES:
        if pattern.fullmatch(value):
            return shape
    return _by_type(value, given, before, address)


def _by_type(value: str, given: str, before: str, address: str) -> str:
    if _DATE.fullmatch(value):
        return "DATETIME"
    if given in ("PERSON", "ORG") and len(value) > 3 and value in address:
        return "LOC"
    if given == "PERSON":
        return _of_person(value, before)
    if given == "LOC" and _DIGITS.search(value):
        return "ADDRESS"
    if given == "CODE" and " " in value:
        # An error message.
        return ""
    return given


def _of_person(value: str, before: str) -> str:
    if _BEFORE_HANDLE.search(before) or _HANDLE.fullmatch(value):
        return "HANDLE"
    if len(_DIGITS.findall(value)) >= 3:
        return "CODE"
    return "ORG" if ", " in value and " and " in value else "PERSON"
