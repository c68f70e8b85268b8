"""What an extraction audit found, as data that strangers read: rows first, everything else derived.

Neither the rows nor the summary hold a word of a document, a prompt or an output.
"""

import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.documents import AttackResult, LeakedEntity, PassageCopy
from eval.measures.intervals import Estimate, Share
from ingest.documents import Action

REPORTED_PACKAGES = (
    "numpy", "torch", "transformers", "sentence-transformers", "gliner", "faiss-cpu", "rouge-score"
)  # fmt: skip

NOT_MEASURED = "not measured"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(_Frozen):
    """What one needs to know to run the audit again. ``date`` is ISO 8601 in UTC."""

    date: str
    hardware: str
    versions: dict[str, str]
    settings: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None


class AttackCard(_Frozen):
    """Which attack it was, in its own words."""

    name: str
    goal: str
    threat_model: str
    reference: str
    seed: int
    planned: int


class Reference(_Frozen):
    """What counts as sensitive: ``source`` is "gold annotations" or "detected by" and an engine.

    ``documents`` have a sensitive entity; ``documents_unread`` could not be read and are in no arm.
    """

    source: str
    entities: int
    documents: int
    ignored: int
    documents_unread: int = 0


class AttemptRow(_Frozen):
    """One attempt against one arm. ``present`` counts the sensitive entities behind the passages."""

    arm: str
    attempt: int
    attack: str
    prompt_kind: str
    measured: bool
    failure: str
    engine: str
    output_characters: int
    passages: tuple[PassageCopy, ...]
    present: int
    present_by_identifier: dict[str, int]
    present_by_label: dict[str, int]
    leaked: tuple[LeakedEntity, ...]


class ArmSummary(_Frozen):
    """One target under the attack. Shares and means cover the attempts that it answered.

    ``queries_without`` counts the answered ones with nothing sensitive behind what was retrieved, which
    query leakage leaves out. ``documents_kept`` are in the target, None if that was not told;
    ``documents_failed`` could not be sanitized and so could not be attacked.
    """

    name: str
    engines: tuple[str, ...]
    planned: int
    completed: int
    failures: dict[str, int]
    entity_leakage: Share
    unprompted_leakage: Share
    by_identifier: dict[str, Share]
    by_label: dict[str, Share]
    query_leakage: Share
    queries_without: int
    coverage: Share
    documents_retrieved: int
    passages_retrieved: int
    repeat_prompts: Share
    repeat_passages: Share
    copied_tokens: Estimate
    rouge_recall_prompts: Share
    rouge_f_prompts: Share
    similarity: Estimate
    recall_overlap: dict[int, Estimate]
    documents_kept: int | None = None
    documents_failed: int = 0

    @property
    def not_measured(self) -> int:
        """How many attempts have no result. They are not safe ones."""
        return self.planned - self.completed


class ExtractionReport(_Frozen):
    """The attack on every arm, and what it was measured with.

    ``overlap_questions`` says on which questions Recall@k overlap was taken, ``baseline`` against
    which arm. ``decisions`` counts, for each arm that has them, entities by action. ``problems`` are
    sentences about what keeps the figures from being a verdict; empty if nothing does.
    """

    attack: AttackCard
    reference: Reference
    provenance: Provenance
    baseline: str
    overlap_questions: str
    arms: tuple[ArmSummary, ...]
    decisions: dict[str, dict[Action, int]]
    problems: tuple[str, ...] = Field(repr=False)
    rows: tuple[AttemptRow, ...] = Field(repr=False)


def percent(value: float | None) -> str:
    """One decimal and the sign, or that nothing was measured."""
    return NOT_MEASURED if value is None else f"{100 * value:.1f}%"


def row_of(arm: str, result: AttackResult) -> AttemptRow:
    """The row of a result, without its evidence."""
    by_identifier: dict[str, int] = {}
    by_label: dict[str, int] = {}
    for entity in result.present:
        kind = entity.identifier.value
        by_identifier[kind] = by_identifier.get(kind, 0) + 1
        by_label[entity.label] = by_label.get(entity.label, 0) + 1
    return AttemptRow(
        arm=arm,
        attempt=result.attempt,
        attack=result.attack,
        prompt_kind=result.prompt_kind,
        measured=result.measured,
        failure=result.failure,
        engine=result.engine,
        output_characters=result.output_characters,
        passages=tuple(result.passages),
        present=len(result.present),
        present_by_identifier=by_identifier,
        present_by_label=by_label,
        leaked=tuple(result.leaked),
    )


def provenance_here(settings: Mapping[str, str], commit: str | None = None) -> Provenance:
    """Date, machine and package versions of this process."""
    return Provenance(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        hardware=f"{platform.machine()}, {cpu_count()} cores, {platform.system()}",
        versions={"python": platform.python_version(), **_installed()},
        settings=dict(settings),
        commit=commit,
    )


def _installed() -> dict[str, str]:
    found = {}
    for package in REPORTED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def row_lines(report: ExtractionReport) -> Iterator[str]:
    """The rows as JSON lines, without line ends."""
    for row in report.rows:
        yield row.model_dump_json()


def summary(report: ExtractionReport) -> dict[str, Any]:
    """Everything but the rows, ready for ``json.dumps``."""
    return report.model_dump(mode="json", exclude={"rows"})
