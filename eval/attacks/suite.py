"""Several aims of the extraction attack as one attack, for one table in a report; an attack from a file."""

import importlib.util
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from traceback import extract_tb

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.attacks.judging import attempts
from eval.documents import AttackPrompt, Attempt
from eval.protocols import Target
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


@dataclass(frozen=True, slots=True)
class ExtractionSuite:
    """The parts in sequence, with prompts numbered consecutively; ``kind`` names the part."""

    parts: tuple[ExtractionAttack, ...]

    @property
    def name(self) -> str:
        """``extraction`` and the aims."""
        return f"extraction ({', '.join(part.aim for part in self.parts)})"

    @property
    def goal(self) -> str:
        """That of the parts."""
        return self.parts[0].goal

    @property
    def threat_model(self) -> str:
        """That of the parts."""
        return self.parts[0].threat_model

    @property
    def reference(self) -> str:
        """That of the parts."""
        return self.parts[0].reference

    @property
    def seed(self) -> int:
        """The seed that all parts share."""
        return self.parts[0].seed

    def prompts(self) -> list[AttackPrompt]:
        """The prompts of all parts."""
        found = [prompt for part in self.parts for prompt in part.prompts()]
        return [replace(prompt, number=number) for number, prompt in enumerate(found)]


def extraction_suite(aims: Sequence[Aim], n: int, seed: int) -> ExtractionSuite:
    """``n`` prompts of each aim."""
    return ExtractionSuite(tuple(ExtractionAttack(aim, n, seed) for aim in aims))


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The prompts of a suite as an attack that could adapt and does not: a control of those that do.

    The aims take turns, so that a small budget has a part of each.
    """

    suite: ExtractionSuite

    name = "suite"
    goal = ExtractionAttack.goal
    threat_model = ExtractionAttack.threat_model
    reference = ExtractionAttack.reference

    @property
    def seed(self) -> int:
        """That of the suite."""
        return self.suite.seed

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """As many prompts as the budget allows and the suite has."""
        return attempts(target, in_turns(self.suite)[:budget])


def in_turns(suite: ExtractionSuite) -> list[AttackPrompt]:
    """Its prompts, the first of each part, then the second, numbered anew."""
    turns = zip_longest(*(part.prompts() for part in suite.parts))
    prompts = [prompt for turn in turns for prompt in turn if prompt is not None]
    return [replace(prompt, number=number) for number, prompt in enumerate(prompts)]
