"""A task that is measured with further documents in the index: those that somebody slipped in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.experiment import SanitizedCorpus, Task, add_documents, retrievers
from eval.measures.leakage import SensitiveIndex
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Encoder

NO_INDEX = "nothing to index into"


@dataclass(frozen=True, slots=True)
class Beside:
    """``task`` on a copy of the index in memory, with ``documents`` sanitized and indexed as others were.

    ``documents`` are parallel to the cases, each of which is measured if its document was not refused. Ids
    are those of no other document. ``searching`` puts around the copy what is around the index.
    """

    task: Task
    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder
    searching: Callable[[SanitizedCorpus], SanitizedCorpus] = field(default=lambda kept: kept, repr=False)

    @property
    def name(self) -> str:
        """The task's."""
        return self.task.name

    @property
    def cases(self) -> Sequence[str]:
        """The task's."""
        return self.task.cases

    @property
    def sensitive(self) -> SensitiveIndex:
        """The task's."""
        return self.task.sensitive

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The task's; where nothing can be added, none is measured."""
        if kept.shelf is None or kept.sanitizer is None:
            yield from (
                Row(system=kept.system, task=self.name, case=case, failure=NO_INDEX) for case in cases
            )
            return
        shelf = kept.shelf(self.encoder)
        copy = replace(shelf, store=shelf.store.copied())
        try:
            outcomes = kept.sanitizer().sanitize(self.documents)
            add_documents(
                copy, [each for each in outcomes if isinstance(each, SanitizedDocument)], self.encoder
            )
            added = replace(kept, retriever=retrievers(lambda encoder: copy), shelf=lambda encoder: copy)
            refused = {
                case: each.what
                for case, each in zip(self.cases, outcomes, strict=True)
                if isinstance(each, SanitizationError)
            }
            yield from self.task.rows(
                self.searching(added), [case for case in cases if case not in refused], progress
            )
            for case in cases:
                if case in refused:
                    yield Row(system=kept.system, task=self.name, case=case, failure=refused[case])
        finally:
            copy.store.close()
