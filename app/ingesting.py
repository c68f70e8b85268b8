"""Bulk ingest: from paths to a collection."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from app.compose import Services
from ingest.annotated import AnnotatedText
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.pipeline import Tally
from ingest.read.sources import Reading
from ingest.sanitize import annotate
from ingest.scoring.remembered import Measurements, Remembered
from ingest.scoring.scale import EMBEDDED_SCALE, MIN_SAMPLE, Scale, fit_scale
from models.errors import ConfigurationError, LetheError
from retrieval.collection import Collection, Writer, locked
from retrieval.errors import CollectionError

SAMPLE_DOCUMENTS = 256
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_BATCH = 8
SAMPLE_ENTITIES = 400
"""A scale rests on two percentiles; more linked entities than this move them little and cost time."""


def ingest(
    services: Services,
    name: str,
    readings: Iterable[Reading],
    on_progress: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Sanitize and index everything that is read.

    A run that was killed is taken up by running it again: what was kept is recognized and skipped.

    Raises:
        ConfigurationError: The policy would index raw text.
        CollectionError: The collection was made with other models or another policy, or is in use.
    """
    if services.policy.name == "origin":
        raise ConfigurationError(
            "The policy origin changes nothing, and raw text is never indexed. Take trip, redact or suppress."
        )
    folder = services.folder(name)
    measured: list[tuple[AnnotatedText, Measurements]] = []
    with locked(folder):
        waiting = iter(readings)
        if Collection.exists(folder):
            collection = _matching(services, Collection.open(folder))
        else:
            sample = list(_sample(waiting))
            waiting = chain(sample, waiting)
            if not any(isinstance(reading.item, Document) for reading in sample):
                return _nothing_kept(sample, on_progress)
            measured = _measured(services, sample, on_progress)
            scale = services.given_scale or scale_of(services, [each for _, each in measured])
            collection = Collection.create(folder, services.manifest(scale))
        with collection:
            scale, engine = collection.manifest.scale, Remembered(services.engine, measured)
            sanitizer = services.sanitizer(scale=scale, engine=engine)
            writer = Writer(collection.store, services.encoder, collection.manifest.passage_tokens)
            tally = services.pipeline(sanitizer).run(waiting, writer, on_progress)
            collection.publish()
            told = {"ingested": tally.kept, "failed": tally.failed, "passages": tally.passages}
            collection.store.finish_job(writer.job_id, told)
    return tally


def _matching(services: Services, collection: Collection) -> Collection:
    there, given = collection.manifest.scale, services.given_scale
    differences = collection.manifest.differences(services.manifest(there))
    if given is not None and given.percentiles != there.percentiles:
        differences.append(f"policy.scale is {given.percentiles} here, {there.percentiles} there")
    if differences:
        collection.store.close()
        raise CollectionError(
            f"{collection.folder}: {'; '.join(differences)}. Use the settings it was made with, or ingest "
            "into a new collection."
        )
    return collection


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


def sample_size(documents: Sequence[Document]) -> int:
    """How many of the first of these documents an ingest would fit its scale to, at most."""
    before = accumulate((len(document.text) for document in documents[:SAMPLE_DOCUMENTS]), initial=0)
    return sum(characters < SAMPLE_CHARACTERS for characters in list(before)[:-1])


def _nothing_kept(readings: Sequence[Reading], on_progress: Callable[[Tally], None]) -> Tally:
    """No document could be read, so no collection is made: nothing would have fixed its scale."""
    if not readings:
        raise LetheError("There is nothing to ingest: the paths hold no file. No collection was made.")
    tally = Tally()
    for reading in readings:
        if isinstance(reading.item, UnreadableDocument):
            tally.fail(reading.item.place, reading.item.reason)
    on_progress(tally)
    return tally


def _measured(
    services: Services, sample: Sequence[Reading], on_progress: Callable[[Tally], None]
) -> list[tuple[AnnotatedText, Measurements]]:
    """Texts of the sample with their measurements, until there are enough for a scale."""
    if services.policy.name != "trip" or services.given_scale is not None:
        return []
    documents = [reading.item for reading in sample if isinstance(reading.item, Document)]
    measured: list[tuple[AnnotatedText, Measurements]] = []
    for first in range(0, len(documents), SAMPLE_BATCH):
        if sum(len(raw) for _, raw in measured) >= SAMPLE_ENTITIES:
            break
        on_progress(Tally(sampled=first))
        try:
            texts = annotate(services.detector, documents[first : first + SAMPLE_BATCH])
            # A scale rests on exact figures, whichever engine estimates afterwards.
            exact = services.exact or services.engine
            measured += zip(texts, exact.measure(texts), strict=True)
        except LetheError:
            raise
        except Exception:
            # One of these documents cannot be sanitized. The pipeline will find and tell which; the scale
            # does without them.
            continue
    return measured


def scale_of(services: Services, measured: Iterable[Measurements]) -> Scale:
    """The scale of some texts' measurements, or the embedded one if they hold too few entities."""
    raw = [each for measurements in measured for each in measurements.values()]
    if len(raw) < MIN_SAMPLE:
        return EMBEDDED_SCALE
    source = f"the first {len(raw)} linked entities, {services.encoder.name}"
    return fit_scale([each.divergence for each in raw], [each.distance for each in raw], source)
