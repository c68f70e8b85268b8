"""What holds for every answer of the rules. Every text here is invented."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.rules.find import find_by_rules
from ingest.documents import UNLINKED
from ingest.labels import LABELS
from ingest.language.tokens import tokenize
from ingest.language.vocabulary import FOLDER, entries, fold, words

PIECES = (
    ("Dr. ", "Anna ", "Keller", "van der ", "J. ", "K.", ", ", "\n", "From: ", "Hi ", "Patient: ")
    + ("St. ", "County ", "University of ", "Ltd", "500 mg ", "twice a day ", "diagnosed with ")
    + ("asthma ", "İstanbul ", "(", ")", "'s ", "’", "-", " v. ", "/HOU/ECT", "[doctor] ", "ß", "🙂")
    + ("allergic to ", "Regards,\n", "MARTHA ", "e\u0301", "\u00a0", "\t", "1", ";", "works as a ")
)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=40).map("".join))
def test_spans_lie_inside_sorted_and_known(text: str) -> None:
    found = find_by_rules(text)
    assert found == find_by_rules(text)
    assert [entity.span for entity in found] == sorted(entity.span for entity in found)
    for entity in found:
        assert entity.span.end <= len(text)
        assert text[entity.span.start : entity.span.end].strip()
        assert entity.identifier is LABELS[entity.label].identifier
        assert 0 <= entity.confidence <= 1
        assert entity.source.startswith("rule:")
        assert entity.link == UNLINKED


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_persons_never_overlap(text: str) -> None:
    spans = [e.span for e in find_by_rules(text) if e.label == "person full name"]
    assert not any(a.overlaps(b) for a, b in zip(spans, spans[1:], strict=False))


ADVERSARIAL = {
    "capitals": "Aa ",
    "one-word": "a",
    "initials": "A. ",
    "dotted": "A.",
    "versus": "Aa v. ",
    "slashes": "Aa/BB",
    "headers": "From: ",
    "commas": "Aa, ",
    "spaces": " ",
    "lines": "\n",
    "colons": "Aa: ",
    "particles": "van der ",
    "titles": "Dr. ",
    "digits": "1 ",
    "numbers": "one or ",
    "every": "every other ",
    "allergic": "allergic to a, ",
    "work": "works as a ",
    "names": "Anna Keller ",
    "courts": "Court of ",
    "letters": "lawyer H. ",
    "brackets": "Party (the AB) ",
    "hyphens": "Anna-",
    "greetings": "Hi Aa Bb Cc Dd Ee ",
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_text_takes_long(name: str) -> None:
    find_by_rules("the lists are read once")
    piece = ADVERSARIAL[name]
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    started = time.process_time()
    find_by_rules(text)
    assert time.process_time() - started < 3.0


MINIMUM = {
    "given_names": 1200,
    "surnames": 1000,
    "cities": 500,
    "jobs": 250,
    "symptoms": 150,
    "diseases": 250,
    "medications": 300,
    "medical_tests": 120,
    "procedures": 120,
    "departments": 30,
}


@pytest.mark.parametrize("name", MINIMUM)
def test_a_list_is_long_enough(name: str) -> None:
    assert len(entries(name)) >= MINIMUM[name]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_a_list_says_what_it_holds_and_where_it_comes_from(path: Path) -> None:
    title, source, *_ = path.read_text(encoding="utf-8").splitlines()
    assert title.startswith("# ")
    assert source.startswith("# Source: ")


def test_lists_are_folded_and_free_of_repeats() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.txt"))
    assert len(names) > 25
    for name in names:
        rows = entries(name)
        assert len(set(rows)) == len(rows), name
        assert all(fold(row) == row == row.strip() for row in rows), name


def test_sure_and_ambiguous_given_names_are_apart() -> None:
    assert not words("given_names") & words("given_names_ambiguous")
    assert not words("given_names") & words("weekday_months", "countries")


@pytest.mark.parametrize(
    ("word", "folded"),
    [("Łukasz", "lukasz"), ("İLHAN", "ilhan"), ("Özkorkut", "ozkorkut"), ("Straße", "strasse")],
)
def test_folding(word: str, folded: str) -> None:
    assert fold(word) == folded


def test_a_text_without_capitals_is_caseless() -> None:
    assert tokenize("[doctor] hi , martha . how are you ?").caseless
    assert not tokenize("Doctor: Hi, Martha. How are you?").caseless
    assert not tokenize("").caseless


def test_no_text_in_a_repr() -> None:
    assert "martha" not in repr(tokenize("hi martha")) + repr(find_by_rules("hi martha"))
