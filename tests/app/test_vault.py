"""The vault: originals that only their key opens, and that go with their documents. All is invented."""

import base64
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.trail import Trail
from app.access.vault import (
    NoOriginal,
    OriginalNotOpened,
    Sealing,
    Vault,
    key_id_of,
    originals,
    revealed,
    rotate,
    vault_of,
    vault_row,
)
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Arrival, Document, SanitizedDocument, Unread
from ingest.keys import content_key
from ingest.pipeline import Tally
from ingest.read.reading import Reading
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError, LetheError
from retrieval.collection import UnknownDocument
from retrieval.documents import Sealed, SealedOriginal
from retrieval.store.database import CutDocument, Store
from tests.commands import READING, ROOT, command, environment, in_process, lethe, write_records
from tests.doubles import PhraseDetector, WordEncoder

KEY, NEW, DATA_KEY = b"k" * 32, b"n" * 32, b"d" * 32
MARK = "Zorvathian"
NOTES = [
    f"Invented note {number}. Mr Tobias {MARK}, MRN {88213407 + number}, came about the boiler of the mill."
    for number in range(8)
]


def written(path: Path, key: bytes) -> Path:
    path.touch(0o600)
    path.write_bytes(base64.b64encode(key) + b"\n")
    return path


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return written(tmp_path / "vault.key", KEY)


def data_in(folder: Path, **vault: object) -> DataDir:
    given = {"data_dir": folder / "data", "policy.name": "redact", "ingest.keep_ids": True}
    given |= {"risk.kind": "prior", "retrieval.passage_tokens": 64}
    return DataDir(load_settings({**given, **{f"vault.{name}": value for name, value in vault.items()}}))


@pytest.fixture
def data(tmp_path: Path, key_file: Path) -> DataDir:
    return data_in(tmp_path, enabled=True, key_file=key_file)


def kept(data: DataDir, documents: dict[str, str], name: str = "notes") -> Tally:
    system = system_of(data.settings, encoder=WordEncoder())
    return ingest(system, data, name, [Reading(Document(*each), 0) for each in documents.items()])


def numbered(texts: list[str]) -> dict[str, str]:
    return {f"r{number:04d}": text for number, text in enumerate(texts)}


def texts_of(data: DataDir, name: str = "notes") -> dict[str, str]:
    return {doc_id: document.text for doc_id, document in originals(data, name)}


def rows(data: DataDir) -> list[tuple[str, bytes]]:
    with closing(sqlite3.connect(data.folder("notes") / "collection.db")) as connection:
        return connection.execute("SELECT doc_id, sealed FROM vault ORDER BY doc_id").fetchall()


def shown(data: DataDir, *names: str) -> dict[str, object]:
    with data.open("notes") as collection:
        return dict(revealed(vault_of(data.settings), collection, names))


def place_of(collection_id: str) -> Store:
    store = Store(None)
    store.set_meta("vault", collection_id)
    return store


UNREAD = Unread("scanned page", 3, "has no text; install tesseract")
TEXT = f"Mr {MARK} fed the heron \N{GRINNING FACE}."
DOCUMENT = Document("r1", TEXT, {"place": "letter.txt, line 2"}, (UNREAD,), "/invented/\udcff.txt")
VAULT = Vault(KEY)
HERE, ELSEWHERE = place_of("a" * 32), place_of("b" * 32)


def sealed(document: Document = DOCUMENT) -> SealedOriginal:
    detector = PhraseDetector({MARK: "person full name"})
    (outcome,) = DecidingSanitizer(detector, REDACT, RiskPrior(), language="any").sanitize([document])
    assert isinstance(outcome, SanitizedDocument)
    found = Sealing(KEY, DATA_KEY, "a" * 32)(document, outcome)
    return SealedOriginal(document.doc_id, (), frozenset(), content_key(document.text, DATA_KEY), found)


