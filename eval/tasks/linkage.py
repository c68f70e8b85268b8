"""The linkage attack: which sanitized document a few known claims lead to, and how much more it tells.

The framework of Xin et al., A False Sense of Privacy. ``eval.measures.linked`` folds the rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from eval.attacks.claims import Access, Atomizer, RuleAtomizer
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
from eval.attacks.rewording import OwnWords, Rewording, RuleRewording
from eval.experiment import SanitizedCorpus
from eval.measures import linked
from eval.measures.claim_categories import GENERAL, Categorizer
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
from eval.progress import Progress
from eval.rows import Row
from eval.targets import having_read
from ingest.documents import Document, Span
from ingest.protocols import Encoder
from models.catalog import ModelRef
from models.encoders.numbers import fastest
from models.packs import packs


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
    from models.judges.support import load_judge

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
            figures[linked.LINKABLE] = len(candidates[places[case]].claims)
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
            linked.CLAIMS: len(person.known) + len(person.left),
            linked.KNOWN: len(person.known),
            linked.LEFT: len(person.left),
            linked.OVERLAP: overlap.value,
            linked.OWN_WORDING: bigram_precision(person.known, document.text),
            linked.WORDING: bigram_precision(person.reworded, document.text),
            linked.DETAILS: hidden_details(document.text, details, "", person.known).total,
        }

    def _found(
        self, person: Person, found: Candidate, ratings: Sequence[Rating], encoder: Encoder | None
    ) -> Figures:
        """How much the linked document tells of what is not known."""
        document = person.document
        distance = claim_distance(ratings)
        figures: Figures = {
            linked.DISTANCE: distance.value,
            linked.RATED: distance.rated,
            linked.LEAKED: distance.leaked,
            linked.INVALID: distance.invalid,
            linked.MISSING: distance.missing,
            linked.LEXICAL: lexical_distance(document.text, found.text, person.known, self.rouge_part),
        }
        if encoder is not None and person.left and found.claims:
            vectors = encoder.encode(person.left), encoder.encode(found.claims)
            figures[linked.EMBEDDING] = embedding_distance(*vectors)
        details = self.details.get(document.doc_id, ())
        if (hidden := hidden_details(document.text, details, found.text, person.known)).total:
            figures[linked.HIDDEN] = hidden.hidden / hidden.total
        counts = Counter[str]()
        for kinds, rating in zip(self.categorizer.label(person.left), ratings, strict=True):
            if rating is not None:
                counts.update(linked.RATED_AS + kind for kind in kinds)
                counts.update(linked.LEAKED_AS + kind for kind in kinds if leaks(rating))
        return figures | counts


def _link_figures(link: Link | None, own: int) -> Figures:
    if link is None:
        return {linked.SKIPPED: 1, linked.RIGHT: 0}
    return {linked.SKIPPED: 0, linked.RIGHT: link.place == own, linked.VOTES: link.votes}


def version_1(documents: Sequence[Document]) -> LinkageTask:
    """The attack of version 1 of the paper: BM25 over whole documents with all claims, in their own words."""
    return LinkageTask(documents, Linker(Bm25(), "joined", "documents"), rewording=OwnWords())


def version_2(documents: Sequence[Document], encoder: Encoder, judge: Judge = JUDGE) -> LinkageTask:
    """The attack of version 2: claims in other words, each of which votes for documents with near claims."""
    return LinkageTask(documents, Linker(Dense(encoder)), judge, encoder)
