"""What one caller may draw out of a collection: like questions, and the share of its documents.

Extraction shows in two ways: one question asked again and again in other words, and answers that walk through
a collection. Both are counted in memory alone, by vectors of questions and digests of ids; no question is
kept, and a restart forgets all.
"""

import hashlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from fastapi import Depends, Request

from app.server.quotas.later import TryLater
from app.settings.load import ServerSettings
from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.documents import RetrievedPassage

ALIKE = 0.8
"""The cosine from which two questions count as one that was asked again."""
MOST_CALLERS = 500
"""How many pairs of caller and collection are remembered; the one silent longest is forgotten first."""
MOST_QUESTIONS = 1000
MOST_SHOWN = 50_000
"""The most questions and documents that are remembered for each. Beyond it no question is taken and no
further document shown: forgetting the oldest would let a caller wash out what it has asked."""


@dataclass(slots=True)
class _Drawn:
    """The questions of a caller about a collection, and the documents shown, each with its time."""

    questions: deque[tuple[float, Vectors]] = field(default_factory=deque, repr=False)
    shown: dict[bytes, float] = field(default_factory=dict, repr=False)


class Budgets:
    """Counts what callers draw from collections, by the settings. Safe to share between threads."""

    def __init__(self, settings: ServerSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._alike, self._percent = settings.alike_questions, settings.documents_percent
        self._window = settings.budget_hours * 3600
        self._clock = clock
        self._drawn: OrderedDict[tuple[str, str], _Drawn] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """The pairs of caller and collection that are remembered."""
        return len(self._drawn)

    def ask(self, caller: str, collection: str, question: str, encoder: Encoder) -> None:
        """Count a question.

        Raises:
            TryLater: The caller has asked too many like it, or more of any kind than are remembered.
        """
        if self._alike is None:
            return
        (vector,) = encoder.encode([question.encode("utf-8", "replace").decode("utf-8")])
        with self._lock:
            now, drawn = self._of(caller, collection)
            alike = sorted(asked for asked, other in drawn.questions if float(vector @ other) >= ALIKE)
            if len(alike) >= self._alike:
                wait = self._wait(alike[-self._alike], now)
                raise TryLater(
                    429,
                    "question_budget_exceeded",
                    f"This caller has asked {self._alike} questions like this one within "
                    f"{self._hours}. Ask it again in {wait} s, or let the operator raise "
                    "server.alike_questions.",
                    wait,
                )
            if len(drawn.questions) >= MOST_QUESTIONS:
                wait = self._wait(drawn.questions[0][0], now)
                raise TryLater(
                    429,
                    "question_budget_exceeded",
                    f"This caller has asked {MOST_QUESTIONS} questions about this collection within "
                    f"{self._hours}, the most that are compared. Ask again in {wait} s, or let the operator "
                    "lower server.budget_hours or leave out server.alike_questions.",
                    wait,
                )
            drawn.questions.append((now, vector))

    def show(
        self,
        caller: str,
        collection: str,
        passages: Sequence[RetrievedPassage],
        documents: Callable[[], int],
    ) -> None:
        """Count the documents of passages that are about to be shown; ``documents`` says how many there are.

        Raises:
            TryLater: The caller would have seen too many. Documents that it has seen already may be shown.
        """
        if self._percent is None:
            return
        most = min(MOST_SHOWN, math.ceil(documents() * self._percent / 100))
        ids = {hashlib.sha256(each.passage.doc_id.encode()).digest()[:8] for each in passages}
        with self._lock:
            now, drawn = self._of(caller, collection)
            over = len(drawn.shown.keys() | ids) - most
            # Of a small collection one answer may show more than the share.
            if over > 0 and drawn.shown and not ids <= drawn.shown.keys():
                seen = sorted(drawn.shown.values())
                wait = self._wait(seen[min(over, len(seen)) - 1], now)
                raise TryLater(
                    429,
                    "collection_budget_exceeded",
                    f"This caller has been shown its share of the documents of this collection within "
                    f"{self._hours}. Ask again in {wait} s, or let the operator raise "
                    "server.documents_percent.",
                    wait,
                )
            # The time of the first showing: who looks at one document for ever is not held up by it.
            drawn.shown |= dict.fromkeys(ids - drawn.shown.keys(), now)

    def _of(self, caller: str, collection: str) -> tuple[float, _Drawn]:
        """Now, and what the caller has drawn within the window."""
        now = self._clock()
        drawn = self._drawn.pop((caller, collection), None) or _Drawn()
        self._drawn[caller, collection] = drawn
        if len(self._drawn) > MOST_CALLERS:
            self._drawn.popitem(last=False)
        since = now - self._window
        while drawn.questions and drawn.questions[0][0] <= since:
            drawn.questions.popleft()
        while drawn.shown and next(iter(drawn.shown.values())) <= since:
            del drawn.shown[next(iter(drawn.shown))]
        return now, drawn

    def _wait(self, since: float, now: float) -> int:
        return max(1, math.ceil(since + self._window - now))

    @property
    def _hours(self) -> str:
        return f"{self._window / 3600:g} h"


def _budgets(request: Request) -> Budgets:
    budgets: Budgets = request.app.state.budgets
    return budgets


Counted = Annotated[Budgets, Depends(_budgets)]
"""A parameter of routes that show what stands in documents."""
