"""The texts that a detector is measured on, each with what there is to find."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from eval.detection.gold import SPIA_FILES, Row, rows, spia_entities
from eval.detection.measures import MarkedEntity
from eval.detection.patients import occurrences
from ingest.documents import Document
from models.errors import ConfigurationError
from models.training.corpora import corpora_in, read_corpora
from models.training.examples import Example, Mention

ACI_BENCH = "aci_bench"
_ACI_FILE = Path(ACI_BENCH, "data.jsonl")

POLITICS = "crossner_politics"
_POLITICS_IN = "crossner"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, its marked mentions, and the labels whose marking is complete in it.

    ``unit`` is what the bootstrap redraws as a whole: a document, a person, a template, a visit.
    ``entities`` link mentions, where a corpus does.
    """

    id: str
    corpus: str
    unit: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    asked: frozenset[str]
    entities: tuple[MarkedEntity, ...] = field(default=(), repr=False)

    @property
    def document(self) -> Document:
        """What a detector is given of it."""
        return Document(self.id, self.text)


class _Visit(Row):
    id: str
    metadata: dict[str, str] = Field(repr=False)
    dialogue: str = Field(repr=False)
    note: str = Field(repr=False)


def present(folder: Path, corpora: Collection[str]) -> list[str]:
    """Those of the corpora that the folder has, in their order."""
    here = set(corpora_in(folder))
    if _POLITICS_IN in here:
        here.add(POLITICS)
    if (folder / _ACI_FILE).is_file():
        here.add(ACI_BENCH)
    return [corpus for corpus in corpora if corpus in here]


def cases_of(folder: Path, corpus: str) -> Iterator[Case]:
    """The held-out texts of one corpus, streamed.

    Raises:
        LetheError: A file of the corpus cannot be read, or does not fit to its other files.
    """
    if corpus == ACI_BENCH:
        return _visits(folder)
    if corpus in SPIA_FILES:
        return _linked(folder, corpus)
    source = _POLITICS_IN if corpus == POLITICS else corpus
    wanted: Callable[[Example], bool] = _politics if corpus == POLITICS else _any
    return (_case(example, corpus) for example in _examples(folder, source) if wanted(example))


def _any(example: Example) -> bool:
    return True


def _politics(example: Example) -> bool:
    return "politics" in example.id


def _examples(folder: Path, corpus: str) -> Iterator[Example]:
    others = [other for other in corpora_in(folder) if other != corpus]
    return read_corpora(folder, "held_out", leave_out=others)


def _case(example: Example, corpus: str, entities: tuple[MarkedEntity, ...] = ()) -> Case:
    return Case(
        example.id,
        corpus,
        example.group,
        example.text,
        example.mentions,
        frozenset(example.asked),
        entities,
    )


def _linked(folder: Path, corpus: str) -> Iterator[Case]:
    entities = spia_entities(folder, corpus)
    for example in _examples(folder, corpus):
        if example.text not in entities:
            raise ConfigurationError(
                f"{corpus}: the text of {example.id} is not in {SPIA_FILES[corpus]}; "
                "take all files of the corpus from one release."
            )
        yield _case(example, corpus, entities[example.text])


def _visits(folder: Path) -> Iterator[Case]:
    """Dialogue and note of each visit, with the places that say who the patient is."""
    for visit in rows(folder / _ACI_FILE, _Visit):
        for part, text in (("dialogue", visit.dialogue), ("note", visit.note)):
            mentions = tuple(occurrences(text, visit.metadata))
            yield Case(f"{visit.id} {part}", ACI_BENCH, visit.id, text, mentions, frozenset())
