"""The risk prior: how much a text exposes a person, from labels and context alone.

It replaces a learned privacy-risk model and is called ``prior`` in every report. Its numbers are the
midpoints of TRIP-RAG's annotation rubric (``ingest.labels``). The context is what the rubric describes:
whether the text mentions a person, and how many different facts can be combined.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from ingest.annotated import AnnotatedText, residual_spans
from ingest.documents import Entity, Identifier
from ingest.labels import PERSON, label_of
from ingest.protocols import Hazards
from ingest.spans import Shift, merged, substitute
from ingest.wording.aliases import is_person_alias

FACET_GAIN = 0.25
"""Added to the hazard of every quasi-identifier per doubling of their number of distinct labels."""

NO_PERSON = 0.3
"""Factor on a quasi-identifier's hazard in a text that mentions no person."""

ATTRIBUTES_CEILING = -math.log(1 - 0.3)
"""Upper bound, in nats, on the total hazard of a text's attributes: symptoms, drugs and the like."""

_SOMEBODY = re.compile(
    r"\b(?:he|she|him|her|his|hers|i|me|my|mine|we|our|mr|mrs|ms|miss|somebody|(?<!\ba )patient"
    r"|applicant|claimant|respondent|plaintiff|defendant|witness|gentleman|lady)\b",
    re.IGNORECASE,
)


class RiskPrior:
    """R(T) = direct + facets(m) * quasi + attributes, each a sum over linked entities, in nats.

    A linked entity of prior risk p weighs -ln(1 - p) once, however often it is mentioned. ``m`` is the number
    of distinct labels among the quasi-identifiers. Removing an entity never raises R.
    """

    name = "prior"

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """R(T), and R(T) - R(T without e) for each e, from sums that each e changes a little."""
        return [_hazards(text) for text in texts]


def _hazards(text: AnnotatedText) -> Hazards:
    sums = _Sums(text)
    total = sums.total()
    mentions, beside = text.mentions(), _overlapping(text)
    gains = {}
    for number, own in mentions.items():
        left: dict[int, Sequence[Entity]] = {number: ()}
        put_in = merged((each.span, descriptor_of(each)) for each in own)
        shift = Shift(put_in) if number in beside else None
        for other in beside.get(number, ()):
            left[other] = [e for e in mentions[other] if shift and any(residual_spans(text.text, e, shift))]
        gains[number] = total - sums.total(left, [words for _, words in put_in])
    return Hazards(total, gains)


def descriptor_of(entity: Entity) -> str:
    """The stand-in for an entity when the risk model reads the text without it."""
    return label_of(entity.label).descriptor


_Weight = tuple[Entity, float]


class _Sums:
    """Sums over a text's linked entities, so that leaving some out is cheap."""

    def __init__(self, text: AnnotatedText) -> None:
        self.weights = _weights(text.entities)
        self.sums = dict.fromkeys(Identifier, 0.0)
        self.facets: Counter[str] = Counter()
        for entity, weight in self.weights.values():
            self.sums[entity.identifier] += weight
            if entity.identifier is Identifier.QUASI:
                self.facets[entity.label] += 1
        self.named = {entity.link for entity in text.entities if entity.label == PERSON}
        self.speaks = _speaks_of_somebody(text)

    def total(
        self, left: Mapping[int, Sequence[Entity]] = MappingProxyType({}), put_in: Sequence[str] = ()
    ) -> float:
        """R of the text, or of one in which these mentions are left of some links, and words put in."""
        sums, facets = dict(self.sums), Counter(self.facets)
        for number, mentions in left.items():
            now = _weights(mentions).get(number)
            for sign, each in ((-1, self.weights[number]), (1, now)):
                if each is not None:
                    sums[each[0].identifier] += sign * each[1]
                    if each[0].identifier is Identifier.QUASI:
                        facets[each[0].label] += sign
        gain = 1 + FACET_GAIN * math.log2(max(1, sum(1 for number in facets.values() if number)))
        attributes = max(0.0, sums[Identifier.ATTRIBUTE])
        little = ATTRIBUTES_CEILING * -math.expm1(-attributes / ATTRIBUTES_CEILING)
        quasi = max(0.0, sums[Identifier.QUASI])
        named = len(self.named) - sum(
            number in self.named and all(each.label != PERSON for each in mentions)
            for number, mentions in left.items()
        )
        share = 1.0 if self.speaks or named or any(map(_names_somebody, put_in)) else NO_PERSON
        return max(0.0, sums[Identifier.DIRECT]) + share * (gain * quasi + little)


def _weights(entities: Iterable[Entity]) -> dict[int, _Weight]:
    """The riskiest mention of each link, and its hazard."""
    weights: dict[int, _Weight] = {}
    for entity in entities:
        weight = -math.log1p(-label_of(entity.label).risk)
        if entity.link not in weights or weight > weights[entity.link][1]:
            weights[entity.link] = (entity, weight)
    return weights


def _overlapping(text: AnnotatedText) -> Mapping[int, Collection[int]]:
    """For each link with a mention that overlaps one of another link, those others."""
    found = defaultdict[int, set[int]](set)
    active: list[Entity] = []
    for entity in sorted(text.entities, key=lambda e: e.span):
        active = [other for other in active if other.span.end > entity.span.start]
        for other in active:
            if other.link != entity.link:
                found[entity.link].add(other.link)
                found[other.link].add(entity.link)
        active.append(entity)
    return found


def _speaks_of_somebody(text: AnnotatedText) -> bool:
    """Whether the text has a replaced name, or refers to a person in words that name none."""
    if any(_names_somebody(text.text[place.start : place.end]) for place in text.stand_ins):
        return True
    foreign = merged((span, "\0") for span in (*(e.span for e in text.entities), *text.stand_ins))
    return _SOMEBODY.search(substitute(text.text, foreign)) is not None


def _names_somebody(stand_in: str) -> bool:
    return stand_in.casefold() == label_of(PERSON).descriptor or is_person_alias(stand_in)
