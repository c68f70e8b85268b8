"""The audit of a collection: what it measures, its gates and its verdict. All names here are invented."""

import json
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
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
from eval.studies.audit.measures import FAMILIES, Grounds, Measure, following, injecting, telling, using
from eval.studies.audit.options import LEAKS, USES, Options
from eval.studies.audit.report import (
    COLLECTION,
    DETECTED,
    MARKED,
    AuditReport,
    Gate,
    MeasureFigures,
    Outcome,
    Place,
)
from eval.studies.audit.study import (
    NOT_STORED,
    PER_ATTEMPT,
    PIECE,
    as_stored,
    audit,
    controls,
    figures_of,
    gate_of,
    pace,
    planned,
    stored_texts,
    verdict_of,
)
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


def written(folder: Path, policy: str) -> tuple[System, DataDir, Corpus]:
    settings = load_settings(
        {
            "data_dir": str(folder / policy),
            "policy.name": policy,
            "risk.kind": "prior",
        }
    )
    data, system = DataDir(settings), system_of(settings, encoder=WordEncoder())
    path = str(write_records(folder / "notes.jsonl", NOTES))
    ingest(system, data, "notes", read_documents([path]))
    return system, data, read_corpus(read_documents([path]), data.public_ids)


def audited(folder: Path, policy: str, options: Options, rows: Path | None = None) -> AuditReport:
    system, data, corpus = written(folder, policy)
    with data.open("notes") as collection:
        return audit(system, collection, corpus, options, folder=rows)


@pytest.fixture(scope="module")
def lethe(tmp_path_factory: pytest.TempPathFactory) -> AuditReport:
    return audited(tmp_path_factory.mktemp("audit"), "lethe", Options("quick", at_most={"left-direct": 0.0}))


def measure(report: AuditReport, name: str) -> MeasureFigures:
    return next(each for each in report.measures if each.name == name)


def test_a_collection_of_originals_is_caught(tmp_path: Path) -> None:
    report = audited(tmp_path, "lethe", Options("quick"))
    folder = tmp_path / "raw"
    system, data, corpus = written(folder, "lethe")
    with locked(data.folder("notes")), data.open("notes") as collection:
        # What a broken ingest would leave: the text of an original in place of a sanitized one.
        first = corpus.documents[0]
        planted(collection, first.doc_id, first.text)
    with data.open("notes") as collection:
        leaking = audit(system, collection, corpus, Options("quick"))
    before, after = (measure(each, "left-direct").figures[COLLECTION] for each in (report, leaking))
    assert before.hits == 0
    assert after.hits > 0
    assert leaking.differing == 1
    assert leaking.worst[0].doc_id == first.doc_id
    assert any("quellmann" in each for each in leaking.worst[0].exposed)
    assert "1 documents are stored otherwise than the system writes them now" in " ".join(leaking.problems)


def test_the_vector_of_an_original_is_caught(tmp_path: Path, lethe: AuditReport) -> None:
    clean = measure(lethe, "vectors")
    assert {each.hits for each in clean.figures.values()} == {0}
    assert (clean.shown, clean.failures) == (None, {})
    system, data, corpus = written(tmp_path, "lethe")
    with locked(data.folder("notes")), data.open("notes") as collection:
        first = corpus.documents[0]
        passage = collection.store.passages_of(first.doc_id)[0].passage_id
        vector = system.encoder.encode([first.text])[0].astype(np.float16).tobytes()
        connection = collection.store._connection
        connection.execute("UPDATE passages SET vector = ? WHERE passage_id = ?", (vector, passage))
    with data.open("notes") as collection:
        report = audit(system, collection, corpus, Options("quick", at_most={"vectors": 0.0}))
    found = measure(report, "vectors").figures
    assert {name for name, figure in found.items() if figure.hits} == {COLLECTION}
    assert found[COLLECTION].hits == 1
    assert [each.outcome for each in report.gates] == ["exceeded"]


