"""Why each entity was treated as it was: rows, stretches of text, the page and the verb. All is invented."""

import io
import json
import re
import stat
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from app.cli.explain import table, threshold
from app.cli.main import main
from app.explaining import (
    explanation_page,
    figures,
    original_stretches,
    outcome,
    remarks,
    sanitized_stretches,
    strictest,
)
from app.rows import explanation_row
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import REDACT, SUPPRESS
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import (
    AT_OR_ABOVE,
    BELOW,
    DIRECT,
    FITS,
    NARROWS,
    RIGID,
    TOO_FEW,
    Policy,
    Treatment,
)
from ingest.deciding.trip import Trip
from ingest.documents import Action, Decision, Document, Entity, Scores, Unread
from ingest.errors import SanitizationError
from ingest.explain import Explanation
from ingest.protocols import Hazards, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Weights
from models.bits import embedded_bits
from tests.commands import READING, write_records
from tests.doubles import FailingDetector, PhraseDetector, WordEncoder, entity
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

PHRASES = {
    "Tobias Orrin": "person full name",
    "Orrin": "person full name",
    "t.orrin@example.org": "email address",
    "61": "person age",
    "cough": "symptom",
}
TEXT = "Tobias Orrin, 61, has a cough. Tobias Orrin writes from t.orrin@example.org."


class Given:
    """Finds what it was given, in one document."""

    name = "given (test double)"

    def __init__(self, found: Sequence[Entity]) -> None:
        self._found = list(found)

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [self._found for _ in documents]


class Dice:
    """Any action for any mention."""

    name = "dice (test double)"

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        return [[self._thrown(entity) for entity in text.entities] for text in texts]

    def _thrown(self, entity: Entity) -> Decision:
        action = self._rng.choice(list(Action))
        words = "<Other & Sons>" if action is Action.SURROGATE else ""
        return Decision(entity, None, action, self._rng.choice(["one", "another"]), words)


LOOSE = Policy("trip", tau=0.85)
"""Keeps the age and no symptom."""


class Fixed:
    """The action for each label; what is not named goes."""

    name = "fixed (test double)"

    def __init__(self, actions: dict[str, Action]) -> None:
        self._actions = actions

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        return [
            [
                Decision(each, None, self._actions.get(each.label, Action.GENERALIZE), "")
                for each in text.entities
            ]
            for text in texts
        ]


def trip(policy: Policy) -> Method:
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, policy)


def lethe(policy: Policy) -> Method:
    return Lethe(embedded_bits(), policy)


def explained(text: str, method: Method, phrases: dict[str, str] = PHRASES, doc_id: str = "d") -> Explanation:
    sanitizer = DecidingSanitizer(PhraseDetector(phrases), method, RiskPrior())
    return sanitizer.explain(Document(doc_id, text))


def thrown(text: AnnotatedText, seed: int) -> Explanation:
    sanitizer = DecidingSanitizer(Given(text.entities), Dice(seed), RiskPrior())
    return sanitizer.explain(Document("d", text.text))


some_texts = st.one_of(annotated_texts(), sentences_about_people(), overlapping_words())
some_explanations = st.builds(thrown, some_texts, st.integers(0, 1000))
FEW = settings(max_examples=100, deadline=None)


# -- what is said of each entity ---------------------------------------------------------------------------


def test_a_linked_entity_is_told_once_with_all_its_mentions() -> None:
    explanation = explained(TEXT, trip(LOOSE))
    assert explanation.text == TEXT
    assert [(each.label, [s.start for s in each.mentions]) for each in explanation.entities] == [
        ("person full name", [0, 7, 31, 38]),
        ("person age", [14]),
        ("symptom", [24]),
        ("email address", [56]),
    ]
    assert [(str(each.action), each.reason, each.replacement) for each in explanation.entities] == [
        ("generalize", DIRECT, "Somebody"),
        ("keep", BELOW, ""),
        ("generalize", AT_OR_ABOVE, "a symptom"),
        ("generalize", RIGID, "an email address"),
    ]


