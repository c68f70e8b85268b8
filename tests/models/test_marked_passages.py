"""The marked passages, as they lie in the project."""

import json
import os
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from models.corpora import needs
from models.corpora.examples import NEEDS
from models.corpora.needs import FOLDER, marked_passages
from models.corpora.passages import KINDS
from models.corpora.rubric import referenced_records
from models.errors import ConfigurationError
from models.reader.network import IDENTIFIERS
from models.training.reader_rows import COARSE

TEXT = "Invented. Ada Lind, 45, came."


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, **changed: object) -> Path:
    """One reference to a record of an invented corpus; the folder of corpora."""
    (folder / "marks").mkdir()
    (folder / "data" / "x").mkdir(parents=True)
    (folder / "data" / "x" / "data.jsonl").write_text(json.dumps({"id": "1", "text": TEXT}) + "\n")
    row = {
        "id": "p1", "record": "x/1", "field": "text", "start": 10, "end": 22, "digest": "9d0ff6fd4a0ab1a5",
        "marks": [[0, 8, "PERSON", "DIRECT", 2, 1], [10, 12, "AGE", "QUASI", 2, 1]], **changed,
    }  # fmt: skip
    (folder / "marks" / "references.jsonl").write_text(json.dumps(row) + "\n")
    marked = {"id": "i1", "marked": "Mr [[Keller|PERSON|DIRECT|2|1]] has [[a cough|HEALTH|SENSITIVE|0|2]]."}
    (folder / "marks" / "invented.jsonl").write_text(json.dumps(marked) + "\n")
    monkeypatch.setattr(needs, "FOLDER", folder / "marks")
    return folder / "data"


def both(data: Path | None) -> dict[str, list[str]]:
    found = [*marked_passages(data, "train"), *marked_passages(data, "held_out")]
    return {
        each.id: [each.text[need.start : need.end] for need in each.needs or ()]
        for each in sorted(found, key=lambda each: each.id)
    }


def test_passages_are_read_with_their_marks_and_fresh_ones_are_in_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, invented = sha256(TEXT[10:22].encode()).hexdigest()[:16], {f"{NEEDS}:i1": ["Keller", "a cough"]}
    for name, changed in (("read", {}), ("fresh", {"fresh": True})):
        (tmp_path / name).mkdir()
        data = written(tmp_path / name, monkeypatch, digest=digest, **changed)
        assert both(None) == invented
        assert both(data) == invented | ({} if changed else {f"{NEEDS}:p1": ["Ada Lind", "45"]})


def test_another_edition_of_a_corpus_and_a_mark_that_cannot_be_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(tmp_path, monkeypatch)
    with pytest.raises(ConfigurationError, match=r"references.jsonl, line 1: x has another text there; take"):
        both(data)
    (tmp_path / "marks" / "invented.jsonl").write_text(json.dumps({"id": "i", "marked": "[[x|PERSON]]"}))
    with pytest.raises(ConfigurationError, match=r"invented.jsonl, line 1 has a mark that cannot be read"):
        both(data)


def test_the_shipped_passages_are_whole_and_the_parts_share_no_record() -> None:
    parts = [list(marked_passages(None, part)) for part in ("train", "held_out")]
    found = [*parts[0], *parts[1]]
    assert len(found) >= 500
    for each in found:
        assert each.needs is not None
        assert "[[" not in each.text
        places = sorted((need.start, need.end) for need in each.needs)
        assert all(one[1] <= other[0] for one, other in pairwise(places))
        for need in each.needs:
            assert need.kind in {*KINDS, *COARSE} and need.identifier in IDENTIFIERS
            assert need.must in (0, 1, 2)
            assert "\n" not in each.text[need.start : need.end]
    learned, kept = ({each.group for each in part} for part in parts)
    assert not learned & kept
    assert 0.08 < len(kept) / len(learned | kept) < 0.25


def test_references_quote_nothing_a_fifth_is_read_twice_and_fresh_ones_are_of_other_records() -> None:
    first, second = (
        [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]
        for name in ("references.jsonl", "second_reading.jsonl")
    )
    learned = [row for row in first if not row.get("fresh")]
    assert len(learned) >= 400 and len(second) >= len(learned) / 5
    fresh, scored = {row["record"] for row in first if row.get("fresh")}, referenced_records()[0]
    assert fresh and not fresh & (scored | {row["record"] for row in learned})
    for row in [*first, *second]:
        assert set(row) - {"fresh"} == {"id", "kind", "record", "field", "start", "end", "digest", "marks"}
        assert all([type(each) for each in mark] == [int, int, str, str, int, int] for mark in row["marks"])


def test_no_passage_is_from_a_gold_document() -> None:
    data = os.environ.get("LETHE_CORPORA")
    if not data:
        pytest.skip("LETHE_CORPORA names no folder of public corpora")
    gold = json.loads((Path(data) / "visits_mail_gold" / "documents.json").read_text())
    ids = {each["id"].replace("|", "/") for each in gold}
    rows = map(json.loads, (FOLDER / "references.jsonl").read_text().splitlines())
    assert not ids & {row["record"] for row in rows}
