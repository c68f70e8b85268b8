"""The command line, made from ``verbs.toml``. Only argparse and its table are read here."""

import argparse
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import Any

from ingest.protecting.targets import SAME_SET, VALUES

_WIDTH = 79
_EXIT_CODES = "exit codes: 0 done, 1 failed in part or whole, 2 misused"
Verbs = Mapping[str, Mapping[str, Any]]


@cache
def verbs() -> Verbs:
    """What is said of each verb, by the words that follow ``lethe``; ``shared`` has options of several."""
    return tomllib.loads((Path(__file__).parent / "verbs.toml").read_text(encoding="utf-8"))


def options_of(name: str) -> list[Mapping[str, Any]]:
    """The options of a verb, as ``add_argument`` takes them but for ``name``, ``type`` and ``either``."""
    shared, found = verbs()["shared"], list[Mapping[str, Any]]()
    for option in verbs()[name].get("options", ()):
        one = shared[option] if isinstance(option, str) else option
        found += one if isinstance(one, list) else [one]
    return found


def parser(only: str = "") -> argparse.ArgumentParser:
    """The whole command line, or of its verbs one alone, which is quicker."""
    top = argparse.ArgumentParser(
        prog="lethe",
        description="Ingest private documents, answer over the sanitized text, see what an attacker gets. "
        "Results are JSON lines on standard output, messages go to standard error.",
        epilog="Example: lethe ingest notes/ -c clinic; `lethe VERB --help` has one for each verb. "
        f"{_EXIT_CODES}. Everything that is kept lies under --data-dir.",
    )
    top.add_argument("--version", action="version", version=f"lethe {version('lethe')}")
    names = [name for name in verbs() if name != "shared" and " " not in name]
    _add_verbs(top, "VERB", [only] if only in names else names, "verb")
    return top


def _add_verbs(verb: argparse.ArgumentParser, metavar: str, names: Iterable[str], dest: str) -> None:
    """Verbs below another. Where one must be named, metavar is not in brackets."""
    required = not metavar.startswith("[")
    below = verb.add_subparsers(
        metavar=metavar, required=required, dest=dest if required else argparse.SUPPRESS
    )
    for name in names:
        about = verbs()[name]
        one = below.add_parser(
            name.split()[-1],
            help=about["help"],
            description=fill(about["about"], _WIDTH),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog=f"Example: {about['example']}\n\n{_EXIT_CODES}"
            f"{', 100 a gate is exceeded' if name == 'audit' else ''}",
        )
        if "run" in about:
            module, _, function = about["run"].partition(":")
            one.set_defaults(module=module, function=function)
            one.add_argument(
                "--data-dir",
                metavar="DIR",
                # The folder that is named before a second verb holds, unless another is named after it.
                default=None if required else argparse.SUPPRESS,
                help="folder of the collections (default LETHE_DATA_DIR, else lethe-data)",
            )
        either: dict[str, Any] = {}
        for option in options_of(name):
            given = dict(option)
            place: Any = one
            if kind := given.pop("either", ""):
                if kind not in either:
                    either[kind] = one.add_mutually_exclusive_group(required=kind == "required")
                place = either[kind]
            if "type" in given:
                given["type"] = _TYPES[given["type"]]
            place.add_argument(*given.pop("name").split(), **given)
        if "verbs" in about:
            _add_verbs(one, about["verbs"], [each for each in verbs() if each.startswith(f"{name} ")], name)


def _words(text: str) -> str:
    """Text that can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8; set the terminal to UTF-8") from None
    return text


def _filled(text: str) -> str:
    """A text that is not empty, as a variable of a shell may be that was not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty")
    return text


def _share(text: str) -> float:
    """A share above 0 and below 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("must be a number above 0 and below 1")
    return value


def _limit(text: str) -> tuple[str, float]:
    """A measure and its limit, as ``linked=0.05``."""
    name, _, value = text.partition("=")
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be a measure and a number from 0 to 1, such as linked=0.05")
    return name, share


def _target(text: str) -> tuple[str, str]:
    """An attribute and its value, as ``occupation=chef``."""
    name, _, value = (part.strip() for part in text.partition("="))
    known = (*VALUES, *SAME_SET)
    if name not in known or not value:
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(known)} and a value, such as occupation=chef"
        )
    return name, value


def _numbers(text: str) -> tuple[float, ...]:
    """Comma-separated numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("must be comma-separated numbers") from None


def _budget(text: str) -> float:
    """An epsilon: above 0, infinity too."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError("must be a number above 0, or inf")
    return value


def _positive(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


_TYPES: Mapping[str, Callable[[str], object]] = {
    "int": int,
    "float": float,
    "words": _words,
    "filled": _filled,
    "share": _share,
    "limit": _limit,
    "target": _target,
    "numbers": _numbers,
    "budget": _budget,
    "positive": _positive,
}
