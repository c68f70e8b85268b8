"""From the content of a layout to the selected corpus and its ``split`` sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence

from eval.corpora.corpus import Corpus, Question, Selection, bounded
from eval.corpora.gold import GoldRows
from eval.corpora.layouts import Layout
from ingest.documents import Document
from models.errors import ConfigurationError


def assembled(
    layout: Layout,
    documents: Sequence[Document],
    questions: Sequence[Question],
    selection: Selection,
    how: str,
    gold: GoldRows | None = None,
    all_documents: int | None = None,
) -> Corpus:
    """The corpus with the selected number of documents and questions; ``how`` begins its ``split``.

    ``all_documents`` is the number before ``documents`` were drawn.

    Raises:
        ConfigurationError: There is no document, or no question.
    """
    if not documents or not questions:
        lacking = "question" if documents else "document"
        raise ConfigurationError(
            f"The corpus {layout.corpus} gives no {lacking}{_of_split(selection)}. {how}: give it more or "
            "longer records."
        )
    kept, asked = bounded(documents, questions, selection)
    ids = {document.doc_id for document in kept}
    split = (
        f"{how}; {len(asked):,} of {len(questions):,} such questions are asked, "
        f"of {len(kept):,} of {all_documents or len(documents):,} documents{_of_split(selection)} "
        f"(seed {selection.seed})."
    )
    marked = None if gold is None else {doc_id: rows for doc_id, rows in gold.items() if doc_id in ids}
    return Corpus(layout.corpus, kept, asked, marked, split, layout.source, layout.license)


def asked_once(questions: Iterable[Question]) -> list[Question]:
    """The questions with unique wording, ignoring case: a repeated question has no single document."""
    listed = list(questions)
    times = Counter(question.text.casefold() for question in listed)
    return [question for question in listed if times[question.text.casefold()] == 1]


def first_words(text: str, most: int) -> str:
    """The first ``most`` words of a text, white space collapsed."""
    return " ".join(text.split()[:most])


def _of_split(selection: Selection) -> str:
    return "" if selection.split is None else f" of official splits named {selection.split}"
