"""The risk prior: how much a text exposes a person, from labels and context alone.

It stands in for a learned privacy-risk model and is named ``prior`` in every report. The numbers behind it
are the midpoints of TRIP-RAG's annotation rubric (``ingest.labels``); the context is what the rubric asks
for in words: does the text speak of a person, and how many different facts can be combined.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.labels import label_of
from ingest.link import PERSON
from ingest.spans import merged, substitute

FACET_GAIN = 0.25
"""What each doubling of the kinds of quasi-identifiers adds to the hazard of every one of them."""

NO_PERSON = 0.3
"""The share of a quasi-identifier's hazard that is left in a text that speaks of nobody."""

ATTRIBUTES_CEILING = -math.log(1 - 0.3)
"""All symptoms, drugs and the like of a text together expose no more than this, in nats."""

_SOMEBODY = re.compile(
    r"\b(?:he|she|him|her|his|hers|i|me|my|mine|we|our|mr|mrs|ms|miss|somebody|(?<!\ba )patient"
    r"|applicant|claimant|respondent|plaintiff|defendant|witness|gentleman|lady)\b",
    re.IGNORECASE,
)


class RiskPrior:
    """R(T) = direct + facets(m) * quasi + attributes, each a sum over linked entities, in nats.

    A linked entity of prior risk p weighs -ln(1 - p) once, however often it is mentioned. ``m`` counts the
    distinct labels among the quasi-identifiers. Taking an entity away never raises R.
    """

    name = "prior"

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[float]:
        """R(T) of each text, in nats."""
        return [_Sums(text, _weights(text)).total() for text in texts]

    def marginals(self, texts: Sequence[AnnotatedText]) -> list[Mapping[int, float]]:
        """R(T) - R(T without e) for each linked entity e, without building T without e."""
        answers: list[Mapping[int, float]] = []
        for text in texts:
            weights = _weights(text)
            sums = _Sums(text, weights)
            total = sums.total()
            covered = _swallowed(text)
            answers.append(
                {
                    number: total - sums.total(leaving_out=(number, *covered.get(number, ())))
                    for number in weights
                }
            )
        return answers


class _Sums:
    """The sums over a text's linked entities, so that leaving some out costs nothing."""

    def __init__(self, text: AnnotatedText, weights: Mapping[int, tuple[Entity, float]]) -> None:
        self.weights = weights
        self.sums = dict.fromkeys(Identifier, 0.0)
        self.facets: Counter[str] = Counter()
        self.persons = 0
        for entity, weight in weights.values():
            self.sums[entity.identifier] += weight
            self.persons += entity.label == PERSON
            if entity.identifier is Identifier.QUASI:
                self.facets[entity.label] += 1
        self.speaks = _speaks_of_somebody(text)

    def total(self, leaving_out: Sequence[int] = ()) -> float:
        """R of the text without these links; the first is taken away, the others vanish with it."""
        sums, gone, persons = dict(self.sums), Counter[str](), self.persons
        for number in leaving_out:
            entity, weight = self.weights[number]
            sums[entity.identifier] -= weight
            # A name that is taken away leaves "somebody" behind: the text still speaks of a person.
            persons -= entity.label == PERSON and number != leaving_out[0]
            if entity.identifier is Identifier.QUASI:
                gone[entity.label] += 1
        share = 1.0 if self.speaks or persons else NO_PERSON
        kinds = len(self.facets) - sum(self.facets[label] == n for label, n in gone.items())
        gain = 1 + FACET_GAIN * math.log2(max(1, kinds))
        attributes = max(0.0, sums[Identifier.ATTRIBUTE])
        little = ATTRIBUTES_CEILING * -math.expm1(-attributes / ATTRIBUTES_CEILING)
        quasi = max(0.0, sums[Identifier.QUASI])
        return max(0.0, sums[Identifier.DIRECT]) + share * (gain * quasi + little)


def _weights(text: AnnotatedText) -> dict[int, tuple[Entity, float]]:
    """For each link its riskiest mention and that one's hazard."""
    weights: dict[int, tuple[Entity, float]] = {}
    for entity in text.entities:
        weight = -math.log1p(-label_of(entity.label).risk)
        if entity.link not in weights or weight > weights[entity.link][1]:
            weights[entity.link] = (entity, weight)
    return weights


def _swallowed(text: AnnotatedText) -> dict[int, list[int]]:
    """For each link the other links that vanish with it, every mention of theirs overlapping one of its."""
    mentions = text.mentions()
    overlapped: dict[tuple[int, int], set[int]] = {}
    ordered = sorted(range(len(text.entities)), key=lambda i: text.entities[i].span)
    active: list[int] = []
    for i in ordered:
        one = text.entities[i]
        active = [j for j in active if text.entities[j].span.end > one.span.start]
        for j in active:
            other = text.entities[j]
            if one.link != other.link:
                overlapped.setdefault((one.link, other.link), set()).add(j)
                overlapped.setdefault((other.link, one.link), set()).add(i)
        active.append(i)
    swallowed: dict[int, list[int]] = {}
    for (by, whom), places in overlapped.items():
        if len(places) == len(mentions[whom]):
            swallowed.setdefault(by, []).append(whom)
    return swallowed


def _speaks_of_somebody(text: AnnotatedText) -> bool:
    """Whether a person is spoken of outside the entities; names are counted apart."""
    outside = substitute(text.text, merged((entity.span, "\0") for entity in text.entities))
    return _SOMEBODY.search(outside) is not None
