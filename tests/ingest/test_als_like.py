"""Stars in place of what a cloud service for personal data would find. All texts are invented."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.als_like import LABELS, THRESHOLD, AlsLike
from ingest.labels import LABELS as ALL_LABELS
from tests.doubles import entity


def test_entities_of_the_categories_are_starred_out_at_their_length() -> None:
    text = "Ada Quell, 34, has asthma. Tarnholt or Ostby?"
    found = [entity(0, 9, "person full name"), entity(4, 13, "person age"), entity(19, 25, "disease")]
    found += [entity(27, 35, "city name", confidence=THRESHOLD)]
    found += [entity(39, 44, "city name", confidence=THRESHOLD - 0.01)]
    (starred,) = AlsLike("patterns").rewrite([AnnotatedText(text, found)])
    assert starred == "*************, has asthma. ******** or Ostby?"
    assert AlsLike("patterns").name == "als-like (patterns)"
    assert set(ALL_LABELS) > LABELS


@given(st.text(min_size=1), st.data())
def test_no_character_of_an_entity_survives_and_no_other_changes(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    (starred,) = AlsLike("patterns").rewrite([AnnotatedText(text, [entity(start, end, "date")])])
    assert starred == text[:start] + "*" * (end - start) + text[end:]
