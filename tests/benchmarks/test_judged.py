"""What readers said, as counts. All verdicts are invented."""

import json
from pathlib import Path

import pytest

from benchmarks import judged


def verdict(doc_id: str, codes: dict[str, list[object]], who: int | None = 1) -> dict[str, object]:
    missed = [["Ada", "D", "name"], ["Leeds", "Q", "place"]] if who == 0 else []
    read = {"readability": 4, "usefulness": 5, "who": who, "note": "x"}
    return {"id": doc_id, "codes": codes, "missed": missed, **read}


FIRST = [
    verdict("mail|a", {"0": ["ok", 1], "1": ["bound", 0]}),
    verdict("note|b", {"0": ["needless", 1], "1": ["ok", 0]}, who=0),
    verdict("note|c", {}, who=None),
]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judged_1.json").write_text(json.dumps({"docs": FIRST}), encoding="utf-8")
    again = verdict("mail|a", {"0": ["needless", 1], "1": ["bound", 0]})
    (tmp_path / "second_1.json").write_text(json.dumps({"docs": [again]}), encoding="utf-8")
    path = tmp_path / "kept.json"
    monkeypatch.setattr(judged, "RESULTS", path)
    judged.main(tmp_path, "abc1234", path)
    return path


def test_counts_and_nothing_of_a_document(kept: Path) -> None:
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert [each["n"] for each in found["documents"]] == [2, 2, 0]
    assert [each["wrong"] for each in found["documents"]] == [1, 0, 0]
    assert (found["missed"], found["told apart"]) == ({"D": 1, "Q": 1}, [1, 2])
    assert (found["read twice"], found["codes alike"], found["sentences alike"]) == (2, 1, 2)
    assert not any(secret in kept.read_text(encoding="utf-8") for secret in ("Ada", "Leeds", "mail|a"))


@pytest.mark.usefixtures("kept")
def test_the_table_has_a_row_for_all_and_for_each_kind_and_the_facts_name_what_was_missed() -> None:
    rows = judged.judged_table().rows
    assert [row[0] for row in rows] == ["all", "mail", "note"]
    assert [row[2] for row in rows] == ["4", "2", "2"]
    facts = judged.judged_facts()
    assert "people told apart in 1 of 2" in facts
    assert "1 direct and 1 quasi-identifiers still there" in facts
    assert "agreed on 0.500 of codes and on 1.000 of broken sentences. Commit abc1234" in facts
