"""Bulk ingest: from paths to a collection."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from app.compose import Services
from ingest.documents import Document
from ingest.pipeline import Tally
from ingest.read.sources import Reading
from ingest.sanitize import annotate
from ingest.scoring.raw import RawScores
from ingest.scoring.scale import EMBEDDED_SCALE, MIN_SAMPLE, Scale, fit_scale
from models.errors import ConfigurationError, LetheError
from retrieval.collection import Collection, Writer, locked
from retrieval.errors import CollectionError

SAMPLE_DOCUMENTS = 256
SAMPLE_CHARACTERS = 1_000_000
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
    with locked(folder):
        waiting = iter(readings)
        if Collection.exists(folder):
            collection = _matching(services, Collection.open(folder))
        else:
            sample = list(_sample(waiting))
            waiting = chain(sample, waiting)
            collection = Collection.create(folder, services.manifest(_scale_of(services, sample)))
        with collection:
            sanitizer = services.sanitizer(scale=collection.manifest.scale)
            writer = Writer(collection.store, services.encoder, collection.manifest.passage_tokens)
            tally = services.pipeline(sanitizer).run(waiting, writer, on_progress)
            collection.publish()
            told = {"ingested": tally.kept, "failed": tally.failed, "passages": tally.passages}
            collection.store.finish_job(writer.job_id, told)
    return tally


def _matching(services: Services, collection: Collection) -> Collection:
    differences = collection.manifest.differences(services.manifest(collection.manifest.scale))
    if differences:
        collection.store.close()
        raise CollectionError(
            f"{collection.folder}: {'; '.join(differences)}. Use the settings it was made with, or ingest "
            "into a new collection."
        )
    return collection


def _sample(readings: Iterator[Reading]) -> Iterator[Reading]:
    """The first readings, for fitting the scale; they are sanitized with the others afterwards."""
    characters = 0
    for reading in islice(readings, SAMPLE_DOCUMENTS):
        yield reading
        characters += len(reading.item.text) if isinstance(reading.item, Document) else 0
        if characters >= SAMPLE_CHARACTERS:
            return


def _scale_of(services: Services, sample: Sequence[Reading]) -> Scale:
    """The sample's own scale, or the embedded one if it is too small or needs none."""
    documents = [reading.item for reading in sample if isinstance(reading.item, Document)]
    if services.policy.name != "trip" or not documents:
        return EMBEDDED_SCALE
    raw: list[RawScores] = []
    for document in documents:
        if len(raw) >= SAMPLE_ENTITIES:
            break
        raw += _measured(services, document)
    if len(raw) < MIN_SAMPLE:
        return EMBEDDED_SCALE
    source = f"the first {len(raw)} linked entities, {services.encoder.name}"
    return fit_scale([each.divergence for each in raw], [each.distance for each in raw], source)


def _measured(services: Services, document: Document) -> list[RawScores]:
    """The document's measurements; none where it fails, since the pipeline will tell of that."""
    try:
        texts = annotate(services.detector, [document])
        return list(services.engine.measure(texts)[0].values())
    except LetheError:
        raise
    except Exception:
        return []
