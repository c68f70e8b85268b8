"""What a collection keeps, finds again and erases. All texts are invented."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ingest.deciding.baselines.uniform import REDACT
from ingest.deciding.policy import Policy
from ingest.documents import Arrival, Document, SanitizedDocument, Standing
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.collection import Collection, locked
from retrieval.errors import CollectionError
from retrieval.index.faiss import FaissIndex
from retrieval.manifest import Manifest, read_manifest, write_manifest
from retrieval.retriever import HybridRetriever
from retrieval.store.connection import create_database
from retrieval.store.database import Store
from tests.doubles import CuttingWriter, PhraseDetector, WordEncoder

ENCODER = WordEncoder()
MANIFEST = Manifest(
    created="2026-01-01T00:00:00+00:00",
    encoder=ENCODER.name,
    dim=ENCODER.dim,
    passage_tokens=16,
    detector="test",
    risk="prior",
    policy=Policy("redact"),
    scale=EMBEDDED_SCALE,
    version="0",
)


def sanitized(doc_id: str, text: str) -> SanitizedDocument:
    detector = PhraseDetector({"Keller": "person full name"})
    (outcome,) = DecidingSanitizer(detector, REDACT, RiskPrior()).sanitize([Document(doc_id, text)])
    assert isinstance(outcome, SanitizedDocument)
    return outcome


def arrival(doc_id: str, content: str) -> Arrival:
    return Arrival(doc_id, content.encode())


def keep(store: Store, *notes: tuple[str, str, str]) -> CuttingWriter:
    """Write documents, each an id, what came in and a text."""
    writer = CuttingWriter(store, ENCODER, MANIFEST.passage_tokens)
    writer.keep([(arrival(doc_id, content), sanitized(doc_id, text)) for doc_id, content, text in notes])
    return writer


def best(collection: Collection, question: str) -> str:
    retriever = HybridRetriever(ENCODER, collection.load_index(), collection.store)
    return retriever.retrieve([question], 1)[0][0].passage.doc_id


def set_up(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with locked(tmp_path / "c"), Collection.create(tmp_path / "c", MANIFEST) as collection:
        texts = ("Keller fed the heron. " * 8, "The boiler of the mill is broken.")
        writer = keep(collection.store, ("a", "1", texts[0]), ("b", "2", texts[1]))
        collection.publish()
        collection.store.finish_job(writer.job_id, {"ingested": 2})
    return tmp_path / "c"


@pytest.fixture
def made(folder: Path) -> Iterator[Collection]:
    with Collection.open(folder) as collection:
        yield collection


def test_what_was_kept_is_found_and_is_the_sanitized_text(made: Collection) -> None:
    assert best(made, "broken boiler") == "b"
    assert HybridRetriever(ENCODER, made.load_index(), made.store).retrieve([], 3) == []
    passages = [p for p in made.store.passages(made.store.passage_ids()).values() if p.doc_id == "a"]
    assert "".join(p.text for p in sorted(passages, key=lambda p: p.start)).startswith("Somebody fed the")
    assert all(p.end - p.start == len(p.text) for p in passages)


def test_a_copy_holds_the_same_and_changes_by_itself(made: Collection) -> None:
    copy = made.store.copied()
    keep(copy, ("x", "3", "The ferry to the quarry is late."))
    index = FaissIndex(ENCODER.dim)
    for question, doc_id in (("late ferry", "x"), ("broken boiler", "b")):
        assert HybridRetriever(ENCODER, index, copy).retrieve([question], 1)[0][0].passage.doc_id == doc_id
    assert (copy.count_documents(), made.store.count_documents()) == (3, 2)
    assert not [each for each in made.store.holders("ferry") if len(each)]
    copy.close()
    assert made.store.count_documents() == 2
    for named, there in ((["b", "nobody"], 1), ([], 0)):
        with closing(made.store.copied(named)) as some:
            assert some.count_documents() == there


def test_standing_of_arrivals(made: Collection) -> None:
    store = made.store
    job = store.start_job()
    assert store.interrupted()
    seen = [arrival("a", "1"), arrival("z", "2"), arrival("a", "9"), arrival("c", "3")]
    # "a" with its old text is a duplicate and was then seen by this job, so another "a" is a clash.
    expected = [Standing.DUPLICATE, Standing.DUPLICATE, Standing.CLASH, Standing.NEW]
    assert store.standing(job, seen) == expected
    assert store.standing(store.start_job(), [arrival("a", "9")]) == [Standing.CHANGED]
    # Their other text has no id any more once both name that of "a".
    for named, left in (("b", 2), ("z", 1)):
        assert store.standing(store.start_job(), [arrival(named, "1")]) == [Standing.MOVED]
        assert store.count_documents() == left
    # What depends on one that is pending is not decided yet.
    job = store.start_job()
    for later in (arrival("c", "4"), arrival("d", "3")):
        assert store.standing(job, [arrival("c", "3"), later, arrival("e", "6")]) == [Standing.NEW]


def test_a_changed_document_takes_the_place_of_the_old_one(folder: Path, made: Collection) -> None:
    assert not made.store.interrupted()
    keep(made.store, ("b", "3", "A quokkaberry."))
    keep(made.store, ("b", "4", "The mill was sold."))
    assert made.store.count_documents() == 2
    assert not made.store.says("boiler")
    found = HybridRetriever(ENCODER, made.load_index(), made.store).retrieve(["boiler mill"], 50)[0]
    assert found and all("boiler" not in each.passage.text for each in found)
    assert not made.store.is_compact()
    made.publish()
    assert made.store.is_compact()
    for path in folder.iterdir():
        assert b"okkaberri" not in path.read_bytes().lower(), path.name


def test_a_batch_is_written_whole_or_not_at_all(made: Collection) -> None:
    # The content of the second is that of "a", and refused by the database.
    with pytest.raises(CollectionError, match="SQLITE_CONSTRAINT"):
        keep(made.store, ("y", "7", "new"), ("x", "1", "new"))
    assert made.store.count_documents() == 2


@pytest.mark.parametrize("damage", ["missing", "truncated", "stale"])
def test_the_index_is_rebuilt_wherever_the_file_does_not_agree(
    folder: Path, made: Collection, damage: str
) -> None:
    path = folder / "vectors.faiss"
    before, expected = path.read_bytes(), len(made.load_index())
    if damage == "missing":
        path.unlink()
    elif damage == "truncated":
        path.write_bytes(before[: len(before) // 2])
    else:
        keep(made.store, ("c", "3", "A third."))
        expected += 1
    assert len(made.load_index()) == expected == made.store.count_passages()


def test_erasure_leaves_nothing_and_proves_it(folder: Path, made: Collection) -> None:
    numbers = made.store.passage_ids()
    vector = next(rows[0].astype(np.float16).tobytes() for _, rows in made.store.vectors(0))
    erasure = made.erase_all(["a"])[0]
    assert erasure.passages > 1 and erasure.bytes_searched > 0
    assert (erasure.ledger_rows, erasure.traces_found) == (8, 0)
    left = made.store.passage_ids()
    assert set(left) < set(numbers)
    assert len(made.load_index()) == len(left)
    for path in folder.iterdir():
        assert b"fed the heron" not in path.read_bytes()
        assert vector not in path.read_bytes()
    assert made.erase_all(["a"]) == []


def test_a_word_of_an_erased_document_stands_in_no_file(folder: Path, made: Collection) -> None:
    """The index of words is of its own pages: rare words of the erased text must leave these too."""
    rare = b"okkaberri"
    keep(made.store, ("q", "9", "A quokkaberry grew beside the heron."))
    # Other parts of the index come after it.
    for number in range(40):
        keep(made.store, (f"m{number}", f"m{number}", f"Mill {number}."))
    made.publish()
    found = [path.name for path in folder.iterdir() if rare in path.read_bytes()]
    assert {"collection.db", "collection.db-wal"} & {*found}
    assert [len(ids) for ids in made.store.holders("quokkaberries")] == [1]
    assert made.erase_all(["q"])[0].traces_found == 0
    assert [len(ids) for ids in made.store.holders("quokkaberries")] == [0]
    for path in folder.iterdir():
        assert rare not in path.read_bytes().lower(), path.name


def test_an_erasure_proves_nothing_while_the_index_of_words_holds_deleted_ones(
    made: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.store.words.compact", lambda connection: None)
    keep(made.store, ("q", "8", "A quokkaberry."))
    assert made.erase_all(["q"])[0].traces_found == 1
    assert len(made.store.pending_erasures()) == 1


def test_passage_ids_are_never_used_again(made: Collection) -> None:
    last = made.store.last_passage()
    made.erase_all(["b"])
    keep(made.store, ("d", "4", "New."))
    assert made.store.last_passage() > last


def test_one_process_writes_at_a_time(folder: Path) -> None:
    with locked(folder), pytest.raises(CollectionError, match="another process is writing"), locked(folder):
        pass


def test_an_altered_audit_log_is_seen(folder: Path) -> None:
    with Collection.open(folder) as collection:
        assert collection.store.broken_audit_entry() is None
        collection.erase_all(["b"])
    set_up(folder / "collection.db", "UPDATE audit_log SET event = '{}' WHERE seq = 1")
    with Collection.open(folder) as collection:
        assert collection.store.broken_audit_entry() == 1


def test_a_full_disk_is_reported_in_one_sentence(made: Collection) -> None:
    pages = made.store._connection.execute("PRAGMA page_count").fetchone()[0]
    made.store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CollectionError, match="the disk is full or cannot be written. Free some space"):
        keep(made.store, ("c", "3", "The heron was fed. " * 5_000))
    assert made.store.count_documents() == 2


def test_erasing_one_id_of_a_text_erases_it_under_all(made: Collection) -> None:
    again = [arrival("z", "1"), arrival("y", "1")]
    assert made.store.standing(made.store.start_job(), again) == [Standing.DUPLICATE, Standing.DUPLICATE]
    erasure = made.erase_all(["z"])[0]
    assert (erasure.doc_id, erasure.also_known_as) == ("a", ["y", "z"])
    assert (erasure.traces_found, erasure.resumed) == (0, False)
    assert made.store.count_documents() == 1
    assert made.erase_all(["a", "y", "z"]) == []


def test_a_text_lives_on_under_its_other_id_with_passages_and_ledger(made: Collection) -> None:
    assert made.store.standing(made.store.start_job(), [arrival("z", "1")]) == [Standing.DUPLICATE]
    keep(made.store, ("a", "5", "The ferry is late."))
    assert made.store.count_documents() == 3
    assert best(made, "fed the heron") == "z"
    assert made.erase_all(["z"])[0].ledger_rows == 8


@pytest.mark.parametrize("step", ["settle", "publish", "strike_out"])
@pytest.mark.parametrize("verb", ["erase", "locked"])
def test_an_erasure_that_was_interrupted_is_brought_to_its_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, verb: str
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with Collection.open(folder) as collection, monkeypatch.context() as patch:
        patch.setattr(Collection if step == "publish" else Store, step, killed)
        with pytest.raises(KeyboardInterrupt):
            collection.erase_all(["a"])
        assert [pending.names for pending in collection.store.pending_erasures()] == [["a"]]
    if verb == "locked":
        with locked(folder):
            pass
    with Collection.open(folder) as collection:
        if verb == "erase":
            erasure = collection.erase_all(["a"])[0]
            assert (erasure.passages > 1, erasure.ledger_rows, erasure.traces_found) == (True, 8, 0)
            assert erasure.resumed
            assert collection.erase_all(["a"])[0] == erasure
        assert collection.store.pending_erasures() == []
        assert collection.store.broken_audit_entry() is None
        assert len(collection.load_index()) == collection.store.count_passages()
    for path in folder.iterdir():
        assert b"fed the heron" not in path.read_bytes()


def test_an_erasure_that_a_reader_holds_up_is_reported_and_stays_pending(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(connect, timeout=0.05))
    reader = connect(folder / "collection.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchone()
    with Collection.open(folder) as collection:
        for _ in range(2):
            with pytest.raises(CollectionError, match="another process is reading; stop it and run the same"):
                collection.erase_all(["a"])
        reader.close()
        assert collection.erase_all(["b"])[0].traces_found == 0
        assert collection.erase_all(["a"])[0].resumed


def test_a_trace_in_another_file_is_found_wherever_it_lies(folder: Path, made: Collection) -> None:
    # What another document says word for word is no trace.
    text = "The boiler of the mill is broken."
    keep(made.store, ("c", "3", text), ("d", "4", text))
    assert made.erase_all(["c"])[0].traces_found == 0
    # Across the border of two chunks.
    (folder / "copy").write_bytes(b"." * ((1 << 20) - 10) + b"Somebody fed the heron. " * 2)
    erasure = made.erase_all(["a"])[0]
    assert erasure.traces_found >= 1
    assert erasure.bytes_searched > 1 << 20
    assert len(made.store.pending_erasures()) == 1


def test_the_index_is_read_once(folder: Path, made: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that puts a newer index in its place meanwhile must not make a reader see passages twice."""
    before, deserialize = len(made.load_index()), FaissIndex.deserialize

    def meanwhile(content: bytes) -> FaissIndex:
        with monkeypatch.context() as patch, Collection.open(folder) as other:
            patch.setattr(FaissIndex, "deserialize", deserialize)
            keep(other.store, ("c", "3", "A third."))
            other.publish()
        return deserialize(content)

    monkeypatch.setattr(FaissIndex, "deserialize", meanwhile)
    assert len(made.load_index()) == before + 1 == made.store.count_passages()


