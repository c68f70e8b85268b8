"""Questions for documents without questions: inverse cloze.

A sentence drawn from a document is the question and the sentences beside it are the reference answer
(Lee, Chang and Toutanova, ACL 2019). The paper takes the sentence out of its context in nine cases of ten;
here the document stays whole, because retrieval from the knowledge base is measured.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from eval.corpora.corpus import Question, Selection
from ingest.documents import Document
from ingest.language.sentences import split_sentences

FEWEST_WORDS, MOST_WORDS = 8, 40
"""Words of a drawn sentence."""
BEFORE, AFTER = 1, 2
"""Sentences before and after it in the reference answer."""

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_OPENERS = "\"'([“‘«¿¡"
_CLOSERS = "\"')]”’»"


def cloze_questions(documents: Sequence[Document], per_document: int, selection: Selection) -> list[Question]:
    """Up to ``per_document`` questions about each document, in order, drawn with the seed.

    A question is a sentence of 8 to 40 words with a final mark and a neighboring sentence, which occurs only
    once in all documents: this excludes greetings, headings, signatures and set phrases. It does not begin
    with a small letter, as fragments after an abbreviation do.
    """
    sentences = {document.doc_id: split_sentences(document.text) for document in documents}
    times = Counter(sentence for each in sentences.values() for sentence in each)
    questions: list[Question] = []
    for doc_id, each in sentences.items():
        places = (
            [place for place, sentence in enumerate(each) if times[sentence] == 1 and _asks(sentence)]
            if len(each) > 1
            else []
        )
        drawn = selection.drawn(f"cloze:{doc_id}").sample(places, min(per_document, len(places)))
        questions += _questions(doc_id, each, sorted(drawn))
    return questions


def _asks(sentence: str) -> bool:
    first = sentence.lstrip(_OPENERS)[:1]
    whole = first.isalpha() and not first.islower() and sentence.rstrip(_CLOSERS).endswith(_ENDS)
    return whole and FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS


def _questions(doc_id: str, sentences: Sequence[str], places: Sequence[int]) -> Iterator[Question]:
    for number, place in enumerate(places, 1):
        beside = (*sentences[max(0, place - BEFORE) : place], *sentences[place + 1 : place + 1 + AFTER])
        yield Question(f"{doc_id}/cloze-{number}", sentences[place], " ".join(beside), doc_id)
