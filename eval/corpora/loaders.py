"""All corpora with questions, by name; and those of mails, consultations, conversations and exams.

A note paraphrases its conversation, so its opening is a known-item query that does not quote it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.layouts import Layout, assembled, check_known, records_in, text_of, texts_of
from eval.corpora.whole_documents import FOLDER, demo, ewt_email, folder, tab
from eval.measures.overlap import word_tokens
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.sentences import split_sentences
from ingest.read.records import Record
from models.errors import ConfigurationError

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
    """
    documents: list[Document] = []
    questions: list[Question] = []
    for record, vignette, asked in _exams(path):
        documents.append(Document(asked.about, vignette, {"place": record.place}))
        answer = asked.options[asked.right]
        questions.append(Question(f"{asked.about}/exam", asked.text, answer, asked.about))
    how = "Each question is the last sentence of one exam record, and the rest of it is the document"
    return assembled(MEDQA, documents, questions, selection, how)


def choice_questions(path: Path) -> dict[str, ChoiceQuestion]:
    """The question of each document of ``medqa``, by the document's id."""
    return {asked.about: asked for _, _, asked in _exams(path)}


def _exams(path: Path) -> Iterator[tuple[Record, str, ChoiceQuestion]]:
    for record, doc_id in _with_ids(path, MEDQA):
        *vignette, last = split_sentences(text_of(record, "question")) or [""]
        if vignette:
            options = record.fields["options"]
            if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
                raise UnreadableDocument(
                    record.place, "has no texts by letter in field 'options'; write {\"A\": ...}"
                )
            right = text_of(record, "answer_idx")
            by_letter = {str(letter): text for letter, text in options.items()}
            if right not in by_letter:
                raise UnreadableDocument(record.place, "names a right answer that is none of its options")
            yield record, " ".join(vignette), ChoiceQuestion(doc_id, last, by_letter, right)


def _with_ids(path: Path, layout: Layout, split: str | None = None) -> Iterator[tuple[Record, str]]:
    """The records of a corpus with their ids, each of which may occur once."""
    known: set[str] = set()
    for record in records_in(path, layout, split):
        doc_id = text_of(record, "id")
        check_known(known, doc_id, record)
        known.add(doc_id)
        yield record, doc_id


MTS_DIALOG = Layout(
    "mts_dialog", ("id", "dialogue", "note_section"), "MTS-Dialog (Ben Abacha et al., EACL 2023)", "CC BY 4.0"
)
ACI_BENCH = Layout(
    "aci_bench", ("id", "dialogue", "note"), "ACI-Bench (Yim et al., Scientific Data 2023)", "CC BY 4.0"
)

FEWEST_WORDS, MOST_WORDS = 8, 40
"""The fewest words of an opening that can be a question, and the length at which it is cut."""

_HEADING = re.compile(r"[A-Z][A-Z /&,()'-]+:?")
_NARRATIVE_HEADINGS = ("HISTORY OF PRESENT ILLNESS", "HPI")


def mts_dialog(path: Path, selection: Selection) -> Corpus:
    """Documents are the conversations, questions the openings of their notes, answers the notes.

    The opening is the first sentence, or several until they have 8 words, cut at 40. A record gives no
    question if its note has nothing else, or if another note has the same opening.
    """
    how = (
        "Each question is the opening of the clinician's note on one conversation, cut at 40 words, and the "
        "note is its reference answer, nothing is held out"
    )
    return _corpus(path, MTS_DIALOG, selection, how, _whole_note)


def aci_bench(path: Path, selection: Selection) -> Corpus:
    """Documents are the conversations; the question is the opening of the history of present illness.

    Without that section, the first section with several sentences and an opening of 8 words or more is used.
    A record with neither, or with a repeated opening, gives no question.
    """
    how = (
        "Each question is the opening of the history of present illness in the note on one visit, cut at 40 "
        "words, and that section, or the first narrative one, is its reference answer, nothing is held out"
    )
    return _corpus(path, ACI_BENCH, selection, how, _history)


def _whole_note(note: str) -> tuple[str, str]:
    asked = _opening(note)
    # Otherwise the question would be its own answer.
    return (asked, note) if len(asked.split()) < len(note.split()) else ("", "")


