"""``python -m benchmarks.parts``: what each part beside the reader brings, by switching it off.

English passages of development are sanitized with the default policy, once whole and once without each family
of patterns, without fields and without the repetitions of names. Writes ``benchmarks/results/parts.json``.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from benchmarks.reader import rows_of
from eval.provenance import commit_here
from eval.studies.detection.study import machine_and_versions
from ingest.detection import hybrid
from ingest.detection.patterns import (
    contact,
    dates,
    finance,
    find,
    national,
    records,
    spoken,
    technical,
    vehicles,
)
from models.corpora.passages import passages
from models.training.reader_data import is_development

RESULT = Path(__file__).parent / "results" / "parts.json"
FAMILIES: Mapping[str, ModuleType] = {
    "contact": contact,
    "dates and times": dates,
    "finance": finance,
    "national numbers": national,
    "record numbers": records,
    "spoken numbers": spoken,
    "secrets and devices": technical,
    "vehicles": vehicles,
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """Run with a part switched off; "" switches nothing off."""
    if part in FAMILIES:
        gone = set(map(id, FAMILIES[part].PATTERNS))
        with patch.object(find, "PATTERNS", tuple(each for each in find.PATTERNS if id(each) not in gone)):
            yield
    elif part == "telephones":
        with patch.object(find, "find_phones", lambda *_: ()):
            yield
    elif part == "repetitions":
        with patch.object(hybrid, "repeats", lambda *_: []):
            yield
    elif part == "fields":
        with patch.object(hybrid, "with_fields", lambda _, entities, __: list(entities)):
            yield
    else:
        yield


def main() -> None:
    """Sanitize without each part, count, write."""
    english = [each for each in passages("learn") if each.language == "English" and is_development(each)]
    rows: list[dict[str, Any]] = []
    for part in ("", *FAMILIES, "telephones", "repetitions", "fields"):
        with without(part):
            rows += [{"without": part, **row} for row in rows_of("English", english)]
        found = {row["figure"]: round(row["value"], 4) for row in rows if row["without"] == part}
        print(part or "whole", found, flush=True)
    provenance = machine_and_versions({}, commit_here()).model_dump(mode="json")
    kept = {"provenance": provenance, "seed": 0, "rows": rows}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