def test_an_original_comes_back_as_it_was() -> None:
    opened = VAULT.opened(HERE, sealed())
    assert opened.document == DOCUMENT
    assert opened.spans == [(3, 3 + len(MARK))]
    assert opened.sealed_as == "r1"
    assert MARK not in f"{opened!r} {sealed()!r} {Sealing(KEY, DATA_KEY, 'a')!r}"


@given(st.data())
def test_a_sealed_original_that_was_changed_anywhere_is_not_opened(drawn: st.DataObject) -> None:
    original = sealed()
    assert original.sealed is not None
    content = original.sealed.content
    # The nonce, the first and the last of the text, what it is filled up with, and the tag.
    parts = [(0, 12), (12, 200), (200, len(content) - 16), (len(content) - 16, len(content))]
    first, last = drawn.draw(st.sampled_from(parts))
    place = drawn.draw(st.integers(first, last - 1))
    flipped = bytearray(content)
    flipped[place] ^= 1 << drawn.draw(st.integers(0, 7))
    for changed in (bytes(flipped), content[:place], content[place + 1 :], content + b"\0"):
        row = replace(original, sealed=Sealed(original.sealed.key_id, changed))
        with pytest.raises(OriginalNotOpened, match="was altered, or put into another place"):
            VAULT.opened(HERE, row)


def test_an_original_opens_at_its_own_place_only() -> None:
    original, other = sealed(), sealed(Document("r2", "The weir was mended."))
    assert original.sealed is not None
    both = Vault(NEW, [KEY])
    relabelled = replace(original, sealed=Sealed(both.key_id, original.sealed.content))
    for vault, store, row, refusal, reason in (
        (VAULT, HERE, replace(other, sealed=original.sealed), OriginalNotOpened, "put into another place"),
        (VAULT, ELSEWHERE, original, OriginalNotOpened, "put into another place"),
        (both, HERE, relabelled, OriginalNotOpened, "put into another place"),
        (Vault(NEW), HERE, original, OriginalNotOpened, f"under the key {key_id_of(KEY)}, which"),
        (VAULT, HERE, replace(original, sealed=None), NoOriginal, "no original of this document to show"),
    ):
        with pytest.raises(refusal, match=reason):
            vault.opened(store, row)


@given(st.text(max_size=900), st.text(max_size=40))
def test_the_length_of_what_is_sealed_tells_only_its_blocks(text: str, name: str) -> None:
    content = [sealed(Document("r1", each)).sealed for each in (text or "x", f"{text}{name}" or "x")]
    sizes = [len(each.content) - 28 for each in content if each]
    assert {size % 1024 for size in sizes} == {0}
    assert abs(sizes[0] - sizes[1]) <= 1024
    assert content[0] != sealed(Document("r1", text or "x")).sealed, "a nonce was used twice"


def test_a_key_that_is_missing_or_wrong_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    inside = tmp_path / "data" / "vault.key"
    inside.parent.mkdir()
    written(inside, KEY)
    (tmp_path / "link.key").symlink_to(inside)
    short, outside = written(tmp_path / "short.key", KEY[:31]), written(tmp_path / "good.key", KEY)
    (tmp_path / "raw.key").touch(0o600)
    (tmp_path / "raw.key").write_bytes(bytes(range(128, 160)))
    text = base64.b64encode(KEY).decode()
    cases: list[tuple[dict[str, object], str]] = [
        ({}, "vault.enabled keeps originals, and there is no key"),
        ({"key_file": inside}, "vault.key_file: the key lies in the data folder"),
        ({"key_file": tmp_path / "link.key"}, "vault.key_file: the key lies in the data folder"),
        ({"key_file": outside, "old_key_files": (inside,)}, "vault.old_key_files: the key lies in the data"),
        ({"key_file": short}, "vault.key_file should be 32 random bytes in base64"),
        ({"key_file": tmp_path / "raw.key"}, "vault.key_file: the key cannot be read .it is not text"),
        ({"key_file": tmp_path / "none.key"}, "vault.key_file: the key cannot be read .No such file"),
        ({"key": "zorvathian"}, "vault.key should be 32 random bytes in base64"),
        ({"key": text, "key_file": outside}, "vault.key and vault.key_file both name a key"),
    ]
    for given_, reason in cases:
        data = data_in(tmp_path, enabled=True, **given_)
        with pytest.raises(ConfigurationError, match=reason) as refusal:
            kept(data, numbered(NOTES))
        assert "zorvathian" not in str(refusal.value)
        assert not data.folder("notes").exists()


