"""A guesser without a language model: public values of the kind, by how common they are and how they fit."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from math import log

from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from ingest.wording.guessed import Case
from ingest.wording.places import areas, inhabitants
from ingest.wording.rungs import GUESSES, with_article
from ingest.wording.sentence import plural
from models.wording import embedded_wording

FIT = 12.0
"""How many nats of prior a cosine of 1 outweighs: set, not fitted to data."""
LARGEST = 60
"""How many towns or countries of an area are ranked."""
MOST = 300
"""Members of a sort, or of sorts with the same words, that are ranked."""
_LOOK = 120
_AREA = re.compile(r"(?i)\b(?:an? (?:town|country|city|place) in |the )?(?P<area>.+)")

Prior = Mapping[str, float]
"""Values and their weights; only the ratios of weights count."""


class PoolGuesser:
    """Ranks the public values that the words admit: log prior + ``FIT`` times the cosine to the sentence.

    Towns and countries have the prior of their inhabitants, members of a class are equally likely. There are
    no public values for organizations, and for numbers and dates ``Rung.chance`` says it all.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name = f"pool guesser ({encoder.name})"

    def guesses(self, cases: Sequence[Case]) -> list[Sequence[str]]:
        """At most ``GUESSES`` guesses for each case, the likeliest first."""
        priors = [prior_of(case.words) for case in cases]
        asked = [n for n, prior in enumerate(priors) if len(prior) > GUESSES]
        values = sorted({value for n in asked for value in priors[n]})
        found: list[Sequence[str]] = [list(prior) for prior in priors]
        if not asked:
            return found
        vectors = dict(zip(values, self._encoder.encode(values), strict=True))
        sentences = self._encoder.encode(
            [f"{cases[n].before[-_LOOK:]}{cases[n].words}{cases[n].after[:_LOOK]}" for n in asked]
        )
        for n, sentence in zip(asked, sentences, strict=True):
            score = {
                value: log(weight) + FIT * float(sentence @ vectors[value])
                for value, weight in priors[n].items()
            }
            found[n] = sorted(score, key=lambda value: (-score[value], value))[:GUESSES]
        return found


def prior_of(words: str) -> Prior:
    """The public values that words admit; empty where there is no list of them."""
    found = _members().get(fold(words))
    if found is not None:
        return found
    area = _AREA.fullmatch(words.strip())
    found = inhabitants(area["area"], countries="country" in words) if area else {}
    return dict(islice(found.items(), LARGEST))


@cache
def _members() -> Mapping[str, Prior]:
    """The members of each sort of thing, by the words that stand for it."""
    by_words: dict[str, list[Sequence[str]]] = {}
    model = embedded_wording()
    groups = (model.groups[number] for number in model.group_of)
    for sort, group in zip(model.sorts, groups, strict=True):
        said = {fold(words) for each in (sort, group) for words in (each.one, each.bare, each.many) if words}
        for words in sorted(said):
            by_words.setdefault(words, []).append(model.members[sort.name])
    # the commonest of each sort first
    found = {
        words: dict.fromkeys(islice(filter(None, chain(*zip_longest(*lists))), MOST), 1.0)
        for words, lists in by_words.items()
    }
    for people, cues in areas("peoples").items():
        values = dict.fromkeys((cue for cue in cues if "*" not in cue), 1.0)
        for words in (people, with_article(people), plural(people)):
            found.setdefault(fold(words), {}).update(values)
    return found
