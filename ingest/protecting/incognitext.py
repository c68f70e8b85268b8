"""IncogniText: an adversary infers an attribute, a rewriter answers it, until the inference fails.

Frikha et al. (2024). Its six variants differ in what the rewriter and the adversary know, and in whether the
loop ends early; the one without a target, with inferences and without an early end is the feedback-guided
anonymization of Staab et al. (2024). With a target the text says something false: it is for the messages of
an author who wants that, and no knowledge base may take it for true.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.protecting.protocols import Adversary, Inference, Rewriter, Wanted

ROUNDS = 3
"""At most; four of five texts of the paper need one."""
Same = Callable[[str, str, str], bool]
"""Whether, of an attribute, a guess says the same as the truth."""
Stop = Literal["already safe", "no longer inferred", "not inferred", "rounds", "not rewritten"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the paper's settings: is there a target, what the rewriter sees, and is there an early end.

    ``hinted`` says that the adversary is told the true value and looks for what gives it away: such a variant
    takes an adversary that was made for the truths of its text.
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
class Protected:
    """A text against the inference of its attributes. Private, but for counts.

    ``stops`` says by attribute why its loop ended; "already safe" is no success of the rewriter. ``rounds``
    counts rewritings by attribute. ``truthful`` is false if any rewriting had a target. ``steps`` has by
    attribute the text before and after its loop.
    """

    text: str = field(repr=False)
    stops: Mapping[str, Stop]
    rounds: Mapping[str, int]
    truthful: bool
    history: Mapping[str, Sequence[Inference]] = field(repr=False)
    steps: Mapping[str, tuple[str, str]] = field(repr=False)


def protected(
    text: str,
    truths: Mapping[str, str],
    targets: Mapping[str, str],
    variant: Variant,
    adversary: Adversary,
    rewriter: Rewriter,
    same: Same,
    rounds: int = ROUNDS,
) -> Protected:
    """Rewrite ``text`` for each attribute of ``truths`` in order, one after the other (Algorithm 1).

    ``targets`` are by attribute, for variants that have one. Raises as adversary and rewriter do, and
    KeyError for an attribute without a target.
    """
    stops: dict[str, Stop] = {}
    counts: dict[str, int] = {}
    history: dict[str, list[Inference]] = {}
    steps: dict[str, tuple[str, str]] = {}
    rewritten = False
    for attribute, truth in truths.items():
        target = targets[attribute] if variant.target else None
        history[attribute], before = [], text
        stops[attribute], counts[attribute] = "rounds", 0
        for number in range(rounds):
            inference = adversary.infer([text])[0].get(attribute)
            if inference is not None:
                history[attribute].append(inference)
            right = inference is not None and same(attribute, inference.guesses[0], truth)
            if variant.early_stopping and inference is None:
                # An adversary that did not answer was not misled.
                stops[attribute] = "not inferred"
                break
            if variant.early_stopping and not right:
                stops[attribute] = "no longer inferred" if number else "already safe"
                break
            wanted = Wanted(
                attribute,
                target,
                truth if variant.sees_truth else None,
                inference if variant.sees_inference else None,
            )
            if (new := rewriter.rewrite(text, wanted)) is None:
                stops[attribute] = "not rewritten"
                break
            text, rewritten = new, True
            counts[attribute] += 1
        steps[attribute] = before, text
    return Protected(text, stops, counts, not (variant.target and rewritten), history, steps)
