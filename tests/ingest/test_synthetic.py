"""Invented values in place of what was said. All texts are invented."""

import sys

import pytest

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.synthetic import _DRAWN, Synthetic
from ingest.documents import Action, Entity, Identifier, Span
from ingest.labels import LABELS, ORGANIZATION, PERSON
from models.errors import ModelUnavailable

TEXT = "Ada Lind met Ada Lind of Rill & Sons in Quarnby."


def text_of(text: str = TEXT) -> AnnotatedText:
    def entity(said: str, label: str, link: int, start: int = 0) -> Entity:
        at = text.index(said, start)
        return Entity(Span(at, at + len(said)), label, Identifier.DIRECT, 1.0, "test", link)

    people = [entity("Ada Lind", PERSON, 0), entity("Ada Lind", PERSON, 0, 5)]
    others = [entity("Rill & Sons", ORGANIZATION, 1), entity("Quarnby", "place", 2)]
    return AnnotatedText(text, [*people, *others])


def words_of(text: AnnotatedText) -> list[str]:
    (decided,) = Synthetic().decide([text], [])
    assert {each.action for each in decided} == {Action.SURROGATE}
    return [each.replacement for each in decided]


def test_a_value_for_each_link_and_none_of_the_text_the_same_in_every_run_of_the_same_document() -> None:
    first, again, firm, place = words_of(text_of())
    assert first == again and len({first, firm, place}) == 3
    assert not any(word in f"{first} {firm} {place}" for word in ("Ada", "Lind", "Rill", "Quarnby"))
    assert words_of(text_of()) == words_of(text_of()) != words_of(text_of(f"{TEXT} It rained."))


def test_every_kind_is_a_label_and_has_words() -> None:
    assert set(_DRAWN) <= set(LABELS)
    text = "Something"
    for label in LABELS:
        entity = Entity(Span(0, 9), label, Identifier.QUASI, 1.0, "test", 0)
        assert words_of(AnnotatedText(text, [entity]))[0].strip()


def test_without_faker_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    with pytest.raises(ModelUnavailable, match=r"synthetic needs Faker: pip install 'lethe\[train\]'"):
        Synthetic()
