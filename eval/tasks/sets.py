"""What sanitized documents keep, each by itself and as a set: their distribution and their classes."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from eval.attacks.claims import Atomizer
from eval.experiment import NOT_SANITIZED, SanitizedCorpus
from eval.measures.claim_distance import Judge, leaks
from eval.measures.leakage import NOTHING_SENSITIVE, facts_in, share_present
from eval.progress import Progress
from eval.rows import Row
from eval.tasks.linkage import ATOMIZER, JUDGE
from ingest.documents import Document
from ingest.protocols import Encoder
from models.judges import SAME
from models.packs import packs
from models.vectors import Vectors

FACTS, CHANCE = "share of facts kept", "share of facts said by another document"
"""The second is the same share in the sanitized text of the next document: what is kept by chance."""
_ASKED_AT_ONCE = 128
CLAIMS, SAID, SAID_PARTLY = "claims rated", "claims said", "claims said in part or whole"


@dataclass(frozen=True, slots=True)
class Kept:
    """One row per document, with numbers only; a failure if it could not be sanitized.

    Utility without a task: the facts are words and numbers, the claims are all of the original's, also those
    that an attacker knows.
    """

    documents: Sequence[Document] = field(repr=False)
    judge: Judge = JUDGE
    atomizer: Atomizer = ATOMIZER

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"kept, {self.judge.name}"

    @property
    def cases(self) -> Sequence[str]:
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case; an original without facts or claims has no figure of them."""
        written = {each.doc_id: each.text for each in kept.documents}
        originals = {each.doc_id: each.text for each in self.documents}
        ids = list(written)
        following = dict(zip(ids, [*ids[1:], *ids[:1]], strict=True))
        claims = dict(zip(cases, self.atomizer.claims([originals[case] for case in cases]), strict=True))
        engine = f"{self.atomizer.name}; {self.judge.name}"
        asked = [(claims[case], written[case]) for case in cases if case in written]
        rated_of = (each for pack in packs(asked, _ASKED_AT_ONCE) for each in self.judge.rated(pack))
        for number, case in enumerate(cases):
            progress(f"reading {kept.system}", number, len(cases))
            if case not in written:
                yield kept.row(self.name, case, None, engine)
                continue
            rated = [each for each in next(rated_of) if each is not None]
            figures = {
                CLAIMS: float(len(rated)),
                SAID: float(rated.count(SAME)),
                SAID_PARTLY: float(sum(map(leaks, rated))),
            }
            if facts := facts_in(originals[case]):
                figures[FACTS] = share_present(facts, written[case])
                if following[case] != case:
                    figures[CHANCE] = share_present(facts, written[following[case]])
            yield kept.row(self.name, case, figures, engine)
        progress(f"reading {kept.system}", len(cases), len(cases))


SCALING = 5.0
"""c, as published."""
POINTS = 25
VARIANCE = 0.9
"""The share of the variance that the components keep in which vectors are quantized."""
TEXTS_PER_BUCKET = 10
RESTARTS = 5
SEED = 25
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mauve:
    """MAUVE in (0, 1]. ``smoothed`` adds half a text to every bucket, which helps where texts are few."""

    engine: str
    value: float
    smoothed: float
    buckets: int


def mauve(originals: Sequence[str], sanitized: Sequence[str], encoder: Encoder, seed: int = SEED) -> Mauve:
    """MAUVE of two sets of texts, which need not be paired or equally many.

    Pillutla et al. 2021, MAUVE: Measuring the Gap Between Neural Text and Human Text using Divergence
    Frontiers; the smoothed variant is that of Pillutla et al. 2023, MAUVE Scores for Generative Models.
    Vectors of both sets are quantized together, with a bucket for every 10 texts of the smaller set, but at
    least 2; P and Q are the histograms of the originals and of the sanitized texts. With R = w P + (1 - w) Q,
    the frontier has the points (exp(-c KL(Q|R)), exp(-c KL(P|R))) for w from 0 to 1, and MAUVE is the area
    under it.

    A False Sense of Privacy reports 1 - MAUVE as a privacy metric and shows that it misleads: it compares
    sets, and says nothing of single records. Its features are those of a language model (gpt2-large); ours
    are those of the encoder, so its figures are no yardstick.

    Raises:
        ValueError: A set is empty.
    """
    if not originals or not sanitized:
        raise ValueError(f"{len(originals)} originals, {len(sanitized)} sanitized texts: give some of both")
    vectors = encoder.encode([*originals, *sanitized])
    wanted = max(2, round(min(len(originals), len(sanitized)) / TEXTS_PER_BUCKET))
    labels = quantized(vectors, wanted, seed)
    buckets = int(labels.max()) + 1
    parts = np.split(labels, [len(originals)])

    def of_histograms(more: float) -> float:
        p, q = (np.bincount(each, minlength=buckets) + more for each in parts)
        return area(p / p.sum(), q / q.sum())

    return Mauve(f"mauve[{encoder.name}]", of_histograms(0.0), of_histograms(0.5), buckets)


