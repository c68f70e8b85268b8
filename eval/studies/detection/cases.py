"""The texts that a detector is measured on, with their gold mentions."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eval.studies.detection.gold import SPIA_FILES, spia_entities
from eval.studies.detection.measures import MarkedEntity
from eval.studies.detection.patients import occurrences
from ingest.documents import Document
from models.corpora.documents import aci_visits
from models.corpora.examples import Example, Mention
from models.corpora.read import corpora_in, read_corpora
from models.errors import ConfigurationError

ACI_BENCH = "aci_bench"
_ACI_FILE = Path(ACI_BENCH, "data.jsonl")

POLITICS = "crossner_politics"
_POLITICS_IN = "crossner"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, its marked mentions, and the labels whose marking is complete in it.

    ``unit`` is the bootstrap cluster: a document, a person, a template or a visit. ``entities`` link
    mentions, if the corpus does.
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
        """The document that a detector gets."""
        return Document(self.id, self.text)


def present(folder: Path, corpora: Collection[str]) -> list[str]:
    """The corpora that are in the folder, in order."""
    here = set(corpora_in(folder))
    if _POLITICS_IN in here:
        here.add(POLITICS)
    if (folder / _ACI_FILE).is_file():
        here.add(ACI_BENCH)
    return [corpus for corpus in corpora if corpus in here]


def cases_of(folder: Path, corpus: str) -> Iterator[Case]:
    """The held-out texts of one corpus, streamed.

    Raises:
        LetheError: A file of the corpus cannot be read, or does not match its other files.
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
    for visit in aci_visits(folder):
        for part in visit:
            mentions = tuple(occurrences(part.text, part.about))
            yield Case(part.id, ACI_BENCH, part.group, part.text, mentions, frozenset())
