"""The linkage attack: which sanitized document a few known claims lead to, and how much more it tells.

The framework of Xin et al., A False Sense of Privacy. A row is a document; one that could not be sanitized
has a failure and counts nowhere.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal

from eval.attacks.claims import Access, Atomizer, OwnWords, Rewording, RuleAtomizer, RuleRewording
from eval.attacks.linkage import Bm25, Candidate, Dense, Link, Linker, hidden_details, lexical_distance
from eval.experiment import SanitizedCorpus
from eval.measures.claim_distance import (
    Asked,
    EmbeddedJudge,
    Judge,
    LexicalJudge,
    Rating,
    claim_distance,
    embedding_distance,
    leaks,
    rating_once,
)
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.overlap import stems
from eval.measures.uncertainty import Estimate, clustered_share, mean_of, share_of
from eval.progress import Progress
from eval.rows import Row
from eval.targets import having_read
from ingest.documents import Document, Span
from ingest.language.vocabulary import entries, fold
from ingest.protocols import Encoder
from models.catalog import ModelRef
from models.encoders.numbers import fastest
from models.packs import packs


@cache
def _cues() -> Mapping[str, Mapping[str, tuple[re.Pattern[str], frozenset[str]]]]:
    """By group and category what tells a category: a pattern, and phrases."""
    path = Path(__file__).with_name("claim_categories.toml")
    groups: dict[str, dict[str, dict[str, list[str]]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        group: {
            name: (
                re.compile(rf"\b(?:{'|'.join(cues['patterns'])})", re.IGNORECASE),
                _phrases(cues.get("lists", ()), cues.get("but", ())),
            )
            for name, cues in categories.items()
        }
        for group, categories in groups.items()
    }


def _phrases(lists: Sequence[str], but: Sequence[str]) -> frozenset[str]:
    bare = {" ".join(_WORD.findall(entry)) for name in lists for entry in entries(name)} - set(but)
    return frozenset(bare | {f"{each}s" for each in bare})


_WORD = re.compile(r"[^\W_]+")
LONGEST_ENTRY = 4
"""The most words of an entry that is looked for."""


@dataclass(frozen=True, slots=True)
class Categorizer:
    """Claims to the categories of each, none or several: those of these groups of which it has a cue.

    In the paper a language model names them (appendix C.4), so its shares are no yardstick for ours.
    """

    name: str
    groups: tuple[str, ...] = field(repr=False)

    @property
    def categories(self) -> Sequence[str]:
        """In the order of the paper."""
        return [name for group in self.groups for name in _cues()[group]]

    def label(self, claims: Sequence[str]) -> list[frozenset[str]]:
        """The categories of each claim."""
        return list(map(self._categories_of, claims))

    def _categories_of(self, claim: str) -> frozenset[str]:
        said = [fold(word) for word in _WORD.findall(claim)]
        lengths = range(1, LONGEST_ENTRY + 1)
        runs = {" ".join(said[start : start + n]) for n in lengths for start in range(len(said) - n + 1)}
        return frozenset(
            name
            for group in self.groups
            for name, (pattern, phrases) in _cues()[group].items()
            if pattern.search(claim) or not phrases.isdisjoint(runs)
        )


CLINICAL = Categorizer("categories[rule, 24]", ("social", "clinical"))
"""The 24 categories of the paper for medical records."""
GENERAL = Categorizer("categories[rule, 16]", ("social", "general"))
"""The 16 categories of the paper for conversations."""


RIGHT, SKIPPED, VOTES = "linked right", "skipped", "votes"
CLAIMS, KNOWN, LEFT = "claims", "claims known", "claims left"
LINKABLE = "claims linkable"
"""How many claims the sanitized document of the row has."""
DISTANCE, OVERLAP = "claim distance", "claim distance from what is known"
RATED, LEAKED = "claims rated", "claims leaked"
INVALID, MISSING = "ratings invalid", "ratings missing"
LEXICAL, EMBEDDING = "lexical distance", "embedding distance"
HIDDEN, DETAILS = "share of details hidden", "details"
WORDING, OWN_WORDING = "bigrams of the original", "bigrams of the original before rewording"
RATED_AS, LEAKED_AS = "rated: ", "leaked: "
"""Before the name of a category."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """The correct linkage rate with Wilson's interval.

    ``rate`` is of all documents and counts a skipped one, for which nothing was found, as not linked: what
    the paper reports, and the most favorable reading. ``worst`` counts skipped ones as linked right;
    ``linked`` is of those that were linked to some document.
    """

    rate: Estimate
    worst: Estimate
    linked: Estimate
    skipped: int


def linkage(rows: Iterable[Row]) -> Linkage:
    """How many documents were linked to their originals."""
    attacked = [row.figures for row in rows if row.measured]
    right, skipped = (int(sum(each[name] for each in attacked)) for name in (RIGHT, SKIPPED))
    return Linkage(
        share_of(right, len(attacked)),
        share_of(right + skipped, len(attacked)),
        share_of(right, len(attacked) - skipped),
        skipped,
    )


@dataclass(frozen=True, slots=True)
class Distances:
    """The mean of a distance over linked documents, each counting the same, with a bootstrap interval.

    ``worst`` and ``best`` also count the skipped documents, and those of which a judge rated nothing, as 0
    and as 1. Documents of which the attacker knows everything that the distance is about count nowhere.
    """

    mean: Estimate
    worst: Estimate
    best: Estimate
    skipped: int


def distances(rows: Iterable[Row], figure: str = DISTANCE, seed: int = 0) -> Distances:
    """A distance from original to linked document, or the share of hidden details: higher is more private."""
    of = DETAILS if figure == HIDDEN else LEFT
    unknown = [row.figures for row in rows if row.measured and row.figures[of]]
    values = [each[figure] for each in unknown if figure in each]
    skipped = int(sum(each[SKIPPED] for each in unknown))
    unrated = len(unknown) - len(values)
    worst, best = (mean_of([*values, *[end] * unrated], seed) for end in (0.0, 1.0))
    return Distances(mean_of(values, seed), worst, best, skipped)


def leaked_claims(rows: Iterable[Row], seed: int = 0) -> Estimate:
    """The share of claims, not known before, that the linked documents tell, resampled by document."""
    return _share(rows, LEAKED, RATED, seed)


def leaked_by_category(rows: Iterable[Row], categories: Sequence[str], seed: int = 0) -> dict[str, Estimate]:
    """``leaked_claims`` of each category; nothing is measured where no claim has it."""
    rows = list(rows)
    return {name: _share(rows, LEAKED_AS + name, RATED_AS + name, seed) for name in categories}


def _share(rows: Iterable[Row], part: str, whole: str, seed: int) -> Estimate:
    measured = [row.figures for row in rows if row.measured]
    hits, totals = ([int(each.get(name, 0)) for each in measured] for name in (part, whole))
    return clustered_share(hits, totals, seed)


BINS = 10


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many linked documents have each distance, split by whether the link is right.

    Ten bins of equal width from 0 to below 1, and one for exactly 1: what stands there is mostly a failure of
    the linker, not protection.
    """

    right: tuple[int, ...]
    wrong: tuple[int, ...]


