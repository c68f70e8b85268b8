from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.language.units import retrieval_units
from tests.doubles import WordEncoder

prose = st.text(alphabet="ab. \n!é😀", max_size=300)


@settings(max_examples=500, deadline=None)
@given(prose, st.integers(1, 12))
def test_units_cover_the_text_without_gaps_and_stay_small(text: str, size: int) -> None:
    tokens = WordEncoder().token_spans(text)
    units = retrieval_units(text, tokens, size)
    assert "".join(text[u.start : u.end] for u in units) == text
    for unit in units:
        assert sum(unit.start <= start < unit.end for start, _ in tokens) <= size


def test_cuts_fall_between_paragraphs_before_sentences_before_words() -> None:
    text = "one two. three\n\nfour five. six seven eight nine ten eleven twelve"
    tokens = WordEncoder().token_spans(text)
    units = [text[u.start : u.end] for u in retrieval_units(text, tokens, 6)]
    assert units[0] == "one two. three\n\n"
    assert units[1] == "four five. "
