"""Stars in place of what a cloud service for personal data would find. All texts are invented."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.als_like import LABELS, THRESHOLD, AlsLike
from ingest.documents import Entity, Identifier, Span
from ingest.labels import LABELS as ALL_LABELS


def entity(text: str, words: str, label: str, confidence: float = 1.0) -> Entity:
    start = text.index(words)
    return Entity(Span(start, start + len(words)), label, Identifier.DIRECT, confidence, "test")


def test_entities_of_the_categories_are_starred_out_at_their_length() -> None:
    text = "Ada Quell, 34, has asthma. Tarnholt or Ostby?"
    found = [
        entity(text, "Ada Quell", "person full name"),
        entity(text, "Quell, 34", "person age"),
        entity(text, "asthma", "disease"),
        entity(text, "Tarnholt", "city name", THRESHOLD),
        entity(text, "Ostby", "city name", THRESHOLD - 0.01),
    ]
    (starred,) = AlsLike("patterns").rewrite([AnnotatedText(text, found)])
    assert starred == "*************, has asthma. ******** or Ostby?"
    assert AlsLike("patterns").name == "als-like (patterns)"


def test_every_label_of_the_categories_is_one_of_ours() -> None:
    assert set(ALL_LABELS) > LABELS


@given(st.text(min_size=1), st.data())
def test_no_character_of_an_entity_survives_and_no_other_changes(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = Entity(Span(start, end), "date", Identifier.QUASI, 1.0, "test")
    (starred,) = AlsLike("patterns").rewrite([AnnotatedText(text, [found])])
    assert starred == text[:start] + "*" * (end - start) + text[end:]
