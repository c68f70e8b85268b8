"""``lethe models list | verify | pull``."""

import argparse

from app.cli.console import confirmed, message, result
from app.cli.given import settings_of
from models.catalog import ModelRef, list_models
from models.catalog import verify as verify_files


def list(arguments: argparse.Namespace) -> int:  # noqa: A001 - the verb's name
    """One JSON line per model that is known or configured."""
    settings = settings_of(arguments)
    configured = [settings.encoder, settings.detector.model, settings.risk.model]
    for row in list_models(configured):
        known = row.description
        result(
            {
                "model": row.ref.name if known is None else known.id,
                "source": row.ref.source,
                "here": row.here,
                "role": known.role if known else None,
                "licence": known.licence if known else None,
                "revision": row.ref.revision or (known.revision if known else None),
                "bytes": known.size if known else None,
                "dim": known.dim if known else None,
            }
        )
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """One JSON line per embedded file; fails if one is missing or altered."""
    rows = verify_files()
    for row in rows:
        file = row.file
        result(
            {
                "model": row.model,
                "file": f"{file.package}/{file.path}",
                "state": row.state,
                "sha256": row.sha256,
            }
        )
    return 0 if all(row.state == "ok" for row in rows) else 1


def pull(arguments: argparse.Namespace) -> int:
    """Show what would be downloaded, ask, then download it into the local hub cache."""
    from models.pull import Offer
    from models.pull import pull as fetch

    def confirm(offer: Offer) -> bool:
        megabytes = offer.size / 1_000_000
        message(f"{offer.name} at {offer.revision}, licence {offer.licence}, {megabytes:,.1f} MB")
        return confirmed("Download it?", arguments.yes, "nothing was downloaded")

    fetched = fetch(ModelRef(source="hub", name=arguments.model, revision=arguments.revision), confirm)
    if fetched is None:
        return 1
    result({"model": fetched.name, "revision": fetched.revision})
    return 0
