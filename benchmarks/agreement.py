"""``python -m benchmarks.agreement``: how well two readings of the same passages agree about what has to go.

F1 of characters, between the first and the second reading of ``models/training/data/needs``, with an interval
over passages. Prints one JSON object; ``benchmarks/results/agreement.json`` is its copy.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eval.measures.uncertainty import ratio_of
from models.corpora.needs import FOLDER

RESULT = Path(__file__).parent / "results" / "agreement.json"
Mark = Sequence[Any]
"""Start, end, kind, class, must, entity."""
PARTS: Mapping[str, Callable[[Mark], bool]] = {
    "any mark": lambda mark: True,
    "must 1 or 2": lambda mark: mark[4] >= 1,
    "must 2": lambda mark: mark[4] == 2,
    "DIRECT": lambda mark: mark[3] == "DIRECT",
    "QUASI, must 2": lambda mark: mark[3] == "QUASI" and mark[4] == 2,
}


def agreement(first: Mapping[str, Sequence[Mark]], second: Mapping[str, Sequence[Mark]]) -> dict[str, Any]:
    """F1 by part, over the passages of the second reading."""
    found: dict[str, Any] = {"passages": len(second)}
    for name, part in PARTS.items():
        pairs = [(_characters(first[each], part), _characters(second[each], part)) for each in second]
        both = [2.0 * len(one & other) for one, other in pairs]
        found[name] = asdict(ratio_of(both, [float(len(one) + len(other)) for one, other in pairs]))
    return found


def _characters(marks: Sequence[Mark], part: Callable[[Mark], bool]) -> set[int]:
    return {place for mark in marks if part(mark) for place in range(mark[0], mark[1])}


def _marks(name: str) -> dict[str, Sequence[Mark]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["marks"] for row in map(json.loads, lines)}


def main() -> None:
    """Compute and write the figures."""
    text = json.dumps(agreement(_marks("references.jsonl"), _marks("second_reading.jsonl")), indent=1)
    RESULT.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
