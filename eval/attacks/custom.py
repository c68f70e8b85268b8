"""An attack from a user's file."""

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb

from eval.documents import AttackPrompt
from models.errors import ConfigurationError

PARTS = {"name": str, "goal": str, "threat_model": str, "reference": str, "seed": int}
KIND = re.compile(r"[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class CustomAttack:
    """An attack whose prompts were made once, so that every system is asked the same."""

    name: str
    goal: str
    threat_model: str
    reference: str
    seed: int
    drawn: Sequence[AttackPrompt] = field(repr=False)

    def prompts(self) -> Sequence[AttackPrompt]:
        """The prompts in order."""
        return self.drawn


def attack_from(place: str) -> CustomAttack:
    """The attack of a class, ``FILE.py:CLASS``; the file is run, and the class called without arguments.

    Raises:
        ConfigurationError: There is no such file or class, it cannot be run, or it has not the shape of an
            attack.
    """
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not name.isidentifier() or path.suffix != ".py" or not path.is_file():
        raise ConfigurationError(
            f"{place} names no attack: give a Python file and a class in it, as in my_attack.py:Flattery."
        )
    spec = importlib.util.spec_from_file_location(f"lethe_attack_{path.stem}", path.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        made = getattr(module, name)() if hasattr(module, name) else None
        missing = [part for part in (*PARTS, "prompts") if not hasattr(made, part)]
        prompts = [] if made is None or missing else list(made.prompts())
    except Exception as error:
        raise ConfigurationError(
            f"{place} cannot be run ({type(error).__name__}{_line(error, path)}). The class and its "
            "prompts() are called without arguments (docs/extending.md)."
        ) from error
    if made is None:
        raise ConfigurationError(f"{path} has no class {name}.")
    if missing:
        raise ConfigurationError(f"{place} is no attack: it lacks {', '.join(missing)} (docs/extending.md).")
    wrong = [part for part, kind in PARTS.items() if not isinstance(getattr(made, part), kind)]
    if wrong:
        raise ConfigurationError(
            f"{place}: {', '.join(wrong)} is of another type: seed is a whole number, the rest text."
        )
    if not all(isinstance(prompt, AttackPrompt) for prompt in prompts):
        raise ConfigurationError(f"{place}: prompts() gives something else than AttackPrompt.")
    if not prompts or [prompt.number for prompt in prompts] != list(range(len(prompts))):
        raise ConfigurationError(
            f"{place}: its prompts are not numbered 0, 1, 2 and so on, or there are none. Number them so."
        )
    if not all(KIND.fullmatch(prompt.kind) for prompt in prompts):
        raise ConfigurationError(
            f"{place}: the kind of a prompt is one word of at most 40 letters, for it stands in the report."
        )
    return CustomAttack(**{part: getattr(made, part) for part in PARTS}, drawn=tuple(prompts))


def _line(error: Exception, path: Path) -> str:
    """Where in the user's file it happened. The message is left out: it may hold what the file had read."""
    if isinstance(error, SyntaxError):
        return f" in line {error.lineno}"
    frames = extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path.resolve()]
    return f" in line {lines[-1]}" if lines else ""
