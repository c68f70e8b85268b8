"""The experiment: several systems sanitize a corpus, and tasks measure each of them as rows.

Sanitizing, indexing, asking and attacking are implemented here once. Every benchmark, calibration and report
is a fold over the rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from eval.measures.leakage import SensitiveIndex
from eval.progress import Progress, no_progress
from eval.rows import Row, RowFile
from ingest.documents import Arrival, Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Encoder, Sanitizer
from models.language.batch_files import AnswersNeeded, of_each
from retrieval.collection import Collection, add_vectors
from retrieval.index.faiss import FaissIndex
from retrieval.passages import Writer, cut
from retrieval.protocols import Retriever
from retrieval.retriever import HybridRetriever
from retrieval.search import Search
from retrieval.store.database import Store
from retrieval.system import System

_BATCH = 64

NOT_SANITIZED = "not sanitized"
"""The failure of a document that is in no system's list of failed ones."""

SYSTEMS = "systems"
"""The progress phase that counts finished systems."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A store, and how what is in it was cut and turned into vectors.

    ``writing`` makes of the encoder of questions that of what is stored.
    """

    store: Store = field(repr=False)
    passage_tokens: int
    search: Search
    writing: Callable[[Encoder], Encoder] = field(default=lambda encoder: encoder, repr=False)


@dataclass(frozen=True, slots=True)
class SanitizedCorpus:
    """A corpus as one system sanitized it.

    ``documents`` are the sanitized documents if made in memory; ``kept`` is their number. ``failed`` has the
    error by id of documents that could not be sanitized. ``actions`` counts mentions by action.
    ``retriever`` returns the retriever of an encoder, the same object each time, and ``shelf`` what it reads;
    None if nothing is stored. ``sanitizer`` makes the one that further documents would go through.
    """

    system: str
    kept: int
    failed: Mapping[str, str] = field(repr=False)
    actions: Mapping[str, int] = field(repr=False)
    retriever: Callable[[Encoder], Retriever] = field(repr=False)
    documents: Sequence[SanitizedDocument] = field(default=(), repr=False)
    shelf: Callable[[Encoder], Shelf] | None = field(default=None, repr=False)
    sanitizer: Callable[[], Sanitizer] | None = field(default=None, repr=False)

    def row(
        self, task: str, case: str, figures: Mapping[str, float] | None, engine: str = "", kind: str = ""
    ) -> Row:
        """The row of a document. Without figures it is a failure: the document was not sanitized."""
        failure = "" if figures is not None else self.failed.get(case, NOT_SANITIZED)
        return Row(
            system=self.system,
            task=task,
            case=case,
            kind=kind,
            failure=failure,
            engine=engine,
            doc_ids=(case,),
            figures=dict(figures or {}),
        )


class Task(Protocol):
    """A measurement of a sanitized corpus: a row per case, which counts entities of ``sensitive``."""

    @property
    def name(self) -> str: ...

    @property
    def cases(self) -> Sequence[str]: ...

    @property
    def sensitive(self) -> SensitiveIndex: ...

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True)
class SystemRows:
    """The rows of one system by task. ``kept`` is None if all rows were in the file already."""

    system: str
    rows: Mapping[str, Sequence[Row]] = field(repr=False)
    kept: SanitizedCorpus | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """Documents, systems by name, and the tasks of each system.

    ``kept`` holds what some systems have sanitized before, by name; that is not sanitized again.
    """

    documents: Sequence[Document] = field(repr=False)
    systems: Mapping[str, System]
    tasks: Mapping[str, Sequence[Task]]
    kept: Mapping[str, SanitizedCorpus] = field(default_factory=dict)

    def run(self, file: RowFile | None = None, progress: Progress = no_progress) -> Iterator[SystemRows]:
        """Measure each system in order, with one index in memory at a time. Rows in ``file`` are reused.

        Raises AnswersNeeded behind the last system, once all have said what they need to know.
        """
        log = RowFile("") if file is None else file
        needed: AnswersNeeded | None = None
        for number, (name, system) in enumerate(self.systems.items()):
            progress(SYSTEMS, number, len(self.systems))
            with ExitStack() as stack:
                try:
                    done = self._measured(name, system, log, stack, progress)
                except AnswersNeeded as error:
                    needed = error
                    continue
                yield done
        if needed is not None:
            raise needed
        progress(SYSTEMS, len(self.systems), len(self.systems))

    def _measured(
        self, name: str, system: System, log: RowFile, stack: ExitStack, progress: Progress
    ) -> SystemRows:
        tasks, kept = self.tasks[name], None

        def measure(task: Task) -> None:
            nonlocal kept
            done = log.cases(name, task.name)
            missing = [case for case in task.cases if case not in done]
            if missing:
                kept = kept or self._kept(name, system, stack, progress)
                for row in task.rows(kept, missing, progress):
                    log.add(row)

        of_each(measure, tasks)
        rows = {
            task.name: [
                row.model_copy(update={"present": task.sensitive.behind(row.doc_ids)})
                for row in log.rows(name, task.name)
            ]
            for task in tasks
        }
        return SystemRows(name, rows, kept)

    def _kept(self, name: str, system: System, stack: ExitStack, progress: Progress) -> SanitizedCorpus:
        if name in self.kept:
            there = self.kept[name]
            return there if there.sanitizer else replace(there, sanitizer=system.sanitizer)
        return kept_in_memory(name, self.documents, system, stack, progress)


