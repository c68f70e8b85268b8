"""``python -m benchmarks.weights_manifest`` writes models/weights/manifest.json from what lies beside it.

Every file with its digest and size, how it was made and on what, and the scores that were measured last.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WEIGHTS = Path("models/weights")
MANIFEST = WEIGHTS / "manifest.json"
RESULTS = Path("benchmarks/results")
LICENCES = {
    "detector": "Apache-2.0; started from all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
    "risk": "Apache-2.0; started from all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
}
SHOWN = ("tab.characters.precision", "tab.characters.recall", "tab.characters.F1")
"""Which figures of the detector stand in the manifest; all are in docs/models.md."""


def command(kind: str, card: Mapping[str, Any]) -> str:
    """The command that makes such a model."""
    recipe = card["recipe"]
    if kind == "risk":
        return f"lethe models train-risk DATA --output DIR --seed {recipe['seed']}"
    asked = f"--steps {recipe['steps']} --rate {recipe['layer_rate']} --seed {recipe['seed']}"
    without = "".join(f" --leave-out {name}" for name in card["left_out"])
    return f"lethe models train-detector DATA --output DIR {asked}{without}"


def manifest() -> dict[str, Any]:
    """What the file says."""
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
        "data": card.get("examples") or card.get("snippets"),
        "trained": card["trained"],
        "seconds": card["seconds"],
        "scores": _detector_scores() if kind == "detector" else _risk_scores(),
        "card": f"{kind}.md",
    }


def _detector_scores() -> dict[str, float]:
    path = RESULTS / "detection.json"
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.is_file() else []
    return {
        figure["question"]: round(figure["value"], 4)
        for figure in figures
        if figure["detector"] == "lethe" and figure["question"] in SHOWN
    }


def _risk_scores() -> dict[str, float]:
    path = RESULTS / "risk.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    return {
        f"Spearman, {row['domain']}": round(row["spearman"]["value"], 4)
        for row in rows
        if row["model"] == "learned" and row["kind"] == "all"
    }


def main() -> None:
    """Write the manifest."""
    MANIFEST.write_text(json.dumps(manifest(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(MANIFEST)


if __name__ == "__main__":
    main()
