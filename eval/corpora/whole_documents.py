"""Corpora without questions: inverse cloze or the user provides them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from eval.corpora.corpus import Corpus, GoldRows, Question, Selection, fewer_documents, gold_rows
from eval.corpora.layouts import Layout, assembled, check_known, files_in, records_in, text_of
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.sentences import split_sentences
from ingest.read.paths import Walk, shown
from ingest.read.reading import Fields
from ingest.read.record_text import document_of
from ingest.read.sources import read_documents

FEWEST_WORDS, MOST_WORDS = 8, 40
"""Words of a drawn sentence."""
BEFORE, AFTER = 1, 2
"""Sentences before and after it in the reference answer."""

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_OPENERS = "\"'([“‘«¿¡"
_CLOSERS = "\"')]”’»"


def cloze_questions(documents: Sequence[Document], per_document: int, selection: Selection) -> list[Question]:
    """Up to ``per_document`` questions about each document, in order, drawn with the seed (inverse cloze).

    A sentence drawn from a document is the question and the sentences beside it are the reference answer
    (Lee, Chang and Toutanova, ACL 2019). The paper takes the sentence out of its context in nine cases of
    ten; here the document stays whole, because retrieval from the knowledge base is measured.

    A question is a sentence of 8 to 40 words with a final mark and a neighboring sentence, which occurs only
    once in all documents: this excludes greetings, headings, signatures and set phrases. It does not begin
    with a small letter, as fragments after an abbreviation do.
    """
    sentences = {document.doc_id: split_sentences(document.text) for document in documents}
    times = Counter(sentence for each in sentences.values() for sentence in each)
    questions: list[Question] = []
    for doc_id, each in sentences.items():
        alone = len(each) < 2
        places = [at for at, said in enumerate(each) if not alone and times[said] == 1 and _asks(said)]
        drawn = selection.drawn(f"cloze:{doc_id}").sample(places, min(per_document, len(places)))
        for number, place in enumerate(sorted(drawn), 1):
            beside = (*each[max(0, place - BEFORE) : place], *each[place + 1 : place + 1 + AFTER])
            questions.append(Question(f"{doc_id}/cloze-{number}", each[place], " ".join(beside), doc_id))
    return questions


def _asks(sentence: str) -> bool:
    first = sentence.lstrip(_OPENERS)[:1]
    whole = first.isalpha() and not first.islower() and sentence.rstrip(_CLOSERS).endswith(_ENDS)
    return whole and FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS


QUESTIONS = Layout(
    "questions", ("question", "answer"), "the user's own", "the user's own", ("questions.jsonl",)
)


def questions_of(file: Path, doc_ids: Collection[str]) -> list[Question]:
    """The questions of a file of records: ``question``, ``answer``, and ``about``, a document's id, if given.

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


TAB = Layout(
    "tab",
    ("doc_id", "text", "mentions"),
    "Text Anonymization Benchmark (Pilán et al., Computational Linguistics 2022)",
    "MIT",
    ("dev.jsonl", "dev.jsonl.gz"),
)
EWT_EMAIL = Layout(
    "ewt_email",
    ("id", "text"),
    "mail of the English Web Treebank (Silveira et al., LREC 2014)",
    "CC BY-SA 4.0",
)
DEMO = Layout(
    "demo", ("id", "text", "entities", "question", "answer"), "this project", "Apache 2.0", ("corpus.jsonl",)
)
FOLDER = Layout("folder", ("text",), "the user's own", "the user's own", ("*",))

WRITTEN = "One question on each document is written by hand with its answer"
CLOZE = (
    "is a sentence of 8 to 40 words drawn from one document and the sentences beside it, one "
    "before and two after, are its reference answer (inverse cloze), nothing is held out"
)


def tab(path: Path, selection: Selection) -> Corpus:
    """Whole court cases with annotated mentions; 2 cloze questions per case."""
    documents, gold = _marked(path, TAB, "doc_id", "mentions")
    return _asked_by_cloze(TAB, documents, 2, selection, gold)


def ewt_email(path: Path, selection: Selection) -> Corpus:
    """Whole runs of mails; 6 cloze questions per run."""
    return _asked_by_cloze(EWT_EMAIL, _documents(path, EWT_EMAIL, "id", selection.split), 6, selection)


def demo(path: Path, selection: Selection) -> Corpus:
    """The invented documents with their annotations; one written question and 3 cloze questions for each.

    ``path`` is the bundled file or its folder.
    """
    documents, gold = _marked(path, DEMO, "id", "entities")
    written = [
        Question(f"{doc_id}/written", text_of(record, "question"), text_of(record, "answer"), doc_id)
        for record in records_in(path, DEMO)
        if (doc_id := text_of(record, "id"))
    ]
    return _asked_by_cloze(DEMO, documents, 3, selection, gold, written)


def folder(path: Path, selection: Selection) -> Corpus:
    """A user's documents, with the user's questions or up to 4 cloze questions per document.

    Unreadable files are left out and counted in ``split``.
    """
    documents: dict[str, Document] = {}
    unread: list[UnreadableDocument] = []
    for reading in read_documents([str(path)], walk=Walk(selection.follow_links)):
        if isinstance(reading.item, UnreadableDocument):
            unread.append(reading.item)
        else:
            documents.setdefault(reading.item.doc_id, reading.item)
    if unread and not documents:
        raise unread[0]
    left_out = f" ({len(unread):,} files or records could not be read and are left out)" if unread else ""
    if selection.questions_file is None:
        return _asked_by_cloze(FOLDER, list(documents.values()), 4, selection, left_out=left_out)
    questions = questions_of(selection.questions_file, documents)
    how = f"The questions and their reference answers are the user's own, nothing is held out{left_out}"
    return assembled(FOLDER, list(documents.values()), questions, selection, how)


def _documents(path: Path, layout: Layout, id_field: str, split: str | None = None) -> list[Document]:
    documents: dict[str, Document] = {}
    for record in records_in(path, layout, split):
        document = document_of(record, layout.corpus, Fields(id=id_field))
        check_known(documents, document.doc_id, record)
        documents[document.doc_id] = document
    return list(documents.values())


def _marked(path: Path, layout: Layout, id_field: str, marks: str) -> tuple[list[Document], GoldRows]:
    documents = _documents(path, layout, id_field)
    files = [shown(file) for file in files_in(path, layout)]
    return documents, gold_rows(files, marks, Fields(id=id_field))


def _asked_by_cloze(
    layout: Layout,
    documents: list[Document],
    per_document: int,
    selection: Selection,
    gold: GoldRows | None = None,
    written: Iterable[Question] = (),
    left_out: str = "",
) -> Corpus:
    # Draw from the kept documents only; sentences must be unique among these.
    kept = fewer_documents(documents, selection)
    drawn = cloze_questions(kept, selection.questions_per_document or per_document, selection)
    ids = {document.doc_id for document in kept}
    first = [question for question in written if question.about in ids]
    how = f"{WRITTEN}, each other one {CLOZE}" if first else f"Each question {CLOZE}"
    return assembled(layout, kept, [*first, *drawn], selection, f"{how}{left_out}", gold, len(documents))
