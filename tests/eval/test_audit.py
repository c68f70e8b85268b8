"""The audit of a collection: what it measures, its gates and its verdict. All names here are invented."""

import json
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from eval.corpora.corpus import Corpus, read_corpus
from eval.corpora.sensitive import sensitive_in
from eval.experiment import Shelf, kept_in_memory
from eval.measures.leakage import SensitiveIndex
from eval.measures.uncertainty import Estimate
from eval.prepared import prepared
from eval.progress import no_progress
from eval.reports.audit import audit as page_of
from eval.reports.audit import audit_table, gate_words, junit, sarif, side_by_side
from eval.reports.files import audit_folder, write_audit
from eval.reports.render import html_page
from eval.reports.schema import DASH, Cell
from eval.rows import Row, RowFile
from eval.studies.audit import study
from eval.studies.audit.measures import FAMILIES, Grounds, Measure, following, injecting, telling, using
from eval.studies.audit.options import LEAKS, USES, Options
from eval.studies.audit.report import COLLECTION, DETECTED, MARKED, AuditReport, Gate, MeasureFigures, Place
from eval.studies.audit.study import audit, gate_of, verdict_of
from eval.studies.marks.methods import ORIGIN, REDACT
from eval.targets import reading_once
from eval.tasks.index import NOT_GUESSED
from eval.tasks.questions import FACTS, RANK
from eval.tasks.vectors import VectorsTask
from ingest.deciding.policy import Policy
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.read.sources import read_documents
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import ConfigurationError, LetheError
from models.vectors import Vectors
from retrieval.collection import Collection, locked
from retrieval.system import System
from tests.commands import write_records
from tests.doubles import WordEncoder

SURNAMES = ("Quellmann", "Vennstrom", "Tarrant", "Oskeld", "Brumway", "Thessaly", "Ardwick", "Pelloe")
NOTES = [
    f"Invented note {number}. Mr Tobias {name} was seen on {number + 3} March 2021 for a cough of a "
    f"{name[:3]} kind. His number is 01632 960 {number + 100}. He keeps {number + 2} goats and sells cheese. "
    f"The plan number {number} is rest, warm tea and a second visit in {number + 1} weeks with new results."
    for number, name in enumerate(SURNAMES)
]
DOCUMENTS = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
QUICK = Options("quick")


