"""Texts before and after IncogniText: what a small model can learn from, after Frikha et al. (2024)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ingest.protecting.by_model import knowledge
from ingest.protecting.protocols import Wanted
from models.errors import ConfigurationError
from models.language.prompts import prompt
from models.language.protocol import ChatMessage

FIELDS = ("author", "attribute", "truth", "target", "original", "rewritten")


@dataclass(frozen=True, slots=True)
class Pair:
    """A text of an author, and the same rewritten toward a false value of one attribute. Private."""

    author: str = field(repr=False)
    attribute: str
    truth: str = field(repr=False)
    target: str = field(repr=False)
    original: str = field(repr=False)
    rewritten: str = field(repr=False)


def pairs_text(pairs: Sequence[Pair]) -> str:
    """The pairs as JSON lines, each also as ``messages`` of a chat, for other trainers."""
    return "".join(json.dumps({**asdict(pair), "messages": _messages(pair)}) + "\n" for pair in pairs)


def _messages(pair: Pair) -> list[dict[str, str]]:
    return [{"role": each.role, "content": each.content} for each in conversation(pair)]


def read_pairs(path: Path) -> list[Pair]:
    """The pairs in a file of JSON lines.

    Raises:
        ConfigurationError: The file cannot be read, or a line is no pair; the message quotes nothing of it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} could not be read ({type(error).__name__}).") from None
    return [_pair(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _pair(path: Path, number: int, line: str) -> Pair:
    try:
        row = json.loads(line)
        values = [row[name] for name in FIELDS]
    except (ValueError, KeyError, TypeError, RecursionError):
        values = [None]
    if not all(isinstance(value, str) and value.strip() for value in values):
        raise ConfigurationError(
            f"Line {number} of {path} is no pair: it needs {', '.join(FIELDS)}, each with words."
        )
    return Pair(*values)


def conversation(pair: Pair) -> list[ChatMessage]:
    """What a rewriter is told that knows truth and target, and how it answers."""
    asked = prompt("rewrite_toward").messages(
        attribute=pair.attribute,
        target=pair.target,
        knowledge=knowledge(Wanted(pair.attribute, truth=pair.truth)),
        text=pair.original,
    )
    return [*asked, ChatMessage("assistant", f"#\n{pair.rewritten}")]
