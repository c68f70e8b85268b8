"""The report of the study of defences: figures by defence, no word of a corpus."""

from pydantic import BaseModel, ConfigDict

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DefenceFigures(_Frozen):
    """What attackers get under a defence, and what users do.

    ``drawn`` has, by attack and number of questions, the share of all sensitive entities that came out;
    ``refused_attacks`` the share of these questions that a limit refused. ``covered`` is the share of
    documents of which harmless questions brought out a passage, and ``also`` has the same of further attacks
    by their names. ``injected`` are answers that follow a poisoned document, ``injected_without`` the same
    without it, which is chance. ``member`` is the area under the curve of the best similarity, with 0.5 as
    chance. ``canaries`` are planted secrets that came out.
    ``facts``, ``found_first`` and ``refused`` are of harmless questions.
    """

    defence: str
    drawn: dict[str, dict[int, Estimate]]
    refused_attacks: Estimate
    covered: Estimate
    also: dict[str, Estimate] = {}
    injected: Estimate
    injected_without: Estimate
    injected_by: dict[str, Estimate]
    member: Estimate
    canaries: Estimate
    facts: Estimate
    found_first: Estimate
    refused: Estimate
    not_measured: int


class DefencesReport(_Frozen):
    """All defences on the same documents, with the same questions; ``budget`` is that of each attack.

    ``limits`` says what the defences with a number were set to.
    """

    provenance: Provenance
    command: str
    seed: int
    documents: int
    held_out: int
    failed: int
    entities: int
    reference: str
    k: int
    budget: int
    poisoned: int
    harmless: int
    limits: dict[str, float]
    defences: tuple[DefenceFigures, ...]
    always: tuple[str, ...]
    absent: tuple[str, ...]
    need_a_model: tuple[str, ...] = ()