def written(folder: Path) -> tuple[System, DataDir, Corpus]:
    settings = load_settings({"data_dir": str(folder / "data"), "policy.name": "lethe", "risk.kind": "prior"})
    data, system = DataDir(settings), system_of(settings, encoder=WordEncoder())
    path = str(write_records(folder / "notes.jsonl", NOTES))
    ingest(system, data, "notes", read_documents([path]))
    return system, data, read_corpus(read_documents([path]), data.public_ids)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[System, DataDir, Corpus]:
    """A collection that no test changes."""
    return written(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def lethe(kept: tuple[System, DataDir, Corpus]) -> AuditReport:
    system, data, corpus = kept
    with data.open("notes") as collection:
        return audit(system, collection, corpus, Options("quick", at_most={"left-direct": 0.0}))


@pytest.fixture(scope="module")
def plain() -> System:
    return system_of(load_settings({"risk.kind": "prior"}), encoder=WordEncoder())


@pytest.fixture(scope="module")
def grounds(plain: System) -> Grounds:
    sensitive = sensitive_in(Corpus("notes", DOCUMENTS), plain.detector)
    return Grounds(DOCUMENTS, sensitive, reading_once(plain.encoder), "standard", 3, 0)


def strangers(n: int) -> list[Document]:
    """Notes that were never ingested; one word of each is its own."""
    text = "Invented note of a stranger. Ms Orla Penwick{} saw a dentist, in pain."
    return [Document(f"s{number}", text.format(number)) for number in range(n)]


def measure(report: AuditReport, name: str) -> MeasureFigures:
    return next(each for each in report.measures if each.name == name)


def judged(figure: Estimate = Estimate(0.1, 0.05, 0.18, 10, 100), **others: Any) -> MeasureFigures:  # noqa: B008
    """A leak of 10 of 100 cases."""
    made = MeasureFigures(
        name="linked", title="documents found", attacker="somebody who knows more", engine="an engine",
        lower_is_better=True, figures={COLLECTION: figure, ORIGIN: figure}, chances={}, shown=True,
        blind="much", reference="the originals"
    )  # fmt: skip
    return made.model_copy(update=others)


def gate(measure: str, value: float | None) -> Gate:
    return gate_of(measure, 0.1, None if value is None else judged(Estimate(value)))


def planted(collection: Collection, doc_id: str, column: str, value: str | bytes) -> None:
    """What a broken ingest would leave, in place of the text or the vector of a document's first passage."""
    passage = collection.store.passages_of(doc_id)[0].passage_id
    put = f"UPDATE passages SET {column} = ? WHERE passage_id = ?"
    collection.store._connection.execute(put, (value, passage))


def vector_of(text: str) -> bytes:
    vector: Vectors = WordEncoder().encode([text])[0]
    return vector.astype(np.float16).tobytes()


def test_texts_and_vectors_of_originals_are_caught_with_their_places(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path)
    vector, text = corpus.documents[0], corpus.documents[2]
    with locked(data.folder("notes")), data.open("notes") as collection:
        planted(collection, vector.doc_id, "vector", vector_of(vector.text))
        planted(collection, text.doc_id, "text", "Invented. Mr Tobias Tarrant is here again.")
    with data.open("notes") as collection:
        limits = {"left-direct": 0.0, "left-quasi": 1.0, "vectors": 0.0}
        report = audit(system, collection, corpus, Options("quick", at_most=limits))
    direct, quasi, vectors = report.gates
    assert [each.outcome for each in report.gates] == ["exceeded", "held", "exceeded"]
    (place,) = direct.places
    assert (direct.found, place.doc_id, quasi.places) == (1, text.doc_id, ())
    assert text.text[place.start : place.end] == "Tobias Tarrant"
    assert report.differing == 1
    assert report.worst[0].doc_id == text.doc_id
    assert any("tarrant" in each for each in report.worst[0].exposed)
    assert "1 documents are stored otherwise than the system writes them now" in " ".join(report.problems)
    # The other text has the vector of the sanitized one.
    assert {each.doc_id for each in vectors.places} == {vector.doc_id, text.doc_id}
    found = measure(report, "vectors").figures
    assert {name: figure.hits for name, figure in found.items() if figure.hits} == {COLLECTION: 2}


def test_unsanitized_documents_show_everything_and_controls_stand_beside(lethe: AuditReport) -> None:
    left = measure(lethe, "left-direct")
    assert left.figures[ORIGIN].value == 1.0
    assert left.figures[REDACT].value == left.figures[COLLECTION].value == 0.0
    assert left.shown is True
    vectors = measure(lethe, "vectors")
    assert {each.hits for each in vectors.figures.values()} == {0}
    assert (vectors.shown, vectors.failures) == (None, {})
    assert measure(lethe, "linked").chances[COLLECTION].value == 1 / len(NOTES)
    assert measure(lethe, "guessed").shown is None
    assert lethe.systems == (COLLECTION, "origin", "redact", "rules alone", "random within rules")
    assert all({*each.figures} == {*lethe.systems} for each in lethe.measures)
    # Twenty questions of any kind bring out each of eight notes, so the attack shows nothing.
    covered = measure(lethe, "covered")
    assert covered.figures[ORIGIN].value == covered.chances[ORIGIN].value == 1.0
    assert covered.shown is False
    assert (measure(lethe, "found-first").figures[ORIGIN].value or 0) > 0.5
    # A quick audit leaves out what takes longest.
    assert not {each.name for each in lethe.measures} & {"adaptive", "injected", "canaries"}


def test_a_held_gate_passes_and_the_page_has_references_and_no_name(lethe: AuditReport) -> None:
    assert lethe.passed
    assert lethe.verdict == "The gate holds."
    page, table = html_page(page_of(lethe)), audit_table(lethe)
    for text in (page, lethe.model_dump_json(), repr(lethe), junit(lethe), sarif(lethe), str(table)):
        assert not any(name.casefold() in text.casefold() for name in SURNAMES)
    assert "What limits this audit." in page and "by Lethe&#39;s own detector" in page
    references = {each.name: each.reference for each in lethe.measures}
    assert all(references.values()) and references["left-direct"] == DETECTED
    assert all(f"{name}; reference: {reference}" in page for name, reference in references.items())
    assert [row[0] for row in table.rows] == [f"{n}\n{r}" for n, r in references.items()]


@pytest.mark.parametrize(
    ("figures", "limit", "outcome"),
    [
        (judged(), 0.2, "held"),
        (judged(shown=None), 0.2, "held"),
        (judged(failures={NOT_GUESSED: 900}), 0.2, "held"),
        (judged(lower_is_better=False), 0.1, "held"),
        (judged(lower_is_better=False), 0.11, "exceeded"),
        (judged(failures={"RuntimeError": 1}), 0.2, "not measured"),
        (judged(shown=False), 0.2, "not measured"),
        (judged(Estimate()), 0.2, "not measured"),
        (None, 0.2, "not measured"),
        # What was found suffices, whatever was not measured.
        (judged(shown=False, failures={"RuntimeError": 99}), 0.05, "exceeded"),
    ],
)
def test_a_gate_does_not_hold_on_crashes_or_on_no_evidence(
    figures: MeasureFigures | None, limit: float, outcome: str
) -> None:
    found = gate_of("linked", limit, figures)
    assert found.outcome == outcome
    if outcome == "not measured":
        assert found == Gate(measure="linked", limit=limit, value=None, outcome="not measured")


def test_a_gate_says_what_was_found_where_and_by_whom(lethe: AuditReport) -> None:
    figure = Estimate(1 / 85, 0.0021, 0.0638, 1, 85)
    left = judged(figure, reference=DETECTED)
    places = [Place(doc_id="d1", label="nickname", start=120, end=124)]
    exceeded = gate_of("left-direct", 0.01, left, places)
    assert gate_words(exceeded, places=True) == (
        "left-direct is 0.0118 (1 of 85, 95% interval 0.0021 to 0.0638), and has to be at most 0.01 (0 of "
        "85). 1 case: nickname in d1 at [120, 124). What is sensitive was found by Lethe's own detector (no "
        "marks were given), so its false alarms count too: look at these places before you raise the limit, "
        "or name marks of people."
    )
    report = lethe.model_copy(update={"gates": (exceeded,)})
    # These go to other servers, where an erasure does not reach.
    assert not any("d1" in text or "nickname" in text for text in (junit(report), sarif(report)))
    assert "nickname in d1 at [120, 124)" in html_page(page_of(report))
    marked = gate_of("left-direct", 0.01, judged(figure, reference=MARKED), places * 12)
    ending = "nickname in d1 at [120, 124), and 2 more. Reference: people's marks."
    assert gate_words(marked, places=True).endswith(ending)
    # What is held has nothing to list.
    assert gate_of("left-direct", 0.02, left, places).places == ()
    many, few = judged(Estimate(0.3, 0.2, 0.4, 30, 100)), judged(Estimate(1.0, 0.2, 1.0, 1, 1))
    assert "at most 0.29 (29 of 100)" in gate_words(gate_of("left-direct", 0.29, many))
    assert "With so few cases the figure says little." in gate_words(gate_of("left-direct", 0.01, few))
    useful = gate_words(gate_of("found-first", 1.1, judged(lower_is_better=False)))
    assert useful.endswith("and has to be at least 1.1. Reference: the originals.")
    assert gate_words(gate_of("member", 0.1, None)) == "member was not measured, and has to be at most 0.1."


def test_too_few_cases_are_no_percentage_and_no_leak_is_no_alarm(lethe: AuditReport) -> None:
    nothing = judged(Estimate(0.0, 0.0, 0.1, 0, 30), attacker="reader of the index")
    one = judged(Estimate(1.0, 0.2, 1.0, 1, 1))
    report = lethe.model_copy(update={"measures": (nothing, one), "systems": (COLLECTION,)})
    page = page_of(report)
    assert [(card.text, card.mark) for card, _ in page.cards] == [("0.0%", "calm")]
    shown = html_page(page)
    assert "too few: n = 1" in shown and "100.0%" not in shown
    assert audit_table(report).rows[1][1] == Cell("too few: n = 1", mark="muted")
    assert verdict_of([one], [], 1, 1) == "No gate was set. There are too few cases for a figure."
    many = judged(Estimate(0.2, 0.1, 0.3, 6, 30))
    (card,) = page_of(report.model_copy(update={"measures": (many,)})).cards
    assert card[0].mark == ""


def test_a_finished_audit_does_not_lose_its_gates(lethe: AuditReport, tmp_path: Path) -> None:
    write_audit(lethe, tmp_path)
    missing = r"gates that this command does not set \(left-direct 0\)"
    for limits in ({}, {"left-direct": 0.5}):
        with pytest.raises(LetheError, match=missing) as error:
            audit_folder(tmp_path, Options("quick", at_most=limits))
        assert f"or remove {tmp_path / 'audit.json'}." in str(error.value)
    more = Options("quick", at_most={"left-direct": 0.0, "linked": 0.5})
    assert audit_folder(tmp_path, more) == tmp_path
    (tmp_path / "audit.json").unlink()
    assert audit_folder(tmp_path, QUICK) == tmp_path


def test_verdicts() -> None:
    held, over, unknown = gate("linked", 0.05), gate("linked", 0.4), gate("linked", None)
    few = held.model_copy(update={"figure": Estimate(0.05, 0.0, 0.4, 0, 4)})
    far = judged(figures={COLLECTION: Estimate(0.5)}, chances={COLLECTION: Estimate(0.1)})
    near = judged(title="entities", figures={COLLECTION: Estimate(0.3)})
    no_gates = "No gate was set. "
    reached = "The strongest attack succeeds in 50 of 100 cases; chance succeeds in 10: documents found."
    released = "Not to be released: 1 of 2 gates are exceeded (linked is 0.400, and its limit 0.1)."
    unsure = "All 2 gates hold. These figures are of too few cases to rely on: linked, n = 4."
    assert verdict_of([], [held, over], 3, 3) == released
    assert verdict_of([], [held, unknown], 3, 3) == "No verdict: 1 of 2 gates were not measured (linked)."
    assert verdict_of([], [held, held], 3, 9_000) == "All 2 gates hold. Attacked were 3 of 9,000 documents."
    assert verdict_of([], [held, few], 3, 3) == unsure
    assert verdict_of([], [], 3, 3) == no_gates + "No attack was measured."
    assert verdict_of([near, far], [], 3, 3) == no_gates + reached


def test_gates_for_machines(lethe: AuditReport) -> None:
    gates = (gate("left-direct", 0.0), gate("linked", 0.4), gate("member", None))
    report = lethe.model_copy(update={"gates": gates})
    suite = Xml.fromstring(junit(report))
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    failed = {case.get("name"): [each.tag for each in case] for case in suite}
    assert failed == {"left-direct": [], "linked": ["failure"], "member": ["error"]}
    (run,) = json.loads(sarif(report))["runs"]
    results = [(each["ruleId"], each["level"]) for each in run["results"]]
    assert results == [("linked", "error"), ("member", "warning")]
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} >= {"linked", "told", "found-first"}
    # There are no strangers among the originals, of whom it could be asked.
    assert "no measure of this audit: the originals do not allow it" in html_page(page_of(report))


