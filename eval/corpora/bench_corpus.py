"""The nouns of a benchmark: documents, what is asked of them, and how much of both is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from eval.gold import GoldRows
from ingest.documents import Document
from models.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask, with a reference answer that is never empty.

    ``about`` is the id of the document that the question is about, "" where the knowledge base holds none.
    """

    question_id: str
    text: str = field(repr=False)
    answer: str = field(repr=False)
    about: str = ""

    def __post_init__(self) -> None:
        if not (self.text.strip() and self.answer.strip()):
            raise ValueError(f"question {self.question_id} lacks its text or its answer: leave it out")


@dataclass(frozen=True, slots=True)
class BenchCorpus:
    """A knowledge base and the questions that are asked of it; every ``about`` is one of its documents.

    ``gold`` are the entities that people marked in the documents, None where nobody did. ``split`` says in
    one sentence how the questions came about and what was held out; ``source`` and ``license`` whose the
    texts are.
    """

    name: str
    documents: Sequence[Document] = field(repr=False)
    questions: Sequence[Question] = field(repr=False)
    gold: GoldRows | None = field(repr=False)
    split: str
    source: str
    license: str

    def __post_init__(self) -> None:
        ids = {document.doc_id for document in self.documents}
        if len(ids) < len(self.documents):
            raise ValueError(f"corpus {self.name} has two documents under one id: leave one out")
        if any(question.about and question.about not in ids for question in self.questions):
            raise ValueError(f"corpus {self.name} has a question about a document that it does not hold")


@dataclass(frozen=True, slots=True)
class Selection:
    """How much of a corpus is wanted; the same selection always draws the same documents and questions.

    ``asked_share`` in (0, 1] is the share of consultations that is held out (HealthCareMagic), or of
    question-answer pairs that is asked (EnronQA); the paper's is 0.01. ``questions_per_document`` bounds
    the sentences that inverse cloze draws from a document, None leaves the number to the corpus.
    ``split`` takes the records of official splits in whose name this word stands, None all of them.
    ``questions_file`` holds a user's own questions about a folder of documents.
    """

    seed: int = 0
    most_documents: int | None = None
    most_questions: int | None = None
    asked_share: float = 0.01
    questions_per_document: int | None = None
    split: str | None = None
    questions_file: Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("most_documents", "most_questions", "questions_per_document"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} is {value}: give at least 1, or leave it out for no bound.")
        if not 0 < self.asked_share <= 1:
            raise ConfigurationError(f"asked_share is {self.asked_share:g}: give a share in (0, 1].")

    def drawn(self, purpose: str) -> Random:
        """A generator of its own for each purpose, so that one draw does not shift another."""
        return Random(f"{self.seed}:{purpose}")


def fewer_documents(documents: Sequence[Document], selection: Selection) -> list[Document]:
    """At most ``most_documents`` of the documents, in their order."""
    return _kept(documents, frozenset(), selection)


def bounded(
    documents: Sequence[Document], questions: Sequence[Question], selection: Selection
) -> tuple[list[Document], list[Question]]:
    """As many documents and questions as are wanted, both in their order.

    Documents that a kept question is about stay in. Where ``most_documents`` leaves no room for another of
    them, questions about more are not asked.
    """
    kept: set[int] = set()
    about: set[str] = set()
    order = list(range(len(questions)))
    selection.drawn("questions").shuffle(order)
    for place in order:
        if len(kept) == selection.most_questions:
            break
        asked_about = questions[place].about
        if asked_about and asked_about not in about:
            if len(about) == selection.most_documents:
                continue
            about.add(asked_about)
        kept.add(place)
    return _kept(documents, about, selection), [questions[place] for place in sorted(kept)]


def _kept(
    documents: Sequence[Document], needed: set[str] | frozenset[str], wanted: Selection
) -> list[Document]:
    if wanted.most_documents is None or len(documents) <= wanted.most_documents:
        return list(documents)
    others = [document.doc_id for document in documents if document.doc_id not in needed]
    chosen = needed | set(wanted.drawn("documents").sample(others, wanted.most_documents - len(needed)))
    return [document for document in documents if document.doc_id in chosen]
