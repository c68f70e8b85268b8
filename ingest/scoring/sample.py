"""The sample of a collection to which its scale is fitted."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from ingest.documents import Document
from ingest.scoring.raw import Measurements
from ingest.scoring.scale import EMBEDDED_SCALE, MIN_SAMPLE, Scale, fit_scale

SAMPLE_DOCUMENTS = 256
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_LONGEST = 20_000
"""Characters that are measured of a document: the beginning of a long one stands for all of it."""
SAMPLE_BATCH = 8
SAMPLE_ENTITIES = 400
"""Sample size for the scale's percentiles; more linked entities change them little and cost time."""


def sample_size(documents: Sequence[Document]) -> int:
    """Maximum number of leading documents to which an ingest fits its scale."""
    before = accumulate((len(document.text) for document in documents[:SAMPLE_DOCUMENTS]), initial=0)
    return sum(characters < SAMPLE_CHARACTERS for characters in list(before)[:-1])


def scale_of(measured: Iterable[Measurements], encoder: str) -> Scale:
    """The scale fitted to the measurements, or the embedded one if there are too few entities."""
    raw = [each for measurements in measured for each in measurements.values()]
    if len(raw) < MIN_SAMPLE:
        return EMBEDDED_SCALE
    source = f"the first {len(raw)} linked entities, {encoder}"
    divergences = [each.divergence for each in raw if each.divergence is not None]
    return fit_scale(divergences, [each.distance for each in raw], source)
