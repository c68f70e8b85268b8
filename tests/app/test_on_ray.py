"""An ingest on a real Ray of two actors. All texts are invented."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.on_ray import connection, disks
from ingest.on_ray.connection import LOCAL, Cluster, connected
from ingest.on_ray.disks import MEMORY, refuse_disks
from ingest.on_ray.stages import Work, known_key, prepared
from ingest.pipeline import Begin, Intake, Limits, Pipeline, Tally, already, at_once
from ingest.protocols import Outcomes
from ingest.read.reading import Fields, ReadLimits
from ingest.read.sources import read_documents, sources_of
from models.errors import ConfigurationError, LetheError
from retrieval.passages import Writer
from retrieval.store.database import CutDocument, Store
from tests.commands import PLAIN, command, environment, in_process, write_lines, write_records
from tests.ingest.test_workers import Moody
from tests.killing import SETTINGS, invented

# Ray's own threads and sockets are not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore")

KEY = b"k" * 32
SMALL = Limits(documents=4)
NAME = "Zorvathian Quell"
LONG = "The boiler of the mill is broken. " * 30


class Falling(Moody):
    """As moody, but some texts end a process only once: they name the file that says it has happened."""

    def __call__(self, documents: Sequence[Document]) -> Outcomes[CutDocument]:
        for document in documents:
            whose, _, mark = document.text.partition(" falls ")
            if mark and not Path(mark).exists():
                Path(mark).touch()
                os.kill(os.getppid() if whose == "actor" else os.getpid(), signal.SIGKILL)
        return super().__call__(documents)


def unchanged(ids: Sequence[str]) -> Sequence[str]:
    return ids


def telling(ids: Sequence[str]) -> Sequence[str]:
    raise RuntimeError(f"cannot parse {NAME}")


WORK = Work(
    intake=partial(Intake, unchanged, KEY), prepare=Falling, fields=Fields("text", "id"),
    read_limits=ReadLimits(), limits=SMALL, seconds=60,
)  # fmt: skip


def need_ray() -> None:
    # Imported before its settings are made, Ray would not heed them.
    if find_spec("ray") is None:
        pytest.skip("Ray is absent: pip install 'lethe[ray]'")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    need_ray()
    with connected(LOCAL, 2) as found:
        yield found


def carry(cluster: Cluster, paths: Sequence[Path], store: Store, work: Work[CutDocument] = WORK) -> Tally:
    writer = Writer(store)
    known = [known_key(each) for each in writer.stored()]
    arriving = prepared(cluster, sources_of(map(str, paths)), work, known)
    begin: Begin[CutDocument | SanitizationError, CutDocument] = already
    return replace(Pipeline(begin, SMALL).run(arriving, writer), seconds=0.0)


def carry_here(paths: Sequence[Path], store: Store) -> Tally:
    arriving = map(Intake(unchanged, KEY).arriving, read_documents([str(path) for path in paths]))
    return replace(Pipeline(at_once(Moody()), SMALL).run(arriving, Writer(store)), seconds=0.0)


def rows(store: Store) -> list[tuple[str, str]]:
    return store._connection.execute("SELECT doc_id, text FROM passages ORDER BY rowid").fetchall()


def files(folder: Path, texts: Sequence[str]) -> list[Path]:
    """One file of records, then a file for each ten texts; some texts and one file are no good.

    A link leads out of the folder.
    """
    write_records(folder / "a.jsonl", texts)
    for number in range(0, len(texts), 10):
        (folder / f"b{number:03d}.txt").write_text(f"file {number}")
    (folder / "c.pdf").write_text("no pdf")
    elsewhere = folder.with_name(f"{folder.name}-elsewhere.txt")
    elsewhere.write_text("text elsewhere")
    (folder / "d.txt").symlink_to(elsewhere)
    return [folder, folder / "absent.txt"]


@pytest.mark.slow
def test_a_cluster_keeps_what_one_process_keeps(cluster: Cluster, tmp_path: Path) -> None:
    texts = [f"text {number} " + LONG for number in range(60)]
    texts[7], texts[20], texts[31] = "poison", texts[3], "foreign"
    paths = files(tmp_path, texts)
    there, here = Store(None), Store(None)
    assert carry(cluster, paths, there) == carry_here(paths, here)
    assert rows(there) == rows(here)
    assert len(rows(here)) > 60
    assert not any("elsewhere" in text for _, text in rows(there))


@pytest.mark.slow
def test_a_second_run_sanitizes_what_changed(cluster: Cluster, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(12)]
    path, store = write_records(tmp_path / "a.jsonl", texts), Store(None)
    assert carry(cluster, [path], store).kept == 12
    # One text is another, one is gone, one is new.
    changed = [{"id": f"r{number:04d}", "text": text} for number, text in enumerate(texts)]
    changed[2]["text"] = "text two"
    del changed[5]
    write_lines(path, [*changed, {"id": "r0099", "text": "text 99"}])
    tally = carry(cluster, [path], store)
    assert (tally.read, tally.duplicates, tally.kept, tally.replaced, tally.failed) == (12, 10, 2, 1, 0)
    assert sorted(dict(rows(store))) == [*(f"r{number:04d}" for number in range(12)), "r0099"]


@pytest.mark.slow
def test_what_kills_costs_itself_and_nobody_else(cluster: Cluster, tmp_path: Path) -> None:
    texts = [f"text {number} " + LONG for number in range(60)]
    texts[10], texts[11] = "die", "hang"
    texts[30], texts[45] = f"process falls {tmp_path / 'process'}", f"actor falls {tmp_path / 'actor'}"
    path, store = write_records(tmp_path / "a.jsonl", texts), Store(None)
    tally = carry(cluster, [path], store, replace(WORK, seconds=2))
    assert (tally.read, tally.kept, tally.failed) == (60, 58, 2)
    reasons = [each.reason.split(":")[1].split(";")[0] for each in tally.failures]
    assert reasons == [" it ended the process that sanitizes (signal 9)", " sanitizing took too long"]
    assert all((tmp_path / whose).exists() for whose in ("process", "actor"))
    ids = [doc_id for doc_id, _ in rows(store)]
    assert list(dict.fromkeys(ids)) == [f"r{number:04d}" for number in range(60) if number not in (10, 11)]
    assert {ids.count(f"r{number:04d}") for number in (0, 29, 31, 44, 46, 59)} == {ids.count("r0000")}


@pytest.mark.slow
def test_ray_writes_no_text_down(cluster: Cluster, tmp_path: Path) -> None:
    texts = [f"Invented. {NAME} coughs.", f"poison {NAME}", f"die {NAME}", *(f"{NAME} {n}" for n in range(9))]
    path = write_records(tmp_path / "a.jsonl", texts)
    assert carry(cluster, [path], Store(None)).failed == 2
    with pytest.raises(LetheError, match=r"^A machine of the Ray cluster could not read \(RuntimeError\)\.$"):
        carry(cluster, [path], Store(None), replace(WORK, intake=partial(Intake, telling, KEY)))
    written = [each for each in Path(ray_folder()).rglob("*") if each.is_file()]
    assert any(each.name.startswith("worker-") for each in written)
    assert any(each.name == "ray-data.log" for each in written)
    for each in written:
        assert b"Zorvathian" not in each.read_bytes(), each


@pytest.mark.slow
def test_ray_listens_on_loopback_and_keeps_all_in_memory(cluster: Cluster) -> None:
    import ray

    processes = psutil.process_iter(["cmdline"])
    of_ray = {each.pid for each in processes if "ray" in " ".join(each.info["cmdline"] or ())}
    connections = psutil.net_connections("inet")
    listening = [each.laddr.ip for each in connections if each.status == "LISTEN" and each.pid in of_ray]
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    state: Any = ray._private.state.state
    assert state.get_system_config()["automatic_object_spilling_enabled"] is False
    ray.get(ray.remote(num_cpus=0.1)(refuse_disks).remote())
    (ours_alone,) = [each for each in MEMORY.glob(".lethe-*") if str(each) in ray_folder()]
    assert ours_alone.stat().st_mode & 0o077 == 0


def ray_folder() -> str:
    """Where the connected Ray keeps what it writes."""
    import ray

    node: Any = ray._private.worker._global_node
    return str(node.get_session_dir_path())


def content(data: Path) -> list[list[tuple[Any, ...]]]:
    queries = (
        "SELECT doc_id, start, stop, text, kept FROM passages ORDER BY 1, 2",
        "SELECT * FROM ledger ORDER BY doc_id, start, stop, label, source",
        "SELECT doc_id, characters, risk_before, risk_after FROM documents ORDER BY 1",
    )
    with closing(sqlite3.connect(data / "collections" / "notes" / "collection.db")) as database:
        return [database.execute(query).fetchall() for query in queries]


@pytest.mark.slow
def test_the_command_killed_and_run_again_keeps_what_one_process_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_ray()
    for name, value in {**PLAIN, **SETTINGS}.items():
        monkeypatch.setenv(name, value)
    texts, _ = invented(60)
    records = str(write_records(tmp_path / "notes.jsonl", texts))
    variables = {**environment(tmp_path / "ray"), **PLAIN, **SETTINGS}
    arguments = ["ingest", records, "-c", "notes", "--ray", LOCAL, "--workers", "2"]
    database = tmp_path / "ray" / "collections" / "notes" / "collection.db"
    with subprocess.Popen(command(*arguments), env=variables, cwd=tmp_path, stderr=subprocess.PIPE) as ran:
        while ran.poll() is None and not _documents(database):
            time.sleep(0.01)
        ran.kill()
    stored = _documents(database)
    assert 0 < stored < 60
    (tmp_path / "one").mkdir()
    runs = [
        subprocess.run(
            command(*told), env={**variables, "LETHE_DATA_DIR": str(tmp_path / name)}, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )
        for name, told in (("ray", arguments), ("one", [*arguments[:4], "--workers", "1"]))
    ]  # fmt: skip
    for ran_to_its_end in runs:
        assert ran_to_its_end.returncode == 0, ran_to_its_end.stderr
        assert "WARNING" not in ran_to_its_end.stderr + ran_to_its_end.stdout
    assert json.loads(runs[0].stdout)["duplicates_skipped"] == stored
    assert content(tmp_path / "ray") == content(tmp_path / "one")


def _documents(database: Path) -> int:
    with suppress(sqlite3.OperationalError):
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM documents").fetchone()[0])
    return 0


def test_standard_input_is_read_here_only_and_without_ray_the_remedy_is_said(
    clean: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**PLAIN, "LETHE_DATA_DIR": str(clean / "data")}.items():
        monkeypatch.setenv(name, value)
    path = str(write_records(clean / "notes.jsonl", ["Invented."]))
    for name in ("ray", "ray.data"):
        monkeypatch.setitem(sys.modules, name, None)
    for place, said in (
        ("-", "Standard input cannot be read by the machines of a Ray cluster."),
        (path, "lethe: --ray needs Ray: pip install 'lethe[ray]'."),
    ):
        ran = in_process(capsys, "ingest", place, "-c", "notes", "--ray", LOCAL)
        assert (ran.code, said in ran.err) == (2, True), ran.err


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:9", "No Ray answers at 127.0.0.1:9. Check the address"),
        ("somewhere", "somewhere is no address of Ray: write host:port"),
        ("ray://head:10001", "ray://head:10001 is for Ray's client, over which Ray Data does not run."),
    ],
)
def test_an_address_where_no_ray_is(address: str, said: str) -> None:
    need_ray()
    with pytest.raises(ConfigurationError, match=f"^{said}"), connected(address, None):
        pass


@pytest.mark.parametrize(
    ("folders", "place"), [([], "an unknown place"), ([Path("/dev/shm"), Path("/usr")], "/usr")]
)
def test_a_machine_that_may_write_to_a_disk_is_refused(
    folders: list[Path], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "_folders_of_ray", lambda command: folders)
    with pytest.raises(LetheError, match=f"may write documents to {place}, and raw text is never put on a"):
        refuse_disks()


def test_too_little_memory_for_what_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connection, "MEMORY", tmp_path)
    with pytest.raises(ConfigurationError, match="Use --workers, or the address of a cluster"):
        with connection._own_ray(None, 2, {}):
            pass
