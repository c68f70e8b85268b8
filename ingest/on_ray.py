"""Reading and sanitizing on the machines of a Ray cluster; storing stays with who asks.

Files are read in Ray's tasks, each with a reading process, and sanitized by actors, each with a process that
holds the models. What arrives keeps the order of the files. Raw text lies in the
memory of these machines and nowhere else: a machine whose Ray may write it to a disk is refused.
"""

import logging
import os
import secrets
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ingest.documents import Arrival, Document
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.pipeline import Arriving, Incoming, Intake, Limits, grouped
from ingest.protocols import P, Prepare
from ingest.read.paths import exists, shown
from ingest.read.reading import Fields, File, Reading, ReadLimits
from ingest.read.reading_process import reading_process
from ingest.workers import Workers
from models.errors import ConfigurationError, LetheError

T = TypeVar("T")

LOCAL = "local"
"""Instead of an address: a Ray of this command's own, on this machine."""
MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""
READING_CPUS = 0.5
READERS = 8
"""One CPU of so many is left to reading."""

_GROUP_FILES, _GROUP_BYTES = 64, 4 << 20
_BLOCK_BYTES = 1 << 17
"""What an actor takes at once: a few batches, so that no actor waits long for the last one."""
_STORE_BYTES, _LEAST_STORE_BYTES = 512 << 20, 80 << 20
_SECONDS_TO_CONNECT = 5.0
_HOW = "see deploy/ray/README.md"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the connected Ray has; every actor has one GPU if there are any, else one CPU."""

    actors: int
    gpus: int


@dataclass(frozen=True, slots=True)
class Work(Generic[P]):
    """What the machines do. All of it goes to them in memory.

    ``intake`` and ``prepare`` build there what gives documents their ids, and what sanitizes them.
    """

    intake: Callable[[], Intake] = field(repr=False)
    prepare: Callable[[], Prepare[P]] = field(repr=False)
    fields: Fields
    read_limits: ReadLimits
    limits: Limits
    seconds: float


def known_key(arrival: Arrival) -> bytes:
    """A digest of id and text together: the sink knows a stored pair, whatever came before."""
    doc_id = arrival.doc_id.encode("utf-8", "surrogatepass")
    return blake2b(doc_id, key=arrival.content_key, digest_size=16).digest()


# -- the connection ------------------------------------------------------------------------------------------


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[Cluster]:
    """The Ray at an address, or one of our own that ends with the context; ``workers`` are its actors.

    Raises:
        ConfigurationError: Ray is not installed or cannot be reached, or its versions differ from ours.
    """
    _set_environment(address)
    try:
        import ray.data
    except ImportError:
        raise ConfigurationError("--ray needs Ray: pip install 'lethe[ray]'.") from None
    # It tells of what it runs and of what fails, and so does Lethe.
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="ray")
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        with _own_ray(ray, (workers or 1) + 1, quiet):
            yield _cluster(ray, workers)
        return
    try:
        _join(ray, address, quiet)
        yield _cluster(ray, workers)
    finally:
        ray.shutdown()


def _set_environment(address: str) -> None:
    """What Ray reads when it is imported."""
    host = address.removeprefix("ray://").rpartition(":")[0]
    here = address == LOCAL or host in ("127.0.0.1", "localhost", "::1")
    chosen = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
    if here:
        # Ray then listens on the loopback address alone, on Linux too.
        chosen["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if address == LOCAL:
        chosen |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ.update(chosen)


@contextmanager
def _own_ray(ray: Any, cpus: int, quiet: dict[str, Any]) -> Iterator[None]:
    """A Ray whose files all lie in memory, logs too, and go with it."""
    if not _in_memory(MEMORY):
        raise ConfigurationError(
            f"--ray {LOCAL} passes documents on through files in memory, and this system has no {MEMORY} for "
            "them. Use --workers, or the address of a cluster."
        )
    space = os.statvfs(MEMORY)
    size = min(_STORE_BYTES, space.f_bavail * space.f_frsize // 2)
    if size < _LEAST_STORE_BYTES:
        raise ConfigurationError(
            f"{MEMORY} has too little room ({2 * size >> 20} MB) to pass documents on. Give it "
            f"{2 * _LEAST_STORE_BYTES >> 20} MB or more (docker run --shm-size=1g), or use --workers."
        )
    with tempfile.TemporaryDirectory(prefix="lethe-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        full = Path(folder) / "full"
        full.mkdir()
        try:
            with _hushed():
                ray.init(
                    address=LOCAL,
                    num_cpus=cpus,
                    include_dashboard=False,
                    object_store_memory=size,
                    object_spilling_directory=str(full),
                    _temp_dir=folder,
                    _plasma_directory=str(MEMORY),
                    _system_config={"automatic_object_spilling_enabled": False},
                    **quiet,
                )
            yield
        finally:
            ray.shutdown()


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    if address.startswith("ray://"):
        raise ConfigurationError(
            f"{address} is Ray's client, which cannot stream results in order. Run this on a machine of the "
            f"cluster with --ray auto; {_HOW}."
        )
    unreachable = (
        f"No Ray answers at {address}. Check the address, and that this machine may reach it; {_HOW}."
    )
    refused = f"The Ray at {address} refused the connection. Check its token (RAY_AUTH_TOKEN); {_HOW}."
    host, _, port = address.rpartition(":")
    if address != "auto":
        if not host or not port.isdecimal():
            raise ConfigurationError(
                f"{address} is no address of Ray: write host:port, auto for that of this machine, or "
                f"{LOCAL} for one that ends with the command."
            )
        try:
            # Ray itself tries for minutes.
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT).close()
        except (OSError, OverflowError):
            raise ConfigurationError(unreachable) from None
    try:
        with _hushed():
            ray.init(address=address, **quiet)
    except ConnectionError:
        raise ConfigurationError(unreachable if address == "auto" else refused) from None
    except Exception as error:
        if "ersion mismatch" in str(error):
            raise ConfigurationError(
                f"The Ray at {address} has other versions. Install this machine's Python and Ray "
                f"({ray.__version__}) on all of its machines; {_HOW}."
            ) from None
        raise ConfigurationError(refused) from None


def _cluster(ray: Any, workers: int | None) -> Cluster:
    there = ray.cluster_resources()
    cpus, gpus = int(there.get("CPU", 0)), int(there.get("GPU", 0))
    return Cluster(workers or gpus or max(1, cpus - max(1, cpus // READERS)), gpus)


# -- what runs there -----------------------------------------------------------------------------------------


def prepared(
    cluster: Cluster, sources: Iterable[File | Reading], work: Work[P], known: Sequence[bytes] = ()
) -> Iterator[Arriving[P | SanitizationError]]:
    """What the files hold, in their order, sanitized on the cluster.

    What is among the ``known`` is stored already, and is not sanitized again.

    Raises:
        LetheError: A machine of the cluster cannot do its part; the message says why.
    """
    import ray.data

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = context.print_on_execution_start = False
    context.target_max_block_size = _BLOCK_BYTES
    stored = ray.put(np.sort(np.array(known, dtype="S16")))
    groups = [table_of([group]) for group in _groups(map(_absolute, sources))]
    if not groups:
        return
    # What the two stages ask of a machine differs, so that Ray keeps them apart: one large file then feeds
    # all actors, and not only the one that would read it.
    resources: dict[str, Any] = {"num_gpus": 1} if cluster.gpus else {"num_cpus": 1}
    rows = (
        ray.data.from_arrow(groups)
        .map_batches(
            partial(_read, work, stored), batch_size=None, batch_format="pyarrow", num_cpus=READING_CPUS
        )
        .map_batches(
            _Preparing,
            fn_constructor_args=(work,),
            batch_size=None,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=cluster.actors),
            **resources,
        )
    )
    try:
        for table in rows.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield from objects_of(table)
    except ray.exceptions.RayError as error:
        raise _ours(error) from None


def table_of(objects: Sequence[object]) -> Any:
    """A block of objects as Ray passes them on. It would quote a column that it has to convert itself."""
    import pyarrow
    from ray.data.extensions import ArrowPythonObjectArray

    return pyarrow.table({"object": ArrowPythonObjectArray.from_objects(objects)})


def objects_of(table: Any) -> list[Any]:
    """The objects of a block."""
    found: list[Any] = table.column("object").to_pylist()
    return found


def _absolute(source: File | Reading) -> File | Reading:
    """Other machines stand in other folders."""
    return source if isinstance(source, Reading) else replace(source, path=source.path.absolute())


def _groups(sources: Iterable[File | Reading]) -> Iterator[list[File | Reading]]:
    """What a task reads: small files together, a large one alone."""
    limits = Limits(_GROUP_FILES, _GROUP_BYTES)
    return grouped(sources, limits, lambda each: each.size if isinstance(each, File) else 0)


def _read(work: Work[Any], known: Any, table: Any) -> Iterator[Any]:
    """The documents of a group of files; those that are stored already come without their text."""
    with _silent("read"):
        import ray

        refuse_disks()
        keys, intake = ray.get(known), work.intake()
        (sources,) = objects_of(table)
        with reading_process(work.read_limits, work.fields) as read:
            for reading in read(map(_reached, sources)):
                arriving = intake.arriving(reading)
                yield table_of([_stored(arriving) if _is_known(arriving, keys) else arriving])


def _reached(source: File | Reading) -> File | Reading:
    # What has no size was not there, or is empty, for who named it too.
    if isinstance(source, Reading) or not source.size or exists(source.path):
        return source
    reason = (
        "is not on every machine of the Ray cluster; put it where all find it under this path, such as a "
        "shared file system"
    )
    error = UnreadableDocument(shown(source.path), reason, source.origin)
    return Reading(error, source.before + source.size)


def _is_known(arriving: Arriving[Document], keys: "np.ndarray[Any, Any]") -> bool:
    if isinstance(arriving.item, UnreadableDocument) or not len(keys):
        return False
    # Like the array, without the zeros at the end.
    key = np.array(known_key(arriving.item.arrival), dtype="S16")
    place = int(np.searchsorted(keys, key))
    return place < len(keys) and bool(keys[place] == key)


def _stored(arriving: Arriving[Document]) -> Arriving[SanitizationError]:
    """Only counts if the sink, against expectation, does not know the document."""
    assert isinstance(arriving.item, Incoming)
    why = "it was stored when the ingest began, and is gone; run the same command again"
    outcome = SanitizationError(arriving.item.arrival.doc_id, why)
    return Arriving(arriving.item.bringing(outcome), arriving.bytes_read)


class _Preparing:
    """An actor: a process with the models, and what hands it batches."""

    def __init__(self, work: Work[Any]) -> None:
        with _silent("start"):
            refuse_disks()
            self._limits = work.limits
            self._workers = Workers(work.prepare, 1, work.seconds)

    def __call__(self, table: Any) -> Iterator[Any]:
        with _silent("sanitize"):
            groups = grouped(objects_of(table), self._limits, _characters)
            begun = [(group, self._workers.begin(_texts(group))) for group in groups]
            for group, outcomes in begun:
                ready = iter(outcomes())
                yield table_of([_with_outcome(each, ready) for each in group])


def _texts(group: Iterable[Arriving[Any]]) -> list[Document]:
    contents = [each.item.content for each in group if isinstance(each.item, Incoming)]
    return [content for content in contents if isinstance(content, Document)]


def _characters(arriving: Arriving[Any]) -> int:
    return sum(len(document.text) for document in _texts([arriving]))


def _with_outcome(arriving: Arriving[Any], ready: Iterator[Any]) -> Arriving[Any]:
    if not isinstance(arriving.item, Incoming) or not isinstance(arriving.item.content, Document):
        return arriving
    return Arriving(arriving.item.bringing(next(ready)), arriving.bytes_read)


@contextmanager
def _hushed() -> Iterator[None]:
    """Ray writes to the terminal from C++ while it starts."""
    sys.stderr.flush()
    terminal, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
        os.close(nowhere)


# -- silence -------------------------------------------------------------------------------------------------


@contextmanager
def _silent(doing: str) -> Iterator[None]:
    """Errors are written to Ray's logs, and those of libraries may quote what they work on."""
    try:
        yield
    except (LetheError, GeneratorExit):
        raise
    except Exception as error:
        raise LetheError(
            f"A machine of the Ray cluster could not {doing} ({type(error).__name__})."
        ) from None