def planted(collection: Collection, doc_id: str, text: str) -> None:
    """The text in place of that of a document's first passage."""
    passage = collection.store.passages_of(doc_id)[0]
    connection = collection.store._connection
    connection.execute("UPDATE passages SET text = ? WHERE passage_id = ?", (text, passage.passage_id))


def test_unsanitized_documents_show_everything_and_controls_stand_beside(lethe: AuditReport) -> None:
    left = measure(lethe, "left-direct")
    assert left.figures[ORIGIN].value == 1.0
    assert left.figures[REDACT].value == left.figures[COLLECTION].value == 0.0
    assert left.shown is True
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


def test_a_held_gate_passes_and_the_page_quotes_nothing(lethe: AuditReport) -> None:
    assert lethe.passed
    assert lethe.verdict == "The gate holds."
    shown = [
        html_page(page_of(lethe)),
        lethe.model_dump_json(),
        repr(lethe),
        junit(lethe),
        sarif(lethe),
        str(audit_table(lethe)),
    ]
    for text in shown:
        assert not any(name.casefold() in text.casefold() for name in SURNAMES)
    assert "What limits this audit." in shown[0]
    assert "by Lethe&#39;s own detector" in shown[0]


def test_an_exceeded_gate_and_one_that_was_not_measured(lethe: AuditReport) -> None:
    left, guessed = measure(lethe, "left-direct"), measure(lethe, "guessed")
    linked = measure(lethe, "linked")
    assert gate_of("left-direct", 0.0, left).outcome == "held"
    assert gate_of("linked", 0.01, linked).outcome == "exceeded"
    nothing = guessed.model_copy(update={"figures": {COLLECTION: Estimate()}})
    unknown = Gate(measure="guessed", limit=0.5, value=None, outcome="not measured")
    assert gate_of("guessed", 0.5, nothing) == gate_of("guessed", 0.5, None) == unknown
    useful = measure(lethe, "found-first")
    found = useful.figures[COLLECTION].value or 0
    assert found > 0
    assert gate_of("found-first", found, useful).outcome == "held"
    assert gate_of("found-first", found + 0.01, useful).outcome == "exceeded"


def test_a_gate_says_what_was_found_where_and_by_whom(lethe: AuditReport) -> None:
    left = measure(lethe, "left-direct").model_copy(
        update={"figures": {COLLECTION: Estimate(1 / 85, 0.0021, 0.0638, 1, 85)}}
    )
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
    marked = left.model_copy(update={"reference": MARKED})
    assert gate_words(gate_of("left-direct", 0.01, marked, places * 12), places=True).endswith(
        "nickname in d1 at [120, 124), and 2 more. Reference: people's marks."
    )
    # What is held has nothing to list, and what is useful is not listed.
    assert gate_of("left-direct", 0.02, left, places).places == ()
    many = left.model_copy(update={"figures": {COLLECTION: Estimate(0.3, 0.2, 0.4, 30, 100)}})
    assert "at most 0.29 (29 of 100)" in gate_words(gate_of("left-direct", 0.29, many))
    few = left.model_copy(update={"figures": {COLLECTION: Estimate(1.0, 0.2, 1.0, 1, 1)}})
    assert "With so few cases the figure says little." in gate_words(gate_of("left-direct", 0.01, few))
    useful = gate_words(gate_of("found-first", 1.1, measure(lethe, "found-first")))
    assert re.search(r"and has to be at least 1\.1\. .*Reference: the originals\.$", useful)
    assert gate_words(gate_of("member", 0.1, None)) == ("member was not measured, and has to be at most 0.1.")