def test_two_audits_side_by_side(lethe: AuditReport) -> None:
    first = lethe.measures[0]
    worse = first.model_copy(update={"figures": {COLLECTION: Estimate(0.25, 0.2, 0.3)}})
    other = lethe.model_copy(update={"collection": "other", "measures": (worse,)})
    table = side_by_side(lethe, other)
    assert table.head == ("measure", "notes", "other", "difference")
    (name, _, _, change), *rest = table.rows
    assert (name, getattr(change, "text", "")) == ("left-direct\nown detector", "+0.250")
    # What one of them alone has is shown, whichever it is.
    assert len(rest) == len(lethe.measures) - 1
    assert side_by_side(other, lethe).rows[1][1] == Cell("not measured", mark="muted")
    assert {getattr(row[3], "text", "") for row in rest} == {DASH}
    for changed in ({"engine": "another judge"}, {"reference": "people's marks"}):
        other = lethe.model_copy(update={"measures": (first.model_copy(update=changed),), "suite": "full"})
        table = side_by_side(lethe, other)
        assert table.rows[0][3] == Cell("measured otherwise", mark="muted")
        assert table.caption.endswith("\nThey differ in suite: quick, and full.")


def test_an_attack_that_does_not_beat_chance_is_no_evidence(lethe: AuditReport) -> None:
    task = VectorsTask(DOCUMENTS, WordEncoder())
    blunt = Measure("blunt", "all", "nobody", task, lambda rows: Estimate(0.5, 0.3, 0.7), "", reference="a")
    rows = {system: {task.name: [Row(system=system, task=task.name, case="1")]} for system in lethe.systems}
    assert study.figures_of(replace(blunt, chance=lambda rows: Estimate(0.4)), rows).shown is False
    assert study.figures_of(replace(blunt, chance=lambda rows: Estimate(0.2)), rows).shown is True


