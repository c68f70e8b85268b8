"""IncogniText: an adversary infers an attribute, a rewriter answers it, until the inference fails.

Frikha et al. (2024). Its six variants differ in what the rewriter and the adversary know, and in whether the
loop ends early; the one without a target, with inferences and without an early end is the feedback-guided
anonymization of Staab et al. (2024), Large Language Models are Advanced Anonymizers. The prompts are our own.
With a target the text says something false: it is for the messages of an author who wants that, and no
knowledge base may take it for true.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from ingest.annotated import AnnotatedText
from ingest.protecting.adversary import Inference, ModelAdversary
from ingest.protecting.targets import Draw, Same
from models.errors import ConfigurationError
from models.language.asking import Asker
from models.language.batch_files import of_each
from models.language.prompts import prompt
from models.language.protocol import ChatMessage, behind_mark

ROUNDS = 3
"""At most; four of five texts of the paper need one."""
Stop = Literal["already safe", "no longer inferred", "not inferred", "rounds", "not rewritten"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the paper's settings: is there a target, what the rewriter sees, and is there an early end.

    ``hinted`` says that the adversary is told the true values and looks for what gives them away.
    """

    name: str
    target: bool
    sees_inference: bool
    sees_truth: bool
    early_stopping: bool = True
    hinted: bool = False


INCOGNITEXT = Variant("incognitext", target=True, sees_inference=True, sees_truth=True)
FEEDBACK = Variant("feedback", target=False, sees_inference=True, sees_truth=False, early_stopping=False)
VARIANTS: Mapping[str, Variant] = {
    each.name: each
    for each in (
        INCOGNITEXT,
        FEEDBACK,
        Variant("feedback-early", target=False, sees_inference=True, sees_truth=False),
        Variant("target-inference", target=True, sees_inference=True, sees_truth=False),
        Variant("target-truth", target=True, sees_inference=False, sees_truth=True),
        Variant("target-hinted", target=True, sees_inference=True, sees_truth=True, hinted=True),
    )
}
"""By name, in the order of the paper's ablation but for the first."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A text of an author, and the same rewritten toward a false value of one attribute. Private."""

    author: str = field(repr=False)
    attribute: str
    truth: str = field(repr=False)
    target: str = field(repr=False)
    original: str = field(repr=False)
    rewritten: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Protected:
    """What became of a text, by attribute. Private, but for counts.

    ``stops`` says why each loop ended; "already safe" is no success of the rewriter. ``rounds`` counts
    rewritings. ``pairs`` are of rewritings toward a target that misled the adversary.
    """

    stops: dict[str, Stop] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list, repr=False)


@dataclass(slots=True)
class Incognito:
    """Rewrites each text against the inference of what is true of its author; ``outcomes`` are by text.

    ``authors`` has, by text, the name or number of its author and the true value of each attribute to
    protect; a text without an author stays as it is. The adversary guesses at ``attributes``, and ``same``
    says whether a guess means the truth. ``draw`` chooses targets, for a variant that has one.
    """

    variant: Variant
    asker: Asker = field(repr=False)
    attributes: Sequence[str]
    authors: Mapping[str, tuple[str, Mapping[str, str]]] = field(repr=False)
    same: Same = field(repr=False)
    draw: Draw = field(repr=False)
    outcomes: dict[str, Protected] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The variant, the model and both prompts of the rewriter."""
        engine = self.asker.engine(prompt("rewrite_toward"))
        return f"{self.variant.name}, rewriter ({engine}, {prompt('rewrite_without').label})"

    @property
    def truthful(self) -> bool:
        """Whether nothing was rewritten toward a target."""
        rewritten = any(any(each.rounds.values()) for each in self.outcomes.values())
        return not (self.variant.target and rewritten)

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The rewritten texts. Raises ModelUnavailable where a model could not be reached or failed."""

        def written(text: str) -> str:
            return self._protected(text) if text in self.authors else text

        return of_each(written, [each.text for each in texts])

    def _protected(self, original: str) -> str:
        """The text after the loops of all attributes, one after the other (Algorithm 1)."""
        author, truths = self.authors[original]
        adversary = ModelAdversary(self.asker, self.attributes, truths if self.variant.hinted else {})
        text, outcome = original, Protected()
        for attribute, truth in truths.items():
            target = self.draw(author, attribute, truth) if self.variant.target else None
            after, stop, rounds = self._against(adversary, text, attribute, truth, target)
            outcome.stops[attribute], outcome.rounds[attribute] = stop, rounds
            if target is not None and stop == "no longer inferred":
                outcome.pairs.append(Pair(author, attribute, truth, target, text, after))
            text = after
        self.outcomes[original] = outcome
        return text

    def _against(
        self, adversary: ModelAdversary, text: str, attribute: str, truth: str, target: str | None
    ) -> tuple[str, Stop, int]:
        """The text after the rounds against one attribute, why they ended, and how many rewrote it."""
        for number in range(ROUNDS):
            inference = adversary.infer([text])[0].get(attribute)
            right = inference is not None and self.same(attribute, inference.guesses[0], truth)
            if self.variant.early_stopping and not right:
                # An adversary that did not answer was not misled.
                misled: Stop = "no longer inferred" if number else "already safe"
                return text, "not inferred" if inference is None else misled, number
            shown = _knowledge(
                truth if self.variant.sees_truth else None,
                inference if self.variant.sees_inference else None,
            )
            if (new := self._rewritten(text, attribute, target, shown)) is None:
                return text, "not rewritten", number
            text = new
        return text, "rounds", ROUNDS

    def _rewritten(self, text: str, attribute: str, target: str | None, shown: str) -> str | None:
        """The text in other words; None where the answer could not be read, or would be cut off."""
        asked = prompt("rewrite_without" if target is None else "rewrite_toward")
        slots = {"attribute": attribute, "target": target or "", "knowledge": shown, "text": text}
        return self.asker.all(asked, [slots], behind_mark)[0] if self.asker.has_room(asked, text) else None


def _knowledge(truth: str | None, inference: Inference | None = None) -> str:
    """What a rewriter is told of the truth and of an inference, in lines."""
    lines = [] if truth is None else [f"True value: {truth}"]
    if inference is not None:
        lines.append(f"A reader guessed: {'; '.join(inference.guesses)}")
        if inference.reasoning:
            lines.append(f"The reader's reasons: {inference.reasoning}")
    return "".join(f"{line}\n" for line in lines)


def conversation(pair: Pair) -> list[ChatMessage]:
    """What a rewriter is told that knows truth and target, and how it answers."""
    slots = {"attribute": pair.attribute, "target": pair.target, "knowledge": _knowledge(pair.truth)}
    asked = prompt("rewrite_toward").messages(**slots, text=pair.original)
    return [*asked, ChatMessage("assistant", f"#\n{pair.rewritten}")]


def pairs_text(pairs: Sequence[Pair]) -> str:
    """The pairs as JSON lines, each also as ``messages`` of a chat, for other trainers."""
    rows = [{**asdict(each), "messages": list(map(asdict, conversation(each)))} for each in pairs]
    return "".join(json.dumps(row) + "\n" for row in rows)


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
    names = [each.name for each in fields(Pair)]
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    values: list[Any] = [row.get(name) if isinstance(row, dict) else None for name in names]
    if not all(isinstance(value, str) and value.strip() for value in values):
        raise ConfigurationError(
            f"Line {number} of {path} is no pair: it needs {', '.join(names)}, each with words."
        )
    return Pair(*values)
