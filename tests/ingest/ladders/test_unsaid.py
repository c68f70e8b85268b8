"""What stays because nothing true can be said in its place. All texts are invented."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import REDACT
from ingest.deciding.policy import Policy
from ingest.documents import Document, Entity, SanitizedDocument, Span
from ingest.labels import SENSITIVE, label_of
from ingest.ladders.rungs import below
from ingest.ladders.unsaid import UNSAID, without_unsaid
from ingest.ladders.wording import worded
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.detectors.words import Need
from tests.doubles import PhraseDetector

LOW, HIGH = Need(0.9, 0.7, UNSAID / 2), Need(0.9, 0.9, UNSAID)


def mention(said: str, label: str, need: Need | None = LOW, source: str = "model:x") -> Entity:
    return Entity(Span(0, len(said)), label, label_of(label).identifier, 0.9, source, need=need)


def stays(said: str, entity: Entity, always: frozenset[str] = frozenset()) -> bool:
    return not without_unsaid(AnnotatedText(said, [entity]), always).entities


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("later that year", "date"),
        ("Later that year", "date"),
        ("one year earlier", "date"),
        ("riding quads", "demographic attribute"),
        ("garden project", "identifying detail"),
        ("sweet voice", "diagnosis"),
        ("fire breathing", "event"),
        ("Thursday", "date"),
        ("Sunday evening", "time"),
    ],
)
def test_a_phrase_that_only_a_kind_could_stand_for_stays(said: str, label: str) -> None:
    assert stays(said, mention(said, label))
    assert not stays(said, mention(said, label, HIGH))
    assert not stays(said, mention(said, label, None))
    assert not stays(said, mention(said, label, source="pattern:x"))
    assert not stays(said, mention(said, label), frozenset((label,)))


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("may 2019", "date"),
        ("Thursday 6 May", "date"),
        ("nurse", "job title"),
        ("sixty and fifty eight", "person age"),
        ("Garden Project", "identifying detail"),
        ("unit 7", "identifying detail"),
        ("seventy-one", "identifying detail"),
        ("six foot four", "demographic attribute"),
        ("ashdale", "city name"),
        ("acme", "organization"),
        ("northern side", "place"),
        ("anna", "person full name"),
        ("quellorol", "medication"),
        ("fear_the_owl", "account handle"),
    ],
)
def test_what_has_words_figures_or_a_name_goes_on(said: str, label: str) -> None:
    assert not stays(said, mention(said, label))


def test_all_mentions_of_a_link_stay_or_none() -> None:
    said = "garden project and garden project"
    low = mention("garden project", "identifying detail")
    high = replace(low, span=Span(19, 33), need=HIGH)
    assert len(without_unsaid(AnnotatedText(said, [low, high]), frozenset()).entities) == 2
    other = replace(high, link=low.link + 1)
    assert without_unsaid(AnnotatedText(said, [low, other]), frozenset()).entities == [other]


@pytest.mark.parametrize(
    ("sensitive", "expected"), [("context", "a sweet voice"), ("generalize", "a medical condition")]
)
def test_a_policy_that_generalizes_what_is_sensitive_keeps_none(
    sensitive: Literal["context", "generalize"], expected: str
) -> None:
    class Found(PhraseDetector):
        def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
            found = super().detect(documents)
            return [[replace(each, source="model:x", need=LOW) for each in of_one] for of_one in found]

    assert "diagnosis" in SENSITIVE
    sanitizer = DecidingSanitizer(
        Found({"sweet voice": "diagnosis"}),
        REDACT,
        RiskPrior(),
        Policy(sensitive=sensitive),
        wording=lambda text, decisions: worded(text, decisions, below(0.5)),
    )
    (found,) = sanitizer.sanitize([Document("1", "She has a sweet voice.")])
    assert isinstance(found, SanitizedDocument)
    assert found.text == f"She has {expected}."
