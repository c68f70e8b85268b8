"""A corpus under public ids, which may appear in rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eval.corpora.corpus import Corpus, Question


def under_public_ids(corpus: Corpus, public_ids: Callable[[Sequence[str]], Sequence[str]]) -> Corpus:
    """The same corpus under the ids that a collection would give its documents.

    A question id is the public id of its document and its own suffix, or a number if the question has no
    document or its id does not begin with that of the document.
    """
    read = [document.doc_id for document in corpus.documents]
    public = dict(zip(read, public_ids(read), strict=True))
    gold = corpus.gold
    return replace(
        corpus,
        documents=[replace(document, doc_id=public[document.doc_id]) for document in corpus.documents],
        questions=[
            _question(question, number, public) for number, question in enumerate(corpus.questions, 1)
        ],
        gold=None if gold is None else {new: gold[old] for old, new in public.items() if old in gold},
    )


def _question(question: Question, number: int, public: Mapping[str, str]) -> Question:
    about, own = question.about, f"question-{number}"
    if not about:
        return replace(question, question_id=own)
    if question.question_id.startswith(f"{about}/"):
        own = question.question_id.removeprefix(f"{about}/")
    return replace(question, question_id=f"{public[about]}/{own}", about=public[about])