def test_by_bits_it_is_told_what_is_said_with_each_fact_and_what_is_said_in_all() -> None:
    strict, loose = (explained(TEXT, lethe(Policy(k=k))) for k in (50, 1))
    name, age, symptom, address = strict.entities
    assert [each.reason for each in strict.entities] == [DIRECT, NARROWS, FITS, RIGID]
    assert [each.reason for each in loose.entities] == [DIRECT, FITS, FITS, RIGID]
    assert [None if each.scores is None else each.scores.bits for each in (name, address)] == [None, None]
    assert age.scores is not None and symptom.scores is not None
    assert age.scores.priority is not None and symptom.scores.priority is not None
    assert age.scores.priority >= Policy(k=50).threshold > symptom.scores.priority
    assert strict.sanitized.bits == symptom.scores.priority
    assert loose.sanitized.bits == age.scores.priority


def test_it_is_doubted_that_enough_people_fit_where_a_kept_label_says_too_much() -> None:
    kept = Treatment({"person age": "keep"})
    for policy, doubts in (
        (Policy(k=50), ()),
        (Policy(k=50, treatment=kept), (TOO_FEW,)),
        (Policy(k=1, treatment=kept), ()),
    ):
        sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), lethe(policy), RiskPrior(), policy)
        found = sanitizer.explain(Document("d", TEXT)).sanitized.doubts
        assert tuple(each for each in found if each == TOO_FEW) == doubts


def test_without_facts_that_stay_nothing_is_said_and_other_methods_count_no_bits() -> None:
    assert explained(TEXT, lethe(Policy(k=100))).sanitized.bits == 0.0
    assert explained(TEXT, trip(LOOSE)).sanitized.bits is None
    assert explained(TEXT, REDACT).sanitized.bits is None


def test_what_was_decided_apart_of_one_link_is_told_apart() -> None:
    name, _, _, address = explained(TEXT, trip(LOOSE)).entities
    assert (name.link, name.scores) == (address.link, address.scores)
    assert name.scores is not None


def test_what_was_suppressed_has_no_words_and_a_method_without_scores_none() -> None:
    for each in explained(TEXT, SUPPRESS).entities:
        assert (each.scores, each.replacement, each.action) == (None, "", Action.SUPPRESS)


def test_what_is_kept_has_no_words_though_another_entity_of_its_place_goes() -> None:
    found = [entity(0, 5, "symptom"), entity(0, 5, "person full name")]
    both = DecidingSanitizer(Given(found), Fixed({"symptom": Action.KEEP}), RiskPrior()).explain(
        Document("d", "Orrin came")
    )
    actions = {each.label: (each.action, each.replacement) for each in both.entities}
    assert actions == {"person full name": (Action.GENERALIZE, "Somebody"), "symptom": (Action.KEEP, "")}


def test_an_explanation_is_of_what_sanitizing_does() -> None:
    sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), trip(LOOSE), RiskPrior())
    explanation = sanitizer.explain(Document("d", TEXT))
    assert [explanation.sanitized] == sanitizer.sanitize([Document("d", TEXT)])


def test_aliases_are_told_as_what_stands_there() -> None:
    sanitizer = DecidingSanitizer(
        PhraseDetector(PHRASES), REDACT, RiskPrior(), Policy("trip", replacements="alias"), b"k" * 32
    )
    explanation = sanitizer.explain(Document("d", TEXT))
    person = explanation.entities[0]
    assert person.action is Action.SURROGATE
    assert person.replacement.startswith("Person ")
    assert explanation.sanitized.text.startswith(f"{person.replacement}, a certain age")


def test_a_document_without_entities_has_none_to_tell_of() -> None:
    for text in ("", "The heron was fed."):
        explanation = explained(text, REDACT)
        assert (list(explanation.entities), explanation.sanitized.text) == ([], text)