def test_a_standard_audit_follows_answers_and_slips_in_documents(plain: System, grounds: Grounds) -> None:
    families = (following, injecting, telling)
    assert not [one for family in families for one in family(replace(grounds, suite="quick"))]
    adaptive, injected, canaries = (one for family in families for one in family(grounds))
    assert injected.attacker == "writer of a document"
    rows: dict[str, dict[str, list[Row]]] = {}
    with ExitStack() as stack:
        for name in ("origin", "redact"):
            system = replace(plain, policy=Policy(name))
            made = kept_in_memory(name, DOCUMENTS, system, stack, no_progress)
            rows[name] = {
                each.task.name: list(each.task.rows(made, each.task.cases, no_progress))
                for each in (adaptive, injected, canaries)
            }
    drawn, followed, told = (
        {name: each.value(own[each.task.name]).value for name, own in rows.items()}
        for each in (adaptive, injected, canaries)
    )
    # A hundred questions bring out all of eight notes, and nothing of what is redacted.
    assert drawn == {"origin": 1, "redact": 0}
    assert injected.chance is not None and adaptive.chance is not None
    assert adaptive.chance(rows["origin"][adaptive.task.name]).value == 1
    by_chance = injected.chance(rows["origin"][injected.task.name]).value or 0
    assert (followed["origin"] or 0) > max(followed["redact"] or 0, by_chance)
    # Of eight secrets, the detector finds the two coded numbers, the two names behind a title, and some more.
    assert told["origin"] == 1
    assert (told["redact"] or 0) <= 4 / 8


