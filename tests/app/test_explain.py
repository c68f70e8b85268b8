"""Why each entity was treated as it was: rows, stretches of text, the page and the verb. All is invented."""

import io
import json
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import fromstring
from rich.cells import cell_len
from rich.console import Console

from app import explaining
from app.cli.explain import table, threshold
from app.rows import explanation_row
from ingest.annotated import AnnotatedText
from ingest.deciding import policy as rules
from ingest.deciding.baselines.uniform import REDACT, SUPPRESS
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import Policy, Treatment
from ingest.deciding.trip import Trip
from ingest.documents import Action, Decision, Document, Entity, Scores, Unread
from ingest.errors import SanitizationError
from ingest.explain import Explanation
from ingest.protocols import EntityDetector, Hazards, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Weights
from models.bits import embedded_bits
from tests.commands import READING, Ran, in_process, write_records
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
LOOSE = Policy("trip", tau=0.85)
"""Keeps the age and no symptom."""
Choose = Callable[[Entity], Decision]


def given_and_chosen(found: Sequence[Entity], choose: Choose, text: str) -> Explanation:
    """The explanation of a text by a detector that finds these, and a method that decides as it is told."""
    detector: Any = SimpleNamespace(name="given", detect=lambda documents: [list(found)])
    method: Any = SimpleNamespace(name="chosen", decide=lambda texts, _: [[*map(choose, texts[0].entities)]])
    return DecidingSanitizer(detector, method, RiskPrior()).explain(Document("d", text))


def but_kept(*labels: str) -> Choose:
    """What has these labels stays, and all else goes."""
    return lambda each: Decision(each, None, Action.KEEP if each.label in labels else Action.GENERALIZE, "")


def trip(policy: Policy) -> Method:
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, policy)


def lethe(policy: Policy) -> Method:
    return Lethe(embedded_bits(), policy)


def explained(text: str, method: Method, phrases: dict[str, str] = PHRASES, doc_id: str = "d") -> Explanation:
    return DecidingSanitizer(PhraseDetector(phrases), method, RiskPrior()).explain(Document(doc_id, text))


def thrown(text: AnnotatedText, seed: int) -> Explanation:
    """Any action for any mention."""
    dice = Random(seed)

    def throw(each: Entity) -> Decision:
        action = dice.choice(list(Action))
        words = "<Other & Sons>" if action is Action.SURROGATE else ""
        return Decision(each, None, action, dice.choice(["one", "another"]), words)

    return given_and_chosen(text.entities, throw, text.text)


some_texts = st.one_of(annotated_texts(), sentences_about_people(), overlapping_words())
some_explanations = st.builds(thrown, some_texts, st.integers(0, 1000))
FEW = settings(max_examples=100, deadline=None)


@pytest.fixture(scope="module")
def told() -> Explanation:
    return explained(TEXT, trip(LOOSE))


# -- what is said of each entity ---------------------------------------------------------------------------


def test_a_linked_entity_is_told_once_with_all_its_mentions(told: Explanation) -> None:
    assert told.text == TEXT
    assert [
        (each.label, [span.start for span in each.mentions], each.action.value, each.reason, each.replacement)
        for each in told.entities
    ] == [
        ("person full name", [0, 7, 31, 38], "generalize", rules.DIRECT, "Somebody"),
        ("person age", [14], "keep", rules.BELOW, ""),
        ("symptom", [24], "generalize", rules.AT_OR_ABOVE, "a symptom"),
        ("email address", [56], "generalize", rules.RIGID, "an email address"),
    ]
    name, _, _, address = told.entities
    assert (name.link, name.scores) == (address.link, address.scores), "one link is decided apart"
    assert name.scores is not None
    assert "Orrin" not in repr(told)
    sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), trip(LOOSE), RiskPrior())
    assert [told.sanitized] == sanitizer.sanitize([Document("d", TEXT)])


