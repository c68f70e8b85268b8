"""Lines that must stay as they are, and lines with an identifier that must go. All of it is invented."""

from collections.abc import Iterator
from pathlib import Path

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


CLINICAL = (
    "Charts and vital signs|Laboratory tables|ECG, echo and imaging findings|Prescriptions|"
    "Referral letters and notes|Ventilators and devices|Scores"
).split("|")
WRONG = (*ADDRESSES, "monetary amount")
CLINICAL_WRONG, STILL_WRONG = 9, 34
"""Lines, each read without what stands around it, in which the model takes values for identifiers."""

KEPT = list(sections("kept_lines.txt"))
IDENTIFYING = list(sections("identifying_lines.txt"))
UNREAD = 11
"""Addresses of few words that the model misses where nothing stands around them."""


def test_lines_without_identifiers_are_kept() -> None:
    found = [(line, one) for _, line in KEPT for one in find_patterns(line)]
    wrong = [each for each in found if label_of(each[1].label).rigid or each[1].label in ADDRESSES]
    assert [(one.source, line[one.span.start : one.span.end]) for line, one in wrong] == []


def test_identifiers_are_found() -> None:
    lines = [each for each in IDENTIFYING if each[0] not in ADDRESSES]
    assert [line for label, line in lines if label not in {one.label for one in find_patterns(line)}] == []


def test_the_lists_are_long_and_name_every_rigid_label() -> None:
    labels = {label for label, _ in IDENTIFYING}
    rigid = {label.name for label in LABELS.values() if label.rigid}
    assert len(KEPT) > 390
    assert len(IDENTIFYING) > 200
    assert labels == rigid | set(ADDRESSES)


def detected(listed: list[tuple[str, str]]) -> list[list[Entity]]:
    """What patterns, rules and the bundled model find in each line."""
    documents = [Document(str(number), line) for number, (_, line) in enumerate(listed)]
    return list(detector_of(Settings()).detect(documents))


def test_the_model_takes_few_values_for_identifiers() -> None:
    wrong = [
        heading in CLINICAL
        for (heading, _), found in zip(KEPT, detected(KEPT), strict=True)
        if any(label_of(one.label).rigid or one.label in WRONG for one in found)
    ]
    assert sum(heading in CLINICAL for heading, _ in KEPT) > 150
    assert sum(wrong) <= CLINICAL_WRONG
    assert len(wrong) - sum(wrong) <= STILL_WRONG


def test_the_model_hides_no_identifier_that_patterns_found() -> None:
    missed = [
        label
        for (label, _), found in zip(IDENTIFYING, detected(IDENTIFYING), strict=True)
        if not {one.label for one in found} & ({*ADDRESSES, "place"} if label in ADDRESSES else {label})
    ]
    assert set(missed) <= set(ADDRESSES)
    assert len(missed) <= UNREAD