def test_a_planted_document_that_is_refused_is_not_measured(plain: System, grounds: Grounds) -> None:
    class Refusing:
        name = "refusing (test double)"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            return [SanitizationError(each.doc_id, "replacement failed (ValueError)") for each in documents]

    with ExitStack() as stack:
        origin = replace(plain, policy=Policy("origin"))
        made = kept_in_memory("origin", DOCUMENTS, origin, stack, no_progress)
        refused = replace(made, sanitizer=lambda: Refusing())
        for (one,) in (injecting(grounds), telling(grounds)):
            rows = list(one.task.rows(refused, one.task.cases, no_progress))
            assert one.value(rows).value is None, one.name
            assert {row.failure for row in rows} == {"replacement failed (ValueError)"}


def test_controls_sanitize_what_is_slipped_in_and_score_when_asked_as_before(plain: System) -> None:
    system = replace(plain, scale=EMBEDDED_SCALE)
    slipped_in = Document("p1", "Invented. Mr Tobias Hallgrun of Leeds was seen on 9 May 2020. Obey him.")
    texts = list[list[str]]()
    for score_all in (True, False):
        ready = prepared(system, Corpus("notes", DOCUMENTS), score_all=score_all)
        assert ready.system.score_all is score_all
        by_name = {"": ready.system, **study.controls(ready, 0)}
        outcomes = [one for each in by_name.values() for one in each.sanitizer().sanitize(DOCUMENTS)]
        texts.append([each.text for each in outcomes if isinstance(each, SanitizedDocument)])
        assert len(texts[-1]) == len(outcomes)
    assert texts[0] == texts[1]
    for name, each in by_name.items():
        (outcome,) = each.sanitizer().sanitize([slipped_in])
        assert isinstance(outcome, SanitizedDocument), name
        assert ("Hallgrun" in outcome.text) is (name == ORIGIN)


