"""Who may order a job, and see it."""

from collections.abc import Mapping

from app.access.keys import Key, Scope
from app.jobs.table import Job, Kind

_SCOPES: Mapping[Kind, Scope] = {"ingest": "ingest", "resanitize": "ingest", "audit": "audit"}


def may_see(key: Key, job: Job) -> bool:
    """Whether a caller may see a job, and cancel it."""
    return key.allows(_SCOPES[job.kind], job.collection)


def missing_scope(key: Key, kind: Kind, collection: str, source: str | None) -> Scope | None:
    """The scope for want of which a key may not order a job; None if it may.

    ``source`` is the collection whose originals the vault has; None where the caller sends documents.
    """
    if not key.allows(_SCOPES[kind], collection):
        return _SCOPES[kind]
    if source is not None:
        return None if key.allows("reveal", source) else "reveal"
    # Whoever brings originals for an audit could ask by them who stands behind an alias.
    brings = kind != "audit" or key.allows("ingest", collection) or key.allows("reveal", collection)
    return None if brings else "ingest"
