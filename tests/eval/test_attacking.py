"""What an attack must never count as safe. Every document, name and mark here is invented."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from eval.attacks.extraction import Aim, ExtractionSuite, extraction_suite
from eval.corpora.corpus import Corpus, GoldRows, gold_rows, persons_in, read_corpus
from eval.reports.extraction_page import extraction as extraction_report
from eval.reports.render import html_page
from eval.studies.extraction import ExtractionReport, extraction
from ingest.documents import Document
from ingest.protocols import Method
from ingest.read.reading import Fields
from ingest.read.sources import read_documents
from models.errors import ConfigurationError, LetheError
from models.vectors import Vectors
from retrieval.system import System
from tests.commands import write_lines, write_records
from tests.doubles import WordEncoder
from tests.eval.test_calibrating import Failing

NOTES = [
    "Invented. Mr Tobias Quellmann has had a cough; write to t.quellmann@example.org.",
    "Invented. Mrs Ada Vennström was told to rest her knee; write to ada@example.org.",
    "Invented. The boiler of the mill is broken; the plumber is Mr Oswin Tarrant, o@example.org.",
]
PLAIN = ["Invented. The boiler is broken.", "Invented. The kettle is cold."]
SECRETS = ("Quellmann", "Vennstr", "Tarrant", "quellmann@example")


@dataclass(frozen=True)
class Clinic:
    """A system and its data folder."""

    system: System
    data: DataDir


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    settings = load_settings({"data_dir": str(tmp_path / "data"), "policy.name": "suppress"})
    return Clinic(system_of(settings, encoder=WordEncoder()), DataDir(settings))


def written(folder: Path, *records: Mapping[str, object], name: str = "notes.jsonl") -> str:
    write_lines(folder / name, records)
    return str(folder / name)


def notes(folder: Path, texts: Sequence[str] = NOTES, name: str = "notes.jsonl") -> str:
    return str(write_records(folder / name, texts))


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


def failure(call: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(LetheError) as raised:
        call(*arguments)
    assert not any(secret in str(raised.value) for secret in SECRETS)
    return str(raised.value)


def test_a_whole_attack_has_no_problems(clinic: Clinic, tmp_path: Path) -> None:
    report = attacked(clinic, notes(tmp_path))
    assert report.problems == ()
    arms = [(arm.name, arm.documents_kept, arm.documents_failed) for arm in report.arms]
    assert arms == [("origin", 3, 0), ("redact", 3, 0), ("lethe", 3, 0)]
    assert [arm.entity_leakage.value for arm in report.arms] == [1.0, 0.0, 0.0]
    page = html_page(extraction_report(report))
    assert "Not a verdict" not in page and "3 of 3" in page


def test_a_document_that_cannot_be_sanitized_is_reported_and_not_safe(
    clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = System.method

    def failing(self: System) -> Method:
        return Failing(own(self)) if self.policy.name == "redact" else own(self)

    monkeypatch.setattr(System, "method", failing)
    report = attacked(clinic, notes(tmp_path))
    assert (report.arms[1].documents_kept, report.arms[1].documents_failed) == (2, 1)
    (problem,) = report.problems
    assert problem.startswith("Not attacked in redact: 1 of 3 documents, which could not be sanitized; they")
    page = html_page(extraction_report(report))
    assert problem in page and "2 of 3" in page


def test_a_document_that_cannot_be_read_is_reported(clinic: Clinic, tmp_path: Path) -> None:
    rows = [{"id": f"n{n}", "text": text} for n, text in enumerate(NOTES)]
    clash, same = {"id": "n0", "text": "Invented. Another text."}, {"id": "n9", "text": NOTES[1]}
    report = attacked(clinic, written(tmp_path, *rows, clash, same, {"id": "n4"}))
    assert report.reference.documents_unread == 2, "a text that comes again is no loss"
    assert report.problems == ("Not attacked: 2 documents could not be read, or have the id of another one.",)


def test_an_attack_that_breaks_nothing_proves_nothing(clinic: Clinic, tmp_path: Path) -> None:
    row = {"text": "Invented. Quellmanns cough.", "marks": [{"text": "Quellmann", "label": "PERSON"}]}
    path = written(tmp_path, row)
    corpus = corpus_of(clinic, path, gold_rows([path], "marks", Fields()))
    report = extraction(clinic.system, corpus, suite())
    (problem,) = report.problems
    assert problem == (
        "The attack did not break the unsanitized arm (origin: 0 of 3 entities leaked); nothing can be "
        "concluded."
    )
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


def test_a_collection_of_the_same_documents_is_attacked(clinic: Clinic, tmp_path: Path) -> None:
    path = notes(tmp_path, [*NOTES, NOTES[0]])
    ingest(clinic.system, clinic.data, "notes", read_documents([path]))
    report = attacked(clinic, path, "notes")
    assert (report.arms[2].documents_kept, report.problems) == (3, ())


@pytest.mark.parametrize(
    ("there", "ids", "n_same"), [(NOTES[:2], "r", 2), ([*NOTES, PLAIN[0]], "r", 3), (NOTES, "m", 0)]
)
def test_a_collection_of_other_documents_is_refused(
    clinic: Clinic, tmp_path: Path, there: Sequence[str], ids: str, n_same: int
) -> None:
    rows = [{"id": f"{ids}{n:04d}", "text": text} for n, text in enumerate(there)]
    ingest(clinic.system, clinic.data, "notes", read_documents([written(tmp_path, *rows, name="in.jsonl")]))
    assert failure(attacked, clinic, notes(tmp_path), "notes").endswith(
        f"it keeps {len(there)} documents and 3 different ones are given, {n_same} are the same. Attack "
        "the same files that were ingested, with the same --id-field, or leave -c away."
    )


def marks(folder: Path, *records: Mapping[str, object]) -> GoldRows:
    return gold_rows([written(folder, *records)], "marks", Fields())


def test_marks_stand_under_the_ids_of_their_documents(tmp_path: Path) -> None:
    rows = [{"text": "Quellmann", "label": "PERSON"}]
    second = {"id": " n\u200b1 ", "text": NOTES[1], "marks": rows}
    gold = marks(tmp_path, {"text": NOTES[0], "marks": rows}, second)
    path = str(tmp_path / "notes.jsonl")
    read = [reading.item for reading in read_documents([path])]
    assert list(gold) == [each.doc_id for each in read if isinstance(each, Document)] == [f"{path}#1", "n1"]
    # Marks that need no place, and texts that come again, are read.
    assert marks(tmp_path, A | {"id": "a"}, A | {"id": "a"}) == {"a": []}
    assert marks(tmp_path, {"text": NOTES[0], "marks": [PLACE]})
    assert marks(tmp_path, {"text": CHANGED, "marks": [{"text": "Tobias Quellmann", "label": "PERSON"}]})


A, B = ({"text": text, "marks": []} for text in NOTES[:2])
PLACE = {"start": 13, "end": 29, "label": "PERSON"}
CHANGED = NOTES[0].replace(". ", ".\r\n", 1)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [{"id": "a", "text": NOTES[0], "Quellmann": []}],
            "No record has a field 'marks' among 3 fields. Name the one that holds the marked entities.",
        ),
        (
            [A, {"text": NOTES[1]}],
            "line 2: has no field 'marks' among 1 field, which other records have; write an empty list where "
            "there is nothing to mark",
        ),
        ([A | {"marks": "Quellmann"}], "line 1: marks is not a list of entities"),
        ([A | {"marks": ["Quellmann"]}], "line 1: row 0 of marks is no entity; write {...} with named "),
        ([A | {"id": "a"}, B | {"id": "a"}], "line 2: has the id of an earlier record with another text; "),
        ([{"text": CHANGED, "marks": [PLACE]}], "line 1: its entities are given by start and end, and its t"),
    ],
)
def test_marks_that_cannot_be_read_are_refused_by_their_place(
    tmp_path: Path, records: Sequence[Mapping[str, object]], message: str
) -> None:
    said = failure(marks, tmp_path, *records)
    assert message in said and said.startswith(("No record", f"{tmp_path / 'notes.jsonl'}, line "))


def test_marks_of_standard_input_or_of_too_few_documents_are_refused(clinic: Clinic, tmp_path: Path) -> None:
    message = "Marked entities cannot be taken from standard input, which is read only once: name a file."
    assert failure(gold_rows, ["-"], "marks", Fields()) == message
    gold = marks(tmp_path, A | {"id": "r0000"})
    said = failure(corpus_of, clinic, notes(tmp_path), gold)
    assert said.startswith("2 of 3 documents have no marked entities, the first is ")


@pytest.mark.parametrize("marked", [False, True])
def test_nothing_sensitive_is_refused(clinic: Clinic, tmp_path: Path, marked: bool) -> None:
    rows = [{"text": "is", "label": "misc"}]
    path = written(tmp_path, *({"id": text, "text": text, "marks": rows} for text in PLAIN))
    corpus = corpus_of(clinic, path, gold_rows([path], "marks", Fields()) if marked else None)
    message = failure(extraction, clinic.system, corpus, suite())
    assert message.startswith("There is nothing sensitive to look for in 2 documents")


class CountingEncoder(WordEncoder):
    """Notes what it is asked to encode."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().encode(texts)


