"""Patterns of one's own: what they find, and that none can hang. All numbers are invented."""

import traceback
from pathlib import Path

import pytest

from ingest.deciding.baselines.uniform import REDACT
from ingest.detection.own import patterns as own_patterns
from ingest.detection.own.detector import OwnDetector
from ingest.detection.own.lists import OwnEntities, OwnPattern
from ingest.detection.own.patterns import ready
from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector


def found(text: str, pattern: OwnPattern) -> list[str]:
    return [text[each.span.start : each.span.end] for each in ready(pattern).found(text)]


def refusal(regex: str, check: str = "") -> str:
    with pytest.raises(ConfigurationError) as caught:
        ready(OwnPattern("ward number", regex, "place", check))
    error = caught.value
    assert error.__cause__ is None and error.__suppress_context__ or not error.__context__
    assert regex not in "".join(traceback.format_exception(error))
    return str(error).removeprefix("The pattern 'ward number': ")


def test_a_match_is_an_entity_under_its_label_and_the_group_id_is_what_identifies() -> None:
    (entity,) = ready(OwnPattern("ward number", "W-[0-9]{4}", "ward number")).found("on W-1236 now")
    assert (entity.span.start, entity.span.end, entity.label) == (3, 9, "ward number")
    assert (entity.source, entity.required, entity.confidence) == ("own:ward number", True, 1.0)
    (mild,) = ready(OwnPattern("ward", "W-[0-9]{4}", "place", rigid=False)).found("W-1236")
    assert not mild.required
    assert found("ward W-17, ward X", OwnPattern("ward", "ward (?P<id>W-[0-9]+)", "place")) == ["W-17"]


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [("luhn", "79927398713", "79927398710")]
    + [("mod97", "GB29-NWBK-6016-1331-9268-19", "GB28-NWBK-6016-1331-9268-19")]
    + [("stdnum.luhn", "79927398713", "79927398710"), ("stdnum.nl.bsn", "111222333", "111222334")]
    + [("own_wards:is_ward", "W-1236", "W-1237")],
)
def test_a_check_refuses_what_is_no_number(
    check: str, right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_wards.py").write_text("def is_ward(value):\n    return value.endswith('6')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    pattern = OwnPattern("number", "[A-Z0-9][A-Z0-9-]{3,}", "reference number", check)
    assert found(f"{right} and {wrong} or -", pattern) == [right]


NOT_IMPORTED = "its check cannot be imported ({}); name a function of a module"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("own_absent:is_ward", NOT_IMPORTED.format("ModuleNotFoundError")),
        ("math:absent", NOT_IMPORTED.format("AttributeError")),
        ("math:pi", "its check is no function; name one."),
        ("stdnum.absent", NOT_IMPORTED.format("ModuleNotFoundError")),
        ("lune", "its check is none of luhn, mod97, stdnum.<module> and module:function; take one."),
    ],
)
def test_a_check_that_is_not_there_is_told(check: str, told: str) -> None:
    assert refusal("W-[0-9]{4}", check).startswith(told)


SLOW = "its expression takes too long on a text of 2,000 characters; leave out"


@pytest.mark.parametrize(
    ("regex", "told"),
    [
        ("W-([0-9]{4}", "its expression cannot be read at character 12; correct it there."),
        ("[0-9]*", "its expression matches the empty string; make it require a character."),
    ]
    + [(each, SLOW) for each in r"(a|a)+b (ward|ward)+x ([a-z]+)*\d (W-|W-)*! \d+\d+\d+X".split()],
)
def test_an_expression_that_cannot_be_run_is_told(regex: str, told: str) -> None:
    assert refusal(regex).startswith(told)


@pytest.mark.parametrize(
    "regex", ["[A-Z]{2}[0-9]{6,8}", r"\bWard\s+\w+", "(?i)unit [a-z]+-[0-9]+", r"\d+\.\d+"]
)
def test_a_sound_expression_is_not(regex: str) -> None:
    assert ready(OwnPattern("ward", regex, "place"))


def sanitizer(pattern: OwnPattern) -> DecidingSanitizer:
    detector = OwnDetector(PhraseDetector({}), OwnEntities(patterns=[pattern]))
    return DecidingSanitizer(detector, REDACT, RiskPrior())


def test_a_document_that_takes_too_long_is_not_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_patterns, "_probes", lambda expression: iter(()))
    monkeypatch.setattr(own_patterns, "SECONDS", 0.2)
    slow = sanitizer(OwnPattern("slow", "(a|a)+b", "place"))
    good, bad = slow.sanitize([Document("d1", "ab"), Document("d2", "a" * 60)])
    assert not isinstance(good, SanitizationError)
    assert str(bad) == "document d2 was not indexed: detection failed (TimeoutError); nothing of it was kept"


def test_a_check_that_fails_lets_no_document_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_failing.py").write_text("def check(value):\n    raise KeyError(value)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    failing = sanitizer(OwnPattern("ward", "W-[0-9]{4}", "place", "own_failing:check"))
    (outcome,) = failing.sanitize([Document("d", "on W-1236")])
    assert str(outcome) == "document d was not indexed: detection failed (KeyError); nothing of it was kept"
    assert "W-1236" not in repr(outcome)
