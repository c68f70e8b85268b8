"""Recall and precision of the Text Anonymization Benchmark, by hand and by properties. Texts are invented."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.corpora.marked import halves, presidio_marks, replaced_cases, with_seen
from eval.corpora.seen import CASES
from eval.documents import Mark, MarkedDocument
from eval.measures.preserved import SHARES, Part, masked_parts, masked_shares, word_information
from eval.studies.intact.study import benchmark_cases
from ingest.documents import Document, Span
from tests.commands import public_data

TEXT = "Mr Jon Quell of Farby met Ann. Mr Quell wept on 4 May."
#       0  3   7     13 16    22  26   31 34    40   45 48


def at(words: str, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(words, start + 1)
    return Span(start, start + len(words))


def mark(words: str, entity: str, kind: str = "QUASI", nth: int = 0) -> Mark:
    place = at(words, nth)
    return Mark(place.start, place.end, kind, 0 if kind == "NO_MASK" else 2, entity)


MARKS = (
    mark("Mr Jon Quell", "quell", "DIRECT"),
    mark("Farby", "farby"),
    mark("Ann", "ann", "NO_MASK"),
    mark("Mr Quell", "quell", "DIRECT"),
    mark("4 May", "day"),
)
FLAT = dict.fromkeys((word.casefold() for word in "Mr Jon Quell of Farby met Ann wept on 4 May".split()), 1.0)


def read_by(*marks: Mark, annotator: str = "one", text: str = TEXT) -> MarkedDocument:
    return MarkedDocument(Document("a", text), marks, "invented", annotator)


GOLD = read_by(*MARKS)


def parts(*spans: Span, gold: tuple[MarkedDocument, ...] = (GOLD,)) -> dict[str, Part]:
    return masked_parts(gold, spans, FLAT)


def test_all_shares_by_hand() -> None:
    found = parts(at("Jon Quell"), at("Farby met"), at("Quell", 1))
    assert tuple(found) == SHARES
    assert found == {
        "direct": (1, 1),
        "quasi": (1, 2),
        "entities": (2, 3),
        "mentions": (3, 4),
        "tokens": (6, 8),  # Mr, Jon, Quell, Farby, Mr, Quell; not 4 and May
        "token_precision": (4, 5),  # Jon, Quell, Farby, Quell; not met
        "mention_precision": (2, 3),
        "weighted_precision": (4, 5),
    }


def test_all_but_one_mention_leaves_an_entity_unprotected() -> None:
    found = parts(at("Mr Jon Quell"), at("Farby"))
    assert (found["direct"], found["mentions"]) == ((0, 1), (2, 4))
    assert parts(at("Mr Jon Quell"), at("Mr Quell"))["direct"] == (1, 1)
    assert parts(at("Jon Quell"), at("Quell", 1))["direct"] == (1, 1), "titles need not be masked"


def test_part_of_a_word_is_not_enough() -> None:
    found = parts(at("Farb"))
    assert found["quasi"] == (0, 2)
    # It lies in a mention all the same, and weighs as the whole word.
    assert found["token_precision"] == found["weighted_precision"] == (1, 1)


def test_what_may_stay_is_no_part_of_recall_and_lowers_precision() -> None:
    found = parts(at("Ann"))
    assert found["entities"] == (0, 3)
    assert found["token_precision"] == found["mention_precision"] == (0, 1)


def test_function_words_need_not_be_masked() -> None:
    phrase = "the Bank of Farby (no. 7)"
    gold = read_by(Mark(0, len(phrase), "QUASI", 2, "bank"), text=phrase)
    masked = [Span(4, 8), Span(12, 17), Span(23, 24)]
    information = dict.fromkeys("the bank of farby no 7".split(), 1.0)
    assert masked_parts([gold], masked, information)["mentions"] == (1, 1)
    assert masked_parts([gold], masked[:2], information)["mentions"] == (0, 1)


def test_an_entity_with_a_harmless_mention_is_held_to_the_others() -> None:
    gold = read_by(mark("Mr Jon Quell", "quell", "DIRECT"), mark("Mr Quell", "quell", "NO_MASK"))
    assert parts(at("Jon Quell"), gold=(gold,))["direct"] == (1, 1)


def test_annotators_count_once_each() -> None:
    gold = (GOLD, read_by(mark("Farby", "f", "DIRECT"), mark("wept", "w"), annotator="other"))
    found = parts(at("Farby"), gold=gold)
    assert (found["direct"], found["quasi"], found["mentions"]) == ((1, 2), (1, 3), (2, 6))
    assert found["token_precision"] == (2, 2)
    found = parts(at("wept"), gold=gold)
    assert found["token_precision"] == found["mention_precision"] == (1, 2)


def test_weights_by_hand() -> None:
    masked = [at("Farby"), at("met")]
    found = masked_parts([GOLD], masked, {**FLAT, "farby": 3.0, "met": 0.5})
    assert (found["weighted_precision"], found["token_precision"]) == ((3.0, 3.5), (1, 2))
    table = word_information([TEXT, "They met on a day in May.", "Who met?"])[0]
    weighted = masked_parts([GOLD], masked, table)["weighted_precision"]
    assert weighted.hits / weighted.total > 1 / 2


def test_shares_are_pooled_over_documents() -> None:
    folded = masked_shares([parts(at("Jon Quell"), at("Quell", 1)), parts()])
    assert (folded.direct.hits, folded.direct.n, folded.direct.value) == (1, 2, 0.5)
    assert (folded.token_precision.value, folded.quasi.value) == (1, 0)
    # An untouched text has its titles in recall and no precision.
    assert (parts()["entities"], parts()["tokens"]) == ((0, 3), (2, 8))
    untouched = masked_shares([parts()])
    assert untouched.token_precision.value is untouched.weighted_precision.value is None
    assert untouched.direct.value == 0


@pytest.mark.parametrize("marked", [[GOLD, read_by(text="Another text.")], []])
def test_texts_must_agree(marked: list[MarkedDocument]) -> None:
    with pytest.raises(ValueError, match="one text as one or more annotators marked it"):
        masked_parts(marked, [], FLAT)


SPANS = st.tuples(*[st.integers(0, len(TEXT))] * 2).filter(lambda ends: ends[0] < ends[1])
PLACES = st.lists(SPANS.map(lambda ends: Span(*ends)), max_size=5)


def test_what_annotators_say_has_full_recall_and_precision() -> None:
    found = parts(*(Span(each.start, each.end) for each in MARKS if each.must == 2))
    assert all(part.hits == part.total for part in found.values())


@given(PLACES, PLACES)
def test_bounds_and_more_masks_never_recall_less(some: list[Span], more: list[Span]) -> None:
    fewer, found = parts(*some), parts(*some, *more)
    assert all(0 <= part.hits <= part.total + 1e-9 for part in found.values())
    assert all(fewer[name].hits <= found[name].hits for name in SHARES[:5])
    assert all(fewer[name].total == found[name].total for name in SHARES[:5])
    assert found["weighted_precision"] == pytest.approx(found["token_precision"]), "equal weights are none"


@pytest.fixture(scope="module")
def data() -> Path:
    return public_data("tab/dev.jsonl", "spia")


def test_recall_of_stock_presidio_is_near_that_of_its_published_spans(data: Path) -> None:
    cases = replaced_cases(data / "tab")
    found = benchmark_cases(data / "tab", cases, halves(cases)[1]).marked
    stock = presidio_marks(data / "tab", [case.document for case in cases])
    masked = {each.document.text: [Span(m.start, m.end) for m in each.marks] for each in stock}
    texts = [each[0].document.text for each in found]
    given_parts = zip(found, texts, word_information(texts), strict=True)
    shares = masked_shares([masked_parts(each, masked[text], table) for each, text, table in given_parts])
    # On 144 cases, a fifth of which these are, with a simpler rule of tokens: .471 and .763.
    assert shares.direct.value == pytest.approx(0.471, abs=0.05)
    assert shares.quasi.value == pytest.approx(0.763, abs=0.05)


def test_fallback_of_the_published_output_is_near_the_printed_one(data: Path) -> None:
    cases = replaced_cases(data / "tab")
    counts: dict[str, list[bool]] = {}
    for case in cases:
        for each in case.marked.marks:
            said = case.published["intact"][Span(each.start, each.end)]
            counts.setdefault(each.type, []).append(re.fullmatch(r"[A-Z]+_\d+", said) is not None)
    # Printed for all splits, of which these cases are a tenth; the authors leave out dates by rule.
    rates = {"ORG": 0.4474, "LOC": 0.2185, "DEM": 0.3314, "QUANTITY": 0.2178, "MISC": 0.4582}
    for kind, printed in rates.items():
        assert sum(counts[kind]) / len(counts[kind]) == pytest.approx(printed, abs=0.06), kind
    assert all(counts["PERSON"]) and all(counts["CODE"])


def test_spia_marks_are_read_whole(data: Path) -> None:
    # Of 6,613 marks on 144 cases a fifth, the test cases', is withheld here.
    records = [
        entity
        for file in ("tab_train", "tab_dev")
        for line in (data / "spia" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
        for entity in json.loads(line)["entities"]
    ]
    (read,) = with_seen(data, CASES).by_annotator.values()
    marks = [each for document in read for each in document.marks]
    assert len(marks) == len(records) < 6_613
    assert Counter(each.kind for each in marks) == Counter(each["identifier_type"] for each in records)
