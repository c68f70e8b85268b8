"""``lethe protect``: true edits against the inference of attributes of who wrote a text."""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from app.cli.console import message, result
from app.cli.given import data_of, documents_of, under_public_ids
from app.compose import detector_of, encoder_of
from eval.attacks.attributes import AttributeAttack, attribute_attack
from eval.targets import reading_once
from ingest.pipeline import Limits, batches
from ingest.private_files import check_new, write_new
from ingest.protecting.search import MARGIN, Search, Searched
from ingest.sanitize import annotate
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """The protected texts as JSON lines in a file, and what was done as one JSON line on standard output.

    1 if a document could not be read.
    """
    data = data_of(arguments)
    output = Path(arguments.output)
    check_new(output, "--output")
    attack = attribute_attack(encoder_of(data.settings))
    asked = _asked(arguments.attributes, attack)
    detector, limits = detector_of(data.settings), data.settings.ingest
    unread: list[str] = []
    documents = documents_of(arguments, data.settings, unread)
    found: list[tuple[str, Searched]] = []
    for batch in batches(documents, Limits(limits.batch_documents, limits.batch_characters)):
        # The texts of a batch are encoded once; no vector outlives it.
        encoder = reading_once(attack.encoder)
        search = Search(AttributeAttack(encoder, attack.heads), encoder, asked)
        for document, text in zip(under_public_ids(data, batch), annotate(detector, batch), strict=True):
            found.append((document.doc_id, search.search(text)))
    rows = [json.dumps(_row(doc_id, each), ensure_ascii=False) + "\n" for doc_id, each in found]
    write_new(output, "".join(rows))
    result({**_figures([each for _, each in found]), "failed": len(unread), "attacker": attack.name})
    message(f"protected texts: {output}")
    return 1 if unread else 0


def _asked(said: str, attack: AttributeAttack) -> list[str]:
    """The attributes that are named, each once."""
    asked = list(dict.fromkeys(name.strip() for name in said.split(",")))
    if unknown := [name for name in asked if name not in attack.attributes]:
        raise ConfigurationError(
            f"--attributes: nothing guesses at {', '.join(unknown) or 'nothing'}; name some of "
            f"{', '.join(attack.attributes)}, with commas."
        )
    return asked


def _row(doc_id: str, searched: Searched) -> dict[str, object]:
    return {
        "doc_id": doc_id,
        "text": searched.text,
        "edits": dict(searched.edits),
        "attributes": {
            name: {
                "end": end,
                "before": round(searched.before[name], 4),
                "after": round(searched.after[name], 4),
            }
            for name, end in searched.stops.items()
        },
    }


def _figures(outcomes: Sequence[Searched]) -> dict[str, object]:
    """Counts of texts: which gave something away, which of these were edited, how each attribute ended."""
    exposed = [each for each in outcomes if set(each.stops.values()) != {"already safe"}]
    names = outcomes[0].stops if outcomes else ()
    edits: Counter[str] = Counter()
    for each in outcomes:
        edits.update(each.edits)
    return {
        "documents": len(outcomes),
        "exposed": len(exposed),
        "edited": sum(bool(each.edits) for each in exposed),
        "attributes": {name: dict(Counter(each.stops[name] for each in outcomes)) for name in names},
        "edits": dict(edits),
        "margin": MARGIN,
    }
