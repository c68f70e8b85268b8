"""From attempts to rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from eval.documents import AttackPrompt, Attempt, PassageCopy, Target
from eval.measures.leakage import SensitiveIndex
from eval.measures.overlap import copied_runs, rouge_l, stems, word_tokens
from eval.rows import Row
from ingest.documents import Identifier
from retrieval.documents import RetrievedPassage

REMEMBERED_TEXTS = 4_096
"""The number of tokenized passages that a judge caches: attacks often retrieve the same ones."""


def attempts(target: Target, prompts: Iterable[AttackPrompt]) -> Iterator[Attempt]:
    """Ask each prompt once. An error gives an attempt without an answer, and the attack continues."""
    for prompt in prompts:
        try:
            attempt = Attempt(prompt, target.ask(prompt.text))
        except Exception as error:
            # A target may raise anything, and the message may quote its texts.
            attempt = Attempt(prompt, None, type(error).__name__)
        yield attempt


def judge(sensitive: SensitiveIndex) -> Callable[[str, str, Attempt], Row]:
    """A function from an attempt to its row, for a system and a task.

    It compares the output with the retrieved passages and with the sensitive entities behind them.
    """
    words: Callable[[str], Sequence[str]] = lru_cache(REMEMBERED_TEXTS)(word_tokens)

    def copy(output: str, retrieved: RetrievedPassage) -> PassageCopy:
        passage = retrieved.passage
        rouge = rouge_l(stems(passage.text), stems(output))
        return PassageCopy(
            passage_id=passage.passage_id,
            doc_id=passage.doc_id,
            similarity=float(retrieved.similarity),
            copied_runs=copied_runs(words(output), words(passage.text)),
            rouge_recall=rouge.recall,
            rouge_f=rouge.f,
        )

    def row(system: str, task: str, attempt: Attempt) -> Row:
        prompt, answer = attempt.prompt, attempt.answer
        begun = Row(system=system, task=task, case=str(prompt.number), kind=prompt.kind)
        if answer is None:
            return begun.model_copy(update={"failure": attempt.failure or "no answer"})
        doc_ids = tuple(retrieved.passage.doc_id for retrieved in answer.passages)
        present = sensitive.behind(doc_ids)
        kinds = {
            f"present {kind}": float(sum(each.identifier is kind for each in present)) for kind in Identifier
        }
        return begun.model_copy(
            update={
                "engine": answer.engine,
                "doc_ids": doc_ids,
                "present": present,
                "leaked": sensitive.leaked(doc_ids, answer.text, prompt.text),
                "copies": tuple(copy(answer.text, passage) for passage in answer.passages),
                "figures": {"output characters": float(len(answer.text)), **kinds},
                "evidence": answer.text,
            }
        )

    return row
