"""A weaker signal beside the rubric: what SPIA's annotators took for direct or quasi-identifiers."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from models.training.corpora.records import parsed_lines
from models.training.label_maps import LABEL_MAPS
from models.training.risk import ScoredText
from models.windows import Limits, windows
from models.words import words_of

SCORES: Mapping[str, float] = {"DIRECT": 0.9, "QUASI": 0.45, "NO_MASK": 0.1}
"""The middle of the rubric's ranges that the annotators' words come closest to."""
WEIGHT = 0.1
"""How much a mention counts beside one that was scored under the rubric."""
PASSAGE = Limits(tokens=150, overlap=0)

_LABELS = LABEL_MAPS["spia_cases"]


def identifier_signals(data: Path, without: Collection[str]) -> list[ScoredText]:
    """The training cases in passages of 150 words; none where the corpus is not in the folder.

    ``without`` names the records that are measured on, as ``spia/TAB-...``: these are left out.
    """
    path = data / "spia" / "tab_train.jsonl"
    if not path.is_file():
        return []
    cases = parsed_lines(path, lambda row, _: (f"spia/{row['metadata']['data_id']}", _case(row)))
    return [passage for record, case in cases if record not in without for passage in _passages(case)]


def _case(row: Mapping[str, Any]) -> ScoredText:
    entities = sorted(row["entities"], key=lambda entity: int(entity["start_offset"]))
    return ScoredText(
        text=str(row["text"]),
        places=tuple((int(e["start_offset"]), int(e["end_offset"])) for e in entities),
        labels=tuple(_LABELS[e["entity_type"]][0] for e in entities),
        scores=tuple(SCORES[e["identifier_type"]] for e in entities),
        weight=WEIGHT,
    )


def _passages(case: ScoredText) -> Iterator[ScoredText]:
    mentions = list(zip(case.places, case.labels, case.scores, strict=True))
    for window in windows(len(case.text), words_of(case.text), PASSAGE):
        inside = [
            ((start - window.start, end - window.start), label, score)
            for (start, end), label, score in mentions
            if window.start <= start and end <= window.end
        ]
        if inside:
            places, labels, scores = zip(*inside, strict=True)
            yield ScoredText(case.text[window.start : window.end], places, labels, scores, case.weight)