def test_a_failure_quotes_nothing() -> None:
    sanitizer = DecidingSanitizer(FailingDetector("Orrin"), REDACT, RiskPrior())
    with pytest.raises(SanitizationError) as caught:
        sanitizer.explain(Document("d", TEXT))
    assert str(caught.value) == (
        "document d was not indexed: detection failed (RuntimeError); nothing of it was kept"
    )
    assert caught.value.__cause__ is None


def test_no_text_is_in_a_repr() -> None:
    assert "Orrin" not in repr(explained(TEXT, trip(LOOSE)))


@FEW
@given(some_texts, st.integers(0, 1000))
def test_every_mention_is_told_once(text: AnnotatedText, seed: int) -> None:
    spans = [span for each in thrown(text, seed).entities for span in each.mentions]
    assert sorted(spans) == sorted(entity.span for entity in text.entities)


@FEW
@given(some_explanations)
def test_what_is_told_to_stand_there_does(explanation: Explanation) -> None:
    for each in explanation.entities:
        assert each.replacement in explanation.sanitized.text
        assert not each.replacement or each.action is not Action.KEEP


# -- stretches ---------------------------------------------------------------------------------------------


@FEW
@given(some_explanations)
def test_stretches_put_together_are_the_texts(explanation: Explanation) -> None:
    for stretches, text in (
        (list(original_stretches(explanation)), explanation.text),
        (list(sanitized_stretches(explanation)), explanation.sanitized.text),
    ):
        assert "".join(words for words, _ in stretches) == text
        assert all(words for words, _ in stretches)


@FEW
@given(some_explanations)
def test_each_character_of_the_original_knows_its_entities(explanation: Explanation) -> None:
    place = 0
    for words, numbers in original_stretches(explanation):
        for _ in words:
            holders = {
                number
                for number, each in enumerate(explanation.entities)
                if any(span.start <= place < span.end for span in each.mentions)
            }
            assert list(numbers) == sorted(holders)
            place += 1


@FEW
@given(some_explanations)
def test_each_stretch_of_the_sanitized_text_knows_who_decided_it(explanation: Explanation) -> None:
    place = 0
    sanitized = explanation.sanitized
    for words, numbers in sanitized_stretches(explanation):
        deciders = {
            (decision.entity.link, decision.action, decision.reason)
            for decision, (start, end) in zip(sanitized.decisions, sanitized.places, strict=True)
            if start <= place and place + len(words) <= end
        }
        named = [explanation.entities[number] for number in numbers]
        assert {(each.link, each.action, each.reason) for each in named} == deciders
        place += len(words)


def test_an_address_is_not_shown_as_the_name_it_is_linked_with() -> None:
    explanation = explained(TEXT, trip(LOOSE))
    shown = {words: numbers for words, numbers in sanitized_stretches(explanation) if numbers}
    assert explanation.entities[shown["an email address"][0]].label == "email address"


def test_of_several_the_strictest_is_shown() -> None:
    text = "Orrin came"
    kinds = {"Orrin came": "event", "Orrin": "person full name"}
    explanation = explained(text, Fixed({"event": Action.KEEP}), kinds)
    (both, *_) = (numbers for _, numbers in original_stretches(explanation))
    assert len(both) == 2
    assert strictest(explanation, both).label == "person full name"
    assert strictest(explanation, both[::-1]).label == "person full name"


# -- the page ----------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a browser would show in the two texts, and every tag and address on the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self._inside = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        self.links += [str(attributes[name]) for name in ("href", "src") if name in attributes]
        self.ids += [str(attributes["id"])] if "id" in attributes else []
        if tag == "p" and attributes.get("class") == "text":
            self._inside = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


EVIL = '<script>alert("x")</script> & \'"><img src=https://example.org/x>'


