"""Erasing documents of a collection, and the proof that nothing answers from them any more."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from multiprocessing import get_context
from typing import Literal

from app.data_dir import DataDir
from app.machine import begin_apart
from app.settings.load import Settings
from ingest.keys import source_of
from ingest.read.paths import path_id, upload_origin
from models.errors import LetheError
from retrieval.collection import Collection, Erasure, UnknownDocument
from retrieval.documents import Passage
from retrieval.protocols import Retriever

MOST_ASKED = 200
"""Passages of erased documents that are searched for afterwards."""
Check = Literal["search", "membership", "files"]
Cause = Literal["resumed", "no_passages", "not_tried", "too_many", "not_found", "not_nearest"]
_OPEN: Mapping[Cause, tuple[Sequence[Check], str]] = {
    "resumed": (
        ("search", "membership", "files"),
        "The erasure was begun before and cut short. Text and vectors were gone by then, so nothing could be "
        "searched for before, and only ids were looked for in the database and the index.",
    ),
    "no_passages": (
        ("search", "membership"),
        "Nothing of the document was indexed, so there were no words to search with.",
    ),
    "not_tried": (
        ("search", "membership"),
        "The command line searches the files only. Erase over HTTP to have searches tried before and after.",
    ),
    "too_many": (
        ("search", "membership"),
        f"Searches are tried for the first {MOST_ASKED} passages of an erasure only.",
    ),
    "not_found": (
        ("search", "membership"),
        "The search did not find the passage before either, so that it is not found now says nothing.",
    ),
    "not_nearest": (
        ("membership",),
        "Another passage was as near before, so similarities did not tell that this one was there.",
    ),
}
"""By cause, the checks that say nothing, and why."""
_SAME = 1e-4
"""Rounding, in cosines."""
_FOUND = 10
"""Passages of each search."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What searches with the words of passages told.

    ``found`` counts passages that were among the results. ``members`` counts those for which an attacker who
    only sees similarities says that the passage is there: the best is as high as its own, which nothing else
    reached.
    """

    passages: int
    found: int
    members: int


@dataclass(frozen=True, slots=True)
class Proof:
    """The same questions before an erasure and after it; they prove something if they succeeded before."""

    before: Asked
    after: Asked
    read_back: int
    """Erased ids that the collection still knows."""

    @property
    def nothing_left(self) -> bool:
        """Whether nothing answers any more."""
        return not (self.after.found or self.after.members or self.read_back)


@dataclass(frozen=True, slots=True)
class NotProved:
    """Checks that say nothing about some erased documents and so many of their passages, and the cause."""

    cause: Cause
    documents: int
    passages: int

    def row(self) -> Mapping[str, object]:
        """The same as JSON, with the checks and the reason in words."""
        checks, reason = _OPEN[self.cause]
        return {**asdict(self), "checks": list(checks), "reason": reason}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased, what was not there, the proof, and what it leaves open."""

    erasures: Sequence[Erasure]
    not_found: Sequence[str] = field(repr=False)
    proof: Proof
    not_proved: Sequence[NotProved] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing was found afterwards of all that could be looked for."""
        return self.proof.nothing_left and not any(each.traces_found for each in self.erasures)

    def row(self) -> Mapping[str, object]:
        """The receipt as JSON."""
        return {
            "complete": self.complete,
            "proved": not self.not_proved,
            "not_proved": [each.row() for each in self.not_proved],
            "erasures": [asdict(each) for each in self.erasures],
            "not_found": list(self.not_found),
            "proof": asdict(self.proof),
        }


class NotErased(LetheError):
    """Something still answers after an erasure."""

    def __init__(self, receipt: Receipt) -> None:
        left = sum(each.traces_found for each in receipt.erasures)
        after = receipt.proof.after
        super().__init__(
            f"The erasure is not complete: {left} traces in files, {after.found} passages found by search, "
            f"{after.members} taken for stored, {receipt.proof.read_back} ids known. Erase again; if it "
            "stays so, stop other readers of the collection first."
        )


def names_of(data: DataDir, collection: Collection, given: str) -> list[str]:
    """The ids under which a document may be stored that is called so.

    As it was given in a record, as the path that it was read from, as its file was called when it was
    uploaded, or as it is listed, whatever ids are kept by now.
    """
    # The system knows no path with a NUL, and raises on one.
    spelled = [given] if "\0" in given else [given, path_id(given)]
    uploaded = collection.store.ids_from(source_of(upload_origin(given), data.key).key, below=False)
    return [*data.public_ids(spelled, collection.manifest.keeps_ids), given, *uploaded]


def documents_saying(data: DataDir, name: str, alias: str) -> list[str]:
    """The documents of a collection that an alias stands in, whole."""
    whole = re.compile(rf"(?<!\w){re.escape(alias)}(?!\w)")
    with data.open(name) as collection:
        return [doc_id for doc_id, text in collection.store.saying(alias) if whole.search(text)]


NOTHING_TO_ERASE = (
    "No document has one of these ids; give the name of a file as it was uploaded, the id of a record, or an "
    "id from the list of the collection's documents."
)


@dataclass(frozen=True, slots=True)
class Sought:
    """What an erasure is about: the names of each id that was given, and of which there are documents.

    ``passages`` are those of the documents. ``interrupted`` counts erasures of a process that was killed:
    nothing answers any more, but the files are not searched yet.
    """

    names: Mapping[str, Sequence[str]] = field(repr=False)
    known: frozenset[str] = field(repr=False)
    passages: Sequence[Passage] = field(repr=False)
    interrupted: int


def sought(data: DataDir, name: str, ids: Sequence[str]) -> Sought:
    """The documents that ids name in a collection.

    Raises:
        UnknownDocument: None of the ids is there, and no erasure was cut short.
        CollectionError: There is no such collection.
    """
    with data.open(name) as collection:
        store = collection.store
        names = {each: names_of(data, collection, each) for each in dict.fromkeys(ids)}
        known = {each: doc_ids for each, own in names.items() if (doc_ids := store.documents_called(own))}
        passages = [one for doc_id in sorted({*chain(*known.values())}) for one in store.passages_of(doc_id)]
        interrupted = len(store.pending_erasures())
    if not known and not interrupted:
        raise UnknownDocument(NOTHING_TO_ERASE)
    return Sought(names, frozenset(known), passages, interrupted)


def erase_with_proof(data: DataDir, name: str, wanted: Sought, retriever: Callable[[], Retriever]) -> Receipt:
    """Erase what was sought. ``retriever`` is how the collection answers now, taken again afterwards.

    Raises:
        UnknownDocument: None of the ids is there: that nothing was found is no success.
        NotErased: Something is left.
        CollectionError: There is no such collection, or another process is writing to it.
    """
    passages = wanted.passages
    searches = [_Search(each) for each in passages[:MOST_ASKED]]
    before = _ask(retriever(), searches)
    erasures = _elsewhere(data.settings, name, [*chain(*wanted.names.values())])
    if not erasures:
        # Of whom they were, only ids are known: a request by name is not recognized when it comes again.
        cut_short = wanted.interrupted
        finished = f" Erasures that had been cut short are finished now: {cut_short}." if cut_short else ""
        raise UnknownDocument(NOTHING_TO_ERASE + finished)
    after = _ask(retriever(), searches)
    gone = [alias for each in erasures for alias in (each.doc_id, *each.also_known_as)]
    with data.open(name) as collection:
        read_back = len(collection.store.documents_called(gone))
    not_found = [
        each for each, names in wanted.names.items() if each not in wanted.known and not {*gone} & {*names}
    ]
    left_open = not_proved(erasures, searches, passages[MOST_ASKED:])
    receipt = Receipt(erasures, not_found, Proof(before, after, read_back), left_open)
    if not receipt.complete:
        raise NotErased(receipt)
    return receipt


@dataclass(slots=True)
class _Search:
    """A search with the words of a passage. ``own`` is its similarity to them while it is there.

    ``others`` is the best of what else was found then: that is no sign of the passage.
    """

    passage: Passage = field(repr=False)
    own: float | None = None
    others: float = -1.0

    @property
    def tells(self) -> bool:
        """Whether similarities alone tell that the passage is there: it is nearer than all others."""
        return self.own is not None and self.own > self.others + _SAME

    @property
    def cause(self) -> Cause | None:
        """Why a search that finds nothing afterwards says nothing; None if it says something."""
        if self.own is None:
            return "not_found"
        return None if self.tells else "not_nearest"


def not_proved(
    erasures: Sequence[Erasure], searches: Sequence["_Search"] | None = None, others: Sequence[Passage] = ()
) -> list[NotProved]:
    """What erasures leave open after ``searches``, which were not tried for ``others``; None if for none."""
    found: dict[Cause | None, Counter[str]] = {cause: Counter() for cause in _OPEN}
    found[None] = Counter()
    for erasure in erasures:
        found[_cause(erasure, tried=searches is not None)][erasure.doc_id] += erasure.passages
    for passage in others:
        found["too_many"][passage.doc_id] += 1
    for search in searches or ():
        found[search.cause][search.passage.doc_id] += 1
    return [NotProved(cause, len(found[cause]), found[cause].total()) for cause in _OPEN if found[cause]]


def _cause(erasure: Erasure, *, tried: bool) -> Cause | None:
    if erasure.resumed:
        return "resumed"
    if not erasure.passages:
        return "no_passages"
    return None if tried else "not_tried"


def _ask(retriever: Retriever, searches: Sequence[_Search]) -> Asked:
    """Search with the words of each passage; the first time, note what its own presence looks like."""
    results = retriever.retrieve([each.passage.text for each in searches], _FOUND) if searches else []
    found = members = 0
    for search, hits in zip(searches, results, strict=True):
        similar = {hit.passage.passage_id: hit.similarity for hit in hits}
        own = similar.pop(search.passage.passage_id, None)
        if search.own is None:
            search.own, search.others = own, max(similar.values(), default=-1.0)
        found += own is not None
        best = max(similar.values(), default=-1.0) if own is None else own
        members += search.tells and search.own is not None and best >= search.own - _SAME
    return Asked(len(searches), found, members)


def _elsewhere(settings: Settings, name: str, ids: Sequence[str]) -> list[Erasure]:
    """Erase in a process of its own.

    Files are searched for traces, and to close a database's file takes SQLite's locks on it away from the
    process that does, while other threads of this one read it.
    """
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1, get_context("spawn"), initializer=begin_apart) as process:
        return process.submit(_erase, settings, name, ids).result()


def _erase(settings: Settings, name: str, ids: Sequence[str]) -> list[Erasure]:
    with DataDir(settings).open(name) as collection:
        return collection.erase_all(list(ids))
