"""What an audit is about to do, and about how long that takes."""

from collections.abc import Sequence
from time import perf_counter

from eval.rows import RowFile
from eval.studies.audit.measures import Measure
from ingest.documents import Document
from ingest.protocols import Encoder

FIRST, PIECE = 16, 1_000
"""Documents whose encoding says how fast this machine is now, and the characters that are read of each."""
PER_ATTEMPT = 0.7
"""An attempt takes about as long as encoding so many of the audit's documents, with all that goes before it.

It was 0.5 to 1.0 in standard audits of 60, 250 and 999 dialogues of 700 to 900 characters: the more
documents, the less. An attempt that is a question takes more time than one on a document.
"""


def pace(encoder: Encoder, documents: Sequence[Document]) -> float:
    """The seconds that encoding a document of the mean length takes now."""
    first = [each.text[:PIECE] for each in documents[:FIRST]]
    # The first call loads the weights.
    encoder.encode(first[:1])
    begun = perf_counter()
    encoder.encode(first)
    a_character = (perf_counter() - begun) / sum(map(len, first))
    return a_character * sum(len(each.text) for each in documents) / len(documents)


def planned(measures: Sequence[Measure], systems: Sequence[str], file: RowFile, seconds: float) -> str:
    """The attempts by measure and about how long they take, ``seconds`` being the pace; less those done."""
    names: dict[str, list[str]] = {}
    for each in measures:
        names.setdefault(each.task.name, []).append(each.name)
    cases = {each.task.name: each.task.cases for each in measures}
    listed = ", ".join(f"{' and '.join(names[task])} {len(own):,}" for task, own in cases.items())
    whole = sum(map(len, cases.values())) * len(systems)
    done = sum(len(file.cases(system, task)) for system in systems for task in cases)
    before = f", of which {done:,} were made before" if done else ""
    return (
        f"Attempts on each of {len(systems)} systems: {listed}. In all {whole:,}{before}: "
        f"{_about(PER_ATTEMPT * seconds * (whole - done))}."
    )


def _about(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1.5:
        return "about a minute"
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {minutes / 60:.0f} hours"
