"""Erasing documents of a collection, and the proof that nothing answers from them any more."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context

from app.data_dir import DataDir
from app.machine import end_with_parent
from app.settings.load import Settings
from ingest.read.paths import path_id
from models.errors import LetheError
from retrieval.collection import Collection, Erasure, UnknownDocument
from retrieval.documents import Passage
from retrieval.protocols import Retriever

MOST_ASKED = 200
"""Passages of erased documents that are searched for afterwards."""
_SAME = 1e-4
"""Rounding, in cosines."""
_FOUND = 10
"""Passages of each search."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What searches with the words of passages told.

    ``found`` counts passages whose document was among the results. ``members`` counts those for which an
    attacker who only sees similarities says that the passage is there: the best is as high as that of the
    passage itself was, and no other document says the same.
    """

    passages: int
    found: int
    members: int


@dataclass(frozen=True, slots=True)
class Proof:
    """The same questions before an erasure, when they must succeed to mean something, and after it."""

    before: Asked
    after: Asked
    read_back: int
    """Erased ids that the collection still knows."""

    @property
    def nothing_left(self) -> bool:
        """Whether nothing answers any more."""
        return not (self.after.found or self.after.members or self.read_back)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased, what was not there, and the proof."""

    erasures: Sequence[Erasure]
    not_found: Sequence[str] = field(repr=False)
    proof: Proof

    @property
    def complete(self) -> bool:
        """Whether all that was there is gone."""
        return self.proof.nothing_left and not any(each.traces_found for each in self.erasures)

    def row(self) -> Mapping[str, object]:
        """The receipt as JSON."""
        return {
            "complete": self.complete,
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

    As it was given in a record, as the path that it was read from, or as it is listed, whatever ids are kept
    by now.
    """
    # The system knows no path with a NUL, and raises on one.
    spelled = [given] if "\0" in given else [given, path_id(given)]
    return [*data.public_ids(spelled, collection.manifest.keeps_ids), given]


def documents_saying(data: DataDir, name: str, alias: str) -> list[str]:
    """The documents of a collection that an alias stands in."""
    whole = re.compile(rf"(?<!\w){re.escape(alias)}(?!\w)")
    with data.open(name) as collection:
        return [doc_id for doc_id, text in collection.store.saying(alias) if whole.search(text)]


def erase_with_proof(
    data: DataDir, name: str, ids: Sequence[str], retriever: Callable[[], Retriever]
) -> Receipt:
    """Erase documents by id. ``retriever`` is how the collection answers now, taken again afterwards.

    Raises:
        UnknownDocument: None of the ids is there: that nothing was found is no success.
        NotErased: Something is left.
        CollectionError: There is no such collection, or another process is writing to it.
    """
    with data.open(name) as collection:
        named = {each: names_of(data, collection, each) for each in dict.fromkeys(ids)}
        there = {
            each: passages
            for each, names in named.items()
            if (passages := [one for alias in names for one in collection.store.passages_of(alias)])
        }
        # Of a process that was killed: nothing answers any more, but the files are not searched yet.
        interrupted = bool(collection.store.pending_erasures())
    asked = list({one.passage_id: one for passages in there.values() for one in passages}.values())
    asked = asked[:MOST_ASKED]
    erasures = list[Erasure]()
    if there or interrupted:
        before, similarities = _ask(retriever(), asked, [])
        erasures = _elsewhere(data.settings, name, [alias for names in named.values() for alias in names])
    if not erasures:
        raise UnknownDocument("No document has one of these ids; list the collection's documents for ids.")
    after, _ = _ask(retriever(), asked, similarities)
    with data.open(name) as collection:
        read_back = sum(
            bool(collection.store.passages_of(each))
            for erasure in erasures
            for each in (erasure.doc_id, *erasure.also_known_as)
        )
    gone = {alias for each in erasures for alias in (each.doc_id, *each.also_known_as)}
    not_found = [each for each, names in named.items() if each not in there and not gone.intersection(names)]
    receipt = Receipt(erasures, not_found, Proof(before, after, read_back))
    if not receipt.complete:
        raise NotErased(receipt)
    return receipt


def _ask(
    retriever: Retriever, passages: Sequence[Passage], known: Sequence[float]
) -> tuple[Asked, list[float]]:
    """Search with the words of each passage; also the best similarity of each.

    ``known`` are those of an earlier time, none for the first.
    """
    results = retriever.retrieve([each.text for each in passages], _FOUND) if passages else []
    best, found, members = list[float](), 0, 0
    for number, (passage, hits) in enumerate(zip(passages, results, strict=True)):
        best.append(max((hit.similarity for hit in hits), default=-1.0))
        found += any(hit.passage.passage_id == passage.passage_id for hit in hits)
        same = any(
            hit.passage.text == passage.text and hit.passage.passage_id != passage.passage_id for hit in hits
        )
        members += not same and best[-1] >= (known[number] if known else best[-1]) - _SAME
    return Asked(len(passages), found, members), best


def _elsewhere(settings: Settings, name: str, ids: Sequence[str]) -> list[Erasure]:
    """Erase in a process of its own.

    Files are searched for traces, and to close a database's file takes SQLite's locks on it away from the
    process that does, while other threads of this one read it.
    """
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1, get_context("spawn"), initializer=end_with_parent) as process:
        return process.submit(_erase, settings, name, ids).result()


def _erase(settings: Settings, name: str, ids: Sequence[str]) -> list[Erasure]:
    with DataDir(settings).open(name) as collection:
        return collection.erase_all(list(ids))
