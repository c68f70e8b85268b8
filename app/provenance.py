"""What a report was made with."""

import subprocess
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from app.compose import Services
from app.corpus import Corpus
from app.settings_report import settings_digest
from eval.report import Provenance, provenance_here

ROOT = Path(__file__).parents[1]
ROOMS = ("models", "ingest", "retrieval", "eval", "app")


def commit_here() -> str | None:
    """The commit of the checkout that holds the code, with ``-dirty`` where files differ; None elsewhere."""
    if not (ROOT / ".git").exists():
        # Another project's checkout may lie around an installed package.
        return None
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def source_digest() -> str:
    """32 hexadecimal digits that differ where a line of the code does, be it in a checkout or not."""
    found = blake2b(digest_size=16)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            content = file.read_bytes()
            found.update(f"{file.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return found.hexdigest()


def provenance_of(services: Services, more: Mapping[str, str], commit: str | None = None) -> Provenance:
    """Policy, engines and settings of a system, and ``more`` that only this report has.

    ``commit`` is what a long run found when it began, None for what is checked out now.
    """
    policy, weights = services.policy, services.policy.weights
    shown = {
        "policy": policy.name,
        "tau": f"{policy.tau:g}",
        "weights": f"{weights.alpha:g}, {weights.beta:g}, {weights.gamma:g}, {weights.marginal}",
        "residual limit": f"{policy.residual_limit:g}",
        "direct limit": f"{policy.direct_limit:g}",
        "quasi limit": f"{policy.quasi_limit:g}",
        "detector": services.detector.name,
        "risk model": services.risk.name,
        "scoring engine": services.settings.policy.engine,
        "encoder": services.encoder.name,
        "settings digest": settings_digest(services.settings),
    }
    return provenance_here({**shown, **more}, commit or commit_here())


def reference_of(services: Services, corpus: Corpus) -> str:
    """Where the sensitive entities of a corpus come from."""
    return f"detected by {services.detector.name}" if corpus.gold is None else "gold annotations"
