"""LPRAG (He et al. 2025): entities replaced by random ones under local differential privacy."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.local_privacy import (
    LEAST_EPSILON,
    MOST_EPSILON,
    exponential,
    perturbed_number,
    randomized_response,
)
from ingest.deciding.baselines.lprag_domains import DOMAINS, Numbers, Words, vocabulary
from ingest.deciding.policy import DEFAULT
from ingest.documents import Action, Decision, Entity
from ingest.labels import label_of
from ingest.language.vocabulary import WORD, fold
from ingest.protocols import Encoder, Hazards
from ingest.scoring.engine import named_by
from models.errors import ConfigurationError
from models.vectors import Vectors

Mode = Literal["ldp", "compat"]

NEIGHBORS = 5
CONSTANT = "a descriptor, the same for every value: costs no privacy budget"
FILLERS = frozenset(
    ("year", "years", "yr", "yrs", "month", "months", "week", "weeks", "day", "days", "old", "aged", "age")
)
"""Words around a number that the compatible mode keeps."""


class Lprag:
    """Replaces every entity: by a draw from its label's public domain, or by a constant descriptor.

    **Mode "ldp"** has a guarantee. Let the spans, labels and links of a text's mentions be public, and let n
    links have a label with a domain (``lprag_domains.DOMAINS``). The replacement of each of these n linked
    entities is epsilon/n-locally differentially private in its value, and all of them together epsilon
    (sequential composition): for any two sets of values, the probabilities of any outcome differ by a factor
    of at most e^epsilon. All other mentions become constants and cost no budget. The exponential mechanism
    draws words from the label's fixed list, which need not contain the input; the utility is the encoder's
    cosine, mapped to [0, 1]. The piecewise mechanism draws numbers and dates on a fixed range, rounded and
    clipped, in one wording. Mentions of one link share one draw.

    The guarantee does not cover words outside the mentions, undetected mentions, the links and labels, or
    risks measured on the raw text. Sanitizing a document again spends epsilon again, and several documents
    about one person add up. The factor holds up to floating-point rounding: see ``local_privacy``.

    **Mode "compat"** follows the paper's code for comparison and has no formal guarantee. Each distinct word
    of a linked entity is kept with e^eps / (e^eps + 5) or else becomes one of its five nearest words in one
    vocabulary. These depend on the word, so two words have different possible replacements, and a replacement
    may rule a word out. Figures go through the piecewise mechanism on (0, 100), or (0, 120) for ages; filler
    words like "years old", case and separators are kept. The budget is split equally over linked entities,
    then equally over the distinct words of each. The paper's code weights entities by the norm of their
    embeddings, which is data too, and a key mismatch gives most words a tenth of the whole budget instead;
    our encoders give unit vectors, all of one weight. Rigid identifiers become descriptors, which the paper's
    code does not do.

    ``epsilon`` is the budget of a document, in [0.001, 700]; the paper's code has 3.0, TRIP-RAG's comparison
    5.0. ``rng`` defaults to the operating system's source. A seeded one makes a run repeatable, and protects
    nothing from a reader who knows the seed. Raises ConfigurationError for a budget outside that range.
    """

    def __init__(
        self,
        encoder: Encoder,
        mode: Mode = "ldp",
        epsilon: float = DEFAULT.epsilon,
        rng: random.Random | None = None,
    ) -> None:
        if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
            raise ConfigurationError(
                f"The privacy budget epsilon of lprag is {epsilon}; "
                f"set it to a number from {LEAST_EPSILON:g} to {MOST_EPSILON:g}."
            )
        drawing = random.SystemRandom() if rng is None else rng
        self._epsilon = epsilon
        self._rewording: _FixedDomains | _Neighborhoods = (
            _FixedDomains(encoder, drawing) if mode == "ldp" else _Neighborhoods(encoder, drawing)
        )

    @property
    def name(self) -> str:
        """``lprag``, or ``lprag-compat`` for the mode without guarantee."""
        return self._rewording.name

    def budget(self, text: AnnotatedText) -> Mapping[int, float]:
        """The epsilon of each perturbed link; they sum to the document's, if there are any."""
        links = dict.fromkeys(
            entity.link for entity in text.entities if self._rewording.perturbs(entity.label)
        )
        return {link: self._epsilon / len(links) for link in links}

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention: drawn words, or the descriptor. Nothing is kept."""
        return [self._decide(text) for text in texts]

    def _decide(self, text: AnnotatedText) -> list[Decision]:
        reworded = self._rewording.reword(text, self.budget(text))
        return [
            Decision(entity, None, Action.SURROGATE, self._rewording.reason, reworded[entity])
            if entity in reworded
            else Decision(entity, None, Action.GENERALIZE, CONSTANT)
            for entity in text.entities
        ]


class _FixedDomains:
    """One draw per linked entity, from the domain of its first mention that has one."""

    name = "lprag"
    reason = "drawn from a public domain under local differential privacy"

    def __init__(self, encoder: Encoder, rng: random.Random) -> None:
        self._encoder = encoder
        self._rng = rng
        self._vectors: dict[Words, Vectors] = {}

    def perturbs(self, label: str) -> bool:
        return label in DOMAINS

    def reword(self, text: AnnotatedText, budget: Mapping[int, float]) -> Mapping[Entity, str]:
        drawn_for = {
            link: [mention for mention in mentions if self.perturbs(mention.label)]
            for link, mentions in text.mentions().items()
            if link in budget
        }
        said = {link: _said(text, mentions) for link, mentions in drawn_for.items()}
        domains = {link: DOMAINS[mentions[0].label] for link, mentions in drawn_for.items()}
        worded = [link for link, domain in domains.items() if isinstance(domain, Words)]
        encoded = dict(zip(worded, self._encoder.encode([said[link] for link in worded]), strict=True))
        reworded: dict[Entity, str] = {}
        for link, mentions in drawn_for.items():
            domain = domains[link]
            if isinstance(domain, Words):
                drawn = self._word(domain, encoded[link], budget[link])
            else:
                drawn = self._number(domain, said[link], budget[link])
            reworded |= dict.fromkeys(mentions, drawn)
        return reworded

    def _word(self, domain: Words, vector: Vectors, epsilon: float) -> str:
        cosines = self._vectors_of(domain) @ vector
        # single-precision cosines of unit vectors can slightly exceed 1
        utilities = ((1 + cosines.astype("float64")) / 2).clip(0, 1).tolist()
        return domain.listed()[exponential(utilities, epsilon, self._rng)]

    def _number(self, domain: Numbers, said: str, epsilon: float) -> str:
        value = domain.read(said)
        if value is None:
            value = (domain.low + domain.high) / 2
        return domain.write(perturbed_number(value, domain.low, domain.high, epsilon, self._rng))

    def _vectors_of(self, domain: Words) -> Vectors:
        if domain not in self._vectors:
            self._vectors[domain] = self._encoder.encode(domain.listed())
        return self._vectors[domain]


class _Neighborhoods:
    """Per word: the word itself or one of its five nearest; figures from their range."""

    name = "lprag-compat"
    reason = "words drawn from among their own neighbors: no formal guarantee"

    def __init__(self, encoder: Encoder, rng: random.Random) -> None:
        self._encoder = encoder
        self._rng = rng
        self._vectors: Vectors | None = None

    def perturbs(self, label: str) -> bool:
        return not label_of(label).rigid

    def reword(self, text: AnnotatedText, budget: Mapping[int, float]) -> Mapping[Entity, str]:
        mentions = {
            link: [each for each in group if self.perturbs(each.label)]
            for link, group in text.mentions().items()
            if link in budget
        }
        tokens = {
            link: list(dict.fromkeys(token for each in group for token in _tokens(_said(text, [each]))))
            for link, group in mentions.items()
        }
        near = self._neighbors(
            [token for found in tokens.values() for token in found if not token.isdecimal()]
        )
        reworded: dict[Entity, str] = {}
        for link, group in mentions.items():
            top = 120.0 if any(each.label == "person age" for each in group) else 100.0
            drawn = {
                token: self._draw(token, near, top, budget[link] / len(tokens[link]))
                for token in tokens[link]
            }
            for each in group:
                said = _said(text, [each])
                if _tokens(said):
                    reworded[each] = _with(said, drawn)
        return reworded

    def _draw(self, token: str, near: Mapping[str, Sequence[str]], top: float, epsilon: float) -> str:
        if token.isdecimal():
            return str(round(perturbed_number(float(token), 0.0, top, epsilon, self._rng)))
        options = (token, *near[token])
        return options[randomized_response(0, len(options), epsilon, self._rng)]

    def _neighbors(self, tokens: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """For each token its nearest words of the vocabulary, itself excluded."""
        import numpy as np

        known = vocabulary()
        if not tokens:
            return {}
        if self._vectors is None:
            self._vectors = self._encoder.encode(known)
        near: dict[str, Sequence[str]] = {}
        for token, vector in zip(tokens, self._encoder.encode(tokens), strict=True):
            cosines = self._vectors @ vector
            best = np.argpartition(-cosines, NEIGHBORS)[: NEIGHBORS + 1]
            ordered = [known[number] for number in sorted(best, key=lambda n: (-cosines[n], n))]
            near[token] = [word for word in ordered if word != token][:NEIGHBORS]
        return near


def _said(text: AnnotatedText, mentions: Sequence[Entity]) -> str:
    span = named_by(mentions)
    return text.text[span.start : span.end]


def _tokens(said: str) -> list[str]:
    """The folded words and figures of a mention, fillers left out."""
    return [token for token in map(fold, WORD.findall(said)) if token not in FILLERS]


def _with(said: str, drawn: Mapping[str, str]) -> str:
    """A mention with the drawn words, capitalized like the original; fillers unchanged."""

    def put(match: re.Match[str]) -> str:
        word, token = match.group(), fold(match.group())
        if drawn.get(token, token) == token:
            return word
        return drawn[token].capitalize() if word[0].isupper() else drawn[token]

    return WORD.sub(put, said)
