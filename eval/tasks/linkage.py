"""The linkage attack: which sanitized document a few known claims lead to, and how much more it tells.

The framework of Xin et al., A False Sense of Privacy. A row is a document; one that could not be sanitized
has a failure and counts nowhere.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Literal, Protocol

from eval.attacks.claims import Access, Atomizer, OwnWords, Rewording, RuleAtomizer, RuleRewording
from eval.attacks.linkage import (
    Bm25,
    Candidate,
    Dense,
    Link,
    Linker,
    RougePart,
    hidden_details,
    lexical_distance,
)
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


class Categorizer(Protocol):
    """Claims to the categories of each, none or several.

    In the paper a language model names them (appendix C.4); ``RuleCategorizer`` goes by words, of its own and
    of the lists in ``ingest.language.vocabulary``, so its shares are no yardstick for the published ones.
    """

    @property
    def name(self) -> str: ...

    @property
    def categories(self) -> Sequence[str]: ...

    def label(self, claims: Sequence[str]) -> list[frozenset[str]]: ...


@dataclass(frozen=True, slots=True)
class Cues:
    """What tells a category: a pattern, and lists of the vocabulary with some words left out."""

    pattern: str = field(repr=False)
    lists: tuple[str, ...] = field(default=(), repr=False)
    but: str = field(default="", repr=False)

    def told_by(self, claim: str, runs: Set[str]) -> bool:
        """Whether a claim has a cue, given its runs of words."""
        return bool(_pattern(self.pattern).search(claim)) or not _phrases(self.lists, self.but).isdisjoint(
            runs
        )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})", re.IGNORECASE)


@cache
def _phrases(lists: tuple[str, ...], but: str) -> frozenset[str]:
    bare = {" ".join(_WORD.findall(entry)) for name in lists for entry in entries(name)} - set(but.split())
    return frozenset(bare | {f"{each}s" for each in bare})


_WORD = re.compile(r"[^\W_]+")
LONGEST_ENTRY = 4
"""The most words of an entry that is looked for."""


def _runs(claim: str) -> set[str]:
    said = [fold(word) for word in _WORD.findall(claim)]
    lengths = range(1, LONGEST_ENTRY + 1)
    return {" ".join(said[start : start + n]) for n in lengths for start in range(len(said) - n + 1)}


@dataclass(frozen=True, slots=True)
class RuleCategorizer:
    """A claim has every category of which it has a cue."""

    name: str
    cues: Mapping[str, Cues] = field(repr=False)

    @property
    def categories(self) -> Sequence[str]:
        """In the order of the paper."""
        return list(self.cues)

    def label(self, claims: Sequence[str]) -> list[frozenset[str]]:
        """The categories of each claim."""
        return [
            frozenset(name for name, cues in self.cues.items() if cues.told_by(claim, runs))
            for claim, runs in zip(claims, map(_runs, claims), strict=True)
        ]


_KIN = (
    r"(?:grand|step|half-)?(?:mother|father|son|daughter|brother|sister|mum|dad)s?\b|grandparents?\b|parents?\b"
    r"|uncles?\b|aunts?\b|cousins?\b|nephews?\b|nieces?\b|siblings?\b|twins?\b|child(?:ren)?\b"
)
_TREATING = "doctor physician nurse surgeon pediatrician paediatrician dentist dermatologist resident"
_SOCIAL: Mapping[str, Cues] = {
    "Age": Cues(
        r"\d+[- ](?:year|month|week|day)s?[- ]old\b|aged \d|(?:at|by) the age of|years of age|newborn|infant"
        r"|toddler|teenager|adolescent|elderly|in (?:his|her|their) (?:teens|\w+ties)\b"
    ),
    "Gender": Cues(r"(?:wo)?m[ae]n\b|boys?\b|girls?\b|(?:fe)?males?\b|gender", ("genders",)),
    "Sexual_Orientation": Cues(
        r"gay\b|lesbian|bisexual|h(?:omo|etero)sexual|queer|same-sex|sexual orientation"
    ),
    "Race_Nationality": Cues(
        r"race\b|ethnic|nationality|immigra|emigra|citizen|descent\b", ("demonyms", "ethnicities")
    ),
    "Spouse": Cues(r"husband|wife\b|wives\b|spouse|widow"),
    "Partner": Cues(r"girlfriend|boyfriend|partner|fianc[eé]"),
    "Relationship_Status": Cues(
        r"married|divorce|separated from|engaged to|unmarried|in a relationship|dating", ("marital_statuses",)
    ),
    "Family": Cues(rf"{_KIN}|famil(?:y|ies)\b|relatives?\b"),
    "Location": Cues(
        r"(?:lives?|lived|moved|resides?|born|grew up|stays?|stayed|travell?ed|works?) (?:in|to|at|near)\b"
        r"|street\b|avenue\b|village|neighbou?rhood|postcode|zip code",
        ("countries", "states"),
    ),
    "Appearance": Cues(
        r"(?:is|was|are) (?:\w+ )?(?:tall|short|slim|thin|bald|blond)|hair\b|eyes? (?:is|are)|beard|tattoo"
        r"|freckle|overweight|obes|weighs?\b|height\b|wears?\b"
    ),
    "Pet": Cues(r"pets?\b|dogs?\b|cats?\b|pupp(?:y|ies)\b|kittens?\b|parrots?\b|hamsters?\b|budgie"),
    "Occupation": Cues(
        r"works? as|worked as|jobs?\b|occupation|profession\b|(?:un)?employed|retired|career",
        ("jobs",),
        _TREATING,
    ),
    "Education": Cues(
        r"(?:pre|high )?school|college|universit|students?\b|degree in|graduat|diploma|kindergarten|classmate"
    ),
    "Finance": Cues(
        r"money|salar(?:y|ies)|wages?\b|income|debts?\b|loans?\b|mortgage|bankrupt|rent\b|afford|savings|insur"
        r"|tax(?:es)?\b|pension|(?<!\w)[$€£] ?\d"
    ),
}
_ILLNESS = ("diseases", "symptoms", "procedures", "medications", "medical_tests")
CLINICAL = RuleCategorizer(
    "categories[rule, 24]",
    {
        **_SOCIAL,
        "Chief_Concern": Cues(
            r"chief (?:complaint|concern)|complain"
            r"|(?:comes|came|presents?|presented|brought|referred|seen|visits)\b"
            r".*\b(?:because of|for|with|owing to|due to)\b"
        ),
        "History_of_Present_Illness": Cues(
            r"(?:for|over|during|in) the (?:past|last)\b|began|started|onset|worse|progressive|noticed"
            r"|(?:hour|day|week|month|year)s? ago\b|\d+[- ](?:hour|day|week|month)s? (?:history )?of\b"
        ),
        "Past_Medical_History": Cues(
            r"history of|past (?:medical|history)|previous|diagnosed|underwent|undergone|operated"
            r"|hospitali[sz]ed|surger(?:y|ies)\b|vaccin|immuni[sz]",
            ("procedures",),
        ),
        "Medications": Cues(
            r"medic(?:ation|ine)|prescri|tablets?\b|doses?\b|\d+ ?mg\b|inhaler|insulin|vitamin"
            r"|supplement|therapy\b",
            ("medications",),
        ),
        "Allergies_Reactions": Cues(r"allerg|anaphyla|reacts? to|reaction to|intoleran"),
        "Social_History": Cues(
            r"smok|cigarette|tobacco|alcohol|drinks?\b|beers?\b|wine\b|cannabis|marijuana|cocaine|heroin|sexual"
            r"|lives? (?:alone|with)|exercis|diet\b|homeless|travel"
        ),
        "Family_History": Cues(
            rf"family history|runs in the family|(?:{_KIN}).*\b(?:died|had|has|have|diagnosed|suffer\w*)\b"
        ),
        "Review_of_Systems": Cues(r"den(?:y|ies|ied)\b|review of systems", ("symptoms",)),
        "Physical_Exam": Cues(
            r"exam|auscult|palpat|percuss|inspection|tender|murmur|reflex|pulse|blood pressure|temperature"
            r"|afebrile|respirat|heart rate|vital signs|breath sounds|bmi\b|body mass|swollen|appears"
        ),
        "Diagnostic_Results": Cues(
            r"laborator|count\b|levels?\b|serum|urinalysis|x-?rays?\b|radiograph|ct\b|mri\b|ultraso|biops|culture"
            r"|ecg\b|ekg\b|electrocardio|imaging|screening|mg/d?l\b|mmol|test (?:is|was|shows?|reveals?)",
            ("medical_tests",),
        ),
    },
)
"""The 24 categories of the paper for medical records."""
GENERAL = RuleCategorizer(
    "categories[rule, 16]",
    {
        **_SOCIAL,
        "Health": Cues(
            r"health|ill\b|illness|sick|disease|pain\b|hurts?\b|injur|wound|doctor|hospital|clinic|treat(?:ed|ment)",
            _ILLNESS,
        ),
        "Mental_Health": Cues(
            r"sad\b|sadness|anxi|depress|stress|lonel|panic|suicid|grie[fv]|mood|feels?\b|felt\b|emotion|trauma"
            r"|mental|psych|therapist|insomnia|afraid|angry|upset|overwhelmed"
        ),
    },
)
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
    measured = [row for row in rows if row.measured]
    return {name: _share(measured, LEAKED_AS + name, RATED_AS + name, seed) for name in categories}


def _share(rows: Iterable[Row], part: str, whole: str, seed: int) -> Estimate:
    pairs = [(row.figures.get(part, 0), row.figures.get(whole, 0)) for row in rows if row.measured]
    return clustered_share([int(hits) for hits, _ in pairs], [int(total) for _, total in pairs], seed)


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

    ROUGE-2 precision (Lin 2004). A False Sense of Privacy tells with it how much a paraphrase changed the
    claims that an attacker knows: the share of their bigrams that the original documents have falls from
    71.0% to 13.0% on one of its corpora.

    A bigram of one text counts at most as often as the source has it. With one text this is the precision
    that ``rouge_score`` gives with ``use_stemmer=True``.
    """
    there = _bigrams(source)
    said = [_bigrams(text) for text in texts]
    total = sum(each.total() for each in said)
    return sum((each & there).total() for each in said) / total if total else None


