"""``python -m benchmarks.judged FOLDER COMMIT [NAME]`` keeps what readers said of sanitized text, as counts.

FOLDER has ``judged_*.json``, the first readings, and ``second_*.json``, second ones of some of the same
documents. Each holds ``docs`` with an id, whose part before the bar is the kind of text, and for each
replacement a code and whether its sentence reads and is true. Nothing of a document is kept but these counts.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kept import read
from eval.measures.uncertainty import Estimate, clustered_share, share_of
from eval.reports.schema import DASH, Cell, Column, Table, estimate_cell, table

RESULTS = Path(__file__).parent / "results" / "judged.json"
DENSE, DENSE_BEFORE = RESULTS.with_name("judged_dense.json"), RESULTS.with_name("judged_dense_before.json")
"""Invented documents that are dense in names and terms, and the same as an earlier commit wrote them."""
ORDINARY, ORDINARY_BEFORE = (
    RESULTS.with_name("judged_ordinary.json"),
    RESULTS.with_name("judged_ordinary_before.json"),
)
"""The same of documents that have few names."""
WRONG = ("type", "bound", "not")
"""Codes of what was found wrongly: another kind, other borders, nothing at all."""
Judged = Mapping[str, Any]


def main(folder: Path, commit: str, results: Path = RESULTS) -> None:
    """Write the counts of one round."""
    first, second = ([doc for path in sorted(folder.glob(f"{name}_*.json"))
                      for doc in json.loads(path.read_text(encoding="utf-8"))["docs"]]
                     for name in ("judged", "second"))  # fmt: skip
    results.write_text(json.dumps(_round(first, second, commit), indent=1) + "\n", encoding="utf-8")


def _round(first: Sequence[Judged], second: Sequence[Judged], commit: str) -> dict[str, object]:
    by_id = {doc["id"]: doc for doc in first}
    pairs = [
        (by_id[doc["id"]]["codes"][number], code) for doc in second for number, code in doc["codes"].items()
    ]
    told_apart = [doc["who"] for doc in first if doc["who"] is not None]
    return {
        "commit": commit,
        "documents": [_document(doc) for doc in first],
        "readability": [doc["readability"] for doc in first],
        "usefulness": [doc["usefulness"] for doc in first],
        "told apart": [sum(told_apart), len(told_apart)],
        "missed": {
            kind: sum(missed[1] == kind for doc in first for missed in doc["missed"]) for kind in "DQ"
        },
        "read twice": len(pairs),
        "codes alike": sum(one[0] == other[0] for one, other in pairs),
        "sentences alike": sum(one[1] == other[1] for one, other in pairs),
    }


def _document(doc: Judged) -> dict[str, object]:
    codes = list(doc["codes"].values())
    return {
        "kind": doc["id"].partition("|")[0],
        "n": len(codes),
        "right": sum(code == "ok" for code, _ in codes),
        "needless": sum(code == "needless" for code, _ in codes),
        "wrong": sum(code in WRONG for code, _ in codes),
        "broken": sum(reads == 0 for _, reads in codes),
    }


def judged_table(results: Path | None = None) -> Table:
    """A row for all documents, and one for each kind of text."""
    found = json.loads(read(results or RESULTS))
    kinds = sorted({each["kind"] for each in found["documents"]})
    rows = [("all", found["documents"])]
    rows += [(kind, [each for each in found["documents"] if each["kind"] == kind]) for kind in kinds]
    columns: list[Column] = [
        ("", "text", lambda row: row[0]),
        ("", "documents", lambda row: f"{len(row[1]):,}"),
        ("", "replacements", lambda row: f"{sum(each['n'] for each in row[1]):,}"),
        *(_share_column(name) for name in ("right", "needless", "wrong", "broken")),
    ]
    return table("", rows, columns)


def _share_column(name: str) -> Column:
    def cell(row: Any) -> Cell:
        return estimate_cell(clustered_share([each[name] for each in row[1]], [each["n"] for each in row[1]]))

    return "", name, cell


def judged_facts(results: Path | None = None) -> str:
    """How the documents read, what was missed, and how far two readers agreed."""
    found = json.loads(read(results or RESULTS))
    apart, several = found["told apart"]
    twice = found["read twice"]

    def mean(name: str) -> str:
        return f"{sum(found[name]) / len(found[name]):.2f}"

    return (
        f"Readability {mean('readability')} and usefulness {mean('usefulness')} of 5; people told apart in "
        f"{apart} of {several} documents with several; {found['missed']['D']} direct and "
        f"{found['missed']['Q']} quasi-identifiers still there. Two readings of {twice} replacements agreed "
        f"on {_shown(share_of(found['codes alike'], twice))} of codes and on "
        f"{_shown(share_of(found['sentences alike'], twice))} of broken sentences. Commit {found['commit']}"
    )


def _shown(estimate: Estimate) -> str:
    return DASH if estimate.value is None else f"{estimate.value:.3f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *(RESULTS.with_name(f"{name}.json") for name in sys.argv[3:4]))
