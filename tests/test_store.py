import sqlite3
from pathlib import Path

import pytest

from ingest.documents import Document, SanitizedDocument
from ingest.policy import Policy
from ingest.protocols import Arrival, Standing
from ingest.risk_prior import RiskPrior
from ingest.sanitize import DecidingSanitizer
from ingest.sanitizers.uniform import REDACT
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.collection import Collection, Writer, locked
from retrieval.errors import CollectionError
from retrieval.manifest import Manifest, read_manifest, write_manifest
from retrieval.retriever import DenseRetriever
from retrieval.store import Store
from tests.doubles import PhraseDetector, WordEncoder

ENCODER = WordEncoder()
MANIFEST = Manifest(
    created="2026-01-01T00:00:00+00:00",
    encoder=ENCODER.name,
    dim=ENCODER.dim,
    passage_tokens=16,
    detector="test",
    risk="prior",
    engine="exact",
    policy=Policy("redact"),
    scale=EMBEDDED_SCALE,
    version="0",
)


def sanitized(doc_id: str, text: str) -> SanitizedDocument:
    detector = PhraseDetector({"Keller": "person full name"})
    outcome = DecidingSanitizer(detector, REDACT, RiskPrior()).sanitize([Document(doc_id, text)])[0]
    assert isinstance(outcome, SanitizedDocument)
    return outcome


