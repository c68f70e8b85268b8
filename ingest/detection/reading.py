"""The reader's items as mentions: their labels, classes and needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.documents import Document, Entity, Span
from ingest.labels import LABELS, NOT_ASKED, PERSON, VAGUE, label_of

if TYPE_CHECKING:
    from models.reader.reader import Item, Reader, Told

LABELS_OF: Mapping[str, Sequence[str]] = {
    "PERSON": (PERSON,),
    "CODE": ("reference number",),
    "CONTACT": (
        *("account handle", "phone number", "email address", "URL link", "personal web link", "IP address"),
        "MAC address",
    ),
    "ADDRESS": ("street address", "zip postal code", "building number", "secondary address unit"),
    "LOC": ("place", "city name", "county", "state or province", "country"),
    "ORG": ("organization", "medical department"),
    "DATE": ("date", "date of birth"),
    "TIME": ("time",),
    "DURATION": ("duration", "frequency"),
    "AGE": ("person age",),
    "QUANTITY": ("quantity", "dosage", "frequency", "person height", "test result"),
    "MONEY": ("monetary amount",),
    "JOB": ("job title", "job area", "job type"),
    "FAMILY": ("demographic attribute", "marital status"),
    "ORIGIN": ("nationality", "religion", "language", "demographic attribute"),
    "DEM": ("demographic attribute", "gender", "eye color", "person height"),
    "CONDITION": ("diagnosis", "symptom", "disease", "allergy"),
    "DRUG": ("medication", "dosage"),
    "TEST": ("test result", "medical test"),
    "PROCEDURE": ("procedure",),
    "MISC": (VAGUE, "event"),
}
"""The labels that an item of a kind may have; the first where the reader finds none of them likelier.

The issuer of a code is known only where a pattern computes its check digits."""
ASKED = tuple(name for name in LABELS if name not in NOT_ASKED)
"""The labels of ours that the reader looks for."""
TOLD = 0.5
"""The probability of telling of somebody from which an item is a mention."""


_NAMES = ("PERSON", "CODE", "CONTACT")
_ENDS_NOTHING = frozenset("at with in of to and the from for by or than into".split())
"""Words with which no phrase ends: 25 of 56,000 marked items do."""
_TITLES = frozenset("mr mrs ms miss mx dr prof sir madam".split())
_JOINTS = frozenset("'’-‑")
_CLITICS = frozenset("m s t d re ve ll".split())
"""What stands behind the apostrophe of "I'm". A letter elsewhere may be somebody's initial."""


def _whole(item: "Item", told: "Told", text: str) -> "Item":
    """The item without words at its end that would only begin something else; a name with its whole words."""
    places, last = told.words.places, item.last
    if item.kind == "PERSON":
        return _unbroken(item, told, text)
    while last - item.first > 1 and text[slice(*places[last - 1])] in _ENDS_NOTHING:
        last -= 1
    if last == item.last or item.kind in _NAMES:
        return item
    return replace(item, last=last, end=places[last - 1][1])


def _unbroken(item: "Item", told: "Told", text: str) -> "Item":
    """A name with what an apostrophe or a hyphen joins to it: all of O'Hanley, where only "O" was found."""
    places = told.words.places
    first, last = item.first, item.last

    def joins(sign: int) -> bool:
        """Whether the words beside a sign are parts of one name."""
        if not 0 < sign < len(places) - 1:
            return False
        before, joint, after = (text[slice(*place)] for place in places[sign - 1 : sign + 2])
        (_, left), (start, end), (right, _) = places[sign - 1 : sign + 2]
        is_part = after[:1].isupper() and (after.lower() not in _CLITICS or joint in "-‑")
        return joint in _JOINTS and left == start and end == right and before[:1].isupper() and is_part

    while joins(last):
        last += 2
    while joins(first - 1):
        first -= 2
    return replace(item, first=first, last=last, start=places[first][0], end=places[last - 1][1])


def _is_no_item(item: "Item", text: str) -> bool:
    """Whether it is a title without its name, or the end of "I'm"."""
    said, before = text[item.start : item.end], text[max(0, item.start - 1) : item.start]
    return (item.kind == "PERSON" and said.lower() in _TITLES) or (said in _CLITICS and before in ("'", "’"))


def mentions_of(label: str, number: int, told: "Told", source: str) -> Iterator[Entity]:
    """The mentions of a label, which has this number among those of the reader."""
    for start, end, score in told.mentions(number):
        yield Entity(Span(start, end), label, label_of(label).identifier, score, source)


class LabelDetector:
    """An ``EntityDetector`` that finds the mentions of a reader's labels, of whomever they tell."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self.name = f"model:{reader.name}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The mentions of each document; those of two labels may overlap."""
        return [
            [
                mention
                for number, label in enumerate(self._reader.labels)
                for mention in mentions_of(label, number, told, self.name)
            ]
            for told in self._reader.told([document.text for document in documents])
        ]


class ReadingDetector:
    """An ``EntityDetector`` over a reader that looks for ``ASKED``, and for labels of a user's own."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._column = {label: number for number, label in enumerate(reader.labels)}
        self._own = [number for label, number in self._column.items() if label not in LABELS]
        self.name = f"model:{reader.name}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked mentions of each document, by start, with their needs."""
        return [entities for entities, _ in self.judged(documents)]

    def judged(self, documents: Sequence[Document]) -> "list[tuple[list[Entity], Told]]":
        """The same, and what was read of each document."""
        told = self._reader.told([document.text for document in documents])
        return [
            (sorted(self._mentions(each, document.text), key=lambda one: one.span), each)
            for each, document in zip(told, documents, strict=True)
        ]

    def likely_same(self, text: str, spans: Sequence[Span]) -> list[list[int]]:
        """For each mention of a name the earlier ones that are likely the same, as ``Reader.likely_same``."""
        return self._reader.likely_same(text, [(span.start, span.end) for span in spans])

    def _mentions(self, told: "Told", text: str) -> Iterator[Entity]:
        for item in told.items():
            whole = _whole(item, told, text)
            if item.need.tells >= TOLD and not _is_no_item(whole, text):
                yield self._mention(whole, told)
        for number in self._own:
            yield from mentions_of(self._reader.labels[number], number, told, self.name)

    def _mention(self, item: "Item", told: "Told") -> Entity:
        label = self._label(item, told)
        return Entity(
            span=Span(item.start, item.end),
            label=label,
            identifier=label_of(label).identifier,
            confidence=item.need.tells,
            source=self.name,
            need=item.need,
        )

    def _label(self, item: "Item", told: "Told") -> str:
        labels = LABELS_OF[item.kind]
        if len(labels) == 1:
            return labels[0]
        scores = told.inside[item.first : item.last].mean(axis=0)
        return max(labels, key=lambda label: float(scores[self._column[label]]))
