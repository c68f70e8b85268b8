"""``python -m benchmarks.weights_manifest`` writes models/weights/manifest.json from the cards beside it.

Every file with its digest, size, command, training data and latest scores.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.claim_judges import FRESH, agreements
from benchmarks.kept import read

WEIGHTS = Path("models/weights")
MANIFEST = WEIGHTS / "manifest.json"
RESULTS = Path("benchmarks/results")
LICENCES = {
    "attributes": "Apache-2.0; reads all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
    "answers": "Apache-2.0; started from multilingual-e5-small (MIT); questions about invented passages",
    "bits": "Apache-2.0; see NOTICE for the data",
    "fields": "Apache-2.0; names of the Faker library (MIT) and invented words",
    "reader": "Apache-2.0; started from multilingual-e5-small (MIT); see NOTICE for the data",
    "wording": "Apache-2.0; items of invented passages and invented members of sorts",
    "judge": "Apache-2.0; reads states of all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
}


def command(kind: str, card: Mapping[str, Any]) -> str:
    """The command that trains the model."""
    if kind == "reader":
        return "lethe models train-reader DATA --encoder FILE --output DIR"
    if kind == "wording":
        return "lethe models train-wording --output DIR"
    data = "" if kind in ("answers", "fields") else " DATA"
    start = " --start DIR" if isinstance(card.get("started_from"), dict) else ""
    return f"lethe models train-{kind}{data} --output DIR --seed {card['recipe']['seed']}{start}"


def manifest() -> dict[str, Any]:
    """The content of the file."""
    return {"files": [_row(kind) for kind in sorted(LICENCES) if (WEIGHTS / f"{kind}.safetensors").is_file()]}


def _row(kind: str) -> dict[str, Any]:
    path = WEIGHTS / f"{kind}.safetensors"
    card = json.loads((WEIGHTS / f"{kind}.json").read_text(encoding="utf-8"))
    return {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "licence": LICENCES[kind],
        "command": command(kind, card),
        "data": card.get("corpora")
        or card.get("examples")
        or card.get("passages")
        or card.get("texts")
        or card.get("questions"),
        "trained": card["trained"],
        "seconds": card["seconds"],
        "scores": _scores(kind, card),
        "card": f"{kind}.md",
    }


def _scores(kind: str, card: Mapping[str, Any]) -> dict[str, float]:
    if kind == "attributes":
        return {
            f"{name}, {corpus}, {part}": figures[part]
            for name in card["values"]
            for corpus, figures in card["held_apart"][name].items()
            for part in ("right", "most_frequent")
        }
    if kind == "fields":
        return {f"{name}, names not learned": share for name, share in card["names_not_learned"].items()}
    if kind == "answers":
        return {f"{name}, rows held back": share for name, share in card["held_back"].items()}
    if kind == "bits":
        return _linking_scores()
    if kind == "wording":
        return {f"{name}, items put aside": share for name, share in card["aside"].items() if name != "items"}
    return _reader_scores() if kind == "reader" else _judge_scores()


def _reader_scores() -> dict[str, float]:
    return {
        f"{row['figure']}, English passages put aside": round(row["value"], 4)
        for row in _kept("reader").get("rows", [])
        if (row["detector"], row["language"]) == ("lethe-reader", "English") and row["value"] is not None
    }


def _linking_scores() -> dict[str, float]:
    return {
        f"share of the effect of all at a fifth of the facts, {corpus}, {linker}": round(value, 4)
        for corpus, row in _kept("narrowing").get("corpora", {}).items()
        for linker, figures in row["linkers"].items()
        if (value := figures["number"]["bits"]["0.2"]["share of effect"]) is not None
    }


def _judge_scores() -> dict[str, float]:
    kept = _kept(FRESH.name)
    return {
        f"weighted kappa, {reader} reader": round(both[1].value, 4)
        for (judge, reader), both in (agreements(kept) if kept else {}).items()
        if judge == "embedded" and both[1].value is not None
    }


def _kept(name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(read(RESULTS / f"{name}.json"))
    except FileNotFoundError:
        return {}
    return found


def main() -> None:
    """Write the manifest."""
    MANIFEST.write_text(json.dumps(manifest(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(MANIFEST)


if __name__ == "__main__":
    main()
