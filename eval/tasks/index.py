"""The index reader: which sensitive entities remain in the sanitized text of their document.

This is the strongest attacker on an index: a question can only extract what is in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.attacks.guessing import Guess, Reconstruction, guess_slots, reconstruct
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import SensitiveIndex
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Action, Document, SanitizedDocument
from ingest.protocols import Encoder

NOT_GUESSED = "not guessed"
"""The failure of documents beyond the first ``most``."""

SLOTS, FIRST, FIRST_FIVE = "slots", "ranked first", "among the first five"
PRIOR_FIRST, PRIOR_FIVE, CHANCE = "first by prior", "among the first five by prior", "first by chance"
ROUGE, REBUILT_ROUGE = "ROUGE-L", "ROUGE-L rebuilt"
LEFT, RECOVERED, SENSITIVE = "entities left", "entities recovered", "entities"


@dataclass(frozen=True, slots=True)
class Guesses:
    """A row for each of the first ``most`` documents; slots that show the original do not count as guessed.

    Candidate pools are drawn over all of them, so the rows of a system are measured together.
    """

    documents: Sequence[Document] = field(repr=False)
    most: int
    encoder: Encoder
    seed: int
    sensitive: SensitiveIndex = field(repr=False)

    name = "guesses"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents; those after the first ``most`` have rows without slots."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """Slot counts by outcome, and how much of each original was reconstructed."""
        progress(f"guessing in {kept.system}", 0, None)
        few = kept.documents[: self.most]
        guesses = self._guessed(few)
        rebuilt = {each.doc_id: each for each in reconstruct(self.documents, few, guesses, self.sensitive)}
        by_document: dict[str, list[Guess]] = {case: [] for case in cases}
        for guess in guesses:
            by_document.get(guess.doc_id, []).append(guess)
        for case, those in by_document.items():
            begun = Row(system=kept.system, task=self.name, case=case, doc_ids=(case,))
            if case not in rebuilt:
                yield begun.model_copy(update={"failure": kept.failed.get(case, NOT_GUESSED)})
            else:
                figures = _figures([each for each in those if not each.kept], rebuilt[case])
                yield begun.model_copy(update={"figures": figures})

    def _guessed(self, few: Sequence[SanitizedDocument]) -> list[Guess]:
        # Pools depend on the ids, and public ids depend on the key of the installation.
        numbers = {document.doc_id: str(number) for number, document in enumerate(self.documents)}
        known = {number: doc_id for doc_id, number in numbers.items()}
        guessed = guess_slots(
            [replace(each, doc_id=numbers[each.doc_id]) for each in self.documents],
            [replace(each, doc_id=numbers[each.doc_id]) for each in few],
            self.encoder,
            seed=self.seed,
        )
        return [replace(each, doc_id=known[each.doc_id]) for each in guessed]


def _figures(guesses: Sequence[Guess], rebuilt: Reconstruction) -> dict[str, float]:
    return {
        SLOTS: len(guesses),
        FIRST: sum(each.rank <= 1 for each in guesses),
        FIRST_FIVE: sum(each.rank <= 5 for each in guesses),
        PRIOR_FIRST: sum(each.prior_rank <= 1 for each in guesses),
        PRIOR_FIVE: sum(each.prior_rank <= 5 for each in guesses),
        CHANCE: sum(each.chance(1) for each in guesses),
        ROUGE: rebuilt.sanitized_rouge,
        REBUILT_ROUGE: rebuilt.rouge,
        LEFT: rebuilt.left,
        RECOVERED: rebuilt.recovered,
        SENSITIVE: rebuilt.sensitive,
    }


MENTIONS, KEPT = "mentions", "mentions kept"


@dataclass(frozen=True, slots=True)
class IndexReader:
    """One row per document of the corpus; a failure if it could not be sanitized."""

    doc_ids: Sequence[str] = field(repr=False)
    sensitive: SensitiveIndex = field(repr=False)

    name = "index"

    @property
    def cases(self) -> Sequence[str]:
        return self.doc_ids

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """``leaked`` are the entities that remain in the document; figures count its mentions."""
        there = {document.doc_id: document for document in kept.documents}
        for case in cases:
            if case not in there:
                yield kept.row(self.name, case, None)
                continue
            document = there[case]
            left = sum(decision.action is Action.KEEP for decision in document.decisions)
            figures = {MENTIONS: float(len(document.decisions)), KEPT: float(left)}
            leaked = self.sensitive.leaked([case], document.text, "")
            yield kept.row(self.name, case, figures).model_copy(update={"leaked": leaked})
