"""Fit the embedded scale on the demo corpus: ``python -m benchmarks.fit_scale``."""

import json
from dataclasses import asdict, replace

from app.compose import system_of
from app.demo import corpus_path
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
    measured = system.engine.measure(texts)
    source = (
        f"embedded: demo corpus, {sum(map(len, measured))} linked entities, {system.encoder.name}, "
        f"{system.passage_tokens} tokens"
    )
    scale = asdict(replace(fit_scale(measured, system.encoder.name), source=source))
    EMBEDDED_SCALE_FILE.write_text(json.dumps(scale, indent=2) + "\n", encoding="utf-8")
    print(scale)


if __name__ == "__main__":
    main()
