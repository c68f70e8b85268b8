"""Labels that no training knew, given by meaning. The sentence encoder is the real one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from models.catalog import ModelRef
from models.corpora.examples import Example, Mention
from models.detectors.embedded import EmbeddedDetector
from models.detectors.need import WordNeeds
from models.detectors.new_labels import ByMeaning, load_finders
from models.detectors.words import FoundSpan
from models.trained import write_trained
from models.training.commands import learned_names
from tests.small_models import PERSON, random_detector

ORGANIZATION, PARTY, PRIZE = "organization", "political party", "award"


class Finds(EmbeddedDetector):
    """Finds given words under given labels, once a text."""

    def __init__(self, finds: Mapping[str, Sequence[str]], labels: Sequence[str]) -> None:
        self.name = "finds (test double)"
        self.labels = tuple(labels)
        self._finds = finds

    def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
        return [(spans, None) for spans in self._spans(texts)]

    def _spans(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        return [
            [
                FoundSpan(text.index(words), text.index(words) + len(words), label, 0.5 + 0.1 * number)
                for words, labels in self._finds.items()
                if words in text
                for number, label in enumerate(labels)
            ]
            for text in texts
        ]


def named(
    text: str, finds: Mapping[str, Sequence[str]], new: Sequence[str], *fixed: str
) -> dict[str, list[str]]:
    labels = sorted({label for of_words in finds.values() for label in of_words}.union(new))
    (spans,) = ByMeaning(Finds(finds, labels), new, fixed).find([text])
    found: dict[str, list[str]] = {}
    for span in spans:
        found.setdefault(text[span.start : span.end], []).append(span.label)
    return found


def test_a_mention_is_called_by_the_label_that_it_means() -> None:
    text = "The Labour Party and Velmora Systems GmbH signed it."
    finds = {"Labour Party": [ORGANIZATION], "Velmora Systems GmbH": [ORGANIZATION]}
    assert named(text, finds, [PARTY]) == {
        "Labour Party": [PARTY],
        "Velmora Systems GmbH": [ORGANIZATION],
    }


def test_of_several_new_labels_the_nearest_is_given() -> None:
    finds = {"Labour Party": [ORGANIZATION], "Turing Prize": ["event"]}
    assert named("The Labour Party won no Turing Prize.", finds, [PARTY, PRIZE]) == {
        "Labour Party": [PARTY],
        "Turing Prize": [PRIZE],
    }


def test_fixed_labels_stay() -> None:
    finds = {"Labour Party": [PERSON]}
    assert named("The Labour Party won.", finds, [PARTY], PERSON) == {"Labour Party": [PERSON]}


def test_one_place_has_a_label_once_and_by_its_surest_mention() -> None:
    finds = {"Labour Party": [ORGANIZATION, "event"]}
    text = "The Labour Party won."
    spans = ByMeaning(Finds(finds, [ORGANIZATION, "event", PARTY]), [PARTY]).find([text])[0]
    assert spans == [FoundSpan(4, 16, PARTY, 0.6)]


def test_a_text_is_named_alone_as_in_a_batch() -> None:
    finder = ByMeaning(Finds({"Labour Party": [ORGANIZATION]}, [ORGANIZATION, PARTY]), [PARTY])
    texts = ["", "The Labour Party won.", "Nobody came."]
    assert finder.find(texts) == [finder.find([text])[0] for text in texts]


@pytest.mark.parametrize(
    ("labels", "by_meaning"),
    [([PERSON], False), (["Person"], False), ([PERSON, PARTY], True)],
)
def test_only_untaught_labels_are_given_by_meaning(
    tmp_path: Path, labels: list[str], by_meaning: bool
) -> None:
    card = {"name": "x", "thresholds": {"balanced": {"": 0.5}}, "labels": [PERSON, "person"]}
    write_trained(tmp_path, "detector", random_detector(), card)
    (finder,) = load_finders(ModelRef(source="path", name=str(tmp_path)), labels)
    assert isinstance(finder, ByMeaning) is by_meaning
    assert finder.name == "x"


def test_what_is_learned_has_every_name_that_it_is_asked_by() -> None:
    example = Example("e", "c", "g", "Ada left.", (Mention(0, 3, PERSON),), (PERSON, PARTY))
    assert {PERSON, "person"} <= set(learned_names([example]))
    assert PARTY not in learned_names([example])