def test_by_bits_it_is_told_what_is_said_with_each_fact_and_what_is_said_in_all(told: Explanation) -> None:
    strict, loose, none = (explained(TEXT, lethe(Policy(k=k))) for k in (50, 1, 100))
    name, age, symptom, address = strict.entities
    assert [each.reason for each in strict.entities] == [rules.DIRECT, rules.NARROWS, rules.FITS, rules.RIGID]
    assert [each.reason for each in loose.entities] == [rules.DIRECT, rules.FITS, rules.FITS, rules.RIGID]
    assert [None if each.scores is None else each.scores.bits for each in (name, address)] == [None, None]
    assert age.scores is not None and symptom.scores is not None
    assert age.scores.priority is not None and symptom.scores.priority is not None
    assert age.scores.priority >= Policy(k=50).threshold > symptom.scores.priority
    assert strict.sanitized.bits == symptom.scores.priority
    assert loose.sanitized.bits == age.scores.priority
    assert none.sanitized.bits == 0.0, "no fact stays"
    assert told.sanitized.bits is explained(TEXT, REDACT).sanitized.bits is None


def test_it_is_doubted_that_enough_people_fit_where_a_kept_label_says_too_much() -> None:
    kept = Treatment({"person age": "keep"})
    for policy, doubted in (
        (Policy(k=50), 0),
        (Policy(k=50, treatment=kept), 1),
        (Policy(k=1, treatment=kept), 0),
    ):
        sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), lethe(policy), RiskPrior(), policy)
        assert sanitizer.explain(Document("d", TEXT)).sanitized.doubts.count(rules.TOO_FEW) == doubted


def test_what_was_suppressed_has_no_words_and_a_method_without_scores_none() -> None:
    for each in explained(TEXT, SUPPRESS).entities:
        assert (each.scores, each.replacement, each.action) == (None, "", Action.SUPPRESS)


def test_aliases_are_told_as_what_stands_there() -> None:
    policy = Policy("trip", replacements="alias")
    sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), REDACT, RiskPrior(), policy, b"k" * 32)
    explanation = sanitizer.explain(Document("d", TEXT))
    person = explanation.entities[0]
    assert person.action is Action.SURROGATE
    assert person.replacement.startswith("Person ")
    assert explanation.sanitized.text.startswith(f"{person.replacement}, a certain age")


def test_a_document_without_entities_has_none_to_tell_of() -> None:
    for text in ("", "The heron was fed, and then it flew away."):
        nothing = explained(text, trip(LOOSE))
        assert (list(nothing.entities), nothing.sanitized.text) == ([], text)
    risk = "Detected risk, of found entities only: 0.000 before, 0.000 after."
    assert list(explaining.remarks(nothing, LOOSE)) == [risk]


class FailingAfterwards(RiskPrior):
    """Fails on a second reading, with a message that quotes."""

    read = False

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        if self.read:
            raise RuntimeError(f"cannot read {texts[0].text}")
        self.read = True
        return super().hazards(texts)


@pytest.mark.parametrize(
    ("detector", "risk", "part"),
    [
        (FailingDetector("Orrin"), RiskPrior(), "detection"),
        (PhraseDetector(PHRASES), FailingAfterwards(), "risk measurement"),
    ],
)
def test_a_failure_quotes_nothing(detector: EntityDetector, risk: RiskPrior, part: str) -> None:
    with pytest.raises(SanitizationError) as caught:
        DecidingSanitizer(detector, REDACT, risk).explain(Document("d", TEXT))
    said = f"document d was not indexed: {part} failed (RuntimeError); nothing of it was kept"
    assert (str(caught.value), caught.value.__cause__) == (said, None)


