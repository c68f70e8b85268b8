"""Questions from a user's file."""

from collections.abc import Collection
from pathlib import Path

from eval.corpora.corpus import Question
from eval.corpora.layouts import Layout, records_in, text_of
from ingest.errors import UnreadableDocument

QUESTIONS = Layout(
    "questions", ("question", "answer"), "the user's own", "the user's own", ("questions.jsonl",)
)


def questions_of(file: Path, doc_ids: Collection[str]) -> list[Question]:
    """The questions of a file of records with ``question``, ``answer`` and possibly ``about``.

    ``about`` is the id of the document with the answer; it is optional.

    Raises:
        LetheError: The file cannot be read, or a record lacks a part or is about an unknown document.
    """
    questions: list[Question] = []
    for record in records_in(file, QUESTIONS):
        asked, answer = text_of(record, "question"), text_of(record, "answer")
        if not (asked and answer):
            raise UnreadableDocument(
                record.place, "has an empty question or answer; fill it in or leave it out"
            )
        about = text_of(record, "about") if record.fields.get("about") is not None else ""
        if about and about not in doc_ids:
            raise UnreadableDocument(
                record.place,
                f"is about a document that is none of the {len(doc_ids):,} that were read; give its id as "
                "reading gives it (a record's id, or the path of a file as it was named)",
            )
        questions.append(Question(f"question-{record.number}", asked, answer, about))
    return questions
