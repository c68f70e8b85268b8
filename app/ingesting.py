"""Bulk ingest: from paths to a collection."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from app.access.vault import Sealing, sealing_of, vault_of
from app.data_dir import DataDir
from app.machine import cores, memory
from app.settings.load import Settings
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.keys import source_of
from ingest.pipeline import Arriving, Begin, C, Intake, Limits, Pipeline, Tally, at_once
from ingest.protocols import P, Prepare
from ingest.read.paths import Walk, canonical, files_of, origin
from ingest.read.reading import Reading, ReadLimits
from ingest.sanitize import annotate
from ingest.scoring.scale import (
    SAMPLE_BATCH,
    SAMPLE_CHARACTERS,
    SAMPLE_DOCUMENTS,
    SAMPLE_ENTITIES,
    SAMPLE_LONGEST,
    Measurements,
    Scale,
    fit_scale,
)
from models.errors import ConfigurationError, LetheError
from models.progress import reported_to
from retrieval.collection import Collection, locked
from retrieval.errors import CollectionError
from retrieval.manifest import Manifest
from retrieval.passages import Writer
from retrieval.store.database import CutDocument
from retrieval.system import System

_SMALL = 200_000
"""Bytes that one process has sanitized before others have started."""
_PRELOADED = ("app.preloaded",)
_MEMORY_OF_ONE = 1 << 30
"""What a process needs, the main one too."""


def ingest(
    system: System,
    data: DataDir,
    name: str,
    readings: Iterable[Reading],
    on_progress: Callable[[Tally], None] = lambda tally: None,
    sync: Sequence[str] = (),
    workers: int = 1,
    elsewhere: "Elsewhere | None" = None,
    readers: frozenset[str] = frozenset(),
) -> Tally:
    """Sanitize and index everything that is read.

    An interrupted run goes on when it is run again: kept documents are recognized and skipped. ``sync``
    are folders whose files are all among the readings: what came from below them and is not there any more
    is erased in the end, save for what came from files and folders that could not be read. More than one of
    ``workers`` are processes that sanitize with the system of the settings. ``elsewhere`` reads and sanitizes
    on other machines; the readings then only serve to fit the scale. ``readers`` may read what names none.

    Raises:
        ConfigurationError: The policy would index raw text.
        CollectionError: The collection was made with other models or another policy, or is in use.
    """
    refuse_raw_text(system)
    if data.settings.vault.enabled:
        # Before anything is read: a key that is missing is not to be found out in the end.
        vault_of(data.settings)
    folder = data.folder(name)
    if not Collection.exists(folder):
        # Before anything is written: without a document, no collection is to be left.
        waiting = iter(readings)
        first = list(_up_to_a_document(waiting))
        if not first or isinstance(first[-1].item, UnreadableDocument):
            return nothing_kept(first, on_progress)
        readings = chain(first, waiting)
    with locked(folder, data.keeping):
        if workers > 1:
            _begin_workers()
        planned = plan(system, data, name, readings, on_progress)
        if planned.manifest is None:
            return nothing_kept(planned.readings, on_progress)
        # Made before the first collection: where there is one, a key that is missing is refused.
        key = data.key
        there = Collection.exists(folder)
        opened = (
            Collection.open(folder, data.keeping)
            if there
            else Collection.create(folder, planned.manifest, data.keeping)
        )
        with opened as collection:
            planned = replace(planned, sealing=sealing_of(data, collection))
            writer = Writer(collection.store)
            if elsewhere:
                tally = elsewhere(planned, writer, on_progress)
            else:
                with planned.pipeline_of(workers, system, data) as pipeline:
                    incoming = arriving(planned.readings, data, readers)
                    tally = pipeline.run(incoming, writer, on_progress)
            # Before the index is written, which may fail.
            failed = [source_of(each, key).key for each in tally.to_retry if Path(each).is_file()]
            collection.store.quarantine(writer.job_id, failed)
            collection.publish()
            if sync:
                _erase_lost(data, collection, writer.job_id, sync, tally)
            counts = {"ingested": tally.kept, "failed": tally.failed, "passages": tally.passages}
            collection.store.finish_job(writer.job_id, counts)
    return tally


def _erase_lost(
    data: DataDir, collection: Collection, job_id: int, folders: Sequence[str], tally: Tally
) -> None:
    """Erase documents that a run over whole folders did not see again, and count them."""

    def keys(paths: Iterable[str]) -> Iterator[bytes]:
        return (source_of(path, data.key).key for path in paths)

    walk = walk_of(data.settings)
    present = (
        origin(path, folder)
        for folder in folders
        for path in files_of(folder, walk)
        if isinstance(path, Path)
    )
    erasures, tally.unsure = collection.erase_lost(
        job_id, list(keys(map(canonical, folders))), keys(present), keys(tally.failed_sources)
    )
    tally.erased = len(erasures)
    if left := sum(erasure.traces_found for erasure in erasures):
        raise CollectionError(
            f"{collection.folder}: {left} traces of erased documents are left. Run the same command again."
        )


def failed_before(data: DataDir, name: str, paths: Sequence[str]) -> Walk:
    """What leads to the files below the paths of which the last run that read them could not store all.

    Raises:
        LetheError: There is none, or no such collection.
    """
    with Collection.open(data.folder(name), data.keeping) as collection:
        failed = collection.store.quarantined()
    walk = walk_of(data.settings)
    origins = (
        origin(path, named) for named in paths for path in files_of(named, walk) if isinstance(path, Path)
    )
    found = frozenset(each for each in origins if source_of(each, data.key).key in failed)
    if not found:
        raise LetheError(
            f"No file below these paths failed when collection {name} was last given it. `lethe collections` "
            "counts those that did."
        )
    return replace(walk, only=found)


def refuse_raw_text(system: System) -> None:
    """Raise ConfigurationError for a policy that changes nothing."""
    if system.policy.name == "origin":
        raise ConfigurationError(
            "The policy origin changes nothing, and raw text is never indexed. Use trip, redact or suppress."
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingest begins with.

    ``manifest`` is that of the collection, or of the one to be made; None where no document could be read,
    so that nothing would fix the scale. ``readings`` are all that there are, what was looked at among them.
    ``sealing`` seals their originals, None where these are not kept.
    """

    manifest: Manifest | None
    readings: Iterable[Reading]
    sealing: Sealing | None = None

    def here(self, system: System) -> System:
        """The system with this scale."""
        assert self.manifest is not None
        return replace(system, scale=self.manifest.scale)

    @contextmanager
    def pipeline_of(
        self, workers: int, system: System, data: DataDir
    ) -> Iterator[Pipeline[Document, CutDocument]]:
        """From readings to a store, in as many processes; those have the system of the settings."""
        if workers == 1:
            yield pipeline(at_once(self.here(system).preparing(self.sealing)), data.settings)
            return
        assert self.manifest is not None
        from ingest.workers import Workers

        threads = max(1, (data.settings.threads or cores()) // workers)
        make = partial(
            worker_of,
            data.settings,
            data.key,
            self.manifest.scale,
            threads,
            system.own_entities,
            self.sealing,
        )
        with Workers(make, workers, data.settings.ingest.sanitize_seconds, _PRELOADED) as pool:
            yield pipeline(pool.begin, data.settings, workers + 1)


def _begin_workers() -> None:
    """Import what workers need while this process looks at a sample."""
    from ingest.workers import forking

    # Less memory for each process: in fewer pieces, and with fewer kernels kept for other lengths.
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    forking(_PRELOADED)


Elsewhere = Callable[[Plan, Writer, Callable[[Tally], None]], Tally]
"""Stores the documents of a plan that other machines read and sanitize."""


def pipeline(begin: Begin[C, P], settings: Settings, ahead: int = 0) -> Pipeline[C, P]:
    """The pipeline of the settings; ``begin`` and ``ahead`` are those of ``Pipeline``."""
    return Pipeline(begin, limits_of(settings), ahead)


def limits_of(settings: Settings) -> Limits:
    """The batches of the settings."""
    return Limits(settings.ingest.batch_documents, settings.ingest.batch_characters)


def walk_of(settings: Settings) -> Walk:
    """How folders are read."""
    return Walk(settings.ingest.follow_links)


def read_limits_of(settings: Settings) -> ReadLimits:
    """The limits of reading one document."""
    chosen = settings.ingest
    return ReadLimits(
        chosen.document_seconds,
        chosen.document_megabytes << 20,
        chosen.document_characters,
        chosen.asides,
    )


def arriving(
    readings: Iterable[Reading], data: DataDir, readers: frozenset[str] = frozenset()
) -> Iterator[Arriving[Document]]:
    """Readings under the ids of the data folder; ``readers`` are those of documents that name none."""
    return map(Intake(data.public_ids, data.key, readers).arriving, readings)


def worker_of(
    settings: Settings,
    key: bytes,
    scale: Scale,
    threads: int,
    own_entities: str,
    sealing: Sealing | None = None,
) -> Prepare[CutDocument]:
    """What one of several processes does, here or on another machine.

    Raises:
        ConfigurationError: The user's lists are others than those that the run began with.
    """
    from app.compose import system_of

    system = system_of(settings.model_copy(update={"threads": threads}), key=key)
    if system.own_entities != own_entities:
        raise ConfigurationError(
            "The lists of the policy have changed during the ingest, or are others on another machine. Put "
            "the same files everywhere and run it again."
        )
    return replace(system, scale=scale).preparing(sealing)


def workers_for(settings: Settings, size: int | None) -> int:
    """How many processes sanitize ``size`` bytes of files, None if that is not known.

    One where a model is not embedded: each process would load it.
    """
    from models.local_files import best_device

    if settings.ingest.workers is not None:
        return settings.ingest.workers
    models = (settings.encoder, settings.detector.model, settings.risk.model)
    asks = settings.policy.name == "intact" and settings.generator.kind != "extractive"
    one_is_large = asks or any(each.source != "embedded" for each in models)
    if one_is_large or (size is not None and size < _SMALL) or best_device() != "cpu":
        return 1
    return max(1, min(cores(), memory() // _MEMORY_OF_ONE - 1))


def plan(
    system: System,
    data: DataDir,
    name: str,
    readings: Iterable[Reading],
    on_progress: Callable[[Tally], None],
) -> Plan:
    """How a collection would take these readings; writes nothing.

    Raises:
        CollectionError: The collection was made with other models or another policy.
    """
    folder = data.folder(name)
    if Collection.exists(folder):
        manifest = Collection.manifest_in(folder)
        _check_same(system, data, name, manifest)
        return Plan(manifest, readings)
    waiting = iter(readings)
    sample = list(_sample(waiting))
    if not any(isinstance(reading.item, Document) for reading in sample):
        return Plan(None, sample)
    scale = system.scale or fit_scale(_measured(system, sample, on_progress), system.encoder.name)
    manifest = system.manifest(scale, keeps_ids=data.settings.ingest.keep_ids)
    return Plan(manifest, chain(sample, waiting))


def _check_same(system: System, data: DataDir, name: str, manifest: Manifest) -> None:
    there, given = manifest.scale, system.scale
    asked = system.manifest(there, keeps_ids=data.settings.ingest.keep_ids)
    differences = manifest.differences(asked)
    if given is not None and given.percentiles != there.percentiles:
        differences.append(f"scale {there.percentiles}, you asked for {given.percentiles}")
    if differences:
        raise CollectionError(
            f"collection {name} uses {'; '.join(differences)}. Use the settings it was made with, or ingest "
            "into a new collection."
        )


def _up_to_a_document(readings: Iterator[Reading]) -> Iterator[Reading]:
    for reading in readings:
        yield reading
        if isinstance(reading.item, Document):
            return


def _sample(readings: Iterator[Reading]) -> Iterator[Reading]:
    """The first documents, and what could not be read among them, for fitting the scale.

    They are sanitized with the others afterwards.
    """
    documents, characters = 0, 0
    while documents < SAMPLE_DOCUMENTS and characters < SAMPLE_CHARACTERS:
        reading = next(readings, None)
        if reading is None:
            return
        yield reading
        if isinstance(reading.item, Document):
            documents += 1
            characters += len(reading.item.text)


def nothing_kept(readings: Iterable[Reading], on_progress: Callable[[Tally], None]) -> Tally:
    """The tally of readings without any document; no collection is created."""
    tally = Tally()
    for reading in readings:
        if isinstance(reading.item, UnreadableDocument):
            tally.fail(reading.item.place, reading.item.reason)
    if not tally.failed:
        raise LetheError("There is nothing to ingest: the paths hold no file. No collection was created.")
    on_progress(tally)
    return tally


def _measured(
    system: System, sample: Sequence[Reading], on_progress: Callable[[Tally], None]
) -> list[Measurements]:
    """The measurements of the first texts, until there are enough for a scale."""
    if system.policy.name != "trip" or system.scale is not None:
        return []
    documents = [
        replace(reading.item, text=reading.item.text[:SAMPLE_LONGEST])
        for reading in sample
        if isinstance(reading.item, Document)
    ]
    measured: list[Measurements] = []
    for first in range(0, len(documents), SAMPLE_BATCH):
        if sum(map(len, measured)) >= SAMPLE_ENTITIES:
            break
        at_work = partial(_sampling, on_progress, Tally(sampled=first))
        at_work(0)
        try:
            with reported_to(at_work):
                texts = annotate(system.detector, documents[first : first + SAMPLE_BATCH])
                measured += system.engine.measure(texts)
        except LetheError:
            raise
        except Exception:
            # One of these documents cannot be sanitized. The pipeline will report which; the scale
            # does without them.
            continue
    return measured


def _sampling(on_progress: Callable[[Tally], None], tally: Tally, tokens: int) -> None:
    on_progress(tally)