def test_every_phase_is_reported_to_its_end_and_each_prompt_is_encoded_once(
    clinic: Clinic, tmp_path: Path
) -> None:
    steps: dict[str, list[tuple[int, int | None]]] = {}

    def progress(phase: str, done: int, total: int | None) -> None:
        steps.setdefault(phase, []).append((done, total))

    counting, attack = CountingEncoder(), suite(20)
    corpus = read_corpus(read_documents([notes(tmp_path)]), clinic.data.public_ids, progress=progress)
    extraction(replace(clinic.system, encoder=counting), corpus, attack, progress=progress)
    assert [counting.seen.count(prompt.text) for prompt in attack.parts[0].prompts()] == [1] * 20
    systems = ("origin", "redact", "lethe")
    of_each = [f"{doing} {name}" for name in systems for doing in ("sanitizing", "attacking")]
    assert set(steps) == {"reading", "detecting", "encoding prompts", "systems", *of_each}
    assert steps["detecting"][:2] == steps["sanitizing lethe"] == [(0, 3), (3, 3)]
    assert steps["reading"][-1] == (3, None)
    assert steps["attacking lethe"] == [(done, 20) for done in range(21)]
    assert steps["systems"] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_records_say_whom_they_are_about(tmp_path: Path, clinic: Clinic) -> None:
    about = zip(NOTES, ("p1", "p2", "p1"), strict=True)
    path = written(tmp_path, *({"text": text, "who": who} for text, who in about))
    persons = persons_in([path], "who", Fields())
    assert sorted(persons.values()) == ["p1", "p1", "p2"]
    corpus = read_corpus(read_documents([path]), clinic.data.public_ids, persons=persons)
    first, _, third = corpus.documents
    assert corpus.people == [frozenset((first.doc_id, third.doc_id))]
    with pytest.raises(ConfigurationError, match="^No record has a word or number in a field 'whom'. Name"):
        persons_in([path], "whom", Fields())