@FEW
@given(some_texts, st.integers(0, 1000))
def test_every_mention_is_told_once_and_stretches_know_their_entities(text: AnnotatedText, seed: int) -> None:
    explanation = thrown(text, seed)
    sanitized, entities = explanation.sanitized, explanation.entities
    spans = [span for each in entities for span in each.mentions]
    assert sorted(spans) == sorted(entity.span for entity in text.entities)
    for each in entities:
        assert each.replacement in sanitized.text
        assert not each.replacement or each.action is not Action.KEEP
    original = list(explaining.original_stretches(explanation))
    written = list(explaining.sanitized_stretches(explanation))
    for stretches, whole in ((original, text.text), (written, sanitized.text)):
        assert "".join(words for words, _ in stretches) == whole
        assert all(words for words, _ in stretches)
    place = 0
    for words, numbers in original:
        for at in range(place, place + len(words)):
            held = (any(span.start <= at < span.end for span in each.mentions) for each in entities)
            assert list(numbers) == [number for number, holds in enumerate(held) if holds]
        place += len(words)
    place = 0
    for words, numbers in written:
        deciders = {
            (decision.entity.link, decision.action, decision.reason)
            for decision, (start, end) in zip(sanitized.decisions, sanitized.places, strict=True)
            if start <= place and place + len(words) <= end
        }
        assert {(entities[n].link, entities[n].action, entities[n].reason) for n in numbers} == deciders
        place += len(words)


def test_of_several_the_strictest_is_shown_and_what_is_kept_has_no_words() -> None:
    found = [entity(0, 10, "event"), entity(0, 5, "symptom"), entity(0, 5, "person full name")]
    explanation = given_and_chosen(found, but_kept("event", "symptom"), "Orrin came")
    (several, *_) = (numbers for _, numbers in explaining.original_stretches(explanation))
    shown = {explaining.strictest(explanation, numbers).label for numbers in (several, several[::-1])}
    assert (len(several), shown) == (3, {"person full name"})
    words = {each.label: (each.action, each.replacement) for each in explanation.entities}
    kept = dict.fromkeys(("event", "symptom"), (Action.KEEP, ""))
    assert words == kept | {"person full name": (Action.GENERALIZE, "Somebody")}


# -- the page ----------------------------------------------------------------------------------------------


def texts_on(page: str) -> list[str]:
    """What a browser would show in the two texts of each document."""
    return [each.text_content() for each in fromstring(page).xpath("//p[@class='text']")]


EVIL = '<script>alert("x")</script> & \'"><img src=https://example.org/x>'


def test_nothing_that_a_document_says_becomes_a_tag() -> None:
    pages, tags = [], []
    for words, label in ((EVIL, f"{EVIL}s"), ("mill", "x")):
        phrases = {words: label, "Orrin": "person full name"}
        explanation = explained(f"{words} and Orrin, {words}", trip(LOOSE), phrases, doc_id=words)
        pages.append(explaining.explanation_page([explanation], words, LOOSE))
        tags.append([each.tag for each in fromstring(pages[-1]).iter()])
        assert texts_on(pages[-1]) == [explanation.text, explanation.sanitized.text]
    assert tags[0] == tags[1]
    assert "<script" not in pages[0]


def lines_of(explanation: Explanation) -> list[str]:
    """The table on a screen of 80 columns."""
    written = io.StringIO()
    Console(file=written, width=80).print(table(explanation))
    return written.getvalue().splitlines()


@FEW
@given(st.lists(some_explanations, max_size=3))
def test_the_page_shows_all_and_the_table_fits_80_columns(explanations: list[Explanation]) -> None:
    page = explaining.explanation_page(explanations, "told", LOOSE)
    assert texts_on(page) == [text for each in explanations for text in (each.text, each.sanitized.text)]
    rows = [f"e{n}-{row}" for n, each in enumerate(explanations) for row in range(len(each.entities))]
    assert fromstring(page).xpath("//@id") == rows
    assert {*fromstring(page).xpath("//@href | //@src")} <= {f"#{each}" for each in rows}
    assert all(cell_len(line) <= 80 for each in explanations for line in lines_of(each))