def distribution(rows: Iterable[Row], figure: str = DISTANCE) -> Distribution:
    """The distances of all linked documents in bins; what is above 1 counts as 1."""
    counts = {True: [0] * (BINS + 1), False: [0] * (BINS + 1)}
    for row in rows:
        if row.measured and figure in row.figures:
            counts[bool(row.figures[RIGHT])][min(int(row.figures[figure] * BINS), BINS)] += 1
    return Distribution(tuple(counts[True]), tuple(counts[False]))


def bigram_precision(texts: Sequence[str], source: str) -> float | None:
    """The share of the bigrams of stems in ``texts`` that stand in the source; None if there are none.

    ROUGE-2 precision (Lin 2004), by which A False Sense of Privacy tells how much a paraphrase changed the
    known claims: from 71.0% to 13.0% on one of its corpora. A bigram of one text counts at most as often as
    the source has it.
    """
    there, *said = (Counter(pairwise(stems(text))) for text in (source, *texts))
    total = sum(each.total() for each in said)
    return sum((each & there).total() for each in said) / total if total else None


ATOMIZER = RuleAtomizer()
JUDGE = LexicalJudge(lambda text: ATOMIZER.claims([text])[0])
JudgeName = Literal["lexical", "trained"]
"""Judges that need no language model; ModelUnavailable where the files of the trained one are not whole."""
Figures = dict[str, float | None]
_ASKED_AT_ONCE = 128


