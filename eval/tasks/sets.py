"""Measures of sanitized documents as a set: the likeness of distributions, and the classes they fall into."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.experiment import NOT_SANITIZED, SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.mauve import mauve
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document
from ingest.protocols import Encoder

WHOLE = "all documents"
"""The case of a row about the whole set."""
MAUVE, SMOOTHED = "mauve", "mauve, smoothed"
GIVEN, OWN = "class given", "class of its own"
"""Numbers of classes."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """One row with MAUVE between the originals and the sanitized documents; see ``eval.measures.mauve``."""

    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        """With the encoder."""
        return f"mauve[{self.encoder.name}]"

    @property
    def cases(self) -> Sequence[str]:
        """One for the whole set."""
        return [WHOLE]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of the set; a failure if no document could be sanitized."""
        progress(f"comparing {kept.system} as a set", 0, len(cases))
        written = {each.doc_id: each.text for each in kept.documents}
        originals = [each.text for each in self.documents if each.doc_id in written]
        for case in cases:
            begun = Row(system=kept.system, task=self.name, case=case, engine=self.name)
            if not originals:
                yield begun.model_copy(update={"failure": NOT_SANITIZED})
                continue
            sanitized = [written[each.doc_id] for each in self.documents if each.doc_id in written]
            found = mauve(originals, sanitized, self.encoder)
            yield begun.model_copy(update={"figures": {MAUVE: found.value, SMOOTHED: found.smoothed}})
        progress(f"comparing {kept.system} as a set", len(cases), len(cases))


@dataclass(frozen=True, slots=True)
class Classes:
    """One row per document with a class: which one its sanitized text falls into, and which is its own.

    A text is given the class whose originals have the nearest mean vector; its own original is left out.
    ``classes`` are by the id of the document; rows hold their places in the order of names.
    """

    documents: Sequence[Document] = field(repr=False)
    classes: Mapping[str, str] = field(repr=False)
    encoder: Encoder

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        """With the encoder."""
        return f"classes, nearest mean[{self.encoder.name}]"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents that have a class."""
        return [each.doc_id for each in self.documents if each.doc_id in self.classes]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The row of each case."""
        progress(f"classing {kept.system}", 0, len(cases))
        texts = {each.doc_id: each.text for each in self.documents}
        names = sorted(set(self.classes.values()))
        own = np.array([names.index(self.classes[doc_id]) for doc_id in self.cases])
        originals = self.encoder.encode([texts[doc_id] for doc_id in self.cases])
        sums = np.stack([originals[own == number].sum(axis=0) for number in range(len(names))])
        places = {doc_id: place for place, doc_id in enumerate(self.cases)}
        written = {each.doc_id: each.text for each in kept.documents}
        there = [case for case in cases if case in written]
        read = self.encoder.encode([written[case] for case in there])
        vectors = dict(zip(there, read, strict=True))
        for case in cases:
            if case not in written:
                yield kept.row(self.name, case, None, self.name)
                continue
            others, place = sums.copy(), places[case]
            others[own[place]] -= originals[place]
            lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
            given = int((others @ vectors[case] / lengths).argmax())
            yield kept.row(self.name, case, {GIVEN: float(given), OWN: float(own[place])}, self.name)
        progress(f"classing {kept.system}", len(cases), len(cases))