def test_places_are_those_of_the_originals_and_of_the_measure(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    with locked(data.folder("notes")), data.open("notes") as collection:
        planted(collection, corpus.documents[2].doc_id, "Invented. Mr Tobias Tarrant is here again.")
    with data.open("notes") as collection:
        limits = {"left-direct": 0.0, "left-quasi": 1.0}
        report = audit(system, collection, corpus, Options("quick", at_most=limits))
    direct, quasi = report.gates
    (place,) = direct.places
    assert (direct.outcome, direct.found, place.doc_id) == ("exceeded", 1, corpus.documents[2].doc_id)
    assert corpus.documents[2].text[place.start : place.end] == "Tobias Tarrant"
    assert (quasi.outcome, quasi.places) == ("held", ())


def test_every_figure_says_what_it_is_judged_by(lethe: AuditReport) -> None:
    references = {each.name: each.reference for each in lethe.measures}
    assert all(references.values())
    assert references["left-direct"] == DETECTED
    page = html_page(page_of(lethe))
    assert all(f"{name}; reference: {reference}" in page for name, reference in references.items())
    assert [row[0] for row in audit_table(lethe).rows] == [f"{n}\n{r}" for n, r in references.items()]


def test_too_few_cases_are_no_percentage_and_no_leak_is_no_alarm(lethe: AuditReport) -> None:
    nothing = lethe.measures[0].model_copy(update={"figures": {COLLECTION: Estimate(0.0, 0.0, 0.1, 0, 30)}})
    one = nothing.model_copy(
        update={"name": "linked", "figures": {COLLECTION: Estimate(1.0, 0.2, 1.0, 1, 1)}}
    )
    report = lethe.model_copy(update={"measures": (nothing, one), "systems": (COLLECTION,)})
    page = page_of(report)
    assert [(card.text, card.mark) for card, _ in page.cards] == [("0.0%", "calm")]
    shown = html_page(page)
    assert "too few: n = 1" in shown and "100.0%" not in shown
    assert audit_table(report).rows[1][1] == Cell("too few: n = 1", mark="muted")
    assert verdict_of([one], [], 1, 1) == "No gate was set. There are too few cases for a figure."
    many = nothing.model_copy(update={"figures": {COLLECTION: Estimate(0.2, 0.1, 0.3, 6, 30)}})
    (card,) = page_of(report.model_copy(update={"measures": (many,)})).cards
    assert card[0].mark == ""


def test_a_finished_audit_does_not_lose_its_gates(lethe: AuditReport, tmp_path: Path) -> None:
    write_audit(lethe, tmp_path)
    for limits in ({}, {"left-direct": 0.5}):
        with pytest.raises(
            LetheError, match=r"gates that this command does not set \(left-direct 0\)"
        ) as error:
            audit_folder(tmp_path, Options("quick", at_most=limits))
        assert f"or remove {tmp_path / 'audit.json'}." in str(error.value)
    more = Options("quick", at_most={"left-direct": 0.0, "linked": 0.5})
    assert audit_folder(tmp_path, more) == tmp_path
    (tmp_path / "audit.json").unlink()
    assert audit_folder(tmp_path, Options("quick")) == tmp_path


def gate(measure: str, value: float | None) -> Gate:
    outcome: Outcome = "not measured" if value is None else "held" if value <= 0.1 else "exceeded"
    return Gate(measure=measure, limit=0.1, value=value, outcome=outcome)


def test_verdicts() -> None:
    held, over, unknown = gate("linked", 0.05), gate("linked", 0.4), gate("linked", None)
    assert verdict_of((), [held, over], 3, 3) == (
        "Not to be released: 1 of 2 gates are exceeded (linked is 0.400, and its limit 0.1)."
    )
    assert verdict_of((), [held, unknown], 3, 3) == "No verdict: 1 of 2 gates were not measured (linked)."
    assert verdict_of((), [held, held], 3, 9_000) == ("All 2 gates hold. Attacked were 3 of 9,000 documents.")
    few = held.model_copy(update={"figure": Estimate(0.05, 0.0, 0.4, 0, 4)})
    assert verdict_of((), [held, few], 3, 3) == (
        "All 2 gates hold. These figures are of too few cases to rely on: linked, n = 4."
    )
    assert verdict_of((), [], 3, 3) == "No gate was set. No attack was measured."
    far = MeasureFigures(
        name="linked",
        title="documents found",
        attacker="somebody who knows more",
        engine="",
        lower_is_better=True,
        figures={COLLECTION: Estimate(0.5)},
        chances={COLLECTION: Estimate(0.1)},
        shown=True,
        blind="",
    )
    near = far.model_copy(update={"title": "entities", "figures": {COLLECTION: Estimate(0.3)}, "chances": {}})
    assert verdict_of([near, far], [], 3, 3) == (
        "No gate was set. The strongest attack finds 50.0% of documents found; chance reaches 10.0%."
    )


def test_gates_for_machines(lethe: AuditReport) -> None:
    gates = (gate("left-direct", 0.0), gate("linked", 0.4), gate("member", None))
    report = lethe.model_copy(update={"gates": gates})
    suite = Xml.fromstring(junit(report))
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    failed = {case.get("name"): [each.tag for each in case] for case in suite}
    assert failed == {"left-direct": [], "linked": ["failure"], "member": ["error"]}
    (run,) = json.loads(sarif(report))["runs"]
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("linked", "error"),
        ("member", "warning"),
    ]
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} >= {"linked", "told", "found-first"}
    # There are no strangers among the originals, of whom it could be asked.
    assert "no measure of this audit: the originals do not allow it" in html_page(page_of(report))


