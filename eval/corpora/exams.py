"""Exam questions about a patient: the vignette is the document, and the question has four options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.layouts import Layout, assembled, check_known, document_in, records_in, text_of
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.sentences import split_sentences
from ingest.read.records import Record

MEDQA = Layout(
    "medqa",
    ("id", "question", "options", "answer_idx"),
    "MedQA, exam questions of the USMLE with four options (Jin et al., Applied Sciences 2021)",
    "MIT",
)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question about the document ``about``, its options by letter, and the letter of the right one."""

    about: str
    text: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)
    right: str = field(repr=False)


def medqa(path: Path, selection: Selection) -> Corpus:
    """Documents are the vignettes, without the question of the exam, which is the last sentence.

    That sentence is the question and the right option its reference answer. A record of a single sentence
    says nothing of a patient and is left out.

    Raises:
        LetheError: The corpus cannot be read or gives no question.
    """
    documents: list[Document] = []
    questions: list[Question] = []
    for record, vignette, asked in _records(path):
        documents.append(document_in(record, asked.about, vignette))
        answer = asked.options[asked.right]
        questions.append(Question(f"{asked.about}/exam", asked.text, answer, asked.about))
    how = "Each question is the last sentence of one exam record, and the rest of it is the document"
    return assembled(MEDQA, documents, questions, selection, how)


def choice_questions(path: Path) -> dict[str, ChoiceQuestion]:
    """The question of each document of ``medqa``, by the document's id.

    Raises:
        LetheError: The corpus cannot be read.
    """
    return {asked.about: asked for _, _, asked in _records(path)}


def _records(path: Path) -> list[tuple[Record, str, ChoiceQuestion]]:
    seen: set[str] = set()
    found: list[tuple[Record, str, ChoiceQuestion]] = []
    for record in records_in(path, MEDQA):
        doc_id = text_of(record, "id")
        check_known(seen, doc_id, record)
        seen.add(doc_id)
        *vignette, last = split_sentences(text_of(record, "question")) or [""]
        if vignette:
            asked = ChoiceQuestion(doc_id, last, _options(record), text_of(record, "answer_idx"))
            if asked.right not in asked.options:
                raise UnreadableDocument(record.place, "names a right answer that is none of its options")
            found.append((record, " ".join(vignette), asked))
    return found


def _options(record: Record) -> dict[str, str]:
    options = record.fields["options"]
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
        raise UnreadableDocument(
            record.place, "has no texts by letter in field 'options'; write {\"A\": ...}"
        )
    return {str(letter): text for letter, text in options.items()}
