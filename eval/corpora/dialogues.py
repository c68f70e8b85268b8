"""Conversations of doctors and patients, with notes by clinicians.

A note paraphrases its conversation, so its opening is a known-item query that does not quote it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.layouts import (
    Layout,
    asked_once,
    assembled,
    check_known,
    document_in,
    first_words,
    records_in,
    text_of,
)
from ingest.documents import Document
from ingest.language.sentences import split_sentences

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

    Raises:
        LetheError: The corpus cannot be read or gives no question.
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

    Raises:
        LetheError: The corpus cannot be read or gives no question.
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


def _history(note: str) -> tuple[str, str]:
    section = _narrative(note)
    return _opening(section), section


def _corpus(
    path: Path, layout: Layout, selection: Selection, how: str, asked_of: Callable[[str], tuple[str, str]]
) -> Corpus:
    """``asked_of`` gives a note's question and answer; the question is empty where there is none."""
    *_, note_field = layout.fields
    seen: set[str] = set()
    documents: list[Document] = []
    questions: list[Question] = []
    for record in records_in(path, layout, selection.split):
        doc_id = text_of(record, "id")
        check_known(seen, doc_id, record)
        seen.add(doc_id)
        if dialogue := text_of(record, "dialogue"):
            documents.append(document_in(record, doc_id, dialogue))
            asked, answer = asked_of(text_of(record, note_field))
            if asked:
                questions.append(Question(f"{doc_id}/note", asked, answer, doc_id))
    return assembled(layout, documents, asked_once(questions), selection, how)


def _narrative(note: str) -> str:
    sections = list(_sections(note))
    named = [text for heading, text in sections if heading in _NARRATIVE_HEADINGS and text]
    narratives = [text for _, text in sections if _is_narrative(split_sentences(text))]
    return next(iter(named + narratives), "")


def _is_narrative(sentences: Sequence[str]) -> bool:
    return len(sentences) > 1 and len(sentences[0].split()) >= FEWEST_WORDS


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
    return first_words(opening, MOST_WORDS)
