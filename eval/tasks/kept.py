"""How much of each original its own sanitized document still says: facts, and claims by a judge.

Utility without a task: the facts are words and numbers (``eval.measures.facts``), the claims are all of the
original's, also those that an attacker knows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval.attacks.claims import Atomizer
from eval.experiment import SanitizedCorpus
from eval.measures.claim_distance import Judge, leaks
from eval.measures.facts import facts_in, share_present
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from eval.tasks.linkage import ATOMIZER, JUDGE
from ingest.documents import Document
from models.judges import SAME
from models.packs import packs

FACTS, CHANCE = "share of facts kept", "share of facts said by another document"
"""The second is the same share in the sanitized text of the next document: what is kept by chance."""
_ASKED_AT_ONCE = 128
CLAIMS, SAID, SAID_PARTLY = "claims rated", "claims said", "claims said in part or whole"


@dataclass(frozen=True, slots=True)
class Kept:
    """One row per document, with numbers only; a failure if it could not be sanitized."""

    documents: Sequence[Document] = field(repr=False)
    judge: Judge = JUDGE
    atomizer: Atomizer = ATOMIZER

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        """With the judge."""
        return f"kept, {self.judge.name}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
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