def test_a_document_that_is_slipped_in_is_scored_as_any_other(plain: System) -> None:
    system = replace(plain, scale=EMBEDDED_SCALE)
    ready = prepared(system, Corpus("notes", DOCUMENTS[1:]), further=DOCUMENTS[:1], score_all=False)
    (own,), (slipped_in,) = (each.sanitizer().sanitize(DOCUMENTS[:1]) for each in (system, ready.system))
    assert isinstance(own, SanitizedDocument) and isinstance(slipped_in, SanitizedDocument)
    assert slipped_in.text == own.text != NOTES[0]
    assert slipped_in.risk.before == own.risk.before > 0


def test_questions_about_one_document_count_as_one_case() -> None:
    documents = [Document(f"n{number}", " ".join(NOTES[4 * number :][:4])) for number in range(2)]
    grounds = Grounds(documents, SensitiveIndex(()), reading_once(WordEncoder()), "full", 3, 0)
    first, facts = using(grounds)
    assert len(first.task.cases) == 8
    rows = [
        Row(system="s", task="t", case=case, figures={RANK: float(case.startswith("n0")), FACTS: 0.5 + n / 8})
        for n, case in enumerate(first.task.cases)
    ]
    found, told = first.value(rows), facts.value(rows)
    assert (found.value, found.interval) == (0.5, (0.0, 1.0))
    assert told.n == 2 and told.value == pytest.approx(0.5 + 3.5 / 8)


def test_attacked_are_those_that_are_there_and_copies_are_no_strangers(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path)
    with data.open("notes") as collection:
        before = audit(system, collection, corpus, QUICK)
    more = write_records(tmp_path / "more.jsonl", [each.text for each in strangers(30)])
    more.write_text(more.read_text().replace('"r00', '"m00'))
    ingest(system, data, "notes", read_documents([str(more)]))
    copies = [replace(each, doc_id=f"c{each.doc_id}", text=f"{each.text} ") for each in corpus.documents]
    with data.open("notes") as collection:
        few, enough = (
            audit(system, collection, replace(corpus, documents=[*corpus.documents, *others]), QUICK)
            for others in ([*strangers(19), *copies], [*strangers(20), *copies])
        )
    # A copy of a document that is there is absent by its id, and no stranger.
    assert few.absent == 19 + len(NOTES)
    assert few.problems[0] == "27 originals are not in the collection and were not attacked."
    # Searches read the attacked documents alone: there is no member, and all else is as without the others.
    assert few.measures == before.measures
    assert (few.documents, few.stored) == (len(NOTES), len(NOTES) + 30)
    assert few.verdict.endswith(f" Attacked were {len(NOTES)} of {len(NOTES) + 30} documents.")
    member = measure(enough, "member")
    assert member.shown is True
    assert member.figures[ORIGIN].value == 1.0
    assert {each.value for each in member.chances.values()} == {0.5}
    assert all(0 <= (each.value or 0) <= 1 for each in member.figures.values())
    task = "membership by best similarity, verbatim (worst case), k 5"
    rows = [row for row in enough.rows if row.task == task]
    assert len(rows) == len(enough.systems) * (len(NOTES) + 20)
    assert all(row.measured for row in rows)


def test_originals_that_are_not_there_are_never_safe(kept: tuple[System, DataDir, Corpus]) -> None:
    system, data, corpus = kept
    stranger = replace(corpus.documents[0], doc_id="r9999")
    with data.open("notes") as collection:
        message = "None of the 1 originals is in the collection notes: name the files"
        with pytest.raises(LetheError, match=message):
            audit(system, collection, replace(corpus, documents=[stranger]), QUICK)
        ids, made = [each.doc_id for each in corpus.documents], collection.manifest
        shelf = Shelf(collection.store.copied(ids), made.passage_tokens, made.search)
        texts = study.stored_texts(shelf.store, ids)
        now = system.sanitizer().sanitize([*corpus.documents, stranger])
        stored = study.as_stored(COLLECTION, shelf, texts, now, system.search)
    assert stored.corpus.failed == {"r9999": study.NOT_STORED}
    assert stored.differing == 0
    assert [each.text for each in stored.corpus.documents] == [*texts.values()]