def _bigrams(text: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(stems(text)))


ATOMIZER = RuleAtomizer()
JUDGE = LexicalJudge(lambda text: ATOMIZER.claims([text])[0])
JudgeName = Literal["lexical", "trained"]
"""Judges that need no language model."""
Figures = dict[str, float | None]
_ASKED_AT_ONCE = 128


def trained_judge() -> Judge:
    """The shipped claim-support model, in the fastest numbers; it reads a text for the same claims once.

    Raises ModelUnavailable where its files are not there or not whole.
    """
    from models.judges import load_judge

    return rating_once(EmbeddedJudge(load_judge(ModelRef(), numbers=fastest())))


JUDGES: Mapping[JudgeName, Callable[[], Judge]] = {"lexical": lambda: JUDGE, "trained": trained_judge}


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
    the embedding distance, if there is one; give it and a dense linker the same
    ``eval.targets.reading_once``, and no text is encoded twice. ``details`` are the personal details of each
    original by its id: gold, that no detector of ours made.

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
    rouge_part: RougePart = "recall"
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
            figures |= _link_figures(linked_to[case], places[case])
            if (link := linked_to[case]) is not None:
                figures |= self._found(persons[case], candidates[link.place], next(ratings), encoder)
            numbers = {name: float(value) for name, value in figures.items() if value is not None}
            yield kept.row(self.name, case, numbers, self._engine)
        progress(phase, len(cases), len(cases))

    def _links(
        self, persons: Mapping[str, Person], candidates: Sequence[Candidate], places: Mapping[str, int]
    ) -> dict[str, Link | None]:
        if not self.among:
            known = [each.reworded for each in persons.values()]
            return dict(zip(persons, self.linker.link(known, candidates), strict=True))
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
        wanted, persons = set(cases), {}
        numbered = [each for each in enumerate(self.documents) if each[1].doc_id in wanted]
        atoms = self.atomizer.claims([document.text for _, document in numbered])
        for (number, document), claims in zip(numbered, atoms, strict=True):
            places = self.access.known(len(claims), number)
            known = [claims[place] for place in places]
            left = [claim for place, claim in enumerate(claims) if place not in places]
            persons[document.doc_id] = Person(document, known, self.rewording.reworded(known), left)
        return persons

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
        overlap = claim_distance(by_known)
        details = self.details.get(document.doc_id, ())
        return {
            CLAIMS: len(person.known) + len(person.left),
            KNOWN: len(person.known),
            LEFT: len(person.left),
            OVERLAP: overlap.value,
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
            LEXICAL: lexical_distance(document.text, found.text, person.known, self.rouge_part),
        }
        if encoder is not None and person.left and found.claims:
            vectors = encoder.encode(person.left), encoder.encode(found.claims)
            figures[EMBEDDING] = embedding_distance(*vectors)
        details = self.details.get(document.doc_id, ())
        if (hidden := hidden_details(document.text, details, found.text, person.known)).total:
            figures[HIDDEN] = hidden.hidden / hidden.total
        counts = Counter[str]()
        for kinds, rating in zip(self.categorizer.label(person.left), ratings, strict=True):
            if rating is not None:
                counts.update(RATED_AS + kind for kind in kinds)
                counts.update(LEAKED_AS + kind for kind in kinds if leaks(rating))
        return figures | counts


def _link_figures(link: Link | None, own: int) -> Figures:
    if link is None:
        return {SKIPPED: 1, RIGHT: 0}
    return {SKIPPED: 0, RIGHT: link.place == own, VOTES: link.votes}


def version_1(documents: Sequence[Document]) -> LinkageTask:
    """The attack of version 1 of the paper: BM25 over whole documents with all claims, in their own words."""
    return LinkageTask(documents, Linker(Bm25(), "joined", "documents"), rewording=OwnWords())


def version_2(documents: Sequence[Document], encoder: Encoder, judge: Judge = JUDGE) -> LinkageTask:
    """The attack of version 2: claims in other words, each of which votes for documents with near claims."""
    return LinkageTask(documents, Linker(Dense(encoder)), judge, encoder)
