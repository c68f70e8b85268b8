"""What an attack must never count as safe. Every document, name and mark here is invented."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import Settings, load_settings
from eval.attacks.extraction import Aim, ExtractionSuite, extraction_suite
from eval.corpora.corpus import Corpus, GoldRows, gold_rows, persons_in, read_corpus
from eval.reports.extraction_page import extraction as extraction_report
from eval.reports.render import html_page
from eval.studies.extraction import ExtractionReport, extraction
from ingest.annotated import AnnotatedText
from ingest.documents import Decision
from ingest.errors import UnreadableDocument
from ingest.protocols import Hazards, Method
from ingest.read.reading import Fields
from ingest.read.sources import read_documents
from models.errors import ConfigurationError, LetheError
from models.vectors import Vectors
from retrieval.errors import CollectionError
from retrieval.system import System
from tests.doubles import WordEncoder

NOTES = [
    "Invented. Mr Tobias Quellmann has had a cough; write to t.quellmann@example.org.",
    "Invented. Mrs Ada Vennström was told to rest her knee; write to ada@example.org.",
    "Invented. The boiler of the mill is broken; the plumber is Mr Oswin Tarrant, o@example.org.",
]
PLAIN = ["Invented. The boiler is broken.", "Invented. The kettle is cold."]
SECRETS = ("Quellmann", "Vennstr", "Tarrant", "quellmann@example")


class Failing:
    """Decides like another method, and fails on every text with a word."""

    def __init__(self, method: Method, word: str) -> None:
        self.method, self.word, self.name = method, word, method.name

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        if any(self.word in text.text for text in texts):
            raise RuntimeError(f"cannot decide about {self.word}")
        return self.method.decide(texts, hazards)


@dataclass(frozen=True)
class Clinic:
    """A system and its data folder."""

    system: System
    data: DataDir


def settings_in(folder: Path) -> Settings:
    return load_settings({"data_dir": str(folder / "data"), "policy.name": "suppress"})


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    settings = settings_in(tmp_path)
    return Clinic(system_of(settings, encoder=WordEncoder()), DataDir(settings))


def written(folder: Path, records: Sequence[object], name: str = "notes.jsonl") -> str:
    path = folder / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return str(path)


def notes(folder: Path, texts: Sequence[str] = NOTES, name: str = "notes.jsonl") -> str:
    return written(folder, [{"id": f"n{n}", "text": text} for n, text in enumerate(texts)], name)


def suite(n: int = 3) -> ExtractionSuite:
    return extraction_suite([Aim.HEALTH], n, 0)


def corpus_of(clinic: Clinic, path: str, gold: GoldRows | None = None) -> Corpus:
    return read_corpus(read_documents([path]), clinic.data.public_ids, gold)


def attacked(clinic: Clinic, path: str, collection: str | None = None) -> ExtractionReport:
    corpus = corpus_of(clinic, path)
    if collection is None:
        return extraction(clinic.system, corpus, suite())
    with clinic.data.open(collection) as kept:
        return extraction(clinic.system, corpus, suite(), collection=kept)


def ingested(clinic: Clinic, path: str) -> None:
    ingest(clinic.system, clinic.data, "notes", read_documents([path]))


def failure(call: object, *arguments: object) -> str:
    assert callable(call)
    with pytest.raises(LetheError) as raised:
        call(*arguments)
    assert not any(secret in str(raised.value) for secret in SECRETS)
    return str(raised.value)


# -- documents -------------------------------------------------------------------------------------------


def test_a_whole_attack_has_no_problems(clinic: Clinic, tmp_path: Path) -> None:
    report = attacked(clinic, notes(tmp_path))
    assert report.problems == ()
    assert [(arm.name, arm.documents_kept, arm.documents_failed) for arm in report.arms] == [
        ("origin", 3, 0),
        ("redact", 3, 0),
        ("lethe", 3, 0),
    ]
    assert [arm.entity_leakage.value for arm in report.arms] == [1.0, 0.0, 0.0]
    assert "Not a verdict" not in html_page(extraction_report(report))
    assert "3 of 3" in html_page(extraction_report(report))


def test_a_document_that_cannot_be_sanitized_is_reported_and_not_safe(
    clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = System.method

    def failing(self: System) -> Method:
        return Failing(own(self), "boiler") if self.policy.name == "redact" else own(self)

    monkeypatch.setattr(System, "method", failing)
    report = attacked(clinic, notes(tmp_path))
    redact = report.arms[1]
    assert (redact.documents_kept, redact.documents_failed) == (2, 1)
    problem = (
        "Not attacked in redact: 1 of 3 documents, which could not be sanitized; they are not safe ones."
    )
    assert report.problems == (problem,)
    assert problem in html_page(extraction_report(report))
    assert "2 of 3" in html_page(extraction_report(report))


def test_a_document_that_cannot_be_read_is_reported(clinic: Clinic, tmp_path: Path) -> None:
    clash = {"id": "n0", "text": "Invented. Another text under the first id."}
    same = {"id": "n9", "text": NOTES[1]}
    rows = [{"id": f"n{n}", "text": text} for n, text in enumerate(NOTES)]
    path = written(tmp_path, [*rows, clash, same, {"id": "n4"}])
    report = attacked(clinic, path)
    assert report.reference.documents_unread == 2, "a text that comes again is no loss"
    assert report.problems == ("Not attacked: 2 documents could not be read, or have the id of another one.",)


def test_an_attack_that_breaks_nothing_proves_nothing(clinic: Clinic, tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": "n0", "text": "Invented. Quellmanns cough.", "marks": [
        {"text": "Quellmann", "label": "PERSON"}]}])  # fmt: skip
    corpus = corpus_of(clinic, path, gold_rows([path], "marks", Fields()))
    report = extraction(clinic.system, corpus, suite())
    problem = (
        "The attack did not break the unsanitized arm (origin: 0 of 3 entities leaked); nothing can be "
        "concluded."
    )
    assert report.problems == (problem,)
    assert report.model_dump(mode="json")["problems"] == [problem]
    assert problem in html_page(extraction_report(report))


@pytest.mark.parametrize("broken", [False, True])
def test_the_command_ends_with_1_if_there_is_a_problem(
    broken: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    path = notes(tmp_path)
    if broken:
        with Path(path).open("a") as file:
            file.write("{broken\n")
    code = main(["attack", "extraction", path, "-n", "2", "--aim", "health", "--policy", "redact"])
    out, err = capsys.readouterr()
    assert code == int(broken), err
    assert len(json.loads(out)["problems"]) == int(broken)
    assert ("Not attacked: 1 documents" in err) == broken
    # One bar for the whole and one for the phase that goes on, which is the last one here.
    assert all(each in err for each in ("systems", "attacking lethe"))


def test_the_suite_is_checked_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    assert main(["attack", "extraction", str(tmp_path / "none.jsonl"), "-n", "99999"]) == 2
    assert "cannot make 99999 different prompts" in capsys.readouterr().err


# -- collections -----------------------------------------------------------------------------------------


def test_a_collection_of_the_same_documents_is_attacked(clinic: Clinic, tmp_path: Path) -> None:
    path = notes(tmp_path, [*NOTES, NOTES[0]])
    ingested(clinic, path)
    report = attacked(clinic, path, "notes")
    assert report.arms[2].documents_kept == 3
    assert report.problems == ()


@pytest.mark.parametrize(
    ("there", "n_same"), [(NOTES[:2], 2), ([*NOTES, PLAIN[0]], 3)], ids=["fewer", "more"]
)
def test_a_collection_of_other_documents_is_refused(
    clinic: Clinic, tmp_path: Path, there: Sequence[str], n_same: int
) -> None:
    ingested(clinic, notes(tmp_path, there, "ingested.jsonl"))
    with pytest.raises(CollectionError) as raised:
        attacked(clinic, notes(tmp_path), "notes")
    assert str(raised.value).endswith(
        f"it keeps {len(there)} documents and 3 different ones are given, {n_same} are the same. Attack "
        "the same files that were ingested, with the same --id-field, or leave -c away."
    )


def test_as_many_documents_under_other_ids_are_refused(clinic: Clinic, tmp_path: Path) -> None:
    other = written(tmp_path, [{"id": f"m{n}", "text": text} for n, text in enumerate(NOTES)], "m.jsonl")
    ingested(clinic, other)
    assert "it keeps 3 documents and 3 different ones are given, 0 are the same" in failure(
        attacked, clinic, notes(tmp_path), "notes"
    )


# -- marks -----------------------------------------------------------------------------------------------


def marks(folder: Path, *records: object, field: str = "marks") -> object:
    return gold_rows([written(folder, records)], field, Fields())


def test_marks_stand_under_the_ids_of_their_documents(clinic: Clinic, tmp_path: Path) -> None:
    rows = [{"text": "Quellmann", "label": "PERSON"}]
    path = written(
        tmp_path, [{"text": NOTES[0], "marks": rows}, {"id": " n\u200b1 ", "text": NOTES[1], "marks": rows}]
    )
    gold = gold_rows([path], "marks", Fields())
    assert list(gold) == [
        reading.item.doc_id for reading in read_documents([path]) if hasattr(reading.item, "doc_id")
    ]
    assert list(gold) == [f"{path}#1", "n1"]


def test_a_field_that_no_record_has_is_refused(tmp_path: Path) -> None:
    message = failure(lambda: marks(tmp_path, {"id": "a", "text": NOTES[0], "entities": []}))
    assert message == (
        "No record has a field 'marks' among 3 fields. Name the one that holds the marked entities."
    )
    with pytest.raises(ConfigurationError):
        marks(tmp_path, {"text": NOTES[0]})


def test_names_of_fields_are_not_shown(tmp_path: Path) -> None:
    message = failure(lambda: marks(tmp_path, {"text": NOTES[0], "Quellmann": 1}))
    assert "Quellmann" not in message
    assert "among 2 fields" in message


def test_a_record_that_lacks_the_field_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument) as raised:
        marks(tmp_path, {"text": NOTES[0], "marks": []}, {"text": NOTES[1]})
    assert raised.value.place == f"{tmp_path / 'notes.jsonl'}, line 2"
    assert raised.value.reason == (
        "has no field 'marks' among 1 field, which other records have; write an empty list where there is "
        "nothing to mark"
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("Quellmann", "marks is not a list of entities"),
        (["Quellmann"], "row 0 of marks is no entity; write {...} with named fields"),
    ],
)
def test_marks_of_another_shape_are_refused(tmp_path: Path, value: object, reason: str) -> None:
    message = failure(lambda: marks(tmp_path, {"text": NOTES[0], "marks": value}))
    assert message == f"{tmp_path / 'notes.jsonl'}, line 1: {reason}"


def test_two_texts_under_one_id_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": text, "marks": []} for text in NOTES[:2]]
    assert failure(lambda: marks(tmp_path, *rows)).endswith(
        "line 2: has the id of an earlier record with another text; give each its own"
    )
    assert marks(tmp_path, rows[0], rows[0]) == {"a": []}


def test_places_in_a_text_that_was_changed_are_refused(tmp_path: Path) -> None:
    place = {"start": 13, "end": 29, "label": "PERSON"}
    changed = NOTES[0].replace(". ", ".\r\n", 1)
    message = failure(lambda: marks(tmp_path, {"text": changed, "marks": [place]}))
    assert "line 1: its entities are given by start and end, and its text was changed on reading" in message
    assert message.endswith("give the entities as text, or clean the file first")
    assert marks(tmp_path, {"text": NOTES[0], "marks": [place]})
    assert marks(tmp_path, {"text": changed, "marks": [{"text": "Tobias Quellmann", "label": "PERSON"}]})


def test_marks_from_standard_input_are_refused() -> None:
    assert failure(gold_rows, ["-"], "marks", Fields()) == (
        "Marked entities cannot be taken from standard input, which is read only once: name a file."
    )


def test_a_document_without_marks_is_refused(clinic: Clinic, tmp_path: Path) -> None:
    gold = gold_rows(
        [written(tmp_path, [{"id": "n0", "text": NOTES[0], "marks": []}], "g.jsonl")], "marks", Fields()
    )
    message = failure(corpus_of, clinic, notes(tmp_path), gold)
    assert message.startswith("2 of 3 documents have no marked entities, the first is ")


@pytest.mark.parametrize("marked", [False, True])
def test_nothing_sensitive_is_refused(clinic: Clinic, tmp_path: Path, marked: bool) -> None:
    rows = [{"text": "is", "label": "misc"}]
    path = written(tmp_path, [{"id": f"p{n}", "text": text, "marks": rows} for n, text in enumerate(PLAIN)])
    gold = gold_rows([path], "marks", Fields()) if marked else None
    corpus = corpus_of(clinic, path, gold)
    message = failure(extraction, clinic.system, corpus, suite())
    assert message.startswith("There is nothing sensitive to look for in 2 documents")


# -- time ------------------------------------------------------------------------------------------------


class CountingEncoder(WordEncoder):
    """Notes what it is asked to encode."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().encode(texts)


