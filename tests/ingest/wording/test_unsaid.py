"""What stays because nothing true can be said in its place. All texts are invented."""

from dataclasses import replace

import pytest

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Span
from ingest.labels import label_of
from ingest.wording.unsaid import UNSAID, unsaid
from models.encoders.words import Need

LOW, HIGH = Need(0.9, 0.7, UNSAID / 2), Need(0.9, 0.9, UNSAID)


def mention(said: str, label: str, need: Need | None = LOW, source: str = "model:x") -> Entity:
    return Entity(Span(0, len(said)), label, label_of(label).identifier, 0.9, source, need=need)


def stays(said: str, entity: Entity) -> bool:
    return unsaid(AnnotatedText(said, [entity])) == {entity.link}


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
    assert not unsaid(AnnotatedText(said, [low, high]))
    other = replace(high, link=low.link + 1)
    assert unsaid(AnnotatedText(said, [low, other])) == {low.link}
