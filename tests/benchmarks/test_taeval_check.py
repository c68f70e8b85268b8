"""Recall and precision beside taeval's, where it is installed. Texts are invented."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import taeval_check
from benchmarks.taeval_check import LISTED, PLAIN, SHARES, Missing, compared, main, table_of, taeval_utils
from eval.documents import Mark, MarkedDocument
from ingest.documents import Document, Span

TEXT = "Mr Jon Quell of Farby met Ann. Mr Quell wept on 4 May in the Bank of Farby."


@pytest.fixture(scope="module")
def utils() -> ModuleType:
    try:
        return taeval_utils()
    except Missing as why:
        pytest.skip(str(why))


def document(annotator: str, *marks: tuple[str, str, str]) -> MarkedDocument:
    found = []
    for words, entity, kind in marks:
        start = TEXT.rindex(words) if words == "Mr Quell" else TEXT.index(words)
        found.append(Mark(start, start + len(words), kind, 0 if kind == "NO_MASK" else 2, entity, "X"))
    return MarkedDocument(Document("a", TEXT), tuple(found), "invented", annotator)


ONE = document(
    "one",
    *(("Mr Jon Quell", "quell", "DIRECT"), ("Mr Quell", "quell", "DIRECT"), ("Farby", "farby", "QUASI")),
    *(("Ann", "ann", "NO_MASK"), ("the Bank of Farby", "bank", "QUASI")),
)
OTHER = document("other", ("4 May", "day", "QUASI"), ("Farby", "farby", "QUASI"))


def masked(*words: str) -> list[Span]:
    return [Span(TEXT.index(each), TEXT.index(each) + len(each)) for each in words]


def test_all_shares_agree_where_the_words_are_ours(utils: ModuleType) -> None:
    for words in (
        (),
        ("Jon Quell",),
        ("Jon Quell", "Farby met"),
        ("Bank", "4 May", "Ann"),
        ("Farby", "wept on"),
    ):
        found = compared(utils, [(ONE, OTHER)], [masked(*words)])
        assert all(found[name]["ours"] == found[name][LISTED] for name in SHARES), words
    # Without parts of speech function words have to go.
    spans = [*masked("Bank"), Span(TEXT.rindex("Farby"), TEXT.rindex("Farby") + 5)]
    assert compared(utils, [(ONE,)], [spans])["quasi"] == {"ours": 0.5, PLAIN: 0.0, LISTED: 0.5}


def test_without_it_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def missing() -> ModuleType:
        raise Missing("taeval is not installed; pip install 'lethe[taeval]'")

    monkeypatch.setattr(taeval_check, "taeval_utils", missing)
    assert main([str(tmp_path), "--output", str(tmp_path / "kept.json")]) == 0
    assert capsys.readouterr().out == "skipped: taeval is not installed; pip install 'lethe[taeval]'\n"
    assert not (tmp_path / "kept.json").exists()


def test_differences_by_hand() -> None:
    values: dict[str, float | None] = {"ours": 0.75, PLAIN: 0.5, LISTED: 0.75}
    nothing: dict[str, float | None] = {"ours": None, PLAIN: 0.0, LISTED: None}
    rows = table_of({"half": {"direct": values, "tokens": nothing}}).rows
    assert rows == [
        ["half", "direct entities", "0.7500", "0.5000", "0.7500", "+0.2500, +0.0000"],
        ["half", "tokens", "–", "0.0000", "–", "–"],
    ]


def test_the_kept_figures_agree_in_precision_and_nearly_in_recall() -> None:
    kept = json.loads(taeval_check.RESULT.read_text(encoding="utf-8"))
    for shares in kept["shares"].values():
        for name, values in shares.items():
            ours, theirs = values["ours"], values[LISTED]
            limit = 0.0 if "precision" in name else 0.03
            assert ours == theirs or abs(ours - theirs) <= limit, name
