"""Lists of one's own over a detector. All names are invented."""

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.hybrid import HybridDetector
from ingest.detection.own.detector import OwnDetector
from ingest.detection.own.lists import OwnEntities, OwnPattern
from ingest.documents import Document
from ingest.language.phrases import LONGEST, Cover, Phrases, any_gap, same_gap, words_of
from ingest.protocols import EntityDetector
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector
from tests.timing import cost

MARKER = "zq-marker-9134"
NOTHING = PhraseDetector({})


def found(text: str, own: OwnEntities, detector: EntityDetector = NOTHING) -> list[tuple[str, str, bool]]:
    """Words, label and whether it is required of each mention."""
    (entities,) = OwnDetector(detector, own).detect([Document("d", text)])
    return [(text[each.span.start : each.span.end], each.label, each.required) for each in entities]


FORMS = "Project Heron|project heron|PROJECT  HERON|Project-Heron|project_heron|Project\n> Heron".split("|")


def test_a_denied_string_is_found_however_it_is_written_and_other_words_are_not() -> None:
    own = OwnEntities(deny={"identifying detail": ["Project Heron"], "place": ["jarv"]})
    for written in FORMS:
        assert found(f"Part of {written}.", own) == [(written, "identifying detail", True)]
    for other in ("Projects Heron", "Project Herons", "Project of Heron", "Heron Project"):
        assert found(f"Part of {other}.", own) == []
    wide = [(said, "place", True) for said in ("Järv", "ＪＡＲＶ")]
    assert found("Bei Järv, ＪＡＲＶ und Jarvis", own) == wide


@pytest.mark.parametrize("text", ["計画海鷺の報告", "โครงการนกกระสาใหม่"])
def test_where_no_blank_ends_a_word_it_is_found_within_others(text: str) -> None:
    entry = text[2:4] if text[0] == "計" else text[7:14]
    assert found(text, OwnEntities(deny={"event": [entry]})) == [(entry, "event", True)]


def test_denied_strings_that_overlap_are_all_found() -> None:
    own = OwnEntities(deny={"event": ["Project Heron", "Heron Lake"]})
    assert [words for words, _, _ in found("Project Heron Lake", own)] == ["Project Heron", "Heron Lake"]


def test_a_denied_string_has_the_label_found_or_the_riskiest_and_goes_before_allowed() -> None:
    detector = PhraseDetector({"Orla Venn": "person full name"})
    own = OwnEntities(deny={"identifying detail": ["Orla Venn"]})
    assert found("Orla Venn", own, detector) == [("Orla Venn", "person full name", True)]
    labelled = OwnEntities(deny={"event": ["Orla Venn"]})
    assert found("Orla Venn", labelled, detector) == [("Orla Venn", "event", True)]
    two = OwnEntities(allow=["Heron"], deny={"symptom": ["Heron"], "organization": ["heron"]})
    assert found("Heron", two) == [("Heron", "organization", True)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It is Parkinson.", []),
        ("Parkinson's, Parkinson’s", []),
        ("It is PARKINSON.", []),
        ("Orla Parkinson came", ["Orla Parkinson"]),
        ("At Riverside Hospital", []),
        ("At riverside  hospital", []),
        ("At Riverside. Hospital food", ["Riverside"]),
        ("At Riverside\n\nHospital", ["Riverside"]),
        ("At Riverside", ["Riverside"]),
    ],
)
def test_what_lies_within_an_allowed_string_is_no_entity(text: str, left: list[str]) -> None:
    own = OwnEntities(allow=["Parkinson", "Riverside Hospital"])
    names = ("Parkinson", "PARKINSON", "Orla Parkinson", "Parkinson's", "Parkinson’s")
    phrases = dict.fromkeys(names, "person full name")
    detector = PhraseDetector(phrases | dict.fromkeys(("Riverside", "riverside"), "city name"))
    assert [words for words, _, _ in found(text, own, detector)] == left


def test_no_list_saves_a_rigid_identifier_of_a_pattern_but_what_a_model_takes_for_a_number() -> None:
    text = "Write to orla.venn@example.org today."
    own = OwnEntities(allow=["orla.venn@example.org", "B12"])
    assert found(text, own, HybridDetector()) == [("orla.venn@example.org", "email address", False)]
    assert found("Vitamin B12", own, PhraseDetector({"B12": "reference number"})) == []


