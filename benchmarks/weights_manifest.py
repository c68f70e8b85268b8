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
    "detector": "Apache-2.0; started from all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
    "fields": "Apache-2.0; names of the Faker library (MIT) and invented words",
    "risk": "Apache-2.0; started from all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
    "judge": "Apache-2.0; reads states of all-MiniLM-L6-v2 (Apache-2.0); see NOTICE for the data",
}
SHOWN = ("tab.characters.precision", "tab.characters.recall", "tab.characters.F1")
"""The detector figures in the manifest; all are in docs/models.md."""


def command(kind: str, card: Mapping[str, Any]) -> str:
    """The commands that train the model: from MiniLM, and where its card says so again from there."""
    recipe = first_card(card)["recipe"]
    if kind == "attributes":
        asked, last = f"--seed {recipe['seed']}", None
    elif kind != "detector":
        asked, last = f"--seed {recipe['seed']}", card.get("start")
    else:
        asked = f"--steps {recipe['steps']} --rate {recipe['layer_rate']} --seed {recipe['seed']}"
        asked += "".join(f" --leave-out {name}" for name in card["left_out"])
        last = card.get("needs")
    data = "" if kind == "fields" else " DATA"
    first = f"lethe models train-{kind}{data} --output DIR {asked}"
    return first if last is None else f"{first}; again with --start DIR"


def first_card(card: Mapping[str, Any]) -> Mapping[str, Any]:
    """The card of the model that the first training made."""
    return first_card(card["start"]) if "start" in card else card


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
        "data": card.get("corpora") or card.get("examples") or card.get("snippets"),
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
    return {"detector": _detector_scores, "risk": _risk_scores, "judge": _judge_scores}[kind]()


def _detector_scores() -> dict[str, float]:
    figures = _kept("detection").get("figures", [])
    return {
        figure["question"]: round(figure["estimate"]["value"], 4)
        for figure in figures
        if figure["detector"] == "lethe" and figure["question"] in SHOWN
    }


def _risk_scores() -> dict[str, float]:
    rows = _kept("risk").get("rows", [])
    return {
        f"Spearman, {row['domain']}": round(row["spearman"]["value"], 4)
        for row in rows
        if row["model"] == "learned" and row["kind"] == "all"
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
