"""``lethe explain``."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import message, result
from app.cli.given import data_of, readings_of, under_public_ids
from app.compose import system_of
from app.data_dir import DataDir
from app.explaining import (
    UNMEASURED,
    Stretch,
    explanation_page,
    figures,
    original_stretches,
    outcome,
    remarks,
    said,
    sanitized_stretches,
    strictest,
)
from app.policies import own_entities_of, policy_of
from app.rows import explanation_row
from ingest.deciding.policy import Policy
from ingest.documents import Action
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.explain import Explanation
from ingest.private_files import write_private
from models.errors import ConfigurationError, LetheError
from retrieval.system import System

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STATED = (
    "A collection decides by the policy that it was made with: leave out --policy, --fit and --tau, or "
    "leave out --collection."
)
FIGURES = ("P", "K", "D", "S", "bits")
COLORS = {"direct": "red", "quasi": "yellow", "attribute": "blue"}
SCORES = (
    "P marginal privacy risk, K knowledge divergence, D distance from the topic, S priority; under lethe S "
    "is what is said with a fact when it is its turn to stay, of which bits are its own."
)


def run(arguments: argparse.Namespace) -> int:
    """The colored text and a table of its linked entities; on request JSON lines or an HTML page."""
    data = data_of(arguments)
    system = _system(data, arguments)
    system = replace(system, score_all=True)
    policy, sanitizer = system.policy, system.deciding()
    rule = threshold(policy)
    explained: list[Explanation] = []
    failed = 0
    for reading in readings_of(arguments, data.settings):
        if isinstance(reading.item, UnreadableDocument):
            message(str(reading.item))
            failed += 1
            continue
        (document,) = under_public_ids(data, [reading.item])
        try:
            explanation = sanitizer.explain(document)
        except SanitizationError as error:
            message(f"{document.place}: {error}")
            failed += 1
            continue
        if arguments.html:
            explained.append(explanation)
        elif arguments.json:
            result(explanation_row(explanation, policy))
        else:
            _show(explanation, rule, policy)
    if arguments.html:
        _write(Path(arguments.html), explanation_page(explained, rule, policy))
    return 1 if failed else 0


def _system(data: DataDir, arguments: argparse.Namespace) -> System:
    """The configured system, with scale and policy of the collection if one is named."""
    if not arguments.collection:
        return system_of(data.settings)
    stated = arguments.policy or ""
    from_file = stated.lower().endswith(".toml")
    if (arguments.fit, arguments.tau) != (None, None) or (stated and not from_file):
        raise ConfigurationError(_STATED)
    with data.open(arguments.collection) as collection:
        manifest = collection.manifest
    if (
        from_file
        and policy_of(data.settings, own_entities_of(data.settings.policy).labels()) != manifest.policy
    ):
        raise ConfigurationError(_STATED)
    system = system_of(data.settings, made_with=manifest)
    if system.own_entities != manifest.own_entities:
        raise ConfigurationError(
            "The collection was made with other allow-lists, deny-lists or patterns, and does not store "
            "them: give the policy file that it was made with, or write them into the settings."
        )
    return system


def threshold(policy: Policy) -> str:
    """The rule of a policy in a sentence."""
    if not policy.has_threshold:
        return f"Policy {policy.name}: it uses no scores."
    direct = f"direct identifiers go from P {policy.direct_limit:g} on"
    if policy.name == "lethe":
        return (
            f"Policy lethe: {direct}; of the other facts as many stay as leave {policy.k:g} of "
            f"{policy.people:g} people who fit them, {policy.threshold:.2f} bits."
        )
    weights = policy.weights
    return (
        f"Policy {policy.name}: {direct}; the others where S >= {policy.tau:g}, with alpha "
        f"{weights.alpha:g}, beta {weights.beta:g}, gamma {weights.gamma:g}."
    )


def _show(explanation: Explanation, rule: str, policy: Policy) -> None:
    from rich.console import Console
    from rich.text import Text

    screen = Console()
    # What is no Text is read for marks such as [bold], which a document may hold.
    screen.rule(Text(explanation.sanitized.doc_id))
    _print(screen, "As it was read", explanation, list(original_stretches(explanation)))
    _print(screen, "Sanitized", explanation, list(sanitized_stretches(explanation)))
    screen.print(table(explanation))
    for each in (SCORES, rule, *remarks(explanation, policy)):
        screen.print(Text(each))


def table(explanation: Explanation) -> "Table":
    """The decision about each linked entity, in 80 columns or more."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("entity", overflow="fold", ratio=2)
    rows = [figures(each.scores) for each in explanation.entities]
    # What the policy does not measure takes no place: 80 columns are few.
    measured = [n for n in range(len(FIGURES)) if any(row[n] != UNMEASURED for row in rows)]
    for name in ("times", *(FIGURES[n] for n in measured)):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("decision", overflow="fold", ratio=3)
    for each, row in zip(explanation.entities, rows, strict=True):
        cells = (
            f"{said(explanation.text, each)}\n({each.label})",
            str(len(each.mentions)),
            *(row[n] for n in measured),
            outcome(each),
        )
        shown.add_row(*map(Text, cells), style=COLORS[each.identifier])
    return shown


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
    """Readable by its owner only, since it quotes the documents."""
    try:
        write_private(path, page)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{path}: the page could not be written ({reason}). Name another file.") from None
    message(f"explained: {path}. It quotes the documents: keep it where you keep them")
