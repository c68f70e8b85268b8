"""What the machines do: tasks read files, actors sanitize, and what arrives keeps the order of the files.

Each task reads in a reading process, and each actor sanitizes in a process that holds the models, as on one
machine.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic

import numpy as np

from ingest.documents import Arrival, Document
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.on_ray.connection import Cluster
from ingest.on_ray.disks import refuse_disks
from ingest.pipeline import Arriving, Incoming, Intake, Limits, grouped
from ingest.protocols import P, Prepare
from ingest.read.paths import exists, shown
from ingest.read.reading import Fields, File, Reading, ReadLimits
from ingest.read.reading_process import reading_process
from ingest.workers import Workers
from models.errors import LetheError

_GROUP_FILES, _GROUP_BYTES = 64, 4 << 20
_BLOCK_BYTES = 1 << 17
"""What an actor takes at once: a few batches, so that no actor waits long for the last one."""


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
    # all actors, and not only the one that would read it. Reading asks for nothing, or it would wait for
    # ever where the actors have taken all.
    resources: dict[str, Any] = {"num_gpus": 1} if cluster.gpus else {"num_cpus": 1}
    rows = (
        ray.data.from_arrow(groups)
        .map_batches(
            partial(_read, work, stored),
            batch_size=None,
            batch_format="pyarrow",
            num_cpus=0,
            compute=ray.data.TaskPoolStrategy(size=cluster.readers),
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
    return (
        source
        if isinstance(source, Reading)
        else replace(
            source, path=source.path.absolute(), root=source.root and str(Path(source.root).absolute())
        )
    )


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
