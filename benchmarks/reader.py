"""``python -m benchmarks.reader``: what the reader leaves and takes on passages that nothing learned from.

The passages of the part ``aside`` are sanitized with the default policy. For each language: the shares of
marks that are touched and covered, by class and need, the share of unmarked characters that are changed, and
how many people and firms are replaced where none is marked. Writes ``benchmarks/results/reader.json``.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.compose import system_of
from app.settings.load import load_settings
from eval.measures.uncertainty import clustered_share, ratio_of
from eval.provenance import commit_here
from eval.studies.detection.study import machine_and_versions
from eval.tasks.marks import replaced_spans
from ingest.documents import Action, Document, SanitizedDocument
from ingest.labels import ORGANIZATION, PERSON
from models.catalog import READER
from models.corpora.passages import Mark, Passage, passages

RESULT = Path(__file__).parent / "results" / "reader.json"
AT_ONCE = 32
KEY = b"a key for figures, not a secret!"
Counts = Counter[str]


def group_of(mark: Mark) -> str:
    """The group of marks that a mark is counted in."""
    if mark.identifier == "DIRECT":
        return "DIRECT"
    if mark.must == 2:
        return "must 2"
    return f"must {mark.must}"


def counts_of(passage: Passage, sanitized: SanitizedDocument) -> Counts:
    """Marks by group, those touched and those covered, unmarked and changed characters, invented names."""
    found = Counts()
    replaced, marked = bytearray(len(passage.text)), bytearray(len(passage.text))
    for span in replaced_spans(passage.text, sanitized) or ():
        replaced[span.start : span.end] = b"\1" * (span.end - span.start)
    for mark in passage.marks:
        marked[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
        told = [n for n in range(mark.start, mark.end) if passage.text[n].isalnum()]
        if told:
            group, gone = group_of(mark), sum(replaced[n] for n in told)
            found[group] += 1
            found[f"{group} touched"] += gone > 0
            found[f"{group} covered"] += gone == len(told)
    found["characters"] = len(passage.text)
    found["unmarked"] = len(passage.text) - sum(marked)
    found["changed"] = sum(one and not other for one, other in zip(replaced, marked, strict=True))
    found["invented"] = sum(
        each.action is not Action.KEEP
        and each.entity.label in (PERSON, ORGANIZATION)
        and not any(marked[each.entity.span.start : each.entity.span.end])
        for each in sanitized.decisions
    )
    return found


def rows_of(language: str, of_language: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    """The figures of the default detector on the passages of one language."""
    sanitizer = system_of(load_settings({"detector.language": "any"}), key=KEY).sanitizer()
    counts = list[Counts]()
    for start in range(0, len(of_language), AT_ONCE):
        some = of_language[start : start + AT_ONCE]
        done = sanitizer.sanitize([Document(each.name, each.text) for each in some])
        counts += [
            counts_of(passage, each)
            for passage, each in zip(some, done, strict=True)
            if isinstance(each, SanitizedDocument)
        ]
    about = {
        "detector": READER,
        "language": language,
        "passages": len(counts),
        "refused": len(of_language) - len(counts),
    }
    for group in ("DIRECT", "must 2", "must 1", "must 0"):
        totals = [each[group] for each in counts]
        for what in ("touched", "covered"):
            share = clustered_share([each[f"{group} {what}"] for each in counts], totals)
            yield {**about, "figure": f"{group}, {what}", **asdict(share)}
    changed = clustered_share([each["changed"] for each in counts], [each["unmarked"] for each in counts])
    yield {**about, "figure": "unmarked characters changed", **asdict(changed)}
    per = ratio_of([each["invented"] for each in counts], [each["characters"] / 10_000 for each in counts])
    yield {**about, "figure": "invented names per 10,000 characters", **asdict(per)}


def main() -> None:
    """Sanitize, count, write."""
    aside = passages("aside")
    rows = [
        row
        for language in sorted({each.language for each in aside})
        for row in rows_of(language, [each for each in aside if each.language == language])
    ]
    provenance = machine_and_versions({}, commit_here()).model_dump(mode="json")
    kept = {"provenance": provenance, "seed": 0, "rows": rows}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(row["language"], row["figure"], row["value"], row["low"], row["high"], row["n"])


if __name__ == "__main__":
    main()
