"""Lines that must stay as they are, and lines with an identifier that must go. All of it is invented."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.compose import detector_of
from app.settings.load import Settings
from ingest.detection.patterns.find import find_patterns
from ingest.documents import Document, Entity
from ingest.labels import LABELS, label_of

HERE = Path(__file__).parents[1]
ADDRESSES = ("street address", "secondary address unit", "zip postal code")


def sections(name: str) -> Iterator[tuple[str, str]]:
    """Each line of a list, with the heading above it."""
    heading = ""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        elif line:
            yield heading, line


CLINICAL = {
    "Charts and vital signs",
    "Laboratory tables",
    "ECG, echo and imaging findings",
    "Prescriptions",
    "Referral letters and notes",
    "Ventilators and devices",
    "Scores",
}
WRONG = (*ADDRESSES, "monetary amount")
CLINICAL_WRONG, STILL_WRONG = 8, 41
"""Lines, each read without what stands around it, in which the model takes values for identifiers."""

KEPT = list(sections("kept_lines.txt"))
IDENTIFYING = list(sections("identifying_lines.txt"))
UNREAD = 11
"""Addresses of few words that the model misses where nothing stands around them."""


@pytest.mark.parametrize("line", [line for _, line in KEPT])
def test_a_line_without_identifiers_is_kept(line: str) -> None:
    found = [one for one in find_patterns(line) if label_of(one.label).rigid or one.label in ADDRESSES]
    assert [(one.source, line[one.span.start : one.span.end]) for one in found] == []


@pytest.mark.parametrize(("label", "line"), [each for each in IDENTIFYING if each[0] not in ADDRESSES])
def test_an_identifier_is_found(label: str, line: str) -> None:
    assert label in {one.label for one in find_patterns(line)}


def test_the_lists_are_long_and_name_every_rigid_label() -> None:
    labels = {label for label, _ in IDENTIFYING}
    rigid = {label.name for label in LABELS.values() if label.rigid}
    assert len(KEPT) > 390
    assert len(IDENTIFYING) > 200
    assert labels == rigid | set(ADDRESSES)


Found = list[tuple[str, str, list[Entity]]]


def detected(listed: list[tuple[str, str]]) -> Found:
    """The heading, the line and what patterns, rules and the bundled model find in it."""
    documents = [Document(str(number), line) for number, (_, line) in enumerate(listed)]
    every = detector_of(Settings()).detect(documents)
    return [(heading, line, found) for (heading, line), found in zip(listed, every, strict=True)]


@pytest.fixture(scope="module")
def kept() -> Found:
    return detected(KEPT)


def wrongly(line: str, found: list[Entity]) -> list[tuple[str, str]]:
    return [
        (one.label, line[one.span.start : one.span.end])
        for one in found
        if label_of(one.label).rigid or one.label in WRONG
    ]


def test_the_model_takes_few_clinical_values_for_identifiers(kept: Found) -> None:
    lines = [(line, found) for heading, line, found in kept if heading in CLINICAL]
    assert len(lines) > 150
    assert len([line for line, found in lines if wrongly(line, found)]) <= CLINICAL_WRONG


def test_the_model_takes_few_other_lines_for_identifiers(kept: Found) -> None:
    wrong = [line for heading, line, found in kept if heading not in CLINICAL and wrongly(line, found)]
    assert len(wrong) <= STILL_WRONG


def test_the_model_hides_no_identifier_that_patterns_found() -> None:
    missed = [
        label
        for label, line, found in detected(IDENTIFYING)
        if not {one.label for one in found} & ({*ADDRESSES, "place"} if label in ADDRESSES else {label})
    ]
    assert set(missed) <= set(ADDRESSES)
    assert len(missed) <= UNREAD