def _trained_judge() -> Judge:
    from models.judges import load_judge

    return rating_once(EmbeddedJudge(load_judge(ModelRef(), numbers=fastest())))


JUDGES: Mapping[JudgeName, Callable[[], Judge]] = {"lexical": lambda: JUDGE, "trained": _trained_judge}


@dataclass(frozen=True, slots=True)
class Person:
    """The original document of a person, the claims that an attacker knows, and those left to find out."""

    document: Document
    known: Sequence[str] = field(repr=False)
    reworded: Sequence[str] = field(repr=False)
    left: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LinkageTask:
    """One row per document, with numbers only; a failure if it could not be sanitized.

    The known claims are those of the originals, so they are the same for every system. ``encoder`` measures
    the embedding distance; give it and a dense linker the same ``eval.targets.reading_once``. ``details`` are
    the personal details of each original by its id: gold, that no detector of ours made.

    With ``among`` each of the ``documents`` is a candidate for itself alone, hidden among these others, which
    are no cases: given them, rows of independent documents are independent. Ids are unique among both.
    """

    documents: Sequence[Document] = field(repr=False)
    linker: Linker
    judge: Judge = JUDGE
    encoder: Encoder | None = None
    access: Access = field(default_factory=Access)
    rewording: Rewording = field(default_factory=RuleRewording)
    atomizer: Atomizer = ATOMIZER
    categorizer: Categorizer = GENERAL
    details: Mapping[str, Sequence[Span]] = field(default_factory=dict, repr=False)
    among: Sequence[Document] = field(default=(), repr=False)

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        """The linker, what is known in which words, and the judge."""
        known = f"{self.access.k} {self.access.choice} claims in {self.rewording.name}"
        return f"linkage, {self.linker.name}, {known}, {self.judge.name}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case; without ``among``, every sanitized document is a candidate for each."""
        phase = f"linking in {kept.system}"
        progress(phase, 0, None)
        texts = {each.doc_id: each.text for each in kept.documents}
        ids = [each.doc_id for each in (*self.documents, *self.among) if each.doc_id in texts]
        places = {doc_id: place for place, doc_id in enumerate(ids)}
        written = [texts[doc_id] for doc_id in places]
        candidates = list(map(Candidate, written, self.atomizer.claims(written)))
        persons = self._persons([case for case in cases if case in places])
        linked_to = self._links(persons, candidates, places)
        claims = [claim for each in candidates for claim in each.claims]
        left = [claim for each in persons.values() for claim in each.left]
        encoder = self.encoder and having_read(self.encoder, [*claims, *left], progress=progress)
        ratings = self._ratings([persons[case] for case in cases if case in persons], linked_to, candidates)
        for number, case in enumerate(cases):
            progress(phase, number, len(cases))
            if case not in persons:
                yield kept.row(self.name, case, None)
                continue
            figures = self._person_figures(persons[case], next(ratings))
            figures[LINKABLE] = len(candidates[places[case]].claims)
            link = linked_to[case]
            figures |= {SKIPPED: link is None, RIGHT: link is not None and link.place == places[case]}
            if link is not None:
                figures[VOTES] = link.votes
                figures |= self._found(persons[case], candidates[link.place], next(ratings), encoder)
            numbers = {name: float(value) for name, value in figures.items() if value is not None}
            yield kept.row(self.name, case, numbers, self._engine)
        progress(phase, len(cases), len(cases))

    def _links(
        self, persons: Mapping[str, Person], candidates: Sequence[Candidate], places: Mapping[str, int]
    ) -> dict[str, Link | None]:
        if not self.among:
            found = self.linker.link([each.reworded for each in persons.values()], candidates)
            return dict(zip(persons, found, strict=True))
        others = [places[each.doc_id] for each in self.among if each.doc_id in places]
        links: dict[str, Link | None] = {}
        for number, (case, person) in enumerate(persons.items()):
            # Of equals the first is linked: no place among them is better than another in the long run.
            among = others.copy()
            among.insert(number % (len(others) + 1), places[case])
            (link,) = self.linker.link([person.reworded], [candidates[place] for place in among])
            links[case] = link and replace(link, place=among[link.place])
        return links

    @property
    def _engine(self) -> str:
        parts = (self.atomizer, self.rewording, self.linker, self.judge, self.categorizer, self.encoder)
        return "; ".join(part.name for part in parts if part is not None)

    def _persons(self, cases: Sequence[str]) -> dict[str, Person]:
        """In the order of the documents, whose numbers decide what is known."""
        wanted, parted = set(cases), []
        numbered = [each for each in enumerate(self.documents) if each[1].doc_id in wanted]
        atoms = self.atomizer.claims([document.text for _, document in numbered])
        for (number, document), claims in zip(numbered, atoms, strict=True):
            places = self.access.known(len(claims), number)
            left = [claim for place, claim in enumerate(claims) if place not in places]
            parted.append((document, [claims[place] for place in places], left))
        # All at once, so that a language model behind files is asked in one round.
        reworded = iter(self.rewording.reworded([claim for _, known, _ in parted for claim in known]))
        return {
            document.doc_id: Person(document, known, list(islice(reworded, len(known))), left)
            for document, known, left in parted
        }

    def _ratings(
        self, persons: Sequence[Person], linked_to: Mapping[str, Link | None], candidates: Sequence[Candidate]
    ) -> Iterator[list[Rating]]:
        """For each person the ratings by the known claims, and by the linked document if there is one."""
        asked = list[Asked]()
        for person in persons:
            asked.append((person.left, "\n".join(person.reworded)))
            if (link := linked_to[person.document.doc_id]) is not None:
                asked.append((person.left, candidates[link.place].text))
        for pack in packs(asked, _ASKED_AT_ONCE):
            yield from self.judge.rated(pack)

    def _person_figures(self, person: Person, by_known: Sequence[Rating]) -> Figures:
        """What does not depend on the sanitized documents."""
        document = person.document
        details = self.details.get(document.doc_id, ())
        return {
            CLAIMS: len(person.known) + len(person.left),
            KNOWN: len(person.known),
            LEFT: len(person.left),
            OVERLAP: claim_distance(by_known).value,
            OWN_WORDING: bigram_precision(person.known, document.text),
            WORDING: bigram_precision(person.reworded, document.text),
            DETAILS: hidden_details(document.text, details, "", person.known).total,
        }

    def _found(
        self, person: Person, found: Candidate, ratings: Sequence[Rating], encoder: Encoder | None
    ) -> Figures:
        """How much the linked document tells of what is not known."""
        document = person.document
        distance = claim_distance(ratings)
        figures: Figures = {
            DISTANCE: distance.value,
            RATED: distance.rated,
            LEAKED: distance.leaked,
            INVALID: distance.invalid,
            MISSING: distance.missing,
            LEXICAL: lexical_distance(document.text, found.text, person.known),
        }
        if encoder is not None and person.left and found.claims:
            figures[EMBEDDING] = embedding_distance(*map(encoder.encode, (person.left, found.claims)))
        details = self.details.get(document.doc_id, ())
        if (hidden := hidden_details(document.text, details, found.text, person.known)).total:
            figures[HIDDEN] = hidden.hidden / hidden.total
        counts = Counter[str]()
        for kinds, rating in zip(self.categorizer.label(person.left), ratings, strict=True):
            if rating is not None:
                counts.update(RATED_AS + kind for kind in kinds)
                counts.update(LEAKED_AS + kind for kind in kinds if leaks(rating))
        return figures | counts


def version_1(documents: Sequence[Document]) -> LinkageTask:
    """The attack of version 1 of the paper: BM25 over whole documents with all claims, in their own words."""
    return LinkageTask(documents, Linker(Bm25(), "joined", "documents"), rewording=OwnWords())


def version_2(documents: Sequence[Document], encoder: Encoder, judge: Judge = JUDGE) -> LinkageTask:
    """The attack of version 2: claims in other words, each of which votes for documents with near claims."""
    return LinkageTask(documents, Linker(Dense(encoder)), judge, encoder)
