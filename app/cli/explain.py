"""``lethe explain``."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import message, result
from app.cli.given import services_of
from app.compose import Services
from app.explain_html import explanation_page, figures, said
from app.explain_text import Stretch, original_stretches, sanitized_stretches, strictest
from app.rows import explanation_row
from ingest.documents import Action
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.explain import Explanation
from ingest.policy import Policy
from ingest.read.sources import read_documents
from ingest.scoring.scale import Scale
from models.errors import ConfigurationError, LetheError

if TYPE_CHECKING:
    from rich.console import Console

COLORS = {"direct": "red", "quasi": "yellow", "attribute": "blue"}


def run(arguments: argparse.Namespace) -> int:
    """The text colored and a table of its linked entities; JSON lines or a page of HTML on request."""
    services = services_of(arguments)
    scale, policy = _rule(services, arguments)
    sanitizer = services.sanitizer(scale=scale, policy=policy)
    told = threshold(policy)
    explained: list[Explanation] = []
    failed = 0
    for reading in read_documents(
        arguments.paths, text_field=arguments.text_field, id_field=arguments.id_field, stdin=sys.stdin.buffer
    ):
        if isinstance(reading.item, UnreadableDocument):
            message(str(reading.item))
            failed += 1
            continue
        try:
            explanation = sanitizer.explain(reading.item)
        except SanitizationError as error:
            message(str(error))
            failed += 1
            continue
        if arguments.html:
            explained.append(explanation)
        elif arguments.json:
            result(explanation_row(explanation))
        else:
            _show(explanation, told)
    if arguments.html:
        _write(Path(arguments.html), explanation_page(explained, told))
    return 1 if failed else 0


def _rule(services: Services, arguments: argparse.Namespace) -> tuple[Scale, Policy]:
    """The scale and policy of the collection that is named, without one those of the settings."""
    if not arguments.collection:
        return services.scale, services.policy
    if arguments.policy or arguments.tau is not None:
        raise ConfigurationError(
            "A collection decides by the policy that it was made with: leave out --policy and --tau, or "
            "leave out --collection."
        )
    with services.open(arguments.collection) as collection:
        return collection.manifest.scale, collection.manifest.policy


def threshold(policy: Policy) -> str:
    """The rule of a policy in a sentence."""
    if policy.name != "trip":
        return f"Policy {policy.name}: it asks for no scores."
    weights = policy.weights
    return (
        f"Policy trip: generalized where S >= {policy.tau:g}, with alpha {weights.alpha:g}, beta "
        f"{weights.beta:g}, gamma {weights.gamma:g}; direct identifiers from P {policy.direct_limit:g} on, "
        f"quasi-identifiers from {policy.quasi_limit:g}; residual risk of a passage at most "
        f"{policy.residual_limit:g}."
    )


def _show(explanation: Explanation, told: str) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    screen = Console()
    sanitized = explanation.sanitized
    # What is no Text is read for marks such as [bold], which a document may hold.
    screen.rule(Text(sanitized.doc_id))
    _print(screen, "As it was read", explanation, list(original_stretches(explanation)))
    _print(screen, "Sanitized", explanation, list(sanitized_stretches(explanation)))
    table = Table(box=SIMPLE, pad_edge=False)
    for name in ("entity", "label"):
        table.add_column(name, overflow="fold")
    for name in ("times", "P", "K", "D", "S"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("decision", no_wrap=True)
    table.add_column("because", overflow="fold")
    for each in explanation.entities:
        cells = (said(explanation.text, each), each.label, str(len(each.mentions)), *figures(each.scores))
        told_of = (*cells, str(each.action), each.reason)
        table.add_row(*map(Text, told_of), style=COLORS[each.identifier])
    screen.print(table)
    screen.print(f"{told} Risk {sanitized.risk.before:.3f} before, {sanitized.risk.after:.3f} after.")


def _print(screen: "Console", title: str, explanation: Explanation, stretches: Sequence[Stretch]) -> None:
    from rich.text import Text

    text = Text()
    for words, entities in stretches:
        style = ""
        if entities:
            shown = strictest(explanation, entities)
            kept = shown.action is Action.KEEP
            style = f"{'underline' if kept else 'bold reverse'} {COLORS[shown.identifier]}"
        text.append(words, style)
    screen.print(f"\n[dim]{title}[/dim]")
    screen.print(text)


def _write(path: Path, page: str) -> None:
    """For its owner's eyes only, since it quotes the documents."""
    try:
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as f:
            # A file that was there keeps its mode when it is opened.
            path.chmod(0o600)
            f.write(page)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(
            f"{path}: the page could not be written ({reason}). Name a file that can be."
        ) from None
    message(f"explained: {path}. It quotes the documents: keep it where you keep them")