def test_nothing_that_a_document_says_becomes_a_tag() -> None:
    phrases = {EVIL: f"{EVIL}s", "Orrin": "person full name"}
    evil = explained(f"{EVIL} and Orrin, {EVIL}", trip(LOOSE), phrases, doc_id=EVIL)
    plain = explained("mill and Orrin, mill", trip(LOOSE), {"mill": "x", "Orrin": "person full name"})
    page = Page(explanation_page([evil], EVIL, LOOSE))
    assert page.tags == Page(explanation_page([plain], "told", LOOSE)).tags
    assert page.texts == [evil.text, evil.sanitized.text]
    assert "<script" not in explanation_page([evil], EVIL, LOOSE)


@FEW
@given(st.lists(some_explanations, max_size=3))
def test_the_page_shows_both_texts_of_each_document_and_its_links_lead_to_rows(
    explanations: list[Explanation],
) -> None:
    page = Page(explanation_page(explanations, "told", LOOSE))
    expected = [text for each in explanations for text in (each.text, each.sanitized.text)]
    assert page.texts == expected
    assert page.ids == [
        f"e{number}-{place}"
        for number, each in enumerate(explanations)
        for place in range(len(each.entities))
    ]
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_the_page_needs_nothing_else_and_warns() -> None:
    page = explanation_page([explained(TEXT, trip(LOOSE))], "told", LOOSE)
    assert "://" not in page
    assert "quotes the documents" in page
    assert '<mark class="quasi keep" title="person age: keep, priority below the threshold">' in page


def test_figures_have_three_decimals_and_tell_distance_for_relevance() -> None:
    assert figures(Scores(0.5, 0.25, 0.9, 0.475)) == ("0.500", "0.250", "0.100", "0.475", "–")
    assert figures(Scores(0.5, None, None, 2.5, 1.25)) == ("0.500", "–", "–", "2.500", "1.250")
    assert figures(None) == ("–", "–", "–", "–", "–")


def test_the_rule_is_told_in_a_sentence() -> None:
    policy = Policy("trip", tau=0.5, direct_limit=0.1, weights=Weights(1, 0.5, 0.25))
    assert threshold(policy) == (
        "Policy trip: direct identifiers go from P 0.1 on; the others where S >= 0.5, with alpha 1, beta "
        "0.5, gamma 0.25."
    )
    assert threshold(Policy(k=20, people=80)) == (
        "Policy lethe: direct identifiers go from P 0 on; of the other facts as many stay as leave 20 of 80 "
        "people who fit them, 2.00 bits."
    )
    assert threshold(Policy("lprag")) == "Policy lprag: it uses no scores."


def test_a_row_has_figures_and_places_and_no_text() -> None:
    row = explanation_row(explained(TEXT, trip(LOOSE)), LOOSE)
    assert (row["doc_id"], row["policy"]) == ("d", "trip")
    entities = row["entities"]
    assert isinstance(entities, list)
    assert set(entities[0]) == {
        "link", "label", "identifier", "mentions", "scores", "action", "replacement", "chance",
        "reason",
    }  # fmt: skip
    assert entities[0]["mentions"] == [[0, 12], [7, 12], [31, 43], [38, 43]]
    assert set(entities[0]["scores"]) == {"risk", "divergence", "relevance", "priority", "bits"}
    assert "Orrin" not in json.dumps(row)
    nothing = explanation_row(explained(TEXT, REDACT), Policy("redact"))["entities"]
    assert isinstance(nothing, list)
    assert {each["scores"] for each in nothing} == {None}


# -- what is told of the document as a whole ---------------------------------------------------------------


class FailingAfterwards:
    """Fails on a second reading, with a message that quotes."""

    name = "failing afterwards (test double)"

    def __init__(self) -> None:
        self._calls = 0

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        self._calls += 1
        if self._calls > 1:
            raise RuntimeError(f"cannot read {texts[0].text}")
        return [Hazards(0.0, {each.link: 0.0 for each in text.entities}) for text in texts]