def test_two_audits_side_by_side(lethe: AuditReport) -> None:
    worse = lethe.measures[0].model_copy(update={"figures": {COLLECTION: Estimate(0.25, 0.2, 0.3)}})
    other = lethe.model_copy(update={"collection": "other", "measures": (worse,)})
    table = side_by_side(lethe, other)
    assert table.head == ("measure", "notes", "other", "difference")
    (name, _, _, change), *rest = table.rows
    assert (name, getattr(change, "text", "")) == ("left-direct\nown detector", "+0.250")
    # What one of them alone has is shown, whichever it is.
    assert len(rest) == len(lethe.measures) - 1
    assert side_by_side(other, lethe).rows[1][1] == Cell("not measured", mark="muted")
    assert {getattr(row[3], "text", "") for row in rest} == {DASH}


def test_what_was_measured_otherwise_has_no_difference(lethe: AuditReport) -> None:
    first = lethe.measures[0]
    for changed in ({"engine": "another judge"}, {"reference": "people's marks"}):
        other = lethe.model_copy(update={"measures": (first.model_copy(update=changed),), "suite": "full"})
        table = side_by_side(lethe, other)
        assert table.rows[0][3] == Cell("measured otherwise", mark="muted")
        assert table.caption.endswith("\nThey differ in suite: quick, and full.")


def test_an_attack_that_does_not_beat_chance_is_no_evidence(lethe: AuditReport) -> None:
    class Nothing:
        name, cases = "nothing", ()

    blunt = Measure(
        "blunt",
        "what a blunt attack finds",
        "reader of the index",
        Nothing(),  # type: ignore[arg-type]
        lambda rows: Estimate(0.5, 0.3, 0.7),
        "nearly everything",
        lambda rows: Estimate(0.4),
        reference="nothing",
    )
    rows = {system: {"nothing": [Row(system=system, task="nothing", case="1")]} for system in lethe.systems}
    assert figures_of(blunt, rows).shown is False
    assert figures_of(replace(blunt, chance=lambda rows: Estimate(0.2)), rows).shown is True


