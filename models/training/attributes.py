"""Training the heads of the attribute attack: penalized conditional logits on texts of known people."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from models.attributes import Floats, Head, KnownTexts, Learned, Places

NAMES = 2_400
"""Names of invented people."""
LOCALES = "en_US en_GB en_IN en_PH en_NZ en_IE en_CA en_AU de_DE fr_FR es_ES it_IT".split()


@dataclass(frozen=True, slots=True)
class AttributeRecipe:
    """Hyperparameters of the shipped heads. The penalties are on squared weights, per text."""

    seed: int = 20261124
    folds: int = 5
    vector_penalty: float = 0.003
    clue_penalty: float = 0.001
    prior_penalty: float = 0.05
    steps: int = 200


def fit_head(
    attribute: str, values: Sequence[str], learned: Learned, recipe: AttributeRecipe, *, reads_vectors: bool
) -> Head:
    """The head with the least penalized loss; the same texts give the same head."""
    import torch

    numbers = learned.vectors.shape[1] if reads_vectors else 0
    vectors, clues = torch.from_numpy(learned.vectors), torch.from_numpy(learned.clues)
    truths = torch.from_numpy(learned.truths.astype(np.int64))
    weights = torch.from_numpy(learned.weights / learned.weights.sum())
    priors, shared, mapped = (
        torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        for shape in ((len(values),), (clues.shape[2],), (len(values), numbers))
    )
    optimizer = torch.optim.LBFGS(
        [priors, shared, mapped], max_iter=recipe.steps, line_search_fn="strong_wolfe", tolerance_change=1e-9
    )

    penalties = (
        *((priors, recipe.prior_penalty), (shared, recipe.clue_penalty)),
        (mapped, recipe.vector_penalty),
    )

    def loss() -> "torch.Tensor":
        optimizer.zero_grad()
        scores = priors + clues @ shared
        if numbers:
            scores = scores + vectors @ mapped.T
        told = torch.log_softmax(scores, dim=1)[torch.arange(len(truths)), truths]
        total = -(weights * told).sum()
        for part, penalty in penalties:
            total = total + penalty * part.square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    one, two, three = (each.detach().numpy() for each in (priors, shared, mapped))
    return Head(attribute, tuple(values), one, two, three, np.ones(1))


@dataclass(frozen=True, slots=True)
class KeptApart:
    """How a head does on people that it did not learn from.

    ``figures`` are by corpus: the texts, and the shares that are right, that have the truth among three
    guesses, and that the most frequent value is right for.
    """

    told: Floats = field(repr=False)
    figures: dict[str, dict[str, float]]

    @property
    def beats_prior(self) -> bool:
        """Whether more is right than by guessing each corpus's most frequent value."""
        gains = [each["texts"] * (each["right"] - each["most_frequent"]) for each in self.figures.values()]
        return sum(gains) > 0


def folds_of(groups: Sequence[str], folds: int) -> Places:
    """The fold of each text; all texts of a group are in one."""
    return np.array([crc32(group.encode()) % folds for group in groups], np.int64)


def fit(texts: KnownTexts, recipe: AttributeRecipe, without: NDArray[np.bool_] | None = None) -> Head:
    """A head of the texts and the further ones, but for those of the corpora that ``without`` marks."""
    learned = texts.learned if without is None else texts.learned.at(np.flatnonzero(~without))
    together = joined([learned, *texts.further])
    return fit_head(texts.attribute, texts.values, together, recipe, reads_vectors=texts.reads_vectors)


def joined(parts: Sequence[Learned]) -> Learned:
    """The texts of all parts."""
    names = ("vectors", "clues", "truths", "weights")
    return Learned(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def kept_apart(texts: KnownTexts, recipe: AttributeRecipe) -> KeptApart:
    """Each text guessed at by a head that learned from the other folds."""
    learned, folds = texts.learned, folds_of(texts.groups, recipe.folds)
    told = np.zeros((len(folds), len(texts.values)))
    for fold in sorted(set(folds.tolist())):
        head = fit(texts, recipe, folds == fold)
        told[folds == fold] = head.probabilities(learned.vectors[folds == fold], learned.clues[folds == fold])
    figures: dict[str, dict[str, float]] = {}
    for corpus in sorted(set(texts.corpora)):
        places = np.flatnonzero(np.array(texts.corpora) == corpus)
        order = np.argsort(-told[places], axis=1, kind="stable")
        truths = learned.truths[places]
        figures[corpus] = {
            "texts": len(places),
            "right": round(float((order[:, 0] == truths).mean()), 4),
            "among_three": round(float((order[:, :3] == truths[:, None]).any(1).mean()), 4),
            "most_frequent": round(max(Counter(truths.tolist()).values()) / len(places), 4),
        }
    return KeptApart(told, figures)


def trained_head(
    texts: KnownTexts, recipe: AttributeRecipe, report: Callable[[str], None]
) -> tuple[Head, KeptApart]:
    """The head of all texts, with probabilities corrected on people kept apart, and how it does on these."""
    found = kept_apart(texts, recipe)
    spread = temperature(found.told, texts.learned.truths)
    report(texts.attribute)
    return replace(fit(texts, recipe), spread=np.array([spread])), found


def temperature(told: Floats, truths: Places) -> float:
    """What scores have to be divided by, from probabilities of texts kept apart, of shape (texts, values)."""
    scores = np.log(told.clip(1e-12))

    def loss(divisor: float) -> float:
        return -float(log_softmax(scores / divisor, axis=1)[np.arange(len(truths)), truths].mean())

    return min((float(each) for each in np.geomspace(0.5, 5, 41)), key=loss)


def invented_names(count: int, seed: int) -> list[tuple[str, str]]:
    """Names of invented people of several countries, with their sex."""
    from faker import Faker

    found = []
    for number, locale in enumerate(LOCALES):
        source = Faker(locale)
        source.seed_instance(seed + number)
        for _ in range(count // len(LOCALES) // 2):
            found += [(source.first_name_female(), "female"), (source.first_name_male(), "male")]
    return found