def test_a_risk_that_cannot_be_measured_afterwards_fails_the_document_without_its_words() -> None:
    sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), REDACT, FailingAfterwards())
    with pytest.raises(SanitizationError) as caught:
        sanitizer.explain(Document("d", TEXT))
    assert str(caught.value) == (
        "document d was not indexed: risk measurement failed (RuntimeError); nothing of it was kept"
    )
    assert caught.value.__cause__ is None


def told_of(explanation: Explanation) -> Explanation:
    """The explanation of a document with doubts, of which something was not read."""
    unread = (Unread("scanned page", 3, "has no text; install tesseract"),)
    sanitized = replace(explanation.sanitized, doubts=("written in capitals",), unread=unread)
    return replace(explanation, sanitized=sanitized)


def test_sentences_about_the_document_tell_its_risk_and_what_to_mind() -> None:
    nothing = explained("The heron was fed, and then it flew away.", trip(LOOSE))
    risk = "Detected risk, of found entities only: 0.000 before, 0.000 after."
    assert list(remarks(nothing, LOOSE)) == [risk]
    assert list(remarks(told_of(nothing), LOOSE)) == [
        risk,
        "Doubt: written in capitals.",
        "Not read: scanned page, 3 of it: has no text; install tesseract.",
    ]


def said_in_all(bits: float) -> Explanation:
    """An explanation by bits in which one fact stays."""
    explanation = explained("The cough is old.", lethe(Policy()))
    (cough,) = explanation.sanitized.decisions
    said = replace(cough, scores=Scores(0.1, None, None, bits, bits), action=Action.KEEP)
    return replace(explanation, sanitized=replace(explanation.sanitized, decisions=[said]))


def test_by_bits_it_is_told_how_many_people_fit() -> None:
    policy = Policy(k=250, people=2000)
    first, *_ = remarks(said_in_all(2), policy)
    assert first == (
        "Of 2,000 people who might be meant, about 500 fit the facts that were found and stay "
        "(2.0 bits); the policy asks for 250."
    )
    assert explanation_row(said_in_all(3), policy)["fits"] == {"of": 2000, "about": 250.0, "asked_for": 250}
    assert explanation_row(said_in_all(2_000), policy)["fits"] == {"of": 2000, "about": 0.0, "asked_for": 250}
    assert "about 0 fit" in next(iter(remarks(said_in_all(2_000), policy)))
    assert explanation_row(explained(TEXT, trip(LOOSE)), LOOSE)["fits"] is None


def test_the_page_and_the_row_tell_the_same_of_the_document() -> None:
    for explanation, policy in (
        (told_of(explained(TEXT, trip(LOOSE))), LOOSE),
        (told_of(explained(TEXT, lethe(Policy()))), Policy()),
    ):
        page = explanation_page([explanation], "told", policy)
        assert all(f'<p class="sub">{each}</p>' in page for each in remarks(explanation, policy))
        row = explanation_row(explanation, policy)
        risk = explanation.sanitized.risk
        assert row["detected_risk"] == {
            "of": "what was found",
            "before": round(risk.before, 4),
            "after": round(risk.after, 4),
            "engine": risk.engine,
        }
        assert row["doubts"] == ["written in capitals"]
        assert row["not_read"] == [
            {"kind": "scanned page", "count": 3, "reason": "has no text; install tesseract"}
        ]


def lines_of(explanation: Explanation, width: int) -> list[str]:
    written = io.StringIO()
    Console(file=written, width=width).print(table(explanation))
    return written.getvalue().splitlines()


def test_the_table_fits_80_columns_and_breaks_between_words() -> None:
    long = "The Society of the Friends of the Lighthouses of the Northern Coast"
    phrases = PHRASES | {long: "organization"}
    explanation = explained(f"{TEXT} {long} meets.", trip(LOOSE), phrases)
    lines = lines_of(explanation, 80)
    assert max(map(len, lines)) <= 80
    shown = set(" ".join(lines).split())
    assert "…" not in "".join(lines)
    for each in explanation.entities:
        span = max(each.mentions, key=len)
        words = [explanation.text[span.start : span.end], f"({each.label})", outcome(each)]
        assert set(" ".join(words).split()) <= shown