def test_the_table_breaks_between_words() -> None:
    long = "The Society of the Friends of the Lighthouses of the Northern Coast"
    explanation = explained(f"{TEXT} {long} meets.", trip(LOOSE), PHRASES | {long: "organization"})
    shown = " ".join(lines_of(explanation))
    assert "…" not in shown
    for each in explanation.entities:
        span = max(each.mentions, key=len)
        words = [explanation.text[span.start : span.end], f"({each.label})", explaining.outcome(each)]
        assert set(" ".join(words).split()) <= set(shown.split())


def test_the_page_needs_nothing_else_and_warns(told: Explanation) -> None:
    page = explaining.explanation_page([told], "told", LOOSE)
    assert "://" not in page
    assert "quotes the documents" in page
    assert '<mark class="quasi keep" title="person age: keep, priority below the threshold">' in page


def test_figures_have_three_decimals_and_tell_distance_for_relevance() -> None:
    assert explaining.figures(Scores(0.5, 0.25, 0.9, 0.475)) == ("0.500", "0.250", "0.100", "0.475", "–")
    assert explaining.figures(Scores(0.5, None, None, 2.5, 1.25)) == ("0.500", "–", "–", "2.500", "1.250")
    assert explaining.figures(None) == ("–", "–", "–", "–", "–")


def test_the_rule_is_told_in_a_sentence() -> None:
    weighed = Policy("trip", tau=0.5, direct_limit=0.1, weights=Weights(1, 0.5, 0.25))
    assert threshold(weighed) == (
        "Policy trip: direct identifiers go from P 0.1 on; the others where S >= 0.5, with alpha 1, beta "
        "0.5, gamma 0.25."
    )
    assert threshold(Policy(k=20, people=80)) == (
        "Policy lethe: direct identifiers go from P 0 on; of the other facts as many stay as leave 20 of 80 "
        "people who fit them, 2.00 bits."
    )
    assert threshold(Policy("lprag")) == "Policy lprag: it uses no scores."


def test_a_row_has_figures_and_places_and_no_text(told: Explanation) -> None:
    row = explanation_row(told, LOOSE)
    nothing = explanation_row(explained(TEXT, REDACT), Policy("redact"))["entities"]
    entities = row["entities"]
    assert isinstance(entities, list) and isinstance(nothing, list)
    assert (row["doc_id"], row["policy"], row["fits"]) == ("d", "trip", None)
    names = "link label identifier mentions scores action replacement chance reason"
    assert set(entities[0]) == set(names.split())
    assert entities[0]["mentions"] == [[0, 12], [7, 12], [31, 43], [38, 43]]
    assert set(entities[0]["scores"]) == {"risk", "divergence", "relevance", "priority", "bits"}
    assert {each["scores"] for each in nothing} == {None}
    assert "Orrin" not in json.dumps(row)


# -- what is told of the document as a whole ---------------------------------------------------------------


@pytest.mark.parametrize(("method", "policy"), [(trip(LOOSE), LOOSE), (lethe(Policy()), Policy())])
def test_the_page_and_the_row_tell_the_same_of_the_document(method: Method, policy: Policy) -> None:
    explanation = explained(TEXT, method)
    unread = (Unread("scanned page", 3, "has no text; install tesseract"),)
    sanitized = replace(explanation.sanitized, doubts=("written in capitals",), unread=unread)
    explanation = replace(explanation, sanitized=sanitized)
    said, risk = list(explaining.remarks(explanation, policy)), sanitized.risk
    assert said[-3:] == [
        f"Detected risk, of found entities only: {risk.before:.3f} before, {risk.after:.3f} after.",
        "Doubt: written in capitals.",
        "Not read: scanned page, 3 of it: has no text; install tesseract.",
    ]
    page = explaining.explanation_page([explanation], "told", policy)
    assert all(f'<p class="sub">{each}</p>' in page for each in said)
    row = explanation_row(explanation, policy)
    found = {"before": round(risk.before, 4), "after": round(risk.after, 4), "engine": risk.engine}
    assert row["detected_risk"] == {"of": "what was found"} | found
    assert row["doubts"] == ["written in capitals"]
    left = {"kind": "scanned page", "count": 3, "reason": "has no text; install tesseract", "read": False}
    assert row["not_read"] == [left]