def _corpus(
    path: Path, layout: Layout, selection: Selection, how: str, asked_of: Callable[[str], tuple[str, str]]
) -> Corpus:
    """``asked_of`` gives a note's question and answer; the question is empty where there is none."""
    documents: list[Document] = []
    questions: list[Question] = []
    for record, doc_id in _with_ids(path, layout, selection.split):
        if dialogue := text_of(record, "dialogue"):
            documents.append(Document(doc_id, dialogue, {"place": record.place}))
            asked, answer = asked_of(text_of(record, layout.fields[-1]))
            if asked:
                questions.append(Question(f"{doc_id}/note", asked, answer, doc_id))
    # A question that is repeated, ignoring case, has no single document.
    times = Counter(question.text.casefold() for question in questions)
    once = [question for question in questions if times[question.text.casefold()] == 1]
    return assembled(layout, documents, once, selection, how)


def _history(note: str) -> tuple[str, str]:
    """The opening of the first section with the history, else of the first narrative one, and the section."""
    named, narratives = "", ""
    for heading, text in _sections(note):
        if heading in _NARRATIVE_HEADINGS:
            named = named or text
        sentences = split_sentences(text)
        if len(sentences) > 1 and len(sentences[0].split()) >= FEWEST_WORDS:
            narratives = narratives or text
    section = named or narratives
    return _opening(section), section


def _sections(note: str) -> Iterator[tuple[str, str]]:
    """Headings, which are lines in capitals, and the text below each."""
    heading, lines = "", list[str]()
    for line in note.splitlines():
        if _HEADING.fullmatch(line.strip()):
            yield heading, "\n".join(lines).strip()
            heading, lines = line.strip().rstrip(":"), []
        else:
            lines.append(line)
    yield heading, "\n".join(lines).strip()


def _opening(section: str) -> str:
    """The first sentences up to one with which they have 8 words."""
    opening = ""
    for sentence in split_sentences(section):
        opening = f"{opening} {sentence}".strip()
        if len(opening.split()) >= FEWEST_WORDS:
            break
    return " ".join(opening.split()[:MOST_WORDS])


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
            documents[doc_id] = Document(doc_id, mail, {"place": record.place})
        asked_here, answers = texts_of(record, "questions"), texts_of(record, "gold_answers")
        if len(asked_here) != len(answers):
            raise UnreadableDocument(
                record.place,
                f"has {len(asked_here)} questions and {len(answers)} gold_answers; give each question its "
                "answer",
            )
        for asked, answer in zip(asked_here, answers, strict=True):
            pairs[doc_id] = pairs.get(doc_id, 0) + 1
            if asked and answer:
                questions.append(Question(f"{doc_id}/{pairs[doc_id]}", asked, answer, doc_id))
    count = min(len(questions), max(1, round(selection.asked_share * len(questions))))
    places = sorted(selection.drawn("asked").sample(range(len(questions)), count))
    how = (
        f"{count:,} of {len(questions):,} published question-answer pairs are drawn and every mail stays in "
        "the knowledge base"
    )
    drawn = [questions[place] for place in places]
    return assembled(ENRONQA, list(documents.values()), drawn, selection, how)


def aeslc(path: Path, selection: Selection) -> Corpus:
    """Documents are the bodies of mails; a subject line is the question for its mail.

    There are no written answers. The reference answer quotes the body: the first sentence that shares most
    content words with the subject, and the one after it. A subject gives no question if it has fewer than 3
    words, is repeated, or shares fewer than 2 words with every sentence.
    """
    documents: dict[str, Document] = {}
    subjects: dict[str, list[str]] = {}
    for record in records_in(path, AESLC):
        doc_id, body = text_of(record, "id"), text_of(record, "body")
        check_known(documents, doc_id, record)
        if body:
            documents[doc_id] = Document(doc_id, body, {"place": record.place})
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
    sentences = split_sentences(body)
    wanted = set(word_tokens(subject)) - _COMMON
    shared = [len(wanted & set(word_tokens(sentence))) for sentence in sentences]
    if max(shared, default=0) < FEWEST_SHARED_WORDS:
        return ""
    best = shared.index(max(shared))
    return " ".join(sentences[best : best + 2])


