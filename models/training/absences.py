"""Labels that are almost surely absent from a text, since it has no cue word for them.

Each corpus annotates a few labels only. A detector trained on a label only in texts that contain it finds it
everywhere, so obvious absences are used as negatives too. The patterns are broad on purpose: a match means
"unknown". They have no lists of drugs or religions, so a rare one without other cues counts as absent;
medical texts are therefore excluded (``rows.OF_MEDICINE``).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from models.training.labels import DATA

MEDICAL = (
    "disease",
    "diagnosis",
    "symptom",
    "medication",
    "dosage",
    "procedure",
    "medical test",
    "test result",
)
"""The labels covered by one list of medical words."""

_TABLE = tomllib.loads((DATA / "absences.toml").read_text(encoding="utf-8"))


def _alternatives(cues: Sequence[str], words: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for cue in cues:
        if cue.startswith("@"):
            yield from _alternatives(words[cue.removeprefix("@")], words)
        else:
            yield cue


_PATTERNS = {
    label: re.compile("|".join(_alternatives(cues, _TABLE["words"])), re.IGNORECASE)
    for label, cues in _TABLE["cues"].items()
}
_PATTERNS["currency ISO code"] = re.compile(r"[A-Z]{3}")


def surely_absent(text: str) -> tuple[str, ...]:
    """The labels without any cue word in the text."""
    return tuple(label for label, pattern in _PATTERNS.items() if not pattern.search(text))