@FEW
@given(some_explanations)
def test_whatever_is_explained_fits_80_columns(explanation: Explanation) -> None:
    assert all(cell_len(line) <= 80 for line in lines_of(explanation, 80))


# -- the verb ----------------------------------------------------------------------------------------------

NOTES = [
    "Invented note. Mr Tobias Orrin, aged 61, keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken. Write to t.orrin@example.org.",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kept = {"LETHE_DATA_DIR": str(tmp_path / "data"), "LETHE_INGEST__KEEP_IDS": "true"}
    for name, value in (READING | kept).items():
        monkeypatch.setenv(name, value)
    write_records(tmp_path / "notes.jsonl", NOTES)
    (tmp_path / "empty.txt").write_text("")
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_ids_are_digested_unless_they_may_be_kept(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LETHE_INGEST__KEEP_IDS")
    notes = str(folder / "notes.jsonl")
    assert main(["explain", notes, "--json", "--policy", "redact"]) == 0
    digested = [row["doc_id"] for row in rows(capsys)]
    assert all(re.fullmatch("doc-[0-9a-f]{16}", each) for each in digested)
    assert main(["sanitize", notes, "--policy", "redact"]) == 0
    assert [row["doc_id"] for row in rows(capsys)] == digested
    assert main(["explain", notes, "--json", "--policy", "redact", "--keep-ids"]) == 0
    assert [row["doc_id"] for row in rows(capsys)] == ["r0000", "r0001"]


def test_the_verb_writes_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(folder / "notes.jsonl"), "--json", "--policy", "redact"]) == 0
    shown = capsys.readouterr().out
    assert [json.loads(line)["doc_id"] for line in shown.splitlines()] == ["r0000", "r0001"]
    assert "Orrin" not in shown


def test_what_cannot_be_read_is_told_and_the_rest_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(folder / name) for name in ("empty.txt", "notes.jsonl")]
    assert main(["explain", *paths, "--json", "--policy", "redact"]) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert "empty.txt" in printed.err


def test_what_cannot_be_sanitized_is_told_and_the_rest_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    explain = DecidingSanitizer.explain

    def failing(self: DecidingSanitizer, document: Document) -> Explanation:
        if "lighthouse" in document.text:
            raise SanitizationError(document.doc_id, "detection failed (RuntimeError)")
        return explain(self, document)

    monkeypatch.setattr(DecidingSanitizer, "explain", failing)
    assert main(["explain", str(folder / "notes.jsonl"), "--json", "--policy", "redact"]) == 1
    printed = capsys.readouterr()
    assert [json.loads(line)["doc_id"] for line in printed.out.splitlines()] == ["r0001"]
    assert printed.err == (
        f"lethe: {folder}/notes.jsonl, line 1: document r0000 was not indexed: detection failed "
        "(RuntimeError); nothing of it was kept\n"
    )


def test_the_page_is_for_its_owner_alone_even_where_a_file_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "page.html"
    for there in (False, True):
        if there:
            page.chmod(0o644)
        asked = ["explain", str(folder / "notes.jsonl"), "--html", str(page), "--policy", "redact"]
        assert main(asked) == 0
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        printed = capsys.readouterr()
        assert (printed.out, "It quotes the documents" in printed.err) == ("", True)
    assert NOTES[1] in Page(page.read_text(encoding="utf-8")).texts


def test_a_page_that_cannot_be_written_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "nowhere" / "page.html"
    asked = ["explain", str(folder / "notes.jsonl"), "--html", str(path), "--policy", "redact"]
    assert main(asked) == 1
    assert capsys.readouterr().err == (
        f"lethe: {path}: the page could not be written (No such file or directory). Name another file.\n"
    )


