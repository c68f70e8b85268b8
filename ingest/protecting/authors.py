"""IncogniText over the texts of known authors, as a sanitizer rewrites texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.annotated import AnnotatedText
from ingest.protecting.incognitext import ROUNDS, Protected, Same, Variant, protected
from ingest.protecting.pairs import Pair
from ingest.protecting.protocols import Adversary, Rewriter
from ingest.protecting.targets import Draw


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a text, by a name or number, and the true value of each attribute to protect. Private."""

    author: str = field(repr=False)
    truths: Mapping[str, str] = field(repr=False)


@dataclass(slots=True)
class Incognito:
    """Rewrites each text against the inference of what is true of its author; ``outcomes`` are by text.

    ``adversary`` makes the adversary for the truths that a variant shows it, and for none. ``draw`` chooses
    targets, for a variant that has one. A text without an author stays as it is.
    """

    variant: Variant
    adversary: Callable[[Mapping[str, str]], Adversary] = field(repr=False)
    rewriter: Rewriter
    authors: Mapping[str, Author] = field(repr=False)
    same: Same = field(repr=False)
    draw: Draw = field(repr=False)
    rounds: int = ROUNDS
    outcomes: dict[str, Protected] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The variant and the rewriter."""
        return f"{self.variant.name}, {self.rewriter.name}"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The rewritten texts. Raises ModelUnavailable where a model could not be reached or failed."""
        return [self._rewritten(each.text) for each in texts]

    def pairs(self) -> Iterator[Pair]:
        """Texts before and after a rewriting toward a target that misled the adversary, one an attribute."""
        for text, outcome in self.outcomes.items():
            author = self.authors[text]
            for attribute, (before, after) in outcome.steps.items():
                if self.variant.target and outcome.stops[attribute] == "no longer inferred":
                    truth = author.truths[attribute]
                    target = self.draw(author.author, attribute, truth)
                    yield Pair(author.author, attribute, truth, target, before, after)

    def _rewritten(self, text: str) -> str:
        author = self.authors.get(text)
        if author is None:
            return text
        targets = {
            attribute: self.draw(author.author, attribute, truth)
            for attribute, truth in author.truths.items()
            if self.variant.target
        }
        outcome = protected(
            text,
            author.truths,
            targets,
            self.variant,
            self.adversary(author.truths if self.variant.hinted else {}),
            self.rewriter,
            self.same,
            self.rounds,
        )
        self.outcomes[text] = outcome
        return outcome.text
