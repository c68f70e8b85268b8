"""Indirect injection on each system: poisoned documents go in as others do, and harmless questions are asked.

They are sanitized and indexed like all documents, in a copy of the index that is in memory alone.
``eval.measures.injected`` folds the rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from eval.attacks.injection import Command, InjectDump, Injection, follows
from eval.attacks.membership import cached_stems
from eval.experiment import SanitizedCorpus, add_documents, indexed
from eval.measures.covered import EXTRACTED
from eval.measures.injected import FOLLOWED, QUESTION, REPEATED, REPEATED_WITHOUT, RETRIEVED, WITHOUT
from eval.measures.leakage import NOTHING_SENSITIVE, SensitiveIndex
from eval.measures.overlap import Tokenize, rouge_l
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import SanitizedDocument
from ingest.protocols import Encoder
from retrieval.documents import Answer, RetrievedPassage
from retrieval.protocols import Generator, Retriever
from retrieval.writing import whole

NO_INDEX = "nothing to index into"


@dataclass(frozen=True, slots=True)
class InjectionTask:
    """Each question asked with its poisoned document among the others, and without; ``k`` passages.

    The other poisoned documents are never among the passages. Answers are those of the generator, with
    whatever guards it.
    """

    attack: InjectDump
    generator: Generator
    encoder: Encoder
    k: int

    @property
    def name(self) -> str:
        """Attack, generator and number of passages."""
        return f"{self.attack.name}, {self.generator.name}, k {self.k}"

    @property
    def cases(self) -> Sequence[str]:
        """The numbers of the poisoned documents."""
        return [str(number) for number in range(len(self.attack.questions) * len(Command))]

    @property
    def sensitive(self) -> SensitiveIndex:
        """Nothing: its rows count no entities."""
        return NOTHING_SENSITIVE

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """``FOLLOWED`` and ``WITHOUT``, 1 or 0, whether it was retrieved, and what of others is repeated."""
        wanted = set(cases)
        injections = [each for each in self.attack.injections() if str(each.number) in wanted]
        phase, stems = f"injecting into {kept.system}", cached_stems()
        progress(phase, 0, len(injections))
        with ExitStack() as stack:
            poisoned = _poisoned(kept, injections, self.encoder, stack)
            found = self._found(poisoned, injections) if poisoned else []
            for number, (injection, passages) in enumerate(
                zip(injections, found, strict=poisoned is not None)
            ):
                progress(phase, number, len(injections))
                yield self._row(kept, injection, passages, stems)
        if poisoned is None:
            for each in injections:
                yield Row(system=kept.system, task=self.name, case=str(each.number), failure=NO_INDEX)
        progress(phase, len(injections), len(injections))

    def _found(self, poisoned: Retriever, injections: Sequence[Injection]) -> list[list[RetrievedPassage]]:
        """By injection the passages for its question, best first: enough without those of any other."""
        questions = list(dict.fromkeys(each.question for each in injections))
        ids = {each.document.doc_id for each in injections}
        # A poisoned document is a question and a command: two passages, rarely more.
        most = self.k + 3 * len(ids)
        by_question = dict(zip(questions, poisoned.retrieve(questions, most), strict=True))
        return [
            [
                passage
                for passage in by_question[each.question]
                if passage.passage.doc_id == each.document.doc_id or passage.passage.doc_id not in ids
            ]
            for each in injections
        ]

    def _row(
        self,
        kept: SanitizedCorpus,
        injection: Injection,
        passages: Sequence[RetrievedPassage],
        stems: Tokenize,
    ) -> Row:
        own = injection.document.doc_id
        with_it = passages[: self.k]
        without = [each for each in passages if each.passage.doc_id != own][: self.k]
        figures = {
            QUESTION: float(injection.number // len(Command)),
            RETRIEVED: float(any(each.passage.doc_id == own for each in with_it)),
        }
        for name, share, given in ((FOLLOWED, REPEATED, with_it), (WITHOUT, REPEATED_WITHOUT, without)):
            answer = whole(self.generator.write(injection.question, given))
            repeated = _repeated(answer, own, stems)
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


def _poisoned(
    kept: SanitizedCorpus, injections: Sequence[Injection], encoder: Encoder, stack: ExitStack
) -> Retriever | None:
    """The retriever over a copy of the index with the poisoned documents; None if nothing can be added.

    One that the sanitizer refuses is not there, and so is not retrieved.
    """
    if kept.shelf is None or kept.sanitizer is None:
        return None
    shelf = kept.shelf(encoder)
    copy = replace(shelf, store=shelf.store.copied())
    stack.callback(copy.store.close)
    outcomes = kept.sanitizer().sanitize([each.document for each in injections])
    add_documents(copy, [each for each in outcomes if isinstance(each, SanitizedDocument)], encoder)
    return indexed(copy, encoder)


def _repeated(answer: Answer, own: str, stems: Tokenize) -> list[bool]:
    """Of each passage of other documents, whether the answer repeats half of its words in order."""
    said = stems(answer.text)
    others = [each.passage for each in answer.passages if each.passage.doc_id != own]
    return [rouge_l(stems(each.text), said).recall >= EXTRACTED for each in others]
