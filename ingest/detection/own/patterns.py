"""Users' own patterns: regular expressions with a check, which cannot hang or match the empty string."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ingest.detection.own.lists import OwnPattern
from ingest.detection.patterns.checksums import is_luhn, is_mod97
from ingest.documents import Entity, Span
from ingest.labels import label_of
from models.errors import ConfigurationError

PROBE_SECONDS = 0.5
"""CPU seconds for one probe of 2,000 characters; a sound expression needs milliseconds."""

PROBE_CHARACTERS = 2_000

SECONDS, SECONDS_PER_CHARACTER = 5.0, 2e-5
"""CPU seconds per pattern and document. Beyond it the document is not indexed."""

_ANYTHING = ("a", "A", "0", " ", "-", ".", "a ", "0 ", "aA0", "a-", "0-", "é")
_LITERAL = re.compile(r"[^\s\\()\[\]{}|?*+^$]+")
_PIECE = re.compile(r"[^\W_]+|[^\w\s\\]")


@dataclass(frozen=True, slots=True)
class ReadyPattern:
    """A pattern with its compiled expression and imported check."""

    pattern: OwnPattern
    _regex: Any = field(repr=False)
    _passes: Callable[[str], bool] = field(repr=False)

    def found(self, text: str) -> Iterator[Entity]:
        """Every match that passes the check, not linked.

        Raises:
            TimeoutError: It took longer than the limit for a text of this length.
        """
        label, group = label_of(self.pattern.label), "id" if "id" in self._regex.groupindex else 0
        most = SECONDS + SECONDS_PER_CHARACTER * len(text)
        for match in self._regex.finditer(text, timeout=most):
            start, end = match.span(group)
            if start < end and self._passes(match[group]):
                source = f"own:{self.pattern.name}"
                yield Entity(
                    Span(start, end), label.name, label.identifier, 1.0, source, required=self.pattern.rigid
                )


def ready(pattern: OwnPattern) -> ReadyPattern:
    """Compile a pattern.

    Raises:
        ConfigurationError: The expression is invalid, matches the empty string or takes too long, or the
            check does not exist. The message names the pattern and does not quote its expression.
    """
    return ReadyPattern(pattern, _compiled(pattern), _check_of(pattern))


def _compiled(pattern: OwnPattern) -> Any:
    # unlike re, it supports timeouts
    import regex

    try:
        compiled = regex.compile(pattern.regex)
    except regex.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise _refused(pattern, f"its expression cannot be read{place}; correct it there") from None
    try:
        if compiled.search("", timeout=PROBE_SECONDS):
            raise _refused(pattern, "its expression matches the empty string; make it require a character")
        for probe in _probes(pattern.regex):
            for _ in compiled.finditer(probe, timeout=PROBE_SECONDS):
                pass
    except TimeoutError:
        raise _refused(
            pattern,
            "its expression takes too long on a text of 2,000 characters; leave out repetitions within "
            "repetitions, and alternatives that begin alike",
        ) from None
    return compiled


def _probes(expression: str) -> Iterator[str]:
    """Texts on which an ambiguous expression backtracks: its own pieces repeated, then a mismatch.

    They end with the characters that the expression may require, since without those no search starts.
    """
    pieces = _LITERAL.findall(expression) + _PIECE.findall(expression)
    end = f"\0{expression}\0{''.join(pieces)}"
    for piece in dict.fromkeys((*_ANYTHING, *pieces)):
        yield piece * (PROBE_CHARACTERS // len(piece) + 1) + end


def _check_of(pattern: OwnPattern) -> Callable[[str], bool]:
    known = {"": _anything, "luhn": is_luhn, "mod97": _is_mod97}
    if pattern.check in known:
        return known[pattern.check]
    module, colon, function = pattern.check.partition(":")
    if not colon and pattern.check.startswith("stdnum."):
        function = "is_valid"
    if not function:
        raise _refused(
            pattern, "its check is none of luhn, mod97, stdnum.<module> and module:function; take one"
        )
    try:
        found = getattr(import_module(module), function)
    except Exception as error:
        raise _refused(
            pattern,
            f"its check cannot be imported ({type(error).__name__}); name a function of a module that Python "
            "finds, with its folder in PYTHONPATH",
        ) from None
    if not callable(found):
        raise _refused(pattern, "its check is no function; name one")
    checking: Callable[[str], bool] = found
    return checking


def _anything(value: str) -> bool:
    return True


def _is_mod97(value: str) -> bool:
    kept = "".join(char for char in value if char.isascii() and char.isalnum())
    return len(kept) > 4 and is_mod97(kept)


def _refused(pattern: OwnPattern, reason: str) -> ConfigurationError:
    return ConfigurationError(f"The pattern {pattern.name!r}: {reason}.")