@pytest.mark.parametrize(("bits", "about"), [(2, 500.0), (3, 250.0), (2_000, 0.0)])
def test_by_bits_it_is_told_how_many_people_fit(bits: float, about: float) -> None:
    policy = Policy(k=250, people=2000)
    explanation = explained("The cough is old.", lethe(Policy()))
    (cough,) = explanation.sanitized.decisions
    said = replace(cough, scores=Scores(0.1, None, None, bits, bits), action=Action.KEEP)
    explanation = replace(explanation, sanitized=replace(explanation.sanitized, decisions=[said]))
    first, *_ = explaining.remarks(explanation, policy)
    assert first == (
        f"Of 2,000 people who might be meant, about {about:.0f} fit the facts that were found and stay "
        f"({bits:.1f} bits); the policy asks for 250."
    )
    assert explanation_row(explanation, policy)["fits"] == {"of": 2000, "about": about, "asked_for": 250}


# -- the verb ----------------------------------------------------------------------------------------------

NOTES = [
    "Invented note. Mr Tobias Orrin, aged 61, keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken. Write to t.orrin@example.org.",
]
ROWS = ("--json", "--policy", "redact")


class Verb:
    """``lethe explain`` in this process, and a folder with two notes."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.notes = str(write_records(folder / "notes.jsonl", NOTES))

    def __call__(self, *arguments: str, verb: str = "explain") -> Ran:
        return in_process(self.capsys, verb, *arguments)


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verb:
    kept = {"LETHE_DATA_DIR": str(tmp_path / "data"), "LETHE_INGEST__KEEP_IDS": "true"}
    for name, value in (READING | kept).items():
        monkeypatch.setenv(name, value)
    return Verb(tmp_path, capsys)


def ids(ran: Ran) -> list[str]:
    return [row["doc_id"] for row in ran.rows]


def test_ids_are_digested_unless_they_may_be_kept(explain: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LETHE_INGEST__KEEP_IDS")
    digested = explain(explain.notes, *ROWS)
    assert digested.code == 0
    assert all(re.fullmatch("doc-[0-9a-f]{16}", each) for each in ids(digested))
    assert ids(explain(explain.notes, "--policy", "redact", verb="sanitize")) == ids(digested)
    kept = explain(explain.notes, *ROWS, "--keep-ids")
    assert (kept.code, ids(kept)) == (0, ["r0000", "r0001"])
    assert "Orrin" not in kept.out


def test_what_cannot_be_read_or_sanitized_is_told(explain: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    explained_well = DecidingSanitizer.explain

    def failing(self: DecidingSanitizer, document: Document) -> Explanation:
        if "lighthouse" in document.text:
            raise SanitizationError(document.doc_id, "detection failed (RuntimeError)")
        return explained_well(self, document)

    monkeypatch.setattr(DecidingSanitizer, "explain", failing)
    (explain.folder / "empty.txt").write_text("")
    ran = explain(str(explain.folder / "empty.txt"), explain.notes, *ROWS)
    assert (ran.code, ids(ran)) == (1, ["r0001"])
    empty, failed = ran.err.splitlines()
    assert "empty.txt" in empty
    assert failed == (
        f"lethe: {explain.notes}, line 1: document r0000 was not indexed: detection failed (RuntimeError); "
        "nothing of it was kept"
    )


def test_the_page_is_for_its_owner_alone_even_where_a_file_was(explain: Verb) -> None:
    page = explain.folder / "page.html"
    for there in (False, True):
        if there:
            page.chmod(0o644)
        ran = explain(explain.notes, "--html", str(page), "--policy", "redact")
        assert (ran.code, ran.out, "It quotes the documents" in ran.err) == (0, "", True)
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert NOTES[1] in texts_on(page.read_text(encoding="utf-8"))
    lost = explain(explain.notes, "--html", str(page / "page.html"), "--policy", "redact")
    said = "the page could not be written (Not a directory). Name another file."
    assert (lost.code, lost.err) == (1, f"lethe: {page / 'page.html'}: {said}\n")


def test_on_the_screen_marks_of_a_document_are_words(explain: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    # "[/red]" ends what never began, ":mill:" and "[b]" would be drawn as something else.
    text = "Write to t.orrin@example.org [/red] [b] :mill: today."
    path = explain.folder / "marks.jsonl"
    path.write_text(json.dumps({"id": "Orrin", "text": text}))
    shown = explain(str(path), "--policy", "redact")
    assert shown.code == 0
    said = "Policy redact: it uses no scores."
    for part in ("Write to an email address [/red] [b] :mill: today.", "doc-", said, "generalize"):
        assert part in shown.out
    assert "…" not in shown.out
    assert "Orrin" not in shown.out, "an id that names somebody is digested"
    found = explained("[/b] came", REDACT, {"[/b] came": "event"})
    monkeypatch.setattr(DecidingSanitizer, "explain", lambda self, document: found)
    shown = explain(str(path), "--policy", "redact")
    assert (shown.code, shown.out.count("[/b] came")) == (0, 2), "in the text and in the table"


def test_a_collection_decides_by_its_policy_and_scale(explain: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NAME": "trip", "TAU": "1.5"}.items():
        monkeypatch.setenv(f"LETHE_POLICY__{name}", value)
    assert explain(explain.notes, "-c", "strict", "--tau", "-0.9", verb="ingest").code == 0

    def reasons_and_divergences(*options: str) -> tuple[set[str], list[float]]:
        ran = explain(explain.notes, "--json", *options)
        assert ran.code == 0
        entities = [each for row in ran.rows for each in row["entities"]]
        return {each["reason"] for each in entities}, [each["scores"]["divergence"] for each in entities]

    of_settings, plain = reasons_and_divergences()
    of_collection, same = reasons_and_divergences("-c", "strict")
    assert rules.BELOW in of_settings
    assert rules.BELOW not in of_collection
    assert plain == same

    manifest = explain.folder / "data" / "collections" / "strict" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["scale"] |= {"divergence_low": 0.0, "divergence_high": 1e-6}
    manifest.write_text(json.dumps(content))
    _, other = reasons_and_divergences("-c", "strict")
    assert set(other) <= {0.0, 1.0}
    assert other != plain


def test_a_collection_decides_by_its_number_of_people(explain: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__K", "99.9")
    assert explain(explain.notes, "-c", "strict", verb="ingest").code == 0
    monkeypatch.setenv("LETHE_POLICY__K", "1e-9")
    for options, k, strict in (((), 1e-9, False), (("-c", "strict"), 99.9, True)):
        ran = explain(explain.notes, "--json", *options)
        reasons = {each["reason"] for row in ran.rows for each in row["entities"]}
        asked_for = {row["fits"]["asked_for"] for row in ran.rows if row["fits"]}
        assert (ran.code, rules.NARROWS in reasons, asked_for) == (0, strict, {k})


def test_two_policies_and_a_collection_that_is_not_there_are_refused(explain: Verb) -> None:
    for option in (["--fit", "9"], ["--policy", "redact"]):
        refused = explain(explain.notes, "-c", "any", *option)
        assert (refused.code, refused.err) == (
            2,
            "lethe: A collection decides by the policy that it was made with: leave out --policy, --fit "
            "and --tau, or leave out --collection.\n",
        )
    absent = explain(explain.notes, "-c", "none")
    assert (absent.code, "There is no collection none" in absent.err) == (1, True)
