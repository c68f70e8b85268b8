"""``python -m benchmarks.judged_blind FOLDER BEFORE AFTER`` keeps what readers counted in pairs of outputs.

FOLDER has ``key.json``, which says of each document whether X or Y is the new output, and ``judged*.jsonl``
with a line for each document: counts of X and of Y by eye. The readers did not know which is which. BEFORE
and AFTER are the commits that wrote the outputs. Only counts are kept, in
``benchmarks/results/judged_blind.json``.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.measures.uncertainty import clustered_share
from eval.reports.render import markdown_table
from eval.reports.schema import Row, Table

RESULT = Path(__file__).parent / "results" / "judged_blind.json"
COUNTS = ("n", "kind", "bound", "not", "needless", "broken", "sentences", "bs", "missed_D", "missed_Q")
"""Replacements; those of a wrong kind, wrong borders, of nothing, needless, in a broken sentence; sentences,
and those broken; direct identifiers and others that were left."""
NAMES = ("before", "after")


def main(folder: Path, before: str, after: str) -> None:
    """Write the counts of all pairs."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    judged: dict[str, Any] = {}
    for path in sorted(folder.glob("judged*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            judged.setdefault(one["doc"], one)
    documents = [dict(_pair(name, one, key[name])) for name, one in judged.items()]
    kept = {"before": before, "after": after, "documents": documents}
    RESULT.write_text(json.dumps(kept).replace('{"kind"', '\n{"kind"') + "\n", encoding="utf-8")


def _pair(name: str, judged: Mapping[str, Any], new: str) -> Iterator[tuple[str, Any]]:
    yield "kind", name.partition("/")[0]
    newer = new[-1]
    for which, side in zip(NAMES, ("X" if newer == "Y" else "Y", newer), strict=True):
        yield which, [judged[side][count] for count in COUNTS]
        yield f"{which} readability", judged[side]["readability"]


def blind_table(kept: Mapping[str, Any]) -> str:
    """The counts by kind of document as shares, before and after, with intervals over documents."""
    documents = kept["documents"]
    rows: list[Row] = [_row("all", documents)]
    for kind in dict.fromkeys(each["kind"] for each in documents):
        rows.append(_row(kind, [each for each in documents if each["kind"] == kind]))
    head = ("documents", "n", "replacements", "wrong", "needless", "sentences broken")
    return markdown_table(Table("", (*head, "direct identifiers left", "readability"), rows))


def _row(name: str, documents: Sequence[Mapping[str, Any]]) -> Row:
    def column(which: str, *counts: str) -> list[int]:
        return [sum(each[which][COUNTS.index(count)] for count in counts) for each in documents]

    def both(top: Sequence[str], bottom: str) -> str:
        shares = [clustered_share(column(which, *top), column(which, bottom)) for which in NAMES]
        return " → ".join(f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f})" for share in shares)

    def totals(count: str) -> str:
        return " → ".join(f"{sum(column(which, count)):,}" for which in NAMES)

    mean = [sum(each[f"{which} readability"] for each in documents) / len(documents) for which in NAMES]
    return (
        *(name, str(len(documents)), totals("n"), both(("kind", "bound", "not"), "n")),
        *(both(("needless",), "n"), both(("bs",), "sentences"), totals("missed_D")),
        f"{mean[0]:.1f} → {mean[1]:.1f}",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4])
