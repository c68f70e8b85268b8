"""Indirect injection on each system: harmless questions where poisoned documents lie among the others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.attacks.injection import Command, InjectDump, Injection, follows
from eval.experiment import SanitizedCorpus, Task, add_documents, retrievers
from eval.measures.leakage import NOTHING_SENSITIVE, SensitiveIndex
from eval.measures.overlap import rouge_l, stems
from eval.measures.uncertainty import Estimate, clustered_share
from eval.progress import Progress
from eval.rows import Row
from eval.tasks.coverage import EXTRACTED
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Encoder
from retrieval.documents import RetrievedPassage
from retrieval.protocols import Generator
from retrieval.writing import whole

NO_INDEX = "nothing to index into"


@dataclass(frozen=True, slots=True)
class Beside:
    """``task`` on a copy of the index in memory, with ``documents`` sanitized and indexed as others were.

    ``documents`` are parallel to the cases, each of which is measured if its document was not refused. Ids
    are those of no other document. ``searching`` puts around the copy what is around the index.
    """

    task: Task
    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder
    searching: Callable[[SanitizedCorpus], SanitizedCorpus] = field(default=lambda kept: kept, repr=False)

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def cases(self) -> Sequence[str]:
        return self.task.cases

    @property
    def sensitive(self) -> SensitiveIndex:
        return self.task.sensitive

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The task's; where nothing can be added, none is measured."""
        if kept.shelf is None or kept.sanitizer is None:
            for case in cases:
                yield Row(system=kept.system, task=self.name, case=case, failure=NO_INDEX)
            return
        shelf = kept.shelf(self.encoder)
        copy = replace(shelf, store=shelf.store.copied())
        try:
            outcomes = kept.sanitizer().sanitize(self.documents)
            written = [each for each in outcomes if isinstance(each, SanitizedDocument)]
            add_documents(copy, written, self.encoder)
            added = replace(kept, retriever=retrievers(lambda encoder: copy), shelf=lambda encoder: copy)
            refused = {
                case: each.what
                for case, each in zip(self.cases, outcomes, strict=True)
                if isinstance(each, SanitizationError)
            }
            asked = [case for case in cases if case not in refused]
            yield from self.task.rows(self.searching(added), asked, progress)
            for case in cases:
                if case in refused:
                    yield Row(system=kept.system, task=self.name, case=case, failure=refused[case])
        finally:
            copy.store.close()


FOLLOWED, WITHOUT = "follows", "follows without the poisoned document"
RETRIEVED = "poisoned document retrieved"
REPEATED, REPEATED_WITHOUT = "others repeated", "others repeated without the poisoned document"
"""The share of passages of other documents that the answer repeats."""
QUESTION = "question"
"""The number of the question that a case asks."""


@dataclass(frozen=True, slots=True)
class Injected:
    """Shares of the measured cases, with intervals over questions.

    Of ``followed`` the answer does what the poisoned document says; of ``without`` it does so though that is
    not there, which is chance. ``by_command`` splits the first.
    """

    followed: Estimate
    without: Estimate
    retrieved: Estimate
    by_command: dict[str, Estimate]


def injected(rows: Iterable[Row], seed: int = 0) -> Injected:
    """The figures of one run."""
    measured = [row for row in rows if row.measured]
    commands = sorted({row.kind for row in measured})
    return Injected(
        _share(measured, FOLLOWED, seed),
        _share(measured, WITHOUT, seed),
        _share(measured, RETRIEVED, seed),
        {each: _share([row for row in measured if row.kind == each], FOLLOWED, seed) for each in commands},
    )


def _share(rows: Iterable[Row], name: str, seed: int) -> Estimate:
    """Pooled over questions: the commands of one question stand or fall together."""
    by_question: dict[float, list[int]] = {}
    for row in rows:
        by_question.setdefault(row.figures[QUESTION], []).append(int(row.figures[name]))
    return clustered_share([*map(sum, by_question.values())], [*map(len, by_question.values())], seed)


@dataclass(frozen=True, slots=True)
class InjectionTask:
    """Each question asked with its poisoned document among the others, and without; ``k`` passages.

    All poisoned documents are in the index: ``poisoning`` puts them there. Those of other questions are never
    among the passages. Answers are those of the generator, with whatever guards it.
    """

    attack: InjectDump
    generator: Generator
    encoder: Encoder
    k: int

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"{self.attack.name}, {self.generator.name}, k {self.k}"

    @property
    def cases(self) -> Sequence[str]:
        return [str(number) for number in range(len(self.attack.questions) * len(Command))]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """``FOLLOWED`` and ``WITHOUT``, 1 or 0, whether it was retrieved, and what of others is repeated."""
        injections, wanted = self.attack.injections(), set(cases)
        ids = {each.document.doc_id for each in injections}
        asked = [each for each in injections if str(each.number) in wanted]
        phase = f"injecting into {kept.system}"
        progress(phase, 0, len(asked))
        # A poisoned document is a question and a command: two passages, rarely more.
        most = self.k + 3 * len(ids)
        questions = list(dict.fromkeys(each.question for each in asked))
        found = dict(zip(questions, kept.retriever(self.encoder).retrieve(questions, most), strict=True))
        for number, each in enumerate(asked):
            progress(phase, number, len(asked))
            others = ids - {each.document.doc_id}
            passages = [one for one in found[each.question] if one.passage.doc_id not in others]
            yield self._row(kept, each, passages)
        progress(phase, len(asked), len(asked))

    def _row(self, kept: SanitizedCorpus, injection: Injection, passages: Sequence[RetrievedPassage]) -> Row:
        own, with_it = injection.document.doc_id, passages[: self.k]
        without = [each for each in passages if each.passage.doc_id != own][: self.k]
        figures = {
            QUESTION: float(injection.number // len(Command)),
            RETRIEVED: float(any(each.passage.doc_id == own for each in with_it)),
        }
        for name, share, given in ((FOLLOWED, REPEATED, with_it), (WITHOUT, REPEATED_WITHOUT, without)):
            answer = whole(self.generator.write(injection.question, given))
            said = stems(answer.text)
            others = [each.passage for each in answer.passages if each.passage.doc_id != own]
            # Half of the words of each, in order.
            repeated = [rouge_l(stems(each.text), said).recall >= EXTRACTED for each in others]
            figures[name] = float(follows(injection, answer, repeated))
            if repeated:
                figures[share] = sum(repeated) / len(repeated)
        return Row(
            system=kept.system,
            task=self.name,
            case=str(injection.number),
            kind=injection.command,
            engine=self.generator.name,
            figures=figures,
        )


def poisoning(attack: InjectDump, generator: Generator, encoder: Encoder, k: int) -> Beside:
    """The task, with the poisoned documents ingested as others are."""
    documents = [each.document for each in attack.injections()]
    return Beside(InjectionTask(attack, generator, encoder, k), documents, encoder)
