"""The words for what an item is: of its sort where that is sure, of its group of sorts, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ingest.documents import Entity
from ingest.labels import VAGUE
from ingest.language.vocabulary import WORD, fold
from ingest.wording.mentions import LOOK, Mention
from ingest.wording.sentence import Forms, Words
from models.wording import FORMS, Floats, Place, Sort, embedded_wording

KIND_OF: Mapping[str, str] = {
    **dict.fromkeys(("job title", "job area", "job type"), "JOB"),
    **dict.fromkeys(("organization", "medical department"), "ORG"),
    **dict.fromkeys(("place", "city name", "county", "state or province", "country"), "LOC"),
    **dict.fromkeys(("demographic attribute", "marital status", "gender", "eye color"), "PERSONAL"),
    **dict.fromkeys(("nationality", "religion", "language"), "PERSONAL"),
    **dict.fromkeys(("diagnosis", "symptom", "disease", "allergy"), "CONDITION"),
    **dict.fromkeys(("medication",), "DRUG"),
    **dict.fromkeys(("test result", "medical test"), "TEST"),
    **dict.fromkeys(("procedure",), "PROCEDURE"),
    **dict.fromkeys(("person age", "date", "date of birth", "time", "duration", "frequency"), "NUMBER"),
    **dict.fromkeys(("quantity", "dosage", "person height", "monetary amount"), "NUMBER"),
    **dict.fromkeys((VAGUE, "event"), "MISC"),
}
"""What the wording head reads as the kind of a label's items."""
MENTIONS = 4
"""Mentions of a thing that are read at most."""
SURE = 0.7
"""The probability from which a sort is believed."""
SURE_OF_GROUP = 0.8
"""The same for a group of sorts."""
SURE_OF_OTHER = 0.85
"""The same for a sort of another kind than an item was found as."""


_OPEN_KINDS = ("PERSONAL", "MISC", "JOB")
"""Kinds of whatever fits no other, and of jobs, which are confused with where they are done."""
_PEOPLE = frozenset(("relative", "friend", "person"))
"""Groups of sorts of people."""
CERTAIN = 0.8
"""The probability from which the kind of a number is put right."""
_LABEL_OF: Mapping[str, str] = {
    **{"age": "person age", "date": "date", "time of day": "time", "length of time": "duration"},
    **{"sum of money": "monetary amount", "how often": "frequency", "share or percentage": "quantity"},
    **dict.fromkeys(("number of people", "number of things", "weight, length or volume"), "quantity"),
    **dict.fromkeys(
        ("blood result", "blood pressure, pulse or temperature", "score or grade"), "test result"
    ),
    **dict.fromkeys(("measurement of the body", "other result"), "test result"),
}
_FAMILY = {"date of birth": "date", "dosage": "quantity", "person height": "quantity"}


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of an item: its sort and group, if they are sure, their words, and the forms that fit."""

    sort: str = ""
    group: str = ""
    words: Words | None = field(default=None, repr=False)
    forms: Forms = field(default_factory=dict, repr=False)


def known_of(mention: Mention) -> Known:
    """What the head reads of a mention; nothing for one whose label has no kind."""
    kind = KIND_OF.get(mention.label)
    if kind is None:
        return Known()
    model = embedded_wording()
    place = Place(kind, mention.said, mention.before, mention.after)
    read, anything = model.read([place, replace(place, kind="")])
    if kind in _OPEN_KINDS and read.sorts.max() < SURE and anything.sorts.max() >= SURE_OF_OTHER:
        # a thing of another kind than it was found as
        read = replace(anything, forms=read.forms)
    sort, group = _sure(read.sorts, model.sorts, SURE), _sure(read.groups, model.groups, SURE_OF_GROUP)
    said = {fold(word) for word in WORD.findall(mention.said)}
    sayable = (
        each for each in (sort, group) if each is not None and _says(each) and not _repeats(each, said)
    )
    person = kind == "JOB" or (group is not None and group.name in _PEOPLE)
    words = next((Words(e.one, e.many, e.bare, e.verb, e.adjective, person) for e in sayable), None)
    forms = dict(zip(FORMS, map(float, read.forms), strict=True))
    return Known(sort.name if sort else "", group.name if group else "", words, forms)


def number_label(mention: Mention) -> str | None:
    """The label of a number, day or length that was surely taken for another kind; else None."""
    if KIND_OF.get(mention.label) != "NUMBER":
        return None
    model = embedded_wording()
    read = model.read([Place("NUMBER", mention.said, mention.before, mention.after)])[0]
    best = int(read.sorts.argmax())
    label = _LABEL_OF.get(model.sorts[best].name) if read.sorts[best] >= CERTAIN else None
    return (
        None
        if label is None or _FAMILY.get(label, label) == _FAMILY.get(mention.label, mention.label)
        else label
    )


def noun_of(text: str, mentions: Sequence[Entity]) -> str | None:
    """The noun that a named thing goes by, such as Bank or Street, from its mentions; None if unsure."""
    model = embedded_wording()
    places = {
        Place(
            KIND_OF[each.label] if each.label in KIND_OF else "ORG",
            text[each.span.start : each.span.end],
            text[max(0, each.span.start - LOOK) : each.span.start],
            text[each.span.end : each.span.end + LOOK],
        )
        for each in mentions[:MENTIONS]
    }
    read = model.read(sorted(places, key=lambda place: (place.said, place.before)))
    both = (
        _sure(np.mean([each.sorts for each in read], axis=0), model.sorts, SURE),
        _sure(np.mean([each.groups for each in read], axis=0), model.groups, SURE_OF_GROUP),
    )
    nouns = (each.bare for each in both if each and each.kind in ("ORG", "LOC") and each.bare)
    noun = next((each for each in nouns if " or " not in each), None)
    if noun is None:
        return None
    return " ".join(word if word in ("of", "and") else word.capitalize() for word in noun.split())


def _sure(probabilities: Floats, sorts: Sequence[Sort], limit: float) -> Sort | None:
    best = int(probabilities.argmax())
    return sorts[best] if probabilities[best] >= limit else None


def _says(sort: Sort) -> bool:
    return bool(sort.one or sort.adjective or sort.verb)


def _repeats(sort: Sort, said: set[str]) -> bool:
    """Whether the words say nothing but what the item says: nurse for a senior nurse."""
    return {fold(word) for word in WORD.findall(sort.bare or sort.one)} <= said