HEALTHCAREMAGIC = Layout(
    "healthcaremagic",
    ("input", "output"),
    "ChatDoctor-HealthCareMagic-100k or another corpus of its layout (Li et al., Cureus 2023)",
    "as its publisher states it; for academic use",
    ("HealthCareMagic-100k*.json", "data.jsonl", "data.jsonl.gz", "*.parquet", "data/*.parquet"),
)


def healthcaremagic(path: Path, selection: Selection) -> Corpus:
    """A share of the consultations is held out as questions; the others are the documents.

    The paper holds out 1 %. Duplicates of a held-out question are in neither part. Records with an empty side
    are skipped.
    """
    read: dict[str, Record] = {}
    for record in records_in(path, HEALTHCAREMAGIC):
        own = record.fields.get("id")
        # The published corpus has no ids.
        doc_id = str(own) if isinstance(own, str | int) else f"consultation-{len(read) + 1:06d}"
        check_known(read, doc_id, record)
        if text_of(record, "input") and text_of(record, "output"):
            read[doc_id] = record
    if len(read) < 2:
        raise ConfigurationError(
            f"The corpus {HEALTHCAREMAGIC.corpus} holds {len(read)} whole consultations: give at least "
            "two, one to ask and one to find."
        )
    count = min(len(read) - 1, max(1, round(selection.asked_share * len(read))))
    held_out = set(selection.drawn("held out").sample(sorted(read), count))
    asked_before = {text_of(read[each], "input").casefold() for each in held_out}
    documents, questions = [], []
    for doc_id, record in read.items():
        patient, doctor = text_of(record, "input"), text_of(record, "output")
        if doc_id in held_out:
            questions.append(Question(doc_id, patient, doctor))
        elif patient.casefold() not in asked_before:
            said = f"Patient: {patient}\nDoctor: {doctor}"
            documents.append(Document(doc_id, said, {"place": record.place}))
    repeated = len(read) - count - len(documents)
    how = (
        f"{count:,} of {len(read):,} consultations are held out, their patients' words are the questions and "
        f"their doctors' the reference answers, and {repeated:,} that repeat a held-out patient are left out"
    )
    return assembled(HEALTHCAREMAGIC, documents, questions, selection, how)


_LOADERS: dict[str, Callable[[Path, Selection], Corpus]] = {
    "mts_dialog": mts_dialog,
    "aci_bench": aci_bench,
    "medqa": medqa,
    "healthcaremagic": healthcaremagic,
    "enronqa": enronqa,
    "aeslc": aeslc,
    "ewt_email": ewt_email,
    "tab": tab,
    "demo": demo,
    "folder": folder,
}


SPLIT = ("mts_dialog", "aci_bench", "ewt_email")
"""Corpora whose records name their official split."""


def corpus_names() -> tuple[str, ...]:
    """The names that ``load`` knows, in the order of a table."""
    return tuple(_LOADERS)


def load(name: str, path: Path, selection: Selection | None = None) -> Corpus:
    """The corpus of a name: its documents and questions, the same for the same selection.

    ``path`` is the folder of the corpus, or one file of it. Without a selection, all documents and the
    paper's share of questions are taken.

    Raises:
        ConfigurationError: The name is unknown, ``path`` holds no such corpus or it gives no document or no
            question, a published corpus is given own questions, or one without splits is given a split.
        ModelUnavailable: The files are Parquet and pyarrow is not installed.
        UnreadableDocument: A file or record cannot be read.
    """
    wanted = selection or Selection()
    if name not in _LOADERS:
        raise ConfigurationError(f"There is no corpus {name!r}: the names are {', '.join(_LOADERS)}.")
    if wanted.split is not None and name not in SPLIT:
        raise ConfigurationError(
            f"{name} says of no record which split it is of: leave --split out. {', '.join(SPLIT)} do."
        )
    if wanted.questions_file is not None and name != FOLDER.corpus:
        raise ConfigurationError(
            f"questions_file goes with the corpus folder, and {name} has its own questions: leave one out."
        )
    return _LOADERS[name](path, wanted)
