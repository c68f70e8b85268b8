"""One planted leak of each kind is caught by its attack, and the clean collection is not flagged.

All people and texts are invented. Detector, encoder and risk model are the embedded ones.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from os.path import commonprefix
from random import Random

import numpy as np
import pytest

from app.compose import system_of
from app.settings.load import load_settings
from eval.attacks.canaries import CanaryAttack, PlantedCanaries, plant
from eval.corpora.sensitive import sensitive_from_entities
from eval.experiment import Experiment, SanitizedCorpus, Shelf, kept_in_memory, retrievers, stored
from eval.measures.leakage import SensitiveIndex
from eval.measures.uncertainty import Estimate
from eval.prepared import detected
from eval.progress import no_progress
from eval.studies.audit.measures import FAMILIES, Grounds
from eval.studies.audit.report import Place
from eval.studies.audit.study import places_of
from eval.targets import reading_once
from eval.tasks.attack import AttackTask
from eval.tasks.index import FIRST, FIRST_FIVE
from ingest.deciding.policy import Policy
from ingest.documents import Document, SanitizedDocument
from models.encoders.minilm import MiniLM
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.passages import cut
from retrieval.system import System

FAMILIES_OF = "Talvik Ostrem Brandal Kvisla Myrhaug Tveiten Solbakk Hagness Lunder Fosdahl".split()
GIVEN = "Martin Karen Peter Laura Thomas Julia".split()
MONTHS = "January February March April May June July August September October November December".split()
SAID = (
    "The ferry to the island was late again and the tea was cold.",
    "It rained on the roof of the mill all through the night.",
    "The road to the quarry is closed until the bridge is mended.",
    "Nobody came to the market because of the wind and the snow.",
    "The boiler was repaired with a part from the old laundry.",
    "A heron stood in the pond and would not be moved.",
    "The library has bought new lamps for the reading room.",
    "They painted the fence green and the gate a little darker.",
)
CLEAN, PLANTED = "clean", "planted"
NAMED, ALONE, TOLD, VECTOR, TWINS, DATED = "d03", "d05", "d07", "d09", {"d02", "d32"}, "d14"
"""The documents in which something is planted."""
UNIQUE = "She is a 61-year-old German woman who lives in Leeds and works as a plumber. She has asthma."
PASTIME = "plays the harpsichord in the chapel of the lighthouse keepers"
PEOPLE = [frozenset((f"d{number:02}", f"d{number + 30}")) for number in range(10)]


def letters() -> list[Document]:
    """Forty letters of thirty people, of whom ten wrote two."""
    random = Random(7)
    found = []
    for number in range(40):
        name = f"{GIVEN[number % 6]} {FAMILIES_OF[number % 10]}"
        person = number % 30
        date = f"{person % 27 + 1} {MONTHS[person % 12]} {1951 + person}"
        said = " ".join(random.sample(SAID, 3))
        found.append(Document(f"d{number:02}", f"A letter from {name}. {name} was born on {date}. {said}"))
    return found


def with_more(document: SanitizedDocument, more: str) -> SanitizedDocument:
    return replace(document, text=f"{document.text} {more}")


def with_part_of_the_date(document: SanitizedDocument, original: str) -> SanitizedDocument:
    """Month and year of the date of birth in place of what the policy wrote."""
    *others, date = document.decisions
    *before, (start, end) = document.places
    part = original[date.entity.span.start : date.entity.span.end].partition(" ")[2]
    assert "19" in part
    text = document.text[:start] + part + document.text[end:]
    decisions, places = [*others, replace(date, replacement=part)], [*before, (start, start + len(part))]
    return replace(document, text=text, decisions=decisions, places=places)


class Audited:
    """The rows of both collections, and the measures of an audit."""

    def __init__(self, encoder: MiniLM, stack: ExitStack) -> None:
        self.canaries: PlantedCanaries = plant([each for each in letters() if each.doc_id == TOLD], 1, seed=2)
        self.originals = {each.doc_id: each for each in (*letters(), *self.canaries.documents)}
        documents = list(self.originals.values())
        system = system_of(load_settings({}), encoder=encoder)
        system = replace(system, policy=Policy("redact"), detector=detected(system, documents))
        found = system.detector.detect(documents)
        entities = [sensitive_from_entities(*each) for each in zip(documents, found, strict=True)]
        sensitive = SensitiveIndex([*chain.from_iterable(entities), *self.canaries.canaries])
        read = reading_once(encoder)
        clean = kept_in_memory(CLEAN, documents, system, stack, no_progress)
        planted = self._planted(clean, system, stack)
        grounds = Grounds(documents, sensitive, read, "quick", 3, 0, PEOPLE)
        self.measures = {each.name: each for family in FAMILIES for each in family(grounds)}
        told = SensitiveIndex(self.canaries.canaries)
        self.canary = AttackTask(CanaryAttack(self.canaries), VerbatimGenerator(), read, 3, told)
        wanted = ("left-direct", "left-quasi", "vectors", "guessed", "same-person", "singled-out")
        tasks = [*{self.measures[name].task.name: self.measures[name].task for name in wanted}.values()]
        both = CLEAN, PLANTED
        asked = dict.fromkeys(both, [*tasks, self.canary])
        kept = {CLEAN: clean, PLANTED: planted}
        experiment = Experiment(documents, dict.fromkeys(both, system), asked, kept)
        self.rows = {done.system: done.rows for done in experiment.run()}

    def _planted(self, clean: SanitizedCorpus, system: System, stack: ExitStack) -> SanitizedCorpus:
        name = f"{GIVEN[int(NAMED[1:]) % 6]} {FAMILIES_OF[int(NAMED[1:]) % 10]}"
        changes: Mapping[str, Callable[[SanitizedDocument], SanitizedDocument]] = {
            NAMED: lambda each: with_more(each, f"It was signed by {name}."),
            ALONE: lambda each: with_more(each, UNIQUE),
            TOLD: lambda each: with_more(each, self.canary_sentence),
            "d02": lambda each: with_more(each, f"Who wrote this {PASTIME}."),
            "d32": lambda each: with_more(each, f"The writer {PASTIME}."),
            DATED: lambda each: with_part_of_the_date(each, self.originals[DATED].text),
        }
        documents = [
            changes[each.doc_id](each) if each.doc_id in changes else each for each in clean.documents
        ]
        encoder = system.encoder
        store = stored(documents, encoder, system, stack)
        bare = next(each for each in documents if each.doc_id == VECTOR)
        bare = replace(bare, text=self.originals[VECTOR].text, decisions=(), places=())
        (made,) = cut([bare], encoder, system.passage_tokens, system.search)
        passage, vector = store.passages_of(VECTOR)[0], made.vectors[0].astype(np.float16).tobytes()
        put = "UPDATE passages SET vector = ? WHERE passage_id = ?"
        store._connection.execute(put, (vector, passage.passage_id))
        shelf = Shelf(store, system.passage_tokens, system.search)
        searched = retrievers(lambda encoder: shelf)
        there = replace(clean, system=PLANTED, documents=documents)
        return replace(there, retriever=searched, shelf=lambda encoder: shelf)

    @property
    def canary_sentence(self) -> str:
        """The sentence that was planted in the original."""
        (before,) = [each.text for each in letters() if each.doc_id == TOLD]
        after = self.originals[TOLD].text
        start = len(commonprefix([before, after]))
        return after[start : start + len(after) - len(before)].strip()

    def places(self, measure: str, system: str) -> list[Place]:
        """The cases that a measure counts."""
        wanted = self.measures[measure]
        return places_of(wanted, self.rows[system][wanted.task.name])

    def figure(self, measure: str, system: str) -> Estimate:
        wanted = self.measures[measure]
        return wanted.value(self.rows[system][wanted.task.name])


@pytest.fixture(scope="module")
def audited(minilm: MiniLM) -> Iterator[Audited]:
    with ExitStack() as stack:
        yield Audited(minilm, stack)


@pytest.mark.parametrize(
    ("measure", "documents"),
    [("left-direct", {NAMED, TOLD}), ("singled-out", {ALONE}), ("vectors", {VECTOR}), ("same-person", TWINS)],
)
def test_what_was_planted_is_caught_and_nothing_else(
    audited: Audited, measure: str, documents: set[str]
) -> None:
    caught = {each.doc_id for each in audited.places(measure, PLANTED)}
    assert caught >= documents
    # By chance one of the other eighteen letters has its twin first: 18/39 are expected.
    most = 2 if measure == "same-person" else 0
    assert len(caught - documents) <= most
    clean = audited.figure(measure, CLEAN)
    assert (clean.n >= 20, clean.hits <= most) == (True, True)


def test_a_missed_name_and_a_canary_are_told_apart(audited: Audited) -> None:
    caught = {each.doc_id: each.label for each in audited.places("left-direct", PLANTED)}
    assert caught == {NAMED: "person full name", TOLD: audited.canaries.canaries[0].label}


def test_a_canary_comes_out_when_it_is_asked_for(audited: Audited) -> None:
    for system, count in (CLEAN, 0), (PLANTED, 1):
        assert sum(len(row.leaked) for row in audited.rows[system][audited.canary.name]) == count


def test_a_date_that_is_partly_generalized_is_guessed(audited: Audited) -> None:
    measure = audited.measures["guessed"]
    clean, planted = (
        next(row for row in audited.rows[system][measure.task.name] if row.case == DATED).figures
        for system in (CLEAN, PLANTED)
    )
    assert [planted[name] - clean[name] for name in (FIRST, FIRST_FIVE)] == [1, 1]
    # Where nothing is left the guesses are no better than the most frequent values.
    assert measure.chance is not None
    by_frequency = measure.chance(audited.rows[CLEAN][measure.task.name])
    assert audited.figure("guessed", CLEAN).hits <= by_frequency.hits


def test_no_false_alarm_of_a_quasi_identifier(audited: Audited) -> None:
    for system in (CLEAN, PLANTED):
        figure = audited.figure("left-quasi", system)
        assert (figure.hits, figure.n > 20) == (0, True)
