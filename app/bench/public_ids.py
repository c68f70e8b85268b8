"""A benchmark's corpus under ids that name nobody: rows and parts hold them."""

from collections.abc import Mapping
from dataclasses import replace

from app.compose import Services
from eval.corpora.bench_corpus import BenchCorpus, Question


def under_public_ids(services: Services, bench: BenchCorpus) -> BenchCorpus:
    """The same corpus under the ids that a collection would keep its documents under.

    The id of a question is that of its document and what its own id says after that, or its number among
    the questions where it is about none or was named otherwise.
    """
    read = [document.doc_id for document in bench.documents]
    public = dict(zip(read, services.public_ids(read), strict=True))
    gold = bench.gold
    return replace(
        bench,
        documents=[replace(document, doc_id=public[document.doc_id]) for document in bench.documents],
        questions=[_question(question, number, public) for number, question in enumerate(bench.questions, 1)],
        gold=None if gold is None else {new: gold[old] for old, new in public.items() if old in gold},
    )


def _question(question: Question, number: int, public: Mapping[str, str]) -> Question:
    about, own = question.about, f"question-{number}"
    if not about:
        return replace(question, question_id=own)
    if question.question_id.startswith(f"{about}/"):
        own = question.question_id.removeprefix(f"{about}/")
    return replace(question, question_id=f"{public[about]}/{own}", about=public[about])
