"""TRIR, text re-identification risk: the share of sanitized documents whose individual an attacker names.

The measure of Manzanares-Salor, Sánchez and Lison (2024, Evaluating the disclosure risk of anonymized
documents via a machine learning-based re-identification attack), which INTACT uses. The attacker has a public
text, the background, about each individual, and every sanitized document is about one of them. Theirs trains
a language model on the backgrounds; ours, ``trir[tfidf]``, names the individual whose background is most
similar by TF-IDF. It is weaker: a low share is no proof of safety, and the published shares are no yardstick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eval.measures.uncertainty import Estimate, mean_of, share_of

ENGINE = "trir[tfidf]"


@dataclass(frozen=True, slots=True)
class Reidentified:
    """The share of documents whose individual was named, with Wilson's interval.

    ``named`` says of each document, by its individual, whether it was. Ids of individuals may be names, so
    the repr leaves it out.
    """

    engine: str
    estimate: Estimate
    n_individuals: int
    named: Mapping[str, bool] = field(repr=False)

    @property
    def chance(self) -> float:
        """The share that blind guessing names, 1 / n."""
        return 1 / self.n_individuals


def reidentified(backgrounds: Mapping[str, str], sanitized: Mapping[str, str]) -> Reidentified:
    """The TRIR of sanitized documents, given the background of every individual, both by individual.

    Raises:
        ValueError: an individual has no background, or no background has a word.
    """
    without = len(sanitized.keys() - backgrounds.keys())
    if without:
        raise ValueError(f"{without} of {len(sanitized)} individuals have no background: give one of each")
    guesses = most_similar_individuals(backgrounds, list(sanitized.values()))
    named = {each: each == guess for each, guess in zip(sanitized, guesses, strict=True)}
    return Reidentified(ENGINE, share_of(sum(named.values()), len(named)), len(backgrounds), named)


def most_similar_individuals(backgrounds: Mapping[str, str], texts: Sequence[str]) -> list[str | None]:
    """For each text the individual of the most similar background, None if no word is in any of them.

    Similarity is the cosine of TF-IDF vectors with a logarithmic count of words (1 + ln tf), without English
    stop words. The vocabulary and its frequencies are those of the backgrounds. The first of equals is named.

    Raises:
        ValueError: no background has a word that is not a stop word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    individuals = list(backgrounds)
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    try:
        known = vectorizer.fit_transform(backgrounds.values())
    except ValueError:
        message = f"{len(backgrounds)} backgrounds hold no words but stop words: give one with words"
        raise ValueError(message) from None
    if not texts:
        return []
    similarities = (vectorizer.transform(texts) @ known.T).toarray()
    return [individuals[row.argmax()] if row.any() else None for row in similarities]


def reidentified_difference(one: Reidentified, other: Reidentified, seed: int = 0) -> Estimate:
    """The share under one method minus that under another, paired and resampled by document.

    No interval if all documents differ by the same.

    Raises:
        ValueError: the two are not about the same documents.
    """
    if one.named.keys() != other.named.keys():
        raise ValueError("the two methods were measured on different individuals")
    return mean_of([float(named) - float(other.named[each]) for each, named in one.named.items()], seed)