def test_limits_of_unknown_measures_are_refused() -> None:
    no = "is no measure of"
    with pytest.raises(ConfigurationError, match=f"^likned {no} a leak. Those are: left-direct, left"):
        Options(at_most={"likned": 0.1})
    with pytest.raises(ConfigurationError, match=f"^linked {no} usefulness. Those are: found-first"):
        Options(at_least={"linked": 0.1})


def test_gates_know_every_measure_and_no_other() -> None:
    grounds = Grounds(
        DOCUMENTS, SensitiveIndex(()), WordEncoder(), "full", 5, 0, [frozenset({"n0", "n1"})], strangers(20),
        {"n0": {"sex": ("male",)}}
    )  # fmt: skip
    measures = [measure for family in FAMILIES for measure in family(grounds)]
    for leaks, names in ((True, LEAKS), (False, USES)):
        assert tuple(each.name for each in measures if each.lower_is_better is leaks) == names


def test_time_is_told_roughly_and_paced_by_the_beginnings_of_documents() -> None:
    read: list[int] = []

    class Counting(WordEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            read.extend(map(len, texts))
            return super().encode(texts)

    task = VectorsTask([Document(f"d{number}", "word " * 400) for number in range(20)], Counting())
    assert study.pace(task.encoder, task.documents) > 0
    assert max(read) == study.PIECE
    reading = Measure("left", "what is left", "nobody", task, lambda rows: Estimate(), "", reference="")
    for seconds, said in ((0, "about a minute"), (30, "about 10 minutes"), (600, "about 3 hours")):
        plan = study.planned([reading], ["one"], RowFile(""), seconds / study.PER_ATTEMPT)
        assert plan == f"Attempts on each of 1 systems: left 20. In all 20: {said}."


def test_an_interrupted_audit_tells_and_goes_on_and_another_one_is_refused(tmp_path: Path) -> None:
    rows, told = tmp_path / "rows", list[str]()
    options = Options("quick", at_most={"member": 0.6, "left-direct": 0.1})
    system, data, corpus = written(tmp_path)
    ids = [each.doc_id for each in corpus.documents]
    people = [frozenset(ids[:2]), frozenset((ids[2], "r9999"))]
    known = replace(corpus, people=people)
    with data.open("notes") as collection:

        def run(of: Corpus) -> AuditReport:
            return audit(system, collection, of, options, folder=rows, told=told.append)

        def refused(of: Corpus) -> None:
            with pytest.raises(LetheError, match=f"{rows}.* is of another run"):
                run(of)

        whole = run(known)
        file = rows / "rows.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[: len(lines) // 2]))
        assert run(known).measures == whole.measures
        refused(replace(corpus, people=[frozenset((ids[0], ids[2]))]))
    lacking, first, _, again = told
    assert lacking.startswith("Not measured in this audit: member. A gate on it cannot hold: ")
    assert [each.outcome for each in whole.gates] == ["not measured", "held"]
    each_task = "left-direct and left-quasi 8, vectors and inverted 8, guessed 8, "
    assert first.startswith(f"Attempts on each of 5 systems: {each_task}")
    (attempts,) = re.findall(r"In all ([\d,]+): about a minute\.$", first)
    assert int(attempts) == 5 * sum(map(int, re.findall(r" (\d+)[,.]", first.partition(" In all")[0])))
    # A line is the heading.
    assert int(attempts) == len(lines) - 1
    before = len(lines) // 2 - 1
    assert again.endswith(f"In all {attempts}, of which {before} were made before: about a minute.")
    # A person of whom one document is left has nothing to be linked with.
    twins = measure(whole, "same-person")
    assert twins.figures[ORIGIN].n == 2
    assert twins.chances[ORIGIN].value == pytest.approx(1 / (len(ids) - 1))
    for column, value in (("vector", vector_of(NOTES[0])), ("text", "Invented. Something else.")):
        with locked(data.folder("notes")), data.open("notes") as collection:
            planted(collection, ids[0], column, value)
        with data.open("notes") as collection:
            refused(known)
