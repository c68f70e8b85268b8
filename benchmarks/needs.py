"""``python -m benchmarks.needs DATA``: does the detector know from the context what has to go?

Measured on the held-out marked passages, to which the limits of the policy are fitted, and on fresh ones and
the gold of ``lethe bench marks``, to which nothing is. For each kind of text: the area under the curve of the
probability of having to go, of marks that have to go against marks that may stay; and for words by that
probability how often it is right. Writes ``benchmarks/results/needs.json``.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import seen
from eval.corpora.marked import VISITS_MAIL, marked
from eval.measures.uncertainty import Estimate, bootstrap, clustered_share, holding
from eval.provenance import commit_here
from eval.studies.detection.report import machine_and_versions
from models.catalog import ModelRef
from models.corpora.examples import Example, Need
from models.corpora.needs import FOLDER, fresh_passages, marked_passages
from models.detectors.embedded import EmbeddedDetector, load_detector
from models.detectors.need import WordNeeds
from models.errors import ConfigurationError

RESULT = Path(__file__).parent / "results" / "needs.json"
SEED, RESAMPLES = 0, 1000
BINS = 10
LIMITS = [n / 20 for n in range(1, 20)]
"""The limits that are tried."""
GOLD = (VISITS_MAIL, seen.CASES, seen.PUBLISHED_POSTS)


@dataclass(frozen=True, slots=True)
class Read:
    """A text with its marks as one reader made them, and as the detector reads them."""

    name: str
    kind: str
    marks: Sequence[Need]
    needs: WordNeeds


def read_passages(detector: EmbeddedDetector, passages: Sequence[Example]) -> list[Read]:
    """Marked passages, with the kind of text of those of public corpora."""
    references = (FOLDER / "references.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {row["id"]: row["kind"] for row in map(json.loads, references)}
    names = [kinds.get(each.id.partition(":")[2], "invented") for each in passages]
    read = _read(detector, [each.text for each in passages])
    return [
        Read(each.id, name, each.needs or (), needs)
        for name, each, needs in zip(names, passages, read, strict=True)
    ]


def gold(detector: EmbeddedDetector, data: Path) -> list[Read]:
    """The held-out documents of the marked corpora, of each annotator."""
    found = []
    for name in GOLD:
        for documents in marked(data, name).by_annotator.values():
            needs = _read(detector, [each.document.text for each in documents])
            for each, read in zip(documents, needs, strict=True):
                marks = [Need(m.start, m.end, m.type, m.kind, m.must) for m in each.marks]
                kind = each.document.doc_id.partition("|")[0] if name == VISITS_MAIL else name
                found.append(Read(each.document.doc_id, kind, marks, read))
    return found


def _read(detector: EmbeddedDetector, texts: Sequence[str]) -> Iterator[WordNeeds]:
    for _, needs in detector.judged(texts):
        if needs is None:
            raise ConfigurationError("The detector did not learn what has to go: train it again.")
        yield needs


def area(texts: Sequence[Read]) -> Estimate:
    """How often a mark that has to go has the higher probability than one that may stay; ties count half."""
    # Readers share their documents: one cluster for each.
    by_name: dict[str, list[tuple[float, int]]] = {}
    for text in texts:
        found = ((text.needs.at(m.start, m.end).must, m.must) for m in text.marks if m.must != 1)
        by_name.setdefault(text.name, []).extend(found)
    pairs = list(by_name.values())

    def of(drawn: Sequence[int]) -> float:
        go = np.array([score for place in drawn for score, must in pairs[place] if must == 2])
        stay = np.array([score for place in drawn for score, must in pairs[place] if must == 0])
        if not (len(go) and len(stay)):
            return float("nan")
        above = (go[:, None] > stay).mean() + 0.5 * (go[:, None] == stay).mean()
        return float(above)

    value = of(range(len(pairs)))
    if np.isnan(value):
        return Estimate(why_not="no mark that has to go, or none that may stay")
    drawn = bootstrap(lambda places: np.array([of(each) for each in places]), len(pairs), SEED, RESAMPLES)
    held = holding(value, drawn[~np.isnan(drawn)])
    return Estimate(held.value, held.low, held.high, n=float(sum(map(len, pairs))))


def calibration(texts: Sequence[Read]) -> list[dict[str, float]]:
    """Of the words with a probability in each tenth, how many there are and the share that has to go."""
    scores = np.concatenate([text.needs.musts[:, 3] for text in texts])
    right = np.concatenate([_goes(text) for text in texts])
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    return [
        {
            "from": number / BINS,
            "words": int((bins == number).sum()),
            "probability": round(float(scores[bins == number].mean()), 4),
            "has to go": round(float(right[bins == number].mean()), 4),
        }
        for number in range(BINS)
        if (bins == number).any()
    ]


def _goes(text: Read) -> Any:
    goes = np.zeros(len(text.needs.places), dtype=bool)
    for number, (start, end) in enumerate(text.needs.places):
        goes[number] = any(m.must == 2 and m.start < end and start < m.end for m in text.marks)
    return goes


def at_limits(texts: Sequence[Read]) -> list[dict[str, Any]]:
    """For each limit the shares of marks that reach it: quasi-identifiers by must, and all that may stay."""
    groups: Mapping[str, Callable[[Need], bool]] = {
        "QUASI, must 2": lambda mark: mark.identifier == "QUASI" and mark.must == 2,
        "QUASI, must 1": lambda mark: mark.identifier == "QUASI" and mark.must == 1,
        "must 0": lambda mark: mark.must == 0,
    }
    rows = []
    for limit in LIMITS:
        row: dict[str, Any] = {"limit": limit}
        for name, chosen in groups.items():
            for figure in ("must", "should"):
                those = [
                    [getattr(text.needs.at(m.start, m.end), figure) for m in text.marks if chosen(m)]
                    for text in texts
                ]
                hits = [sum(score >= limit for score in each) for each in those]
                found = clustered_share(hits, [len(each) for each in those], SEED)
                row[f"{name}, {figure}"] = None if found.value is None else round(found.value, 4)
        rows.append(row)
    return rows


def report(texts: Sequence[Read]) -> dict[str, Any]:
    """All figures of a part, and the area of each kind of text."""
    kinds = sorted({text.kind for text in texts})
    return {
        "texts": len(texts),
        "area": asdict(area(texts)),
        "areas": {kind: asdict(area([text for text in texts if text.kind == kind])) for kind in kinds},
        "calibration": calibration(texts),
        "limits": at_limits(texts),
    }


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="Does the detector know from the context what has to go?")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--model", type=Path, help="the folder of a detector (default the embedded one)")
    parser.add_argument("--without-gold", action="store_true", help="only the marked passages")
    given = parser.parse_args()
    model = ModelRef() if given.model is None else ModelRef(source="path", name=str(given.model))
    detector = load_detector(model, ["person full name"])
    parts = {"held out": marked_passages(given.data, "held_out"), "fresh": fresh_passages(given.data)}
    found = {part: report(read_passages(detector, passages)) for part, passages in parts.items()}
    if not given.without_gold:
        found["gold"] = report(gold(detector, given.data))
    made = machine_and_versions({}, commit_here()).model_dump(mode="json")
    text = json.dumps({"provenance": made, "model": detector.name, "seed": SEED, **found}, indent=1)
    if given.model is None:
        RESULT.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
