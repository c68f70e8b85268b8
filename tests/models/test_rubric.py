"""The scored snippets: the format, the shipped files, and a user's own. Snippets made here are invented."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.labels import LABELS
from models.corpora.rubric import (
    DOMAINS,
    FOLDER,
    PASSES,
    Snippet,
    held_out,
    parse_marked,
    read_snippets,
    records_of,
    referenced_records,
    shipped_snippets,
)
from models.errors import ConfigurationError
from models.training import commands
from models.training.transformer_risk import ScoredText, scored
from tests.commands import public_data

MARKER = "zqxmarker"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").split("\n") if line]


plain = st.text(alphabet=st.characters(blacklist_characters="[]|", blacklist_categories=["Cs"]), max_size=20)
words = plain.filter(lambda text: text.strip() != "")


@given(st.lists(st.tuples(plain, words, words.map(str.strip)), max_size=6), plain)
def test_marks_are_read_as_they_are_written(pieces: list[tuple[str, str, str]], tail: str) -> None:
    marked = "".join(f"{before}[[{mention}|{label}]]" for before, mention, label in pieces) + tail
    text, places, labels = parse_marked(marked)
    assert text == "".join(before + mention for before, mention, _ in pieces) + tail
    assert [text[start:end] for start, end in places] == [mention for _, mention, _ in pieces]
    assert list(labels) == [label for _, _, label in pieces]
    assert all(one[1] <= other[0] for one, other in zip(places, places[1:], strict=False))
    # Single brackets and half marks are text.
    half = parse_marked("see [1] and [[x]] or [[a|b|c]] of [[Keldra| person full name ]]")
    assert half == ("see [1] and [[x]] or [[a|b|c]] of Keldra", ((34, 40),), ("person full name",))


def labels_of(row: dict[str, Any]) -> list[str]:
    return (
        [label for _, _, label in row["mentions"]] if "mentions" in row else [*parse_marked(row["marked"])[2]]
    )


def are_twentieths(scores: list[float]) -> bool:
    return all(
        0 <= score <= 1 and 20 * score == pytest.approx(round(20 * score), abs=1e-9) for score in scores
    )


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("part", "kind", "number"), [("", "-", 75), ("_references", "-ref-", 45), ("_more", "-m", 0)]
)
def test_every_shipped_snippet_is_whole_and_was_scored_in_both_passes_or_once(
    domain: str, part: str, kind: str, number: int
) -> None:
    snippets = rows(f"{domain}{part}.jsonl")
    assert len(snippets) == number or (snippets and not number)
    numbers = range(1, len(snippets) + 1)
    assert [row["id"] for row in snippets] == [f"{domain}{kind}{each:03}" for each in numbers]
    labels = {row["id"]: labels_of(row) for row in snippets}
    assert all(each and set(each) <= set(LABELS) for each in labels.values())
    for name in PASSES if number else ("",):
        passed = rows(f"{domain}{part}_{name}.jsonl") if name else snippets
        assert {row["id"]: len(row["scores"]) for row in passed} == {
            id_: len(each) for id_, each in labels.items()
        }
        assert len(passed) == len(snippets)
        assert all(set(row) == ({"id", "scores"} if name else {"id", "marked", "scores"}) for row in passed)
        assert all(are_twentieths(row["scores"]) for row in passed)


def test_without_data_no_text_comes_twice_no_mark_is_broken_and_references_are_left_out() -> None:
    snippets = shipped_snippets(None)
    assert max(Counter(snippet.text for snippet in snippets).values()) == 1
    for snippet in snippets:
        assert "[[" not in snippet.text and "]]" not in snippet.text, snippet.id
        assert all(snippet.text[start:end].strip() for start, end in snippet.places), snippet.id
        assert len(snippet.passes) in (1, 2)
        assert "-ref-" not in snippet.id
    assert Counter(s.domain for s in snippets if len(s.passes) == 2) == dict.fromkeys(DOMAINS, 75)


FIELDS = {"text", "dialogue", "user_query", "note", "note_section"}
FRESH = tuple(path.name for path in sorted(FOLDER.glob("*_fresh.jsonl")))


def test_references_hold_places_and_no_text() -> None:
    for name in (*(f"{domain}_references.jsonl" for domain in DOMAINS), *FRESH):
        for row in rows(name):
            assert set(row) - {"field", "passes"} == {"id", "record", "start", "end", "mentions"}
            assert row.get("field", "text") in FIELDS, row["id"]
            assert re.fullmatch(r"\S{,39}", row["record"])
            last = row["start"]
            for start, end, label in row["mentions"]:
                assert last <= start < end <= row["end"], row["id"]
                assert label in LABELS
                last = end


def test_fresh_passages_are_scored_twice_held_out_and_of_records_that_no_other_snippet_is_from() -> None:
    assert len(FRESH) == 3
    learned_from, _ = referenced_records()
    for row in (row for name in FRESH for row in rows(name)):
        assert [len(scores) for scores in row["passes"]] == [len(row["mentions"])] * 2
        assert row["record"] not in learned_from
        assert all(map(are_twentieths, row["passes"]))
    every = [snippet(f"legal-fresh-{number:03}") for number in range(1, 20)]
    assert held_out(every) == ([], every)


def test_references_are_read_where_their_corpus_lies(tmp_path: Path) -> None:
    chosen = rows("legal_references.jsonl")[0]
    corpus, _, name = chosen["record"].partition("/")
    text = "".join(chr(97 + at % 26) for at in range(chosen["end"] + 50))
    (tmp_path / corpus).mkdir()
    # The rarer separators of lines may stand in a text.
    lines = [{"id": "another", "text": "a\x85b\u2028c"}, {"metadata": {"data_id": name}, "text": text}]
    content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (tmp_path / corpus / "part.jsonl").write_text(content, encoding="utf-8")
    (found,) = [snippet for snippet in shipped_snippets(tmp_path) if "-ref-" in snippet.id]
    assert found.id == chosen["id"]
    assert found.text == text[chosen["start"] : chosen["end"]]
    marks = [
        (found.text[start:end], label) for (start, end), label in zip(found.places, found.labels, strict=True)
    ]
    assert marks == [(text[start:end], label) for start, end, label in chosen["mentions"]]
    assert len(found.passes) == 2


def test_with_the_corpora_every_reference_is_found() -> None:
    snippets = shipped_snippets(public_data())
    found, fresh = ([each for each in snippets if kind in each.id] for kind in ("-ref-", "-fresh-"))
    assert len(found) == 45 * len(DOMAINS)
    assert len(fresh) == sum(len(rows(name)) for name in FRESH)
    for each in found + fresh:
        assert all(end <= len(each.text) and each.text[start:end].strip() for start, end in each.places)


def snippet(id_: str, passes: int = 2, domain: str = "legal") -> Snippet:
    return Snippet(id_, domain, "Keldra", ((0, 6),), ("person full name",), ((0.5,),) * passes)


def test_the_score_is_the_mean_of_the_passes() -> None:
    two = Snippet("a", "legal", "a b", ((0, 1), (2, 3)), ("x", "y"), ((0.2, 1.0), (0.4, 0.5)))
    assert two.scores == pytest.approx((0.3, 0.75))
    assert scored(two) == ScoredText("a b", two.places, two.labels, two.scores)


def test_a_snippet_falls_to_the_same_side_whatever_else_is_there_and_a_record_to_one() -> None:
    every = [snippet(f"legal-ref-{number:03}") for number in range(1, 46)]
    whole = {snippet.id for snippet in held_out(every)[1]}
    assert whole == {f"legal-ref-{number:03}" for number in (*range(16, 21), *range(36, 41))}
    for missing in (3, 17, 44):
        some = [snippet for snippet in every if not snippet.id.endswith(f"{missing:03}")]
        assert {snippet.id for snippet in held_out(some)[1]} == whole & {snippet.id for snippet in some}
    once = [snippet(f"legal-m{number:03}", passes=1) for number in range(1, 46)]
    assert held_out(once) == (once, [])
    of_records = [replace(each, record=f"spia/TAB-{n % 17}") for n, each in enumerate(every, 1)]
    trained_on, measured = held_out(of_records)
    assert records_of(measured) == {f"spia/TAB-{number}" for number in (0, 1, 2, 3, 4, 5, 6, 16)}
    assert records_of(trained_on) == {f"spia/TAB-{number}" for number in range(7, 16)}
    assert len(held_out(shipped_snippets(None))[1]) == len(DOMAINS) * 15


def written(folder: Path, *lines: str) -> Path:
    path = folder / "own.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def line(**row: object) -> str:
    return json.dumps(row, ensure_ascii=False)


def test_a_users_own_file_is_read(tmp_path: Path) -> None:
    own = line(marked="[[Keldra|person full name]]\u2028saw [[it|thing]]", scores=[0.7, 0])
    first, second = read_snippets(written(tmp_path, own, "", line(id="mine", marked="nothing", scores=[])))
    assert (first.id, second.id, first.domain) == ("1", "mine", "own")
    assert first.text == "Keldra\u2028saw it"
    assert first.passes == ((0.7, 0.0),)
    assert second.places == ()
    assert repr(first) == "Snippet(id='1', domain='own')"


LAYOUT = 'a snippet needs "marked", a text with [[mention|label]], and "scores", a list of numbers.'
WRONG = [
    (f"{{{MARKER}", " is no JSON object: mend or remove it."),
    (f'["{MARKER}"]', " is no JSON object: mend or remove it."),
    (line(text=MARKER, scores=[]), f": {LAYOUT}"),
    (line(marked=[MARKER], scores=[]), f": {LAYOUT}"),
    (line(marked=f"[[{MARKER}|a]]"), f": {LAYOUT}"),
    (line(marked=f"[[{MARKER}|a]]", scores=[MARKER]), f": {LAYOUT}"),
    (line(marked=f"[[{MARKER}|a]]", scores=0.5), f": {LAYOUT}"),
    (line(marked=f"[[{MARKER}|a]]", scores=[None]), f": {LAYOUT}"),
    (line(marked=f"[[{MARKER}|a]]", scores=[]), ": 1 marks and 0 scores; give one score for each mark."),
    (line(marked=MARKER, scores=[0.5]), ": 0 marks and 1 scores; give one score for each mark."),
    (line(marked=f"[[{MARKER}|a]]", scores=[1.01]), ": a score lies outside of 0 to 1."),
    (line(marked=f"[[{MARKER}|a]]", scores=[float("nan")]), ": a score lies outside of 0 to 1."),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=range(len(WRONG)))
def test_what_does_not_do_is_told_with_its_line(tmp_path: Path, wrong: str, message: str) -> None:
    path = written(tmp_path, line(marked="fine", scores=[]), "", wrong)
    with pytest.raises(ConfigurationError) as caught:
        read_snippets(path)
    assert str(caught.value).endswith(f"own.jsonl, line 3{message}")
    assert MARKER not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    for content in (None, b"\xff\xfe"):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(
            ConfigurationError, match=r"own\.jsonl cannot be read: give a file of JSON lines in UTF-8\.$"
        ):
            read_snippets(path)


def test_what_is_measured_on_is_not_trained_on(tmp_path: Path) -> None:
    own = line(marked="[[Keldra|person full name]] of [[Varde|city name]]", scores=[0.7, 0.2])
    learned, measured = commands._snippets(None, written(tmp_path, own, own))
    assert not {each.text for each in learned} & {each.text for each in measured}
    assert sum(each.text == "Keldra of Varde" for each in learned) == 2