def test_a_rigid_pattern_of_ones_own_is_not_saved_and_another_is() -> None:
    def own(rigid: bool) -> OwnEntities:
        return OwnEntities(allow=["W-1"], patterns=[OwnPattern("ward", "W-[0-9]", "place", rigid=rigid)])

    assert found("in W-1", own(rigid=True)) == [("W-1", "place", True)]
    assert found("in W-1", own(rigid=False)) == []


@pytest.mark.parametrize("entry", ["", "  ", "-- ★", "x" * (LONGEST + 1)])
def test_an_entry_that_cannot_be_looked_for_is_told_by_its_number(entry: str) -> None:
    for place, lists in (("allow", {"allow": ["a", entry]}), ("deny", {"deny": {"event": ["a", entry]}})):
        with pytest.raises(ConfigurationError) as caught:
            OwnEntities(**lists)
        assert str(caught.value) == (
            f"{place}, entry 2: give a string with a letter or digit, and of up to 200 characters."
        )


def test_nothing_private_is_in_a_repr_or_an_error() -> None:
    own = OwnEntities([MARKER], {"event": [MARKER]}, [OwnPattern("ward", MARKER, "place")])
    assert MARKER not in repr(own) + repr(OwnDetector(NOTHING, own))
    assert OwnDetector(NOTHING, own).name == "phrases (test double)+own"
    with pytest.raises(ConfigurationError) as caught:
        OwnEntities(deny={"event": [MARKER * 30]})
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_the_digest_tells_lists_apart_for_who_has_the_key() -> None:
    key, other = b"k" * 32, b"o" * 32
    one = OwnEntities(["b", "a"], {"event": ["Heron"]})
    assert one.digest(key) == OwnEntities(["a", "b"], {"event": ["Heron"], "place": []}).digest(key)
    wards = [OwnPattern("ward", "W", "place"), OwnPattern("ward", "W", "place", "luhn")]
    others = [OwnEntities(["a"], {"event": ["Heron"]}), OwnEntities(["b", "a"], {"place": ["Heron"]})]
    others += [OwnEntities(["b", "a"], {"event": ["Heron"]}, [each]) for each in wards]
    digests = {one.digest(key), one.digest(other), *(each.digest(key) for each in others)}
    assert len(digests) == 6 and all(len(each) == 32 for each in digests)
    assert OwnEntities().digest(key) == OwnEntities(deny={"event": []}).digest(key) == ""


words = st.sampled_from(["heron", "Lake", "of", "gray", "Ülle", "7"])


@given(st.lists(words, max_size=30), st.lists(st.lists(words, min_size=1, max_size=4), max_size=8))
def test_phrases_are_found_exactly_where_their_words_stand(text: list[str], entries: list[list[str]]) -> None:
    phrases = [" ".join(entry) for entry in entries]
    folded = [[word.lower().replace("ü", "u") for word in entry] for entry in entries]
    lowered = [word.lower().replace("ü", "u") for word in text]
    expected = []
    for first in range(len(text)):
        sizes = [len(entry) for entry in folded if lowered[first : first + len(entry)] == entry]
        if sizes:
            expected.append(" ".join(text[first : first + max(sizes)]))
    whole = " ".join(text)
    spans = [span for span, _ in Phrases(phrases, any_gap).found(words_of(whole))]
    assert [whole[span.start : span.end] for span in spans] == expected
    cover = Cover(spans)
    assert all(cover.holds(span) for span in spans)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [any_gap, same_gap])
def test_time_grows_with_the_text_and_not_with_the_lists(gap: object) -> None:
    assert callable(gap)
    entries = [f"heron number{number} of the long gray lake" for number in range(10_000)]
    few, many = Phrases(entries[:100], gap), Phrases(entries, gap)
    text = "The heron number17 of the long gray lake, heron number9999 of the long gray sea. " * 1_500
    short, long = words_of(text), words_of(text * 4)
    spent = cost(lambda: list(many.found(short)))
    if spent < 0.003:
        pytest.skip("too fast here to be compared")
    assert cost(lambda: list(many.found(long))) < 12 * spent
    assert spent < 8 * cost(lambda: list(few.found(short)))


def test_entries_that_begin_alike_are_found_at_every_word() -> None:
    nested = ["a " * size for size in range(1, 90)]
    text = words_of("a " * 3_000)
    assert len(list(Phrases(nested, any_gap).found(text))) == 3_000