def test_on_the_screen_marks_of_a_document_are_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # "[/red]" ends what never began, ":mill:" and "[b]" would be drawn as something else.
    texts = ["Write to t.orrin@example.org [/red] [b] :mill: today."]
    path = write_records(folder / "marks.jsonl", texts)
    row = json.loads(path.read_text())
    path.write_text(json.dumps({**row, "id": "Orrin"}) + "\n")
    assert main(["explain", str(path), "--policy", "redact"]) == 0
    shown = capsys.readouterr().out
    assert "Write to an email address [/red] [b] :mill: today." in shown
    assert "doc-" in shown
    assert "Orrin" not in shown, "an id that names somebody is digested"
    assert "Policy redact: it uses no scores." in shown
    assert "generalize" in shown
    assert "…" not in shown


def test_a_table_cell_shows_what_the_document_says(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = explained("[/b] came", REDACT, {"[/b] came": "event"})
    monkeypatch.setattr(DecidingSanitizer, "explain", lambda self, document: found)
    path = write_records(folder / "one.jsonl", NOTES[:1])
    assert main(["explain", str(path), "--policy", "redact"]) == 0
    assert capsys.readouterr().out.count("[/b] came") == 2


def test_a_collection_decides_by_its_own_policy_and_scale(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"NAME": "trip", "TAU": "1.5"}.items():
        monkeypatch.setenv(f"LETHE_POLICY__{name}", value)
    notes = str(folder / "notes.jsonl")
    assert main(["ingest", notes, "-c", "strict", "--tau", "-0.9"]) == 0
    capsys.readouterr()

    def reasons_and_divergences(*options: str) -> tuple[set[str], list[float]]:
        assert main(["explain", notes, "--json", *options]) == 0
        entities = [each for row in rows(capsys) for each in row["entities"]]
        return {each["reason"] for each in entities}, [each["scores"]["divergence"] for each in entities]

    of_settings, plain = reasons_and_divergences()
    of_collection, same = reasons_and_divergences("-c", "strict")
    assert BELOW in of_settings
    assert BELOW not in of_collection
    assert plain == same

    manifest = folder / "data" / "collections" / "strict" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["scale"] |= {"divergence_low": 0.0, "divergence_high": 1e-6}
    manifest.write_text(json.dumps(content))
    _, other = reasons_and_divergences("-c", "strict")
    assert set(other) <= {0.0, 1.0}
    assert other != plain


def test_a_collection_decides_by_as_many_people_as_it_was_made_with(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = str(folder / "notes.jsonl")
    monkeypatch.setenv("LETHE_POLICY__K", "99.9")
    assert main(["ingest", notes, "-c", "strict"]) == 0
    monkeypatch.setenv("LETHE_POLICY__K", "1e-9")
    capsys.readouterr()

    def told(*options: str) -> tuple[set[str], set[float]]:
        assert main(["explain", notes, "--json", *options]) == 0
        found = rows(capsys)
        return (
            {each["reason"] for row in found for each in row["entities"]},
            {row["fits"]["asked_for"] for row in found if row["fits"]},
        )

    loose, strict = told(), told("-c", "strict")
    assert (NARROWS in loose[0], NARROWS in strict[0]) == (False, True)
    assert (loose[1], strict[1]) == ({1e-9}, {99.9})


def test_two_policies_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--fit", "9"], ["--policy", "redact"]):
        assert main(["explain", str(folder / "notes.jsonl"), "-c", "any", *option]) == 2
        assert capsys.readouterr().err == (
            "lethe: A collection decides by the policy that it was made with: leave out --policy, --fit "
            "and --tau, or leave out --collection.\n"
        )


def test_a_collection_that_is_not_there_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(folder / "notes.jsonl"), "-c", "none"]) == 1
    assert "There is no collection none" in capsys.readouterr().err