def test_a_key_comes_from_the_environment_and_not_from_a_settings_file(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = base64.b64encode(KEY).decode()
    monkeypatch.setenv("LETHE_VAULT__KEY", text)
    settings = load_settings({"data_dir": clean / "data"})
    vault = vault_of(settings)
    assert vault is not None
    assert vault.key_id == key_id_of(KEY)
    assert text not in f"{settings!r} {settings.model_dump_json()}"
    monkeypatch.delenv("LETHE_VAULT__KEY")
    (clean / "data").mkdir()
    (clean / "data" / "settings.toml").write_text(f'[vault]\nkey = "{text}"\n')
    with pytest.raises(ConfigurationError, match="vault.key cannot be set in a settings file") as refusal:
        load_settings({"data_dir": clean / "data"})
    assert text not in str(refusal.value)


def test_originals_are_kept_and_nothing_of_them_is_in_clear(data: DataDir) -> None:
    kept(data, numbered(NOTES))
    assert texts_of(data) == numbered(NOTES)
    row: Any = shown(data, "r0003")
    assert row["text"] == NOTES[3]
    assert NOTES[3][row["places"][0]["start"] : row["places"][0]["end"]] in f"Mr Tobias {MARK}"
    assert all({"label", "action", "sanitized"} < set(each) for each in row["places"])
    files = [path for path in data.settings.data_dir.rglob("*") if path.is_file()]
    assert {"collection.db", "vectors.faiss"} <= {path.name for path in files}
    for path in files:
        assert MARK.encode() not in path.read_bytes(), path
        assert MARK.encode("utf-16-le") not in path.read_bytes(), path
    with pytest.raises(UnknownDocument, match="There is no document with this id"):
        shown(data, "r9999")


def test_a_document_is_kept_with_its_original_or_not_at_all(
    data: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        insert = Store._insert

        def failing(store: Store, job_id: int, arrival: Arrival, cut: CutDocument) -> None:
            insert(store, job_id, arrival, cut)
            if arrival.doc_id == "r0002":
                raise LetheError("The power fails.")

        patch.setattr(Store, "_insert", failing)
        with pytest.raises(LetheError, match="The power fails"):
            kept(data, numbered(NOTES[:4]))
    assert not data.folder("notes").exists()
    kept(data, numbered(NOTES[:4]))
    assert texts_of(data) == numbered(NOTES[:4])


def test_a_document_that_was_there_before_the_vault_has_no_original(data: DataDir, tmp_path: Path) -> None:
    without = data_in(tmp_path)
    assert vault_of(without.settings) is None
    kept(without, {"a": NOTES[0]})
    assert rows(without) == []
    assert vault_row(without, "notes")["originals"] == 0
    with pytest.raises(NoOriginal):
        shown(without, "a")
    with pytest.raises(NoOriginal):
        list(originals(without, "notes"))
    kept(data, {"a": NOTES[0], "b": NOTES[1]})
    assert texts_of(data) == {"b": NOTES[1]}
    with pytest.raises(NoOriginal):
        shown(data, "a")
    row = vault_row(data, "notes")
    assert (row["documents"], row["originals"]) == (2, 1)


def test_a_text_that_loses_an_id_keeps_its_original_until_it_is_replaced(data: DataDir) -> None:
    kept(data, {"a": NOTES[0]})
    (before,) = rows(data)
    kept(data, {"b": NOTES[0]})
    assert texts_of(data) == {"a": NOTES[0], "b": NOTES[0]}
    kept(data, {"a": NOTES[1]})
    assert texts_of(data) == {"a": NOTES[1], "b": NOTES[0]}
    assert (shown(data, "b")["sealed_as"], shown(data, "a")["sealed_as"]) == ("a", "a")
    kept(data, {"b": NOTES[2]})
    assert texts_of(data) == {"a": NOTES[1], "b": NOTES[2]}
    assert len(rows(data)) == 2
    with data.open("notes") as collection:
        assert collection.store.compact()
    assert before[1][:64] not in (data.folder("notes") / "collection.db").read_bytes()


def test_an_erasure_leaves_no_original_and_searches_for_it(data: DataDir) -> None:
    kept(data, numbered(NOTES[:3]))
    before = dict(rows(data))
    with data.open("notes") as collection:
        erasure = collection.erase_all(["r0001"])[0]
    assert erasure.traces_found == 0
    assert [row[0] for row in rows(data)] == ["r0000", "r0002"]
    for path in data.folder("notes").iterdir():
        assert before["r0001"][:40] not in path.read_bytes()
    # Where a copy of the sealed bytes is left in the folder, the erasure says so.
    (data.folder("notes") / "copy").write_bytes(b"x" * 100 + before["r0000"])
    with data.open("notes") as collection:
        assert collection.erase_all(["r0000"])[0].traces_found == 1


def test_a_collection_that_an_older_lethe_wrote_takes_originals(tmp_path: Path, key_file: Path) -> None:
    shutil.copytree(ROOT / "tests" / "golden" / "collection_v4", tmp_path / "data" / "collections" / "notes")
    (tmp_path / "data" / "secret.key").touch(0o600)
    (tmp_path / "data" / "secret.key").write_bytes(b"k" * 32)
    data = data_in(tmp_path, key_file=key_file)
    assert vault_row(data, "notes")["originals"] == 0
    with data.open("notes") as collection:
        (first, *_) = collection.store.documents()
    with pytest.raises(NoOriginal):
        shown(data, first.doc_id)
    vault = f"[vault]\nenabled = true\nkey_file = {json.dumps(str(key_file))}\n"
    plain = '[detector]\nlearned = false\n[risk]\nkind = "prior"\n'
    (tmp_path / "data" / "settings.toml").write_text(plain + vault)
    manifest = tmp_path / "data" / "collections" / "notes" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("patterns+rules", "patterns"))
    records = write_records(tmp_path / "note.jsonl", NOTES[:1])
    ran = lethe(tmp_path / "data", "ingest", str(records), "-c", "notes")
    assert ran.code == 0, ran.err
    assert list(texts_of(data).values()) == NOTES[:1]


def keys_in(data: DataDir) -> dict[str, int]:
    with data.open("notes") as collection:
        return collection.store.originals_by_key()


DYING = """
import os, signal, sys
from app.access import vault
from app.cli.main import main
from retrieval.store.database import Store
vault._MOST_AT_ONCE = 2
done, resealing = [], Store.reseal
def reseal(self, batch):
    if len(done) == 2:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("UPDATE vault SET key_id = 'half'")
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(resealing(self, batch))
Store.reseal = reseal
main(["vault", "rotate", "-c", "notes"])
"""


def test_a_rotation_that_is_killed_leaves_all_readable_and_goes_on_to_put_all_under_the_new_key(
    data: DataDir, tmp_path: Path, key_file: Path
) -> None:
    new_file = written(tmp_path / "new.key", NEW)
    kept(data, numbered(NOTES))
    before = [content for _, content in rows(data)]
    after = data_in(tmp_path, enabled=True, key_file=new_file)
    with pytest.raises(ConfigurationError, match=f"under the key {key_id_of(KEY)}, and the settings"):
        kept(after, {"x": NOTES[2]})
    assert len(rows(data)) == 8
    keys = {"LETHE_VAULT__KEY_FILE": str(new_file), "LETHE_VAULT__OLD_KEY_FILES": json.dumps([str(key_file)])}
    env = {**environment(data.settings.data_dir), **keys}
    died = subprocess.run([sys.executable, "-c", DYING], env=env, cwd=ROOT, timeout=100, check=False)
    assert died.returncode == -signal.SIGKILL
    both = data_in(tmp_path, enabled=True, key_file=new_file, old_key_files=(key_file,))
    assert keys_in(both) == {key_id_of(NEW): 4, key_id_of(KEY): 4}
    assert vault_row(both, "notes")["to_rotate"] == 4
    assert texts_of(both) == numbered(NOTES)
    with closing(Trail(data)) as trail:
        assert [row["outcome"] for row in trail.rows()] == ["begun"], "the killed run left its beginning"
    kept(both, {"new": "Invented note. The weir was mended."})
    assert (rotate(both, "notes"), rotate(both, "notes")) == (4, 0)
    assert keys_in(after) == {key_id_of(NEW): 9}
    assert texts_of(after) == {**numbered(NOTES), "new": "Invented note. The weir was mended."}
    with pytest.raises(OriginalNotOpened):
        texts_of(data)
    for path in data.folder("notes").iterdir():
        assert not any(each[:40] in path.read_bytes() for each in before), path


def test_a_revealed_original_is_in_the_trail_before_it_is_shown(
    small_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, key_file: Path
) -> None:
    vault = {"LETHE_VAULT__ENABLED": "true", "LETHE_VAULT__KEY_FILE": str(key_file)}
    for name, value in (vault | {"LETHE_INGEST__KEEP_IDS": "true"}).items():
        monkeypatch.setenv(name, value)
    write_records(small_corpus / "notes.jsonl", NOTES)
    assert in_process(capsys, "ingest", str(small_corpus), "-c", "notes").code == 0
    status = in_process(capsys, "vault")
    assert (status.code, status.summary["originals"], status.summary["to_rotate"]) == (0, 8, 0)
    ran = in_process(capsys, "vault", "reveal", "r0002", "-c", "notes")
    assert (ran.code, ran.summary["text"]) == (0, NOTES[2])
    entries = in_process(capsys, "trail").rows
    assert [(row["action"], row["outcome"], row.get("about")) for row in entries] == [
        ("lethe vault reveal", "begun", None),
        ("lethe vault reveal", "done", "r0002"),
    ]
    assert MARK not in json.dumps(entries)
    with closing(sqlite3.connect(key_file.parent / "data" / "server.db")) as connection:
        # The last entry alone cannot be written: the original is not shown either.
        full = "BEFORE INSERT ON trail WHEN new.event LIKE '%done%' BEGIN SELECT raise(ABORT, 'full'); END"
        connection.execute(f"CREATE TRIGGER full {full}")
    refused = in_process(capsys, "vault", "reveal", "r0002", "-c", "notes")
    assert (refused.code, refused.out) == (1, "")
    assert "so this was refused" in refused.err
    monkeypatch.delenv("LETHE_VAULT__KEY_FILE")
    monkeypatch.setenv("LETHE_VAULT__ENABLED", "false")
    without = in_process(capsys, "vault", "status")
    assert (without.code, without.summary["without_key"]) == (1, 8)
    assert "8 originals are under keys that the settings do not name" in without.err


@pytest.mark.slow
@pytest.mark.parametrize("where", [("--workers", "2"), ("--ray", "local")], ids=["processes", "ray"])
def test_originals_that_other_processes_seal_are_the_same(
    tmp_path: Path, key_file: Path, where: tuple[str, str]
) -> None:
    if "--ray" in where and find_spec("ray") is None:
        pytest.skip("Ray is absent")
    records = write_records(tmp_path / "notes.jsonl", NOTES)
    vault = {"LETHE_VAULT__ENABLED": "true", "LETHE_VAULT__KEY_FILE": str(key_file)}
    env = {**environment(tmp_path / "data"), **READING, **vault, "LETHE_INGEST__BATCH_DOCUMENTS": "2"}
    arguments = command("ingest", str(records), "-c", "notes", *where)
    ran = subprocess.run(arguments, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr
    assert texts_of(data_in(tmp_path, key_file=key_file)) == numbered(NOTES)
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or MARK.encode() not in path.read_bytes(), path
