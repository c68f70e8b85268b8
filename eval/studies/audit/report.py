"""The report of an audit: figures by measure and system, gates, and a verdict. No word of a document."""

from typing import Literal

from pydantic import Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance
from eval.rows import Row

COLLECTION = "collection"
"""The audited one among the systems."""
Attacker = Literal[
    "reader of the index", "user of the server", "writer of a document", "somebody who knows more", "nobody"
]
"""Who learns what a measure counts; nobody for usefulness."""
Reference = Literal["own detector", "people's marks"]
"""What says which entities are sensitive."""
DETECTED: Reference = "own detector"
MARKED: Reference = "people's marks"
Outcome = Literal["held", "exceeded", "not measured"]


class MeasureFigures(Frozen):
    """One measure of every system.

    ``name`` is what gates call it. ``figures`` are by system and ``chances`` are what chance, or what is
    known without the text, reaches in the same unit; empty where that is nothing. ``lower_is_better`` tells
    leaks from usefulness. ``shown`` is whether the attack beats its chance on the unsanitized documents, with
    its interval clear of it: otherwise its figures are no evidence. None where these cannot be attacked so.
    ``blind`` says what the measure cannot see.
    """

    name: str
    title: str
    attacker: Attacker
    engine: str
    lower_is_better: bool
    figures: dict[str, Estimate]
    chances: dict[str, Estimate]
    shown: bool | None
    blind: str
    reference: str = ""
    """What the figures are judged by, in a few words."""
    failures: dict[str, int] = {}
    """How many cases of the collection were not measured, by reason."""


class Place(Frozen):
    """A case that a measure counts: a document, or a stretch of its original, without its words.

    ``start`` and ``end`` are half-open, in characters of the text as it was read; None if not known.
    """

    doc_id: str
    label: str = ""
    start: int | None = None
    end: int | None = None


class Gate(Frozen):
    """A limit of a measure of the collection: the most of a leak, or the least of what is useful.

    ``value`` is that of ``figure``. If it is exceeded, ``places`` are the first of the ``found`` different
    cases that the measure counts, none where it counts no cases of documents.
    """

    measure: str
    limit: float
    value: float | None
    outcome: Outcome
    figure: Estimate = Estimate()
    reference: str = ""
    lower_is_better: bool = True
    found: int = 0
    places: tuple[Place, ...] = ()


class Leak(Frozen):
    """What a reader still finds in one document, by label."""

    doc_id: str
    labels: dict[str, int]
    exposed: tuple[str, ...] = Field(default=(), exclude=True, repr=False)
    """What it is, normalized; in no file."""


class AuditReport(Frozen):
    """An audit of the documents of a collection of which the originals were given.

    ``systems`` are in the order of the tables, the collection first. ``reference`` says where the sensitive
    entities come from. ``documents`` were attacked, of ``stored`` in the collection; ``absent`` are originals
    that are not in it, ``differing`` documents are written otherwise by the system now. ``problems`` limit
    the conclusions.
    """

    collection: str
    suite: str
    seed: int
    provenance: Provenance
    systems: tuple[str, ...]
    reference: str
    documents: int
    stored: int
    absent: int
    differing: int
    measures: tuple[MeasureFigures, ...]
    gates: tuple[Gate, ...]
    worst: tuple[Leak, ...]
    verdict: str
    problems: tuple[str, ...]
    rows: tuple[Row, ...] = Field(default=(), exclude=True, repr=False)

    @property
    def passed(self) -> bool:
        """Whether every gate holds."""
        return all(gate.outcome == "held" for gate in self.gates)