def arrival(doc_id: str, content: str) -> Arrival:
    return Arrival(doc_id, content.encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with locked(tmp_path / "c"), Collection.create(tmp_path / "c", MANIFEST) as collection:
        writer = Writer(collection.store, ENCODER, MANIFEST.passage_tokens)
        writer.keep(
            [
                (arrival("a", "1"), sanitized("a", "Keller fed the heron. " * 8)),
                (arrival("b", "2"), sanitized("b", "The boiler of the mill is broken.")),
            ]
        )
        collection.publish()
        collection.store.finish_job(writer.job_id, {"ingested": 2})
    return tmp_path / "c"


def test_what_was_kept_is_found(folder: Path) -> None:
    with Collection.open(folder) as collection:
        retriever = DenseRetriever(ENCODER, collection.load_index(), collection.store)
        best = retriever.retrieve(["broken boiler"], 1)[0][0]
        assert best.passage.doc_id == "b"
        assert retriever.retrieve([], 3) == []


def test_passages_are_the_sanitized_text(folder: Path) -> None:
    with Collection.open(folder) as collection:
        numbers = [number for ids, _ in collection.store.vectors(0) for number in ids]
        passages = [p for p in collection.store.passages(numbers).values() if p.doc_id == "a"]
        assert "".join(p.text for p in sorted(passages, key=lambda p: p.start)).startswith("Somebody fed the")
        assert all(p.end - p.start == len(p.text) for p in passages)


def test_standing_of_arrivals(folder: Path) -> None:
    with Collection.open(folder) as collection:
        store = collection.store
        job = store.start_job()
        seen = [arrival("a", "1"), arrival("z", "2"), arrival("a", "9"), arrival("c", "3")]
        # "a" with its old text is a duplicate and was then seen by this job, so another "a" is a clash.
        assert store.standing(job, seen) == [
            Standing.DUPLICATE,
            Standing.DUPLICATE,
            Standing.CLASH,
            Standing.NEW,
        ]
        assert store.standing(store.start_job(), [arrival("a", "9")]) == [Standing.CHANGED]


def test_a_changed_document_takes_the_place_of_the_old_one(folder: Path) -> None:
    with Collection.open(folder) as collection:
        writer = Writer(collection.store, ENCODER, 16)
        writer.keep([(arrival("b", "3"), sanitized("b", "The mill was sold."))])
        assert collection.store.count_documents() == 2
        assert not collection.store.says("boiler")
        found = DenseRetriever(ENCODER, collection.load_index(), collection.store).retrieve(
            ["boiler mill"], 50
        )
        assert all("boiler" not in each.passage.text for each in found[0])


def test_a_batch_is_written_whole_or_not_at_all(folder: Path) -> None:
    with Collection.open(folder) as collection:
        writer = Writer(collection.store, ENCODER, 16)
        same = arrival("x", "1")  # the content of "a": refused by the database
        with pytest.raises(CollectionError, match="SQLITE_CONSTRAINT"):
            writer.keep([(arrival("y", "7"), sanitized("y", "new")), (same, sanitized("x", "new"))])
        assert collection.store.count_documents() == 2


@pytest.mark.parametrize("damage", ["missing", "truncated", "stale"])
def test_the_index_is_rebuilt_wherever_the_file_does_not_agree(folder: Path, damage: str) -> None:
    path = folder / "vectors.faiss"
    before = path.read_bytes()
    with Collection.open(folder) as collection:
        whole = len(collection.load_index())
        if damage == "missing":
            path.unlink()
        elif damage == "truncated":
            path.write_bytes(before[: len(before) // 2])
        else:
            writer = Writer(collection.store, ENCODER, 16)
            writer.keep([(arrival("c", "3"), sanitized("c", "A third."))])
            whole += 1
        assert len(collection.load_index()) == whole == collection.store.count_passages()


def test_erasure_leaves_nothing_and_proves_it(folder: Path) -> None:
    with Collection.open(folder) as collection:
        numbers = [number for ids, _ in collection.store.vectors(0) for number in ids]
        vector = next(rows[0].tobytes() for _, rows in collection.store.vectors(0))
        erasure = collection.erase("a")
        assert erasure.passages > 1
        assert erasure.ledger_rows == 8
        assert erasure.traces_found == 0
        assert erasure.bytes_searched > 0
        left = [number for ids, _ in collection.store.vectors(0) for number in ids]
        assert set(left) < set(numbers)
        assert len(collection.load_index()) == len(left)
        for path in folder.iterdir():
            assert b"fed the heron" not in path.read_bytes()
            assert vector not in path.read_bytes()
        with pytest.raises(CollectionError, match="there is no document a"):
            collection.erase("a")


def test_passage_ids_are_never_used_again(folder: Path) -> None:
    with Collection.open(folder) as collection:
        last = collection.store.last_passage()
        collection.erase("b")
        Writer(collection.store, ENCODER, 16).keep([(arrival("d", "4"), sanitized("d", "New."))])
        assert collection.store.last_passage() > last


def test_one_process_writes_at_a_time(folder: Path) -> None:
    with locked(folder), pytest.raises(CollectionError, match="another process is writing"), locked(folder):
        pass


def test_an_altered_audit_log_is_seen(folder: Path) -> None:
    with Collection.open(folder) as collection:
        assert collection.store.broken_audit_entry() is None
        collection.erase("b")
    with sqlite3.connect(folder / "collection.db") as connection:
        connection.execute("UPDATE audit_log SET event = '{}' WHERE seq = 1")
    connection.close()
    with Collection.open(folder) as collection:
        assert collection.store.broken_audit_entry() == 1


def test_an_interrupted_run_is_seen(folder: Path) -> None:
    with Collection.open(folder) as collection:
        assert not collection.store.interrupted()
        collection.store.start_job()
        assert collection.store.interrupted()


def test_a_full_disk_is_told_in_one_sentence(folder: Path) -> None:
    with Collection.open(folder) as collection:
        pages = collection.store._connection.execute("PRAGMA page_count").fetchone()[0]
        collection.store._connection.execute(f"PRAGMA max_page_count = {pages}")
        writer = Writer(collection.store, ENCODER, 16)
        with pytest.raises(CollectionError, match="the disk is full or cannot be written. Free some space"):
            writer.keep([(arrival("c", "3"), sanitized("c", "word " * 20_000))])
        assert collection.store.count_documents() == 2


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "collection.db").write_bytes(b"not a database" * 100)
    with pytest.raises(CollectionError, match="the database is damaged"):
        Store(tmp_path / "collection.db")


def test_a_manifest_survives_its_file(tmp_path: Path) -> None:
    write_manifest(MANIFEST, tmp_path / "manifest.json")
    assert read_manifest(tmp_path / "manifest.json") == MANIFEST


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such collection"),
        ("{", "the manifest is damaged"),
        ("[]", "the manifest is damaged"),
        ('{"format": 99}', "format 99 was written by another version"),
        ('{"format": 1}', "the manifest is damaged"),
    ],
)
def test_bad_manifests_are_told(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "manifest.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CollectionError, match=message):
        read_manifest(path)
