"""``lethe collections``."""

import argparse

from app.cli.console import message, result
from app.cli.given import services_of
from app.compose import Services
from retrieval.errors import CollectionError


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: how much it holds, what it was made with, whether its log is whole."""
    services = services_of(arguments)
    failed = False
    for name in services.collections():
        try:
            _show(services, name)
        except CollectionError as error:
            # One that is damaged does not hide the others.
            message(str(error))
            failed = True
    return 1 if failed else 0


def _show(services: Services, name: str) -> None:
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
        if begun := len(store.pending_erasures()):
            message(f"{name}: {begun} erasures are not done. Run `lethe erase` with the same ids again.")
