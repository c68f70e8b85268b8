"""An invented document of a million characters is read to its end, in time that grows with its length."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.annotated import AnnotatedText
from ingest.deciding.echoes import echoes
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import DEFAULT, DESCRIPTORS
from ingest.deciding.trip import Trip
from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document, Entity, SanitizedDocument
from ingest.labels import PERSON
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from models.bits import embedded_bits
from tests.commands import lethe
from tests.doubles import WordEncoder, entity
from tests.timing import cost

MILLION = 1_000_000
SECONDS = 60.0
BOUNDARIES = (512, 1000, 4096, 8192, 2**15, 2**16, 100_000, 2**17, 200_000, 250_000, 2**18, 500_000, 2**19)
"""Where something that reads in pieces would cut: a name lies across each, and an e-mail address 1500 on."""

STORY = (
    "The boiler of the mill was repaired and the heron was fed before dusk. ",
    "It rained for three days, and nobody counted the sheep on the hill.\n",
    "The patient takes lisinopril 10 mg daily for hypertension. ",
    "A cough, a fever and a long walk along the canal were told of. ",
    "On 3 May 2011 the ferry did not leave. ",
    "The bill of 400 euros was paid in Bremen.\n\n",
)
NEAR_LINEAR = 3.0
"""What doubling the length may cost at most; it would be 4 if each part were compared with each other."""


def record(number: int) -> tuple[str, list[Entity]]:
    """A sentence with a name, a record number and an address, and where they stand in it."""
    surname = "Kel" + "".join("abdefghiklm"[int(digit)] for digit in f"{number:03d}") + "mann"
    parts = {
        PERSON: f"Tobias {surname}",
        "medical record number": str(70_000_000 + 7919 * number),
        "email address": f"box{number:03d}@mill.example",
    }
    text = f"Mr {parts[PERSON]}, MRN {parts['medical record number']}, wrote from {parts['email address']}"
    starts = {label: text.index(part) for label, part in parts.items()}
    places = [entity(at, at + len(parts[label]), label) for label, at in starts.items()]
    return text, places


def story(length: int, generator: random.Random) -> str:
    """So many characters of filler between two records."""
    text = "".join(generator.choices(STORY, k=length // 30 + 1))[: length - 4]
    return f". {text}. " if length else ""


@pytest.fixture(scope="module")
def document() -> tuple[str, list[Entity]]:
    """A million characters with a record at the first, at the last, and across every boundary."""
    generator = random.Random(5)
    first, last = record(0), record(1)
    placed = [(0, first), (MILLION - len(last[0]), last)]
    for number, boundary in enumerate(BOUNDARIES):
        for across, place in ((0, boundary), (2, boundary + 1500)):
            text, places = record(2 * number + across // 2 + 2)
            span = places[across].span
            placed.append((place - (span.start + span.end) // 2, (text, places)))
    pieces, planted, end = [], [], 0
    for start, (text, places) in sorted(placed, key=lambda pair: pair[0]):
        pieces += [story(start - end, generator), text]
        planted += [entity(start + p.span.start, start + p.span.end, p.label) for p in places]
        end = start + len(text)
    whole = "".join(pieces)
    assert (len(whole), planted[0].span.start, planted[-1].span.end) == (MILLION, len("Mr "), MILLION)
    return whole, planted


@pytest.mark.slow
def test_patterns_miss_nothing_in_a_million_characters(document: tuple[str, list[Entity]]) -> None:
    text, planted = document
    began = time.monotonic()
    (found,) = HybridDetector().detect([Document("long", text)])
    assert time.monotonic() - began < SECONDS
    places = {(one.span, one.label) for one in found}
    of_patterns = [one for one in planted if one.label != PERSON]
    assert len(of_patterns) > len(BOUNDARIES)
    assert [one.span for one in of_patterns if (one.span, one.label) not in places] == []


@pytest.mark.slow
def test_the_real_command_sanitizes_a_million_characters(
    document: tuple[str, list[Entity]], tmp_path: Path
) -> None:
    text, planted = document
    ran = lethe(tmp_path / "data", "sanitize", "-", "--policy", "redact", "--risk", "prior", stdin=text)
    assert ran.code == 0
    (row,) = ran.rows
    assert [one.span for one in planted if text[one.span.start : one.span.end] in row["text"]] == []
    taken = [each for each in row["decisions"] if each["action"] == "generalize"]
    acted = {place for each in taken for place in range(each["start"], each["end"])}
    assert all(place in acted for one in planted for place in range(one.span.start, one.span.end))
    # A source may take the title for a part of the name.
    for end in (row["text"][:90], row["text"][-90:]):
        assert "somebody" in end.lower() and "an email address" in end.lower()


def echoing(count: int) -> Callable[[], set[int]]:
    text = " ".join(f"1 Quorin{number} Row" for number in range(count))
    places = enumerate(re.finditer(r"1 \S+ Row", text))
    found = [entity(*each.span(), "street address" if n % 2 else "dosage", n) for n, each in places]
    return lambda: echoes(AnnotatedText(text, found), set(range(1, count, 2)))


@pytest.mark.slow
def test_echoes_of_many_that_begin_alike_are_not_quadratic() -> None:
    assert echoing(100)() == set()
    # Four times the work: 4 where it grows in step, 16 where it is squared.
    assert cost(echoing(8000)) < NEAR_LINEAR**2 * cost(echoing(2000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: Lethe(embedded_bits(), DEFAULT),
        lambda: Trip(Engine(WordEncoder(), 64), EMBEDDED_SCALE, DESCRIPTORS),
    ],
    ids=["lethe", "trip"],
)
def test_sanitizing_is_not_quadratic(make: Callable[[], Method]) -> None:
    sanitizer = DecidingSanitizer(HybridDetector(), make(), RiskPrior())

    def sanitized(text: str) -> SanitizedDocument:
        (outcome,) = sanitizer.sanitize([Document("long", text)])
        assert isinstance(outcome, SanitizedDocument)
        return outcome

    generator = random.Random(11)
    text = "".join(f"{record(n)[0]}{story(160, generator)}" for n in range(460))
    assert len(text) > 100_000
    long, short = text[:100_000], text[:50_000]
    assert "@mill.example" not in sanitized(short).text
    assert cost(lambda: sanitized(long)) < NEAR_LINEAR * cost(lambda: sanitized(short))