def test_each_prompt_is_encoded_once_for_all_systems(clinic: Clinic, tmp_path: Path) -> None:
    counting = CountingEncoder()
    attack = suite(20)
    extraction(replace(clinic.system, encoder=counting), corpus_of(clinic, notes(tmp_path)), attack)
    prompts = [prompt.text for prompt in attack.parts[0].prompts()]
    assert [counting.seen.count(prompt) for prompt in prompts] == [1] * 20


def test_every_phase_is_reported_from_its_beginning_to_its_end(clinic: Clinic, tmp_path: Path) -> None:
    steps: dict[str, list[tuple[int, int | None]]] = {}

    def progress(phase: str, done: int, total: int | None) -> None:
        steps.setdefault(phase, []).append((done, total))

    readings = read_documents([notes(tmp_path)])
    corpus = read_corpus(readings, clinic.data.public_ids, progress=progress)
    extraction(clinic.system, corpus, suite(2), progress=progress)
    systems = ("origin", "redact", "lethe")
    of_each = [f"{doing} {name}" for name in systems for doing in ("sanitizing", "attacking")]
    assert set(steps) == {"reading", "detecting", "encoding prompts", "systems", *of_each}
    assert steps["detecting"][:2] == steps["sanitizing lethe"] == [(0, 3), (3, 3)]
    assert steps["reading"][-1] == (3, None)
    assert steps["attacking lethe"] == [(0, 2), (1, 2), (2, 2)]
    assert steps["systems"] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_records_say_whom_they_are_about(tmp_path: Path, clinic: Clinic) -> None:
    about = ("p1", "p2", "p1")
    path = written(tmp_path, [{"id": f"n{n}", "text": text, "who": about[n]} for n, text in enumerate(NOTES)])
    persons = persons_in([path], "who", Fields())
    assert sorted(persons.values()) == ["p1", "p1", "p2"]
    corpus = read_corpus(read_documents([path]), clinic.data.public_ids, persons=persons)
    first, _, third = corpus.documents
    assert corpus.people == [frozenset((first.doc_id, third.doc_id))]
    with pytest.raises(
        ConfigurationError, match="^No record has a word or number in a field 'whom'. Name the"
    ):
        persons_in([path], "whom", Fields())
