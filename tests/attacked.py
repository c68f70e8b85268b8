"""Attacks on targets that tests make, as rows and as a report."""

from collections.abc import Mapping

from eval.attacks.judging import attempts, judge
from eval.documents import Attack, Target
from eval.measures.leakage import SensitiveIndex
from eval.provenance import Provenance
from eval.rows import Row
from eval.studies.extraction import ExtractionReport, extraction_report

PROVENANCE = Provenance(date="2030-01-01T00:00:00+00:00", hardware="none", versions={})


def rows_of(target: Target, attack: Attack, sensitive: SensitiveIndex, system: str = "arm") -> list[Row]:
    judged = judge(sensitive)
    return [judged(system, attack.name, each) for each in attempts(target, attack.prompts())]


def report_on(
    targets: Mapping[str, Target],
    attack: Attack,
    sensitive: SensitiveIndex,
    reference: str = "gold annotations",
    provenance: Provenance = PROVENANCE,
    decisions: Mapping[str, Mapping[str, int]] | None = None,
) -> ExtractionReport:
    rows = {name: rows_of(target, attack, sensitive, name) for name, target in targets.items()}
    return extraction_report(
        rows, attack, sensitive, reference=reference, provenance=provenance, decisions=decisions
    )