def _ours(error: BaseException) -> LetheError:
    """What one of ours says, or that a machine is gone."""
    seen: BaseException | None = error
    while seen is not None:
        cause = getattr(seen, "cause", None)
        for each in (cause, seen):
            if isinstance(each, LetheError):
                # Ray adds lines of its own.
                return LetheError(str(each).partition("\n")[0])
        seen = seen.__cause__ or seen.__context__
    return LetheError(
        f"The Ray cluster gave up ({type(error).__name__}). Check its machines and run the same command "
        "again: what is stored stays."
    )


def refuse_disks() -> None:
    """Refuse a machine whose Ray may write what it holds to a disk, as it does when its memory is full.

    Raises:
        LetheError: It would, or it cannot be found out.
    """
    folders = _folders_of_ray(Path(f"/proc/{os.getppid()}/cmdline"))
    on_disk = [str(folder) for folder in folders if not _in_memory(folder)]
    if on_disk or not folders:
        place = on_disk[0] if on_disk else "an unknown place"
        raise LetheError(
            f"Ray on {socket.gethostname()} may write documents to {place}, and raw text is never "
            "put on a disk. Start it with --plasma-directory and --object-spilling-directory below "
            f"{MEMORY}; {_HOW}."
        )


def _folders_of_ray(command: Path) -> list[Path]:
    """Where the Ray process that started this one keeps objects, and where those that do not fit."""
    try:
        words = command.read_bytes().decode("utf-8", "surrogateescape").split("\0")
    except OSError:
        return []
    named = dict(word.partition("=")[::2] for word in words)
    found = [named.get(name, "") for name in ("--plasma_directory", "--fallback_directory")]
    return [Path(each) for each in found] if all(found) else []


def _in_memory(folder: Path) -> bool:
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    place = folder.resolve()
    within = [(len(point), kind) for _, point, kind, *_ in map(str.split, mounts.splitlines())
              if place.is_relative_to(point)]  # fmt: skip
    return bool(within) and max(within)[1] in ("tmpfs", "ramfs")
