"""The text encoder that all requests share."""

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread

import numpy as np

from ingest.protocols import Encoder
from models.vectors import Vectors

MOST_TEXTS = 64
"""No further request is joined to one with so many texts: the first waits for the last."""
MOST_REMEMBERED = 64
"""How many texts that came alone are remembered: the questions of the requests under way."""
_Asked = tuple[Sequence[str], Future[Vectors]]


class JoinedEncoder:
    """Joins what several threads ask for while others are at work: a model reads short texts faster together.

    The model runs in ``threads`` of its own, since each keeps memory to compute in and requests have many
    threads. Who comes alone waits for nobody. Vectors do not depend on what they are made with, but for
    rounding.

    A text that is asked for alone is remembered for a while, by digest: the budget, the retriever and the
    generator of a request each ask for that of its question.
    """

    def __init__(self, encoder: Encoder, threads: int) -> None:
        self._encoder = encoder
        self._latest = _Latest()
        self._asked: SimpleQueue[_Asked | None] = SimpleQueue()
        for _ in range(threads):
            # The threads know the queue and not this object, so that they end when it is gone.
            Thread(target=_work, args=(self._asked, encoder), daemon=True).start()
            weakref.finalize(self, self._asked.put, None)

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return self._encoder.name

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._encoder.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads."""
        return self._encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of the whole text."""
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, dim); raises what the encoder raises for these texts."""
        known, generation = self._latest.of(texts), self._latest.generation
        new = [text for text in texts if text not in known]
        if new:
            found: Future[Vectors] = Future()
            self._asked.put((new, found))
            known |= zip(new, found.result(), strict=True)
        if len(new) == len(texts) == 1:
            self._latest.keep(new[0], known[new[0]], generation)
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, self.dim), np.float32)

    def forget(self) -> None:
        """Remember none of them any more: a question may be a document that was erased."""
        self._latest.forget()


class _Latest:
    """The vectors of the latest texts."""

    def __init__(self) -> None:
        self._rows: OrderedDict[bytes, Vectors] = OrderedDict()
        self.generation = 0
        self._lock = Lock()

    def of(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Those of these texts that are there."""
        with self._lock:
            rows = ((text, self._rows.get(_digest(text))) for text in texts)
            return {text: row for text, row in rows if row is not None}

    def keep(self, text: str, row: Vectors, generation: int) -> None:
        """Keep one, unless all was forgotten since it was asked for; and of all the latest alone."""
        with self._lock:
            if generation != self.generation:
                return
            self._rows[_digest(text)] = row
            while len(self._rows) > MOST_REMEMBERED:
                self._rows.popitem(last=False)

    def forget(self) -> None:
        """Keep none."""
        with self._lock:
            self.generation += 1
            self._rows.clear()


def _work(asked: "SimpleQueue[_Asked | None]", encoder: Encoder) -> None:
    while first := asked.get():
        _answer([first, *_waiting(asked, len(first[0]))], encoder)
        # Kept until the next request comes, these texts would outlive their own.
        del first


def _waiting(asked: "SimpleQueue[_Asked | None]", texts: int) -> Iterator[_Asked]:
    """Requests that wait already, as long as there is room beside so many ``texts``."""
    with suppress(Empty):
        while texts < MOST_TEXTS and (further := asked.get_nowait()):
            texts += len(further[0])
            yield further


def _answer(taken: Sequence[_Asked], encoder: Encoder) -> None:
    try:
        vectors = encoder.encode([text for texts, _ in taken for text in texts])
    except BaseException as error:
        if len(taken) == 1:
            taken[0][1].set_exception(error)
        else:
            # Which text it was is not known: each request is answered for its own.
            for each in taken:
                _answer([each], encoder)
        return
    ends = np.cumsum([len(texts) for texts, _ in taken])
    for (_, found), rows in zip(taken, np.split(vectors, ends[:-1]), strict=True):
        found.set_result(rows)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
