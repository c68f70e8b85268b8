"""Two corpora of the public Enron mail: with questions and answers, and with subject lines."""

import re
from pathlib import Path

from eval.corpora.assembling import assembled
from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.layouts import Layout, check_known, document_in, records_in, text_of, texts_of
from eval.measures.overlap import word_tokens
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.sentences import split_sentences
from ingest.read.records import Record

ENRONQA = Layout(
    "enronqa",
    ("path", "email", "questions", "gold_answers"),
    "EnronQA (Ryan et al. 2025)",
    "none declared",
    ("data/*.parquet", "*.parquet", "*.jsonl", "*.jsonl.gz"),
)
AESLC = Layout("aeslc", ("id", "subject", "body"), "AESLC (Zhang and Tetreault, ACL 2019)", "CC BY-NC-SA 4.0")

FEWEST_SUBJECT_WORDS = 3
FEWEST_SHARED_WORDS = 2

_REPLY_MARKS = re.compile(r"\A(?:\s*(?:re|fwd?|aw)\s*:)+\s*", re.IGNORECASE)
_COMMON = frozenset(
    "a about an and any are as at be been by can could did do does for from had has have he her his "
    "how i in is it its me my of on or our she should so than that the their them there they this to "
    "was we were what when where which who whom whose why will with would you your".split()
)


def enronqa(path: Path, selection: Selection) -> Corpus:
    """All mails are documents; a share of the question-answer pairs is asked, 1 % in the paper.

    The published parts share mails but not questions, so mails are identified by path.

    Raises:
        LetheError: The corpus cannot be read, a record's questions and answers do not match in number, or
            there are none.
    """
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    pairs: dict[str, int] = {}
    for record in records_in(path, ENRONQA):
        doc_id, mail = text_of(record, "path"), text_of(record, "email")
        if doc_id not in documents:
            check_known(documents, doc_id, record)
            if not mail:
                continue
            documents[doc_id] = document_in(record, doc_id, mail)
        for asked, answer in _pairs(record):
            pairs[doc_id] = pairs.get(doc_id, 0) + 1
            if asked and answer:
                questions.append(Question(f"{doc_id}/{pairs[doc_id]}", asked, answer, doc_id))
    count = min(len(questions), max(1, round(selection.asked_share * len(questions))))
    asked_places = sorted(selection.drawn("asked").sample(range(len(questions)), count))
    how = (
        f"{count:,} of {len(questions):,} published question-answer pairs are drawn and every mail stays in "
        "the knowledge base"
    )
    drawn = [questions[place] for place in asked_places]
    return assembled(ENRONQA, list(documents.values()), drawn, selection, how)


def _pairs(record: Record) -> list[tuple[str, str]]:
    questions, answers = texts_of(record, "questions"), texts_of(record, "gold_answers")
    if len(questions) != len(answers):
        raise UnreadableDocument(
            record.place,
            f"has {len(questions)} questions and {len(answers)} gold_answers; give each question its answer",
        )
    return list(zip(questions, answers, strict=True))


def aeslc(path: Path, selection: Selection) -> Corpus:
    """Documents are the bodies of mails; a subject line is the question for its mail.

    There are no written answers. The reference answer quotes the body: the first sentence that shares most
    content words with the subject, and the one after it. A subject gives no question if it has fewer than 3
    words, is repeated, or shares fewer than 2 words with every sentence.

    Raises:
        LetheError: The corpus cannot be read or gives no question.
    """
    documents: dict[str, Document] = {}
    subjects: dict[str, list[str]] = {}
    for record in records_in(path, AESLC):
        doc_id, body = text_of(record, "id"), text_of(record, "body")
        check_known(documents, doc_id, record)
        if body:
            documents[doc_id] = document_in(record, doc_id, body)
            subjects.setdefault(bare_subject(text_of(record, "subject")), []).append(doc_id)
    questions = [
        Question(f"{doc_ids[0]}/subject", subject, answer, doc_ids[0])
        for subject, doc_ids in subjects.items()
        if len(doc_ids) == 1 and len(subject.split()) >= FEWEST_SUBJECT_WORDS
        if (answer := _nearest(subject, documents[doc_ids[0]].text))
    ]
    how = (
        "Each question is a mail's subject line and its reference answer the sentence of the body that "
        "shares most content words with it, and the one after, nothing is held out"
    )
    return assembled(AESLC, list(documents.values()), questions, selection, how)


def bare_subject(subject: str) -> str:
    """A subject line without reply and forward marks, white space collapsed."""
    return " ".join(_REPLY_MARKS.sub("", subject).split())


def _nearest(subject: str, body: str) -> str:
    wanted = _content_words(subject)
    sentences = split_sentences(body)
    shared = [len(wanted & _content_words(sentence)) for sentence in sentences]
    if max(shared, default=0) < FEWEST_SHARED_WORDS:
        return ""
    best = shared.index(max(shared))
    return " ".join(sentences[best : best + 2])


def _content_words(text: str) -> set[str]:
    return set(word_tokens(text)) - _COMMON
