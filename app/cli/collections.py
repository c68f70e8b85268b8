"""``lethe collections``."""

import argparse

from app.cli.console import message, result
from app.cli.given import services_of


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: how much it holds, what it was made with, whether its log is whole."""
    services = services_of(arguments)
    for name in services.collections():
        with services.open(name) as collection:
            store, manifest = collection.store, collection.manifest
            broken = store.broken_audit_entry()
            result(
                {
                    "collection": name,
                    "documents": store.count_documents(),
                    "passages": store.count_passages(),
                    "entities": store.entities_by_action(),
                    "policy": manifest.policy.name,
                    "tau": manifest.policy.tau,
                    "encoder": manifest.encoder,
                    "detector": manifest.detector,
                    "risk": manifest.risk,
                    "created": manifest.created,
                    "interrupted": store.interrupted(),
                    "audit_log": "whole" if broken is None else f"broken at entry {broken}",
                }
            )
            if store.interrupted():
                message(f"{name}: the last ingest did not finish. Run the same command again to go on.")
    return 0
