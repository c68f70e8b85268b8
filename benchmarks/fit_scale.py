"""Fit the embedded scale on the demo corpus: ``python -m benchmarks.fit_scale``."""

import json
from dataclasses import asdict

from app.compose import system_of
from app.demo.corpus import corpus_path
from app.settings.load import load_settings
from ingest.documents import Document
from ingest.read.sources import read_documents
from ingest.sanitize import annotate
from ingest.scoring.scale import EMBEDDED_SCALE_FILE, fit_scale


def main() -> None:
    """Measure every linked entity of the demo corpus and write the percentiles."""
    system = system_of(load_settings({}))
    readings = read_documents([str(corpus_path())])
    documents = [reading.item for reading in readings if isinstance(reading.item, Document)]
    texts = annotate(system.detector, documents)
    raw = [each for measured in system.engine.measure(texts) for each in measured.values()]
    source = (
        f"embedded: demo corpus, {len(raw)} linked entities, {system.encoder.name}, "
        f"{system.passage_tokens} tokens"
    )
    divergences = [each.divergence for each in raw if each.divergence is not None]
    scale = fit_scale(divergences, [each.distance for each in raw], source)
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(scale).items()}
    EMBEDDED_SCALE_FILE.write_text(json.dumps(rounded, indent=2) + "\n", encoding="utf-8")
    print(rounded)


if __name__ == "__main__":
    main()
