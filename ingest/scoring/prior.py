"""The risk prior: how much a text exposes a person, from labels and context alone.

It replaces a learned privacy-risk model and is called ``prior`` in every report. Its numbers are the
midpoints of TRIP-RAG's annotation rubric (``ingest.labels``). The context is what the rubric describes:
whether the text mentions a person, and how many different facts can be combined.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.labels import PERSON, label_of
from ingest.protocols import Hazards
from ingest.rendering.aliases import is_person_alias
from ingest.scoring.raw import descriptor_of
from ingest.spans import merged, substitute

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
    additive = False

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """R(T), and R(T) - R(T without e) for each e, from precomputed sums if nothing overlaps e."""
        return [_hazards(text) for text in texts]


def _hazards(text: AnnotatedText) -> Hazards:
    sums = _Sums(text)
    total = sums.total()
    overlapping = _overlapping(text)
    gains = {}
    for number in sums.weights:
        if number in overlapping:
            left = _Sums(text.without({number}, descriptor_of)).total()
        else:
            left = sums.total(leaving_out=number)
        gains[number] = total - left
    return Hazards(total, gains)


class _Sums:
    """Sums over a text's linked entities, so that leaving one out is cheap."""

    def __init__(self, text: AnnotatedText) -> None:
        self.weights = _weights(text)
        self.sums = dict.fromkeys(Identifier, 0.0)
        self.facets: Counter[str] = Counter()
        for entity, weight in self.weights.values():
            self.sums[entity.identifier] += weight
            if entity.identifier is Identifier.QUASI:
                self.facets[entity.label] += 1
        self.share = 1.0 if _speaks_of_somebody(text) else NO_PERSON

    def total(self, leaving_out: int | None = None) -> float:
        """R of the text, or of the text without one linked entity that overlaps no other.

        A removed name leaves "somebody" in the text, so the person factor does not change.
        """
        sums, kinds = dict(self.sums), len(self.facets)
        if leaving_out is not None:
            entity, weight = self.weights[leaving_out]
            sums[entity.identifier] -= weight
            kinds -= entity.identifier is Identifier.QUASI and self.facets[entity.label] == 1
        gain = 1 + FACET_GAIN * math.log2(max(1, kinds))
        attributes = max(0.0, sums[Identifier.ATTRIBUTE])
        little = ATTRIBUTES_CEILING * -math.expm1(-attributes / ATTRIBUTES_CEILING)
        quasi = max(0.0, sums[Identifier.QUASI])
        return max(0.0, sums[Identifier.DIRECT]) + self.share * (gain * quasi + little)


def _weights(text: AnnotatedText) -> dict[int, tuple[Entity, float]]:
    """The riskiest mention of each link, and its hazard."""
    weights: dict[int, tuple[Entity, float]] = {}
    for entity in text.entities:
        weight = -math.log1p(-label_of(entity.label).risk)
        if entity.link not in weights or weight > weights[entity.link][1]:
            weights[entity.link] = (entity, weight)
    return weights


def _overlapping(text: AnnotatedText) -> set[int]:
    """The links with a mention that overlaps one of another link or label."""
    found: set[int] = set()
    active: list[Entity] = []
    for entity in sorted(text.entities, key=lambda e: e.span):
        active = [other for other in active if other.span.end > entity.span.start]
        for other in active:
            if (other.link, other.label) != (entity.link, entity.label):
                found |= {entity.link, other.link}
        active.append(entity)
    return found


def _speaks_of_somebody(text: AnnotatedText) -> bool:
    """Whether the text names a person, has a replaced name, or refers to a person in other words."""
    if any(entity.label == PERSON for entity in text.entities):
        return True
    taken = label_of(PERSON).descriptor
    put_in = (text.text[place.start : place.end] for place in text.stand_ins)
    if any(words.casefold() == taken or is_person_alias(words) for words in put_in):
        return True
    foreign = merged((span, "\0") for span in (*(e.span for e in text.entities), *text.stand_ins))
    return _SOMEBODY.search(substitute(text.text, foreign)) is not None