def kept_in(name: str, collection: Collection, search: Search) -> SanitizedCorpus:
    """The sanitized corpus of a collection."""
    store, made = collection.store, collection.manifest
    shelf = Shelf(store, made.passage_tokens, made.search)

    def retriever(encoder: Encoder) -> Retriever:
        return HybridRetriever(encoder, collection.load_index(), store, search)

    return SanitizedCorpus(
        name, store.count_documents(), {}, store.entities_by_action(), retriever, shelf=lambda encoder: shelf
    )


def kept_in_memory(
    name: str, documents: Sequence[Document], system: System, stack: ExitStack, progress: Progress
) -> SanitizedCorpus:
    """Sanitize in memory. Each index is built on first use and closed with ``stack``."""
    sanitizer, phase = system.sanitizer(), f"sanitizing {name}"
    sanitized: list[SanitizedDocument] = []
    failed: dict[str, str] = {}

    def outcomes(first: int) -> Sequence[SanitizedDocument | SanitizationError]:
        progress(phase, first, len(documents))
        return sanitizer.sanitize(documents[first : first + _BATCH])

    for outcome in chain.from_iterable(of_each(outcomes, range(0, len(documents), _BATCH))):
        if isinstance(outcome, SanitizedDocument):
            sanitized.append(outcome)
        else:
            failed[outcome.doc_id] = outcome.what
    progress(phase, len(documents), len(documents))
    shelves: dict[str, Shelf] = {}

    def shelf(encoder: Encoder) -> Shelf:
        if encoder.name not in shelves:
            store = stored(sanitized, encoder, system, stack)
            shelves[encoder.name] = Shelf(store, system.passage_tokens, system.search)
        return shelves[encoder.name]

    actions = Counter(str(decision.action) for each in sanitized for decision in each.decisions)
    return SanitizedCorpus(
        name, len(sanitized), failed, actions, retrievers(shelf), sanitized, shelf, system.sanitizer
    )


def stored(
    documents: Sequence[SanitizedDocument], encoder: Encoder, system: System, stack: ExitStack
) -> Store:
    """A store of sanitized documents, closed with ``stack``."""
    store = Store(None)
    stack.callback(store.close)
    add_documents(Shelf(store, system.passage_tokens, system.search), documents, encoder)
    return store


def add_documents(shelf: Shelf, documents: Sequence[SanitizedDocument], encoder: Encoder) -> None:
    """Cut, encode and store documents as those were that are there."""
    writer, encoder = Writer(shelf.store), shelf.writing(encoder)
    for first in range(0, len(documents), _BATCH):
        cuts = cut(documents[first : first + _BATCH], encoder, shelf.passage_tokens, shelf.search)
        # Ids are unique here, so an id can stand in for the content digest.
        writer.keep([(Arrival(each.document.doc_id, each.document.doc_id.encode()), each) for each in cuts])


def indexed(shelf: Shelf, encoder: Encoder) -> Retriever:
    """A retriever over what is stored."""
    index = FaissIndex(encoder.dim)
    add_vectors(shelf.store, index, after=0)
    return HybridRetriever(encoder, index, shelf.store, shelf.search)


def retrievers(shelf: Callable[[Encoder], Shelf]) -> Callable[[Encoder], Retriever]:
    """The retriever of an encoder over what is on its shelf, indexed when it is first asked for."""
    made: dict[str, Retriever] = {}

    def retriever(encoder: Encoder) -> Retriever:
        if encoder.name not in made:
            made[encoder.name] = indexed(shelf(encoder), encoder)
        return made[encoder.name]

    return retriever
