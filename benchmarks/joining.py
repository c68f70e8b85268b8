"""``python -m benchmarks.joining``: which mentions are joined as one person or organization.

B-cubed precision, recall and F1 (Bagga and Baldwin 1998) over the marks of persons and organizations of the
passages put aside, by the reader and by the words of names alone, and again with ten passages as one text.
The limits in ``models.reader.linking`` were chosen with all of them in sight. Writes
``benchmarks/results/joining.json``.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.compose import detector_of
from app.settings.load import load_settings
from eval.measures.uncertainty import RESAMPLES
from eval.provenance import commit_here
from eval.studies.detection.study import machine_and_versions
from ingest.documents import Document, Entity, Span
from ingest.labels import ORGANIZATION, PERSON, label_of
from ingest.linking.link import link
from ingest.protocols import EntityDetector, likely_same
from models.catalog import READER
from models.corpora.passages import Mark, Passage, passages

RESULT = Path(__file__).parent / "results" / "joining.json"
LABELS = {"PERSON": PERSON, "ORG": ORGANIZATION}
TOGETHER = 10
"""Passages of a long text."""


def long_texts(of_language: Sequence[Passage]) -> list[Passage]:
    """The passages, ten and ten as one; nobody in them is in another one."""
    made = list[Passage]()
    for start in range(0, len(of_language), TOGETHER):
        text, marks = "", list[Mark]()
        for number, each in enumerate(of_language[start : start + TOGETHER]):
            marks += [
                replace(
                    mark,
                    start=mark.start + len(text),
                    end=mark.end + len(text),
                    entity=1000 * number + mark.entity,
                )
                for mark in each.marks
            ]
            text += each.text + "\n\n"
        made.append(replace(of_language[start], text=text, marks=tuple(marks)))
    return made


def sums_of(passage: Passage, detector: EntityDetector | None) -> tuple[float, float, int]:
    """Over the marks, the sums of B-cubed precision and recall, and their number."""
    marks = [mark for mark in passage.marks if mark.kind in LABELS]
    entities = [
        Entity(Span(mark.start, mark.end), label, label_of(label).identifier, 1.0, "gold")
        for mark in marks
        for label in [LABELS[mark.kind]]
    ]
    same = partial(likely_same, detector, passage.text) if detector else None
    linked = link(Document(passage.name, passage.text), entities, same)
    numbers = {(each.span, each.label): each.link for each in linked}
    found = [numbers[each.span, each.label] for each in entities]
    return b_cubed([(mark.kind, mark.entity) for mark in marks], found)


def b_cubed(gold: Sequence[Hashable], found: Sequence[Hashable]) -> tuple[float, float, int]:
    """Over mentions, the sums of precision and of recall, and the number of mentions."""
    both = Counter(zip(gold, found, strict=True))
    of_gold, of_found = Counter(gold), Counter(found)
    precision = sum(n * n / of_found[there] for (_, there), n in both.items())
    recall = sum(n * n / of_gold[true] for (true, _), n in both.items())
    return precision, recall, len(gold)


def rows_of(about: dict[str, Any], sums: Sequence[tuple[float, float, int]]) -> Iterator[dict[str, Any]]:
    """Precision, recall and F1 with 95% intervals by a bootstrap over passages."""
    table = np.array([each for each in sums if each[2]])
    drawn = np.random.default_rng(0).integers(0, len(table), (RESAMPLES, len(table)))
    totals = np.vstack([table.sum(axis=0), table[drawn].sum(axis=1)])
    precision, recall = totals[:, 0] / totals[:, 2], totals[:, 1] / totals[:, 2]
    f1 = 2 * precision * recall / (precision + recall)
    for figure, values in (("precision", precision), ("recall", recall), ("F1", f1)):
        low, high = np.quantile(values[1:], (0.025, 0.975))
        yield {
            **about,
            "figure": figure,
            "value": float(values[0]),
            "low": float(low),
            "high": float(high),
            "n": int(table[:, 2].sum()),
            "texts": len(table),
        }


def main() -> None:
    """Join, count, write."""
    aside = passages("aside")
    reader = detector_of(load_settings({"detector.language": "any"}))
    rows = list[dict[str, Any]]()
    for language in ("English", "others"):
        own = [each for each in aside if (each.language == "English") == (language == "English")]
        parts = {
            "all": own,
            "dense": [each for each in own if sum(mark.kind in LABELS for mark in each.marks) > 7],
            "ten as one": long_texts(own),
        }
        for part, texts in parts.items():
            for by, detector in ((READER, reader), ("words", None)):
                sums = [sums_of(each, detector) for each in texts]
                rows += rows_of({"language": language, "texts are": part, "by": by}, sums)
    provenance = machine_and_versions({}, commit_here()).model_dump(mode="json")
    RESULT.write_text(
        json.dumps({"provenance": provenance, "seed": 0, "rows": rows}, indent=1) + "\n", "utf-8"
    )
    for row in rows:
        print(*(value if isinstance(value, str | int) else f"{value:.4f}" for value in row.values()))


if __name__ == "__main__":
    main()
