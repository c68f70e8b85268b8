"""What a report was made with, and a digest of it, so that runs are not mixed."""

import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from os import cpu_count
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from eval.corpora.corpus import Corpus
from ingest.detection.doubts import doubts_of
from ingest.protocols import EntityDetector
from retrieval.system import System

REPORTED_PACKAGES = (
    "numpy", "torch", "transformers", "sentence-transformers", "gliner", "faiss-cpu", "rouge-score"
)  # fmt: skip
ROOT = Path(__file__).parents[1]
ROOMS = ("models", "ingest", "retrieval", "eval", "app")
CPU_FILE = Path("/proc/cpuinfo")


class Frozen(BaseModel):
    """A part of a report: it does not change, and a file with an unknown field is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Frozen):
    """What is needed to reproduce a run. ``date`` is ISO 8601 in UTC."""

    date: str
    hardware: str
    versions: dict[str, str]
    settings: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None

    def facts(self) -> list[tuple[str, str]]:
        """The same as text, for a page."""
        return [
            ("Date", self.date),
            ("Machine", self.hardware),
            ("Versions", ", ".join(f"{name} {number}" for name, number in self.versions.items())),
            ("Commit", self.commit or "not known"),
            *sorted(self.settings.items()),
        ]


def commit_here() -> str | None:
    """The commit of the checkout that holds the code, with ``-dirty`` where files differ; None elsewhere."""
    if not (ROOT / ".git").exists():
        # An installed package may lie inside another project's checkout.
        return None
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def source_digest() -> str:
    """A digest of code and data of the rooms, 32 hexadecimal digits; works with and without a checkout.

    Embedded weights count by their manifest, which holds their digests.
    """
    found = blake2b(digest_size=16)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            if file.is_dir() or file.parent.name == "__pycache__" or file.suffix == ".safetensors":
                continue
            content = file.read_bytes()
            found.update(f"{file.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return found.hexdigest()


def provenance_of(system: System, more: Mapping[str, str], commit: str | None = None) -> Provenance:
    """Policy, models and settings of a system, and ``more`` entries of this report.

    ``commit`` is the commit at the start of a long run, None for the current one.
    """
    policy, weights = system.policy, system.policy.weights
    shown = {
        "policy": policy.name,
        "k of people": f"{policy.k:g} of {policy.people:g}",
        "tau": f"{policy.tau:g}",
        "weights": f"{weights.alpha:g}, {weights.beta:g}, {weights.gamma:g}, {weights.marginal}",
        "direct limit": f"{policy.direct_limit:g}",
        "detector": system.detector.name,
        "risk model": system.risk.name,
        "encoder": system.encoder.name,
        "numbers": system.numbers,
        "settings digest": system.settings_digest,
    }
    return provenance_here({**shown, **more}, commit or commit_here())


def reference_of(corpus: Corpus, detector: EntityDetector) -> str:
    """The source of a corpus's sensitive entities, and where these may be incomplete."""
    if corpus.gold is not None:
        return "gold annotations"
    doubts = Counter(doubt for document in corpus.documents for doubt in doubts_of(document.text))
    found = "; ".join(f"{doubt} ({n} documents)" for doubt, n in sorted(doubts.items()))
    warning = f"; entities may have been missed: {found}" if found else ""
    return f"detected by {detector.name}{warning}"


def provenance_here(settings: Mapping[str, str], commit: str | None = None) -> Provenance:
    """Date, machine and package versions of this process."""
    versions = {"python": platform.python_version()}
    for package in REPORTED_PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return Provenance(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        hardware=f"{_processor()}, {cpu_count()} cores, {platform.system()}",
        versions=versions,
        settings=dict(settings),
        commit=commit,
    )


def _processor() -> str:
    """Name and 16-bit instructions of the processor, as far as the system reports them."""
    try:
        lines = CPU_FILE.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    known = sorted({"amx_bf16", "avx512_bf16"}.intersection(told.get("flags", "").split()))
    name = told.get("model name") or platform.processor() or platform.machine()
    return f"{name} ({', '.join(known)})" if known else name


def run_digest(
    corpus: Corpus, made_with: str, options: object, encoders: Sequence[str], source: str | None = None
) -> str:
    """A digest of the inputs of a run, 32 hexadecimal digits.

    ``made_with`` is the digest of settings and model files, ``source`` that of the code, None for this
    process.
    """
    found = blake2b(digest_size=16)
    versions, code = sorted(provenance_here({}).versions.items()), source or source_digest()
    about = (corpus.name, corpus.split, corpus.source)
    said = (made_with, list(encoders), options, versions, version("lethe"), code, about)
    questions = ((each.question_id, each.text, each.answer, each.about) for each in corpus.questions)
    gold = ((doc_id, [dict(row) for row in rows]) for doc_id, rows in (corpus.gold or {}).items())
    for part in chain([said], ((each.doc_id, each.text) for each in corpus.documents), questions, gold):
        found.update(repr(part).encode())
    return found.hexdigest()