def quantized(vectors: Vectors, buckets: int, seed: int) -> NDArray[np.int64]:
    """The bucket of each vector, from 0: the best of 5 runs of k-means on the main components."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.exceptions import ConvergenceWarning

    spread = vectors.astype(np.float64)
    if not spread.var(axis=0).any():
        return np.zeros(len(vectors), np.int64)
    components = PCA(random_state=seed).fit(spread)
    kept = int(np.searchsorted(np.cumsum(components.explained_variance_ratio_), VARIANCE)) + 1
    points = components.transform(spread)[:, :kept]
    means = KMeans(min(buckets, len(points)), n_init=RESTARTS, max_iter=500, random_state=seed)
    with warnings.catch_warnings():
        # Fewer distinct texts than buckets leave some empty, which changes nothing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = means.fit_predict(points)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def area(p: Floats, q: Floats, scaling: float = SCALING) -> float:
    """The area under the divergence frontier of two distributions over the same buckets."""
    x, y = frontier(p, q, scaling).T
    # From right to left, as the points are in order.
    return -float(np.trapezoid(y, x))


def frontier(p: Floats, q: Floats, scaling: float = SCALING) -> Floats:
    """The points of the frontier, shape (25 + 2, 2), from (1, 0), where nothing of Q is missed, to (0, 1)."""
    points = [(1.0, 0.0)]
    for weight in np.linspace(0, 1, POINTS):
        mixture = weight * p + (1 - weight) * q
        points.append((np.exp(-scaling * _kl(q, mixture)), np.exp(-scaling * _kl(p, mixture))))
    return np.array([*points, (0.0, 1.0)])


def _kl(one: Floats, other: Floats) -> float:
    """KL(one|other) in nats; infinite where the other has nothing in a bucket of the one."""
    # Rounding must not make it negative.
    return max(0.0, float(rel_entr(one, other).sum()))


WHOLE = "all documents"
"""The case of a row about the whole set."""
MAUVE, SMOOTHED = "mauve", "mauve, smoothed"
GIVEN, OWN = "class given", "class of its own"
"""Numbers of classes."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """One row with MAUVE between the originals and the sanitized documents."""

    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"mauve[{self.encoder.name}]"

    @property
    def cases(self) -> Sequence[str]:
        return [WHOLE]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of the set; a failure if no document could be sanitized."""
        progress(f"comparing {kept.system} as a set", 0, len(cases))
        written = {each.doc_id: each.text for each in kept.documents}
        originals = [each.text for each in self.documents if each.doc_id in written]
        for case in cases:
            begun = Row(system=kept.system, task=self.name, case=case, engine=self.name)
            if not originals:
                yield begun.model_copy(update={"failure": NOT_SANITIZED})
                continue
            sanitized = [written[each.doc_id] for each in self.documents if each.doc_id in written]
            found = mauve(originals, sanitized, self.encoder)
            yield begun.model_copy(update={"figures": {MAUVE: found.value, SMOOTHED: found.smoothed}})
        progress(f"comparing {kept.system} as a set", len(cases), len(cases))


@dataclass(frozen=True, slots=True)
class Classes:
    """One row per document with a class: which one its sanitized text falls into, and which is its own.

    A text is given the class whose originals have the nearest mean vector; its own original is left out.
    ``classes`` are by the id of the document; rows hold their places in the order of names.
    """

    documents: Sequence[Document] = field(repr=False)
    classes: Mapping[str, str] = field(repr=False)
    encoder: Encoder

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"classes, nearest mean[{self.encoder.name}]"

    @property
    def cases(self) -> Sequence[str]:
        return [each.doc_id for each in self.documents if each.doc_id in self.classes]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case."""
        progress(f"classing {kept.system}", 0, len(cases))
        texts = {each.doc_id: each.text for each in self.documents}
        names = sorted(set(self.classes.values()))
        own = np.array([names.index(self.classes[doc_id]) for doc_id in self.cases])
        originals = self.encoder.encode([texts[doc_id] for doc_id in self.cases])
        sums = np.stack([originals[own == number].sum(axis=0) for number in range(len(names))])
        places = {doc_id: place for place, doc_id in enumerate(self.cases)}
        written = {each.doc_id: each.text for each in kept.documents}
        there = [case for case in cases if case in written]
        read = self.encoder.encode([written[case] for case in there])
        vectors = dict(zip(there, read, strict=True))
        for case in cases:
            if case not in written:
                yield kept.row(self.name, case, None, self.name)
                continue
            others, place = sums.copy(), places[case]
            others[own[place]] -= originals[place]
            lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
            given = int((others @ vectors[case] / lengths).argmax())
            yield kept.row(self.name, case, {GIVEN: float(given), OWN: float(own[place])}, self.name)
        progress(f"classing {kept.system}", len(cases), len(cases))
