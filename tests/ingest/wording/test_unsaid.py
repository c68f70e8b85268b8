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


STAYING = (
    "date: later that year|date: Later that year|date: one year earlier|demographic attribute: riding quads|"
    "identifying detail: garden project|diagnosis: sweet voice|event: fire breathing|date: Thursday|"
    "time: Sunday evening"
)
GOING = (
    "date: may 2019|date: Thursday 6 May|job title: nurse|person age: sixty and fifty eight|"
    "identifying detail: Garden Project|identifying detail: unit 7|identifying detail: seventy-one|"
    "demographic attribute: six foot four|city name: ashdale|organization: acme|place: northern side|"
    "person full name: anna|medication: quellorol|account handle: fear_the_owl"
)


@pytest.mark.parametrize("case", STAYING.split("|"))
def test_a_phrase_that_only_a_kind_could_stand_for_stays(case: str) -> None:
    label, said = case.split(": ")
    assert stays(said, mention(said, label))
    assert not stays(said, mention(said, label, HIGH))
    assert not stays(said, mention(said, label, None))
    assert not stays(said, mention(said, label, source="pattern:x"))


@pytest.mark.parametrize("case", GOING.split("|"))
def test_what_has_words_figures_or_a_name_goes_on(case: str) -> None:
    label, said = case.split(": ")
    assert not stays(said, mention(said, label))


def test_all_mentions_of_a_link_stay_or_none() -> None:
    said = "garden project and garden project"
    low = mention("garden project", "identifying detail")
    high = replace(low, span=Span(19, 33), need=HIGH)
    assert not unsaid(AnnotatedText(said, [low, high]))
    other = replace(high, link=low.link + 1)
    assert unsaid(AnnotatedText(said, [low, other])) == {low.link}