def test_a_missing_database_is_reported_and_not_made(folder: Path) -> None:
    database = folder / "collection.db"
    database.unlink()
    for _ in range(2):
        with pytest.raises(CollectionError, match="missing or empty. Restore it from a backup, or delete"):
            Collection.open(folder)
        assert not database.exists()
    database.touch()
    with pytest.raises(CollectionError, match="missing or empty"):
        Collection.open(folder)


@pytest.mark.parametrize(("version", "who"), [(1, "an older Lethe"), (99, "a newer Lethe")])
def test_a_database_of_another_version_is_refused(folder: Path, version: int, who: str) -> None:
    set_up(folder / "collection.db", f"PRAGMA user_version = {version}")
    with pytest.raises(CollectionError, match=rf"written by {who} \(database version {version}, this one"):
        Collection.open(folder)


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a schema"])
def test_what_a_killed_creation_left_is_no_hindrance(tmp_path: Path, left: str) -> None:
    path = tmp_path / "collection.db"
    if left == "an empty file":
        path.touch()
    elif left == "a schema":
        create_database(path)
    with Collection.create(tmp_path, MANIFEST) as collection:
        assert collection.store.count_documents() == 0


def test_the_manifest_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError

    monkeypatch.setattr("retrieval.store.connection._make", full)
    with pytest.raises(CollectionError, match="the database answered OperationalError"):
        Collection.create(tmp_path, MANIFEST)
    assert not Collection.exists(tmp_path)


def test_documents_without_a_manifest_are_not_written_over(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(CollectionError, match=r"there are documents here, but manifest\.json is missing"):
        Collection.create(folder, MANIFEST)


def test_a_damaged_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "collection.db").write_bytes(b"not a database" * 100)
    with pytest.raises(CollectionError, match="the database is damaged"):
        Store(tmp_path / "collection.db")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such collection"),
        ("{", "the manifest is damaged"),
        ("[]", "the manifest is damaged"),
        ('{"format": 99}', "format 99 was written by another version"),
        ('{"format": 4}', "the manifest is damaged"),
    ],
)
def test_bad_manifests_are_reported(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(MANIFEST, path)
    assert read_manifest(path) == MANIFEST
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(CollectionError, match=message):
        read_manifest(path)
