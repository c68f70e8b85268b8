"""The linking of documents as a task: is another document about the same person ranked first?

``eval.measures.same_person`` folds the rows.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.attacks.same_person import SamePerson, aliases_in, found_twins
from eval.experiment import SanitizedCorpus
from eval.measures import same_person as measured
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.protocols import Encoder
from models.errors import ConfigurationError

NO_TWIN = "no twin was sanitized"
"""The failure of a document whose person no other sanitized document is about."""


@dataclass(frozen=True, slots=True)
class SamePersonTask:
    """One row per document of a person with several; all sanitized documents are candidates.

    ``people`` is gold: the ids of the documents about each person. People with one document have no row.
    ``eval.corpora.in_two`` makes such people for a corpus that names none.

    Raises:
        ConfigurationError: A document is about two people, or no person has two documents.
    """

    people: Sequence[Collection[str]] = field(repr=False)
    encoder: Encoder
    seed: int = 0

    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        ids = [doc_id for person in self.people for doc_id in person]
        if len(set(ids)) < len(ids):
            raise ConfigurationError(
                "A document is about two people, or named twice: leave it out of one of them."
            )
        if not self.cases:
            raise ConfigurationError(
                "No person has two documents: name at least two ids, or split documents with in_two."
            )

    @property
    def name(self) -> str:
        """The ranking."""
        return f"same person, {SamePerson(self.encoder).name}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents, person by person."""
        return [doc_id for person in self.people if len(person) > 1 for doc_id in sorted(person)]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The rank of the best twin of each document."""
        progress(f"linking documents in {kept.system}", 0, None)
        places = {each.doc_id: place for place, each in enumerate(kept.documents)}
        person_of = {doc_id: number for number, ids in enumerate(self.people) for doc_id in ids}
        attack = SamePerson(self.encoder)
        scores = attack.scores(kept.documents)
        aliases = [aliases_in(each) for each in kept.documents]
        for case in cases:
            person = person_of[case]
            twins = [places[each] for each in sorted(self.people[person]) if each in places and each != case]
            if case not in places or not twins:
                row = kept.row(self.name, case, None, attack.name)
                yield row if case not in places else row.model_copy(update={"failure": NO_TWIN})
                continue
            # A draw for each case, so that cases left over from another run have the same.
            rng = np.random.default_rng([self.seed, places[case]])
            found = found_twins(scores[places[case]], places[case], twins, rng)
            shared = any(aliases[places[case]] & aliases[twin] for twin in twins)
            figures: dict[str, float] = {
                measured.PERSON: person,
                measured.RANK: found.rank,
                measured.TWINS: found.twins,
                measured.OTHERS: found.others,
                measured.CHANCE: found.chance(1),
                measured.CHANCE_FIVE: found.chance(5),
                measured.ALIAS: shared,
            }
            yield kept.row(self.name, case, figures, attack.name)