def test_documents_about_one_person_are_looked_for_where_the_originals_say_so(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    ids = [each.doc_id for each in corpus.documents]
    known = replace(corpus, people=[frozenset(ids[:2]), frozenset((ids[2], "r9999"))])
    with data.open("notes") as collection:
        report = audit(system, collection, known, Options("quick"))
    found = measure(report, "same-person").figures[ORIGIN]
    # A person of whom one document is left has nothing to be linked with.
    assert found.n == 2
    assert measure(report, "same-person").chances[ORIGIN].value == pytest.approx(1 / (len(ids) - 1))


def test_a_standard_audit_follows_answers_and_slips_in_documents() -> None:
    documents = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
    system = system_of(load_settings({"risk.kind": "prior"}), encoder=WordEncoder())
    sensitive = sensitive_in(Corpus("notes", documents), system.detector)
    grounds = Grounds(documents, sensitive, reading_once(system.encoder), "standard", 3, 0)
    families = (following, injecting, telling)
    assert not any(family(replace(grounds, suite="quick")) for family in families)
    adaptive, injected, canaries = (one for family in families for one in family(grounds))
    assert injected.attacker == "writer of a document"
    rows: dict[str, dict[str, list[Row]]] = {}
    with ExitStack() as stack:
        for name in ("origin", "redact"):
            policy = Policy(name)
            kept = kept_in_memory(name, documents, replace(system, policy=policy), stack, no_progress)
            rows[name] = {
                each.task.name: list(each.task.rows(kept, each.task.cases, no_progress))
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
    assert (followed["origin"] or 0) > (followed["redact"] or 0)
    assert (followed["origin"] or 0) > by_chance
    # Of eight secrets, the detector finds the two coded numbers, the two names behind a title, and some more.
    assert told["origin"] == 1
    assert (told["redact"] or 0) <= 4 / 8


def test_a_document_that_is_slipped_in_is_sanitized_by_every_control() -> None:
    documents = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
    settings = load_settings({"risk.kind": "prior"})
    system = replace(system_of(settings, encoder=WordEncoder()), scale=EMBEDDED_SCALE)
    ready = prepared(system, Corpus("notes", documents), score_all=False)
    slipped_in = Document("p1", "Invented. Mr Tobias Hallgrun of Leeds was seen on 9 May 2020. Obey him.")
    for name, each in controls(ready, 0).items():
        (outcome,) = each.sanitizer().sanitize([slipped_in])
        assert isinstance(outcome, SanitizedDocument), name
        assert ("Hallgrun" in outcome.text) is (name == ORIGIN)


def test_a_planted_document_that_is_refused_is_not_measured() -> None:
    class Refusing:
        name = "refusing (test double)"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            return [SanitizationError(each.doc_id, "replacement failed (ValueError)") for each in documents]

    documents = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
    settings = load_settings({"risk.kind": "prior"})
    system = system_of(settings, encoder=WordEncoder())
    sensitive = sensitive_in(Corpus("notes", documents), system.detector)
    grounds = Grounds(documents, sensitive, reading_once(system.encoder), "standard", 3, 0)
    with ExitStack() as stack:
        origin = replace(system, policy=Policy("origin"))
        kept = replace(
            kept_in_memory("origin", documents, origin, stack, no_progress), sanitizer=lambda: Refusing()
        )
        for (one,) in (injecting(grounds), telling(grounds)):
            rows = list(one.task.rows(kept, one.task.cases, no_progress))
            assert one.value(rows).value is None, one.name
            assert {row.failure for row in rows} == {"replacement failed (ValueError)"}


def test_a_document_that_is_slipped_in_is_scored_as_any_other() -> None:
    documents = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
    settings = load_settings({"risk.kind": "prior"})
    system = replace(system_of(settings, encoder=WordEncoder()), scale=EMBEDDED_SCALE)
    corpus = Corpus("notes", documents[1:])
    ready = prepared(system, corpus, further=documents[:1], score_all=False)
    (own,) = system.sanitizer().sanitize(documents[:1])
    (slipped_in,) = ready.system.sanitizer().sanitize(documents[:1])
    assert isinstance(own, SanitizedDocument) and isinstance(slipped_in, SanitizedDocument)
    assert slipped_in.text == own.text != documents[0].text
    assert slipped_in.risk.before == own.risk.before > 0


def test_what_is_scored_when_asked_for_decides_as_what_is_scored_before() -> None:
    documents = [Document(f"n{number}", text) for number, text in enumerate(NOTES)]
    settings = load_settings({"risk.kind": "prior"})
    system = replace(system_of(settings, encoder=WordEncoder()), scale=EMBEDDED_SCALE)
    texts = list[list[str]]()
    for score_all in (True, False):
        ready = prepared(system, Corpus("notes", documents), score_all=score_all)
        assert ready.system.score_all is score_all
        systems = [ready.system, *controls(ready, 0).values()]
        outcomes = [one for each in systems for one in each.sanitizer().sanitize(documents)]
        texts.append([each.text for each in outcomes if isinstance(each, SanitizedDocument)])
        assert len(texts[-1]) == len(outcomes)
    assert texts[0] == texts[1]


def strangers(n: int) -> list[Document]:
    """Notes that were never ingested; one word of each is its own."""
    return [
        Document(
            f"s{number}", f"Invented note of a stranger. Ms Orla Penwick{number} saw a dentist, in pain."
        )
        for number in range(n)
    ]


def test_a_gate_that_cannot_hold_is_said_before_the_attacks(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    told: list[str] = []
    with data.open("notes") as collection:
        options = Options("quick", at_most={"member": 0.6, "left-direct": 0.1})
        report = audit(system, collection, corpus, options, told=told.append)
    assert told[0].startswith("Not measured in this audit: member. A gate on it cannot hold: ")
    assert [each.outcome for each in report.gates] == ["not measured", "held"]


def test_questions_about_one_document_count_as_one_case() -> None:
    texts = [" ".join(NOTES[first : first + 4]) for first in (0, 4)]
    documents = [Document(f"n{number}", text) for number, text in enumerate(texts)]
    grounds = Grounds(documents, SensitiveIndex(()), reading_once(WordEncoder()), "full", 3, 0)
    first, facts = using(grounds)
    assert len(first.task.cases) == 8
    rows = [
        Row(
            system="s",
            task="t",
            case=case,
            figures={RANK: float(case.startswith("n0")), FACTS: 0.5 + number / 8},
        )
        for number, case in enumerate(first.task.cases)
    ]
    found, told = first.value(rows), facts.value(rows)
    assert (found.value, found.interval) == (0.5, (0.0, 1.0))
    assert told.n == 2
    assert told.value == pytest.approx(0.5 + 3.5 / 8)


def test_the_pace_does_not_hang_on_one_long_document() -> None:
    class Counting(WordEncoder):
        read = 0

        def encode(self, texts: Sequence[str]) -> Vectors:
            self.read = max(self.read, *map(len, texts))
            return super().encode(texts)

    encoder = Counting()
    long = [Document("a", "word " * 40_000), *(Document(f"b{n}", "word " * 20) for n in range(20))]
    assert pace(encoder, long) > 0
    assert encoder.read == PIECE


def test_who_holds_copies_is_told_apart_from_strangers(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    copies = [replace(each, doc_id=f"c{each.doc_id}", text=f"{each.text} ") for each in corpus.documents]
    with data.open("notes") as collection:

        def measured(others: Sequence[Document]) -> AuditReport:
            given = replace(corpus, documents=[*corpus.documents, *others])
            return audit(system, collection, given, Options("quick"))

        few, enough = measured([*strangers(19), *copies]), measured([*strangers(20), *copies])
    # A copy of a document that is there is absent by its id, and no stranger.
    assert few.absent == 19 + len(NOTES)
    assert not [each for each in few.measures if each.name == "member"]
    member = measure(enough, "member")
    assert member.shown is True
    assert member.figures[ORIGIN].value == 1.0
    assert {each.value for each in member.chances.values()} == {0.5}
    assert all(0 <= (each.value or 0) <= 1 for each in member.figures.values())
    rows = [
        row for row in enough.rows if row.task == "membership by best similarity, verbatim (worst case), k 5"
    ]
    assert len(rows) == len(enough.systems) * (len(NOTES) + 20)
    assert all(row.measured for row in rows)


def test_searches_read_the_attacked_documents_alone(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    with data.open("notes") as collection:
        before = audit(system, collection, corpus, Options("quick"))
    more = write_records(tmp_path / "more.jsonl", [each.text for each in strangers(30)])
    more.write_text(more.read_text().replace('"r00', '"m00'))
    ingest(system, data, "notes", read_documents([str(more)]))
    with data.open("notes") as collection:
        report = audit(system, collection, corpus, Options("quick"))
    assert (report.documents, report.stored) == (len(NOTES), len(NOTES) + 30)
    assert report.verdict.endswith(f" Attacked were {len(NOTES)} of {len(NOTES) + 30} documents.")
    assert report.measures == before.measures


def test_limits_of_unknown_measures_are_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^likned is no measure of a leak. Those are: left-direct, left"
    ):
        Options(at_most={"likned": 0.1})
    with pytest.raises(
        ConfigurationError, match=r"^linked is no measure of usefulness. Those are: found-first"
    ):
        Options(at_least={"linked": 0.1})


def test_gates_know_every_measure_and_no_other() -> None:
    documents = [Document(f"d{number}", note) for number, note in enumerate(NOTES)]
    sensitive = SensitiveIndex(())
    grounds = Grounds(
        documents, sensitive, WordEncoder(), "full", 5, 0, [frozenset({"d0", "d1"})], strangers(20),
        {"d0": {"sex": ("male",)}},
    )  # fmt: skip
    measures = [measure for family in FAMILIES for measure in family(grounds)]
    names = {True: LEAKS, False: USES}
    for leaks in names:
        assert tuple(each.name for each in measures if each.lower_is_better is leaks) == names[leaks]


def test_what_is_about_to_be_done_is_told(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    told: list[str] = []
    with data.open("notes") as collection:
        for _ in range(2):
            audit(system, collection, corpus, Options("quick"), folder=tmp_path / "rows", told=told.append)
    first, again = told
    assert first.startswith(
        "Attempts on each of 5 systems: left-direct and left-quasi 8, vectors and inverted 8, guessed 8, "
    )
    (whole,) = re.findall(r"In all ([\d,]+): about a minute\.$", first)
    assert int(whole) == 5 * sum(map(int, re.findall(r" (\d+)[,.]", first.partition(" In all")[0])))
    assert again.endswith(f"In all {whole}, of which {whole} were made before: about a minute.")


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "about a minute"), (30, "about 10 minutes"), (600, "about 3 hours")]
)
def test_time_is_told_roughly(seconds: float, said: str) -> None:
    documents = [Document(f"d{number}", "Invented.") for number in range(20)]
    task = VectorsTask(documents, WordEncoder())
    reading = Measure("left", "what is left", "nobody", task, lambda rows: Estimate(), "", reference="")
    plan = planned([reading], ["one"], RowFile(""), seconds / PER_ATTEMPT)
    assert plan == f"Attempts on each of 1 systems: left 20. In all 20: {said}."


def test_an_interrupted_audit_goes_on_and_another_collection_is_refused(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    system, data, corpus = written(tmp_path, "lethe")
    with data.open("notes") as collection:
        whole = audit(system, collection, corpus, Options("quick"), folder=rows)
        file = rows / "rows.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[: len(lines) // 2]))
        again = audit(system, collection, corpus, Options("quick"), folder=rows)
        assert again.measures == whole.measures
    with locked(data.folder("notes")), data.open("notes") as collection:
        planted(collection, corpus.documents[0].doc_id, "Invented. Something else stands here now.")
    with data.open("notes") as collection, pytest.raises(LetheError, match="is of another run"):
        audit(system, collection, corpus, Options("quick"), folder=rows)


def test_originals_that_are_not_there_are_counted_and_never_safe(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    stranger = replace(corpus.documents[0], doc_id="r9999")
    with data.open("notes") as collection:
        report = audit(
            system, collection, replace(corpus, documents=[*corpus.documents, stranger]), Options("quick")
        )
        assert report.absent == 1
        assert report.problems[0] == "1 originals are not in the collection and were not attacked."
        with pytest.raises(
            LetheError, match="None of the 1 originals is in the collection notes: name the files"
        ):
            audit(system, collection, replace(corpus, documents=[stranger]), Options("quick"))
        ids, made = [each.doc_id for each in corpus.documents], collection.manifest
        shelf = Shelf(collection.store.copied(ids), made.passage_tokens, made.search)
        texts = stored_texts(shelf.store, ids)
        now = system.sanitizer().sanitize([*corpus.documents, stranger])
        stored = as_stored(COLLECTION, shelf, texts, now, system.search)
    assert stored.corpus.failed == {"r9999": NOT_STORED}
    assert stored.differing == 0
    assert [each.text for each in stored.corpus.documents] == [*texts.values()]


def test_grounds_know_their_size() -> None:
    grounds = Grounds((), None, WordEncoder(), "quick", 5, 0)  # type: ignore[arg-type]
    assert (grounds.size.documents, grounds.size.prompts) == (100, 10)


def judged(*, shown: bool | None = True, failures: dict[str, int] | None = None) -> MeasureFigures:
    """A leak of 10 of 100 cases."""
    figure = Estimate(0.1, 0.05, 0.18, 10, 100)
    return MeasureFigures(
        name="linked",
        title="documents found",
        attacker="somebody who knows more",
        engine="an engine",
        lower_is_better=True,
        figures={COLLECTION: figure, ORIGIN: figure},
        chances={},
        shown=shown,
        blind="much",
        reference="the originals",
        failures=failures or {},
    )


@pytest.mark.parametrize(
    ("figures", "limit", "outcome"),
    [
        (judged(), 0.2, "held"),
        (judged(shown=None), 0.2, "held"),
        (judged(failures={NOT_GUESSED: 900}), 0.2, "held"),
        (judged(failures={"RuntimeError": 1}), 0.2, "not measured"),
        (judged(shown=False), 0.2, "not measured"),
        # What was found suffices, whatever was not measured.
        (judged(shown=False, failures={"RuntimeError": 99}), 0.05, "exceeded"),
    ],
)
def test_a_gate_does_not_hold_on_crashes_or_on_no_evidence(
    figures: MeasureFigures, limit: float, outcome: Outcome
) -> None:
    gate = gate_of("linked", limit, figures)
    assert (gate.outcome, gate.value is None) == (outcome, outcome == "not measured")


def test_other_people_and_other_vectors_are_another_run(tmp_path: Path) -> None:
    system, data, corpus = written(tmp_path, "lethe")
    ids = [each.doc_id for each in corpus.documents]
    one, other = (
        replace(corpus, people=[frozenset((ids[0], ids[first])), frozenset((ids[3], ids[second]))])
        for first, second in ((1, 2), (2, 1))
    )
    with data.open("notes") as collection:

        def again(known: Corpus) -> AuditReport | str:
            try:
                return audit(system, collection, known, Options("quick"), folder=tmp_path / "rows")
            except LetheError as error:
                return str(error)

        assert isinstance(again(one), AuditReport) and isinstance(again(one), AuditReport)
        assert isinstance(again(other), str)
        passage = collection.store.passages_of(ids[0])[0]
        vector = system.encoder.encode([corpus.documents[0].text])[0].astype(np.float16).tobytes()
        put = "UPDATE passages SET vector = ? WHERE passage_id = ?"
        collection.store._connection.execute(put, (vector, passage.passage_id))
        refused = again(one)
    assert isinstance(refused, str) and "rows" in refused
