"""All records here are invented."""

import gzip
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ingest.read.text
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.records import Record, delimited, read_records
from ingest.read.sources import read_documents
from ingest.read.text import lines


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(
    name: str, content: str | bytes, text: str = "text", key: str = "id"
) -> list[Document | UnreadableDocument]:
    data = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return [reading.item for reading in read_documents([name], text_field=text, id_field=key)]


def told(items: list[Document | UnreadableDocument]) -> list[str]:
    """Ids and texts of documents, sentences of errors."""
    return [f"{i.doc_id}: {i.text}" if isinstance(i, Document) else str(i) for i in items]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "A.JSONL"])
def test_json_lines(name: str) -> None:
    content = '{"id": "k1", "text": "one"}\r\n\n{"text": "two\\r\\nlines"}\n{"id": 7, "text": "no line end"}'
    assert told(read(name, content)) == ["k1: one", f"{name}#3: two\nlines", "7: no line end"]


def test_broken_lines_are_told_and_the_others_read() -> None:
    written = [json.dumps({"text": f"text {n}"}) for n in range(1, 7_004)]
    written[7_000] = '{"text": "Zyxwv"'
    items = read("a.jsonl", "\n".join(written))
    assert len(items) == 7_003
    assert str(items[7_000]) == "a.jsonl, line 7,001: is broken JSON at column 17; correct it or leave it out"
    assert [i for i, item in enumerate(items) if isinstance(item, UnreadableDocument)] == [7_000]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('["Zyxwv"]', "is a list, not a record; write {...} with named fields"),
        ('"Zyxwv"', "is a text, not a record; write {...} with named fields"),
        ("null", "is null, not a record; write {...} with named fields"),
        ("[", "is broken JSON at column 2; correct it or leave it out"),
        ('{"Zyxwv": 1', "is broken JSON at column 12; correct it or leave it out"),
        ("[" * 100_000, "is JSON with a number too long or nesting too deep; simplify it"),
        ("9" * 5_000, "is JSON with a number too long or nesting too deep; simplify it"),
        ('{"text": ["Zyxwv"]}', "has a list in field 'text', not text; name a field that holds text"),
        ('{"text": null}', "has null in field 'text', not text; name a field that holds text"),
        ('{"text": true}', "has true or false in field 'text', not text; name a field that holds text"),
        ('{"text": 1.5}', "has a number in field 'text', not text; name a field that holds text"),
        ('{"text": {"x": "Zyxwv"}}', "has an object in field 'text', not text; name a field that holds text"),
        ('{"text": " \\u200b\\n"}', "holds no text, or only white space; fill it in or leave it out"),
        ('{"text": "Zyxwv", "id": ["Zyxwv"]}', "has a list in field 'id'; an id is text or a whole number"),
        ('{"text": "Zyxwv", "id": true}', "has true or false in field 'id'; an id is text or a whole number"),
        (
            '{"note": "Zyxwv", "who": "Zyxwv"}',
            "has no field 'text'; it has note, who; name the one that holds the text",
        ),
        (
            '{"note": 1, "Zyxwv Utsr": 2}',
            "has no field 'text'; the names of its 2 fields are not shown, because they could be data;"
            " name the one that holds the text",
        ),
    ],
)
def test_a_bad_record_is_one_sentence_without_its_text(line: str, reason: str) -> None:
    items = read("a.jsonl", f'{{"text": "before"}}\n{line}\n{{"text": "after"}}\n')
    assert told(items) == ["a.jsonl#1: before", f"a.jsonl, line 2: {reason}", "a.jsonl#3: after"]
    assert "Zyxwv" not in repr(items)


def test_many_fields_are_listed_up_to_twenty() -> None:
    (item,) = read("a.jsonl", json.dumps({f"f{n}": "x" for n in range(30)}))
    assert str(item).endswith("f18, f19 and more; name the one that holds the text")


def test_a_json_text_under_the_name_of_json_lines_is_told_once() -> None:
    assert told(read("a.jsonl", '[\n{"text": "a"},\n{"text": "b"}\n]')) == [
        "a.jsonl, line 1: starts a JSON text of several lines; name the file .json, or write a record a line"
    ]


def test_nested_and_joined_fields() -> None:
    record = json.dumps(
        {"a": {"b": "inner", "k": "K"}, "c": "outer", "d": "", "e.f": "dotted", "g+h": "plus"}
    )
    assert told(read("a.jsonl", record, "a.b", "a.k")) == ["K: inner"]
    assert told(read("a.jsonl", record, "c+a.b")) == ["a.jsonl#1: outer\n\ninner"]
    assert told(read("a.jsonl", record, "d+c")) == ["a.jsonl#1: outer"]
    assert told(read("a.jsonl", record, "e.f")) == ["a.jsonl#1: dotted"]
    assert told(read("a.jsonl", record, "g+h")) == ["a.jsonl#1: plus"]
    assert "has no field 'a.x'" in told(read("a.jsonl", record, "c+a.x"))[0]
    assert "has no field 'c.x'" in told(read("a.jsonl", record, "c.x"))[0]


@pytest.mark.parametrize("value", ["null", '""', '" \\n"'])
def test_an_empty_id_is_no_id(value: str) -> None:
    assert told(read("a.jsonl", f'{{"id": {value}, "text": "t"}}')) == ["a.jsonl#1: t"]


def test_undecodable_lines_are_told_with_their_byte() -> None:
    bad = b'{"text": "Zyxwv \xe9"}\n'
    items = read("a.jsonl", b'\xef\xbb\xbf{"text": "one"}\n' + bad + b'{"text": "three"}\n')
    assert told(items) == [
        "a.jsonl#1: one",
        "a.jsonl, line 2: not UTF-8 at byte 35; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
        "a.jsonl#3: three",
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_encodings_with_a_mark(encoding: str) -> None:
    assert told(read("a.jsonl", '{"text": "né"}\n{"text": "b"}'.encode(encoding))) == [
        "a.jsonl#1: né",
        "a.jsonl#2: b",
    ]
    assert told(read("a.csv", "id,text\nk,né\n".encode(encoding))) == ["k: né"]
    assert told(read("a.json", '{"text": "né"}'.encode(encoding))) == ["a.json#1: né"]


def test_utf16_that_breaks_off() -> None:
    items = read("a.jsonl", '{"text": "a"}\n{"t'.encode("utf-16")[:-1])
    assert isinstance(items[-1], UnreadableDocument)
    assert items[-1].reason == "starts like UTF-16 but breaks off; save it again as UTF-8"


def test_a_line_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.read.text, "MAX_BYTES", 100)
    items = read("a.jsonl", f'{{"text": "a"}}\n{{"text": "{"x" * 200}"}}\n{{"text": "c"}}\n')
    assert told(items) == [
        "a.jsonl#1: a",
        "a.jsonl, line 2: is longer than 100 bytes; split it",
        "a.jsonl#3: c",
    ]


def test_a_text_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ingest.read.text.MAX_CHARACTERS == 50_000_000
    monkeypatch.setattr(ingest.read.text, "MAX_CHARACTERS", 10)
    items = read("a.jsonl", '{"text": "Zyxwv678901"}\n{"text": "1234567890"}')
    assert told(items) == [
        "a.jsonl, line 1: holds 11 characters, more than 10; split it",
        "a.jsonl#2: 1234567890",
    ]


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize(
    "content",
    [
        '[{"text": "one"}, {"text": "two"}]',
        '{"made": "today", "rows": [{"text": "one"}, {"text": "two"}], "tags": ["x"]}',
    ],
)
def test_json_lists(name: str, content: str) -> None:
    assert told(read(name, content)) == [f"{name}#1: one", f"{name}#2: two"]


def test_json_of_one_record_that_holds_a_list() -> None:
    assert told(read("a.json", '{"text": "one", "mentions": [{"start": 0}]}')) == ["a.json#1: one"]


def test_json_places() -> None:
    assert told(read("a.json", '[{"text": "one"}, 5, {"note": "x"}]')) == [
        "a.json#1: one",
        "a.json, record 2: is a number, not a record; write {...} with named fields",
        "a.json, record 3: has no field 'text'; it has note; name the one that holds the text",
    ]
    assert told(read("a.json", '{"a":\n "Zyxwv')) == [
        "a.json: is broken JSON at line 2; correct it or leave it out"
    ]
    assert told(read("a.json", '{"a": [{"text": "x"}], "b": [{"text": "y"}]}')) == [
        "a.json: has no field 'text'; it has a, b; name the one that holds the text"
    ]


def test_csv_quoting_and_places() -> None:
    content = '\ufeffid,text\r\n1,"a ""b"", c\r\nd"\r\n\r\n2,e\r\n3,f,g\r\n4\r\n,h\r\n'
    assert told(read("a.csv", content)) == [
        '1: a "b", c\nd',
        "2: e",
        "a.csv, line 6: has 3 fields where the first line names 2; quote what holds separators",
        "a.csv, line 7: has 1 fields where the first line names 2; quote what holds separators",
        "a.csv#8: h",
    ]
    assert told(read("a.tsv", 'id\ttext\nk\t"x\ty, z"\n')) == ["k: x\ty, z"]


def test_csv_quote_that_never_closes() -> None:
    assert told(read("a.csv", 'id,text\n1,a\n2,"Zyxwv\n3,c\n')) == [
        "1: a",
        "a.csv, line 3: has a quote never closed, or text behind a closed one;"
        " double the quotes within fields",
    ]


def test_csv_without_the_column_is_told_once_and_does_not_show_a_first_row() -> None:
    assert told(read("a.csv", "id,note\n1,Zyxwv\n2,b\n")) == [
        "a.csv, line 2: has no field 'text'; it has id, note; name the one that holds the text"
    ]
    assert told(read("a.csv", "Zyxwv,42,F\nUtsr,43,M\n")) == [
        "a.csv, line 2: has no field 'text'; the names of its 3 fields are not shown, because they could be"
        " data; name the one that holds the text"
    ]


def test_csv_undecodable_row_and_header() -> None:
    assert told(read("a.csv", b"id,text\n1,Zyxwv \xe9\n2,b\n")) == [
        "a.csv, line 2: not UTF-8 at byte 16; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
        "2: b",
    ]
    assert told(read("a.csv", b"id,t\xe9xt\n1,a\n")) == [
        "a.csv, line 1: not UTF-8 at byte 4; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"
    ]


def test_csv_column_named_twice() -> None:
    assert told(read("a.csv", "text,text\na,b\n")) == [
        "a.csv, line 1: names a column twice; give each column its own name"
    ]


def test_csv_fields_may_be_long() -> None:
    (item,) = read("a.csv", f"id,text\n1,{'word ' * 100_000}\n")
    assert isinstance(item, Document)
    assert len(item.text) == 500_000


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"], exclude_characters="\r"))


@given(st.lists(st.tuples(CELL, CELL), min_size=1))
def test_csv_gives_back_what_was_quoted(rows: list[tuple[str, str]]) -> None:
    def quoted(cells: tuple[str, str]) -> str:
        return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells) + "\n"

    content = "".join(map(quoted, [("a", "b"), *rows])).encode()
    found = list(delimited(lines(io.BytesIO(content)), "x", ","))
    assert [tuple(r.fields.values()) for r in found if isinstance(r, Record)] == rows


def test_read_records_gives_all_fields_as_they_stand() -> None:
    Path("a.jsonl").write_bytes(b'{"text": "a\\r\\nb", "mentions": [{"start": 0}]}\n\n{"text": "c"}\n')
    assert list(read_records("a.jsonl")) == [
        (1, {"text": "a\r\nb", "mentions": [{"start": 0}]}),
        (3, {"text": "c"}),
    ]
    Path("b.json.gz").write_bytes(gzip.compress(b'[{"body": "x"}]'))
    assert list(read_records("b.json.gz", "body")) == [(1, {"body": "x"})]


def test_read_records_raises_at_the_first_bad_one() -> None:
    Path("a.jsonl").write_text('{"text": "a"}\nZyxwv\n')
    found = read_records("a.jsonl")
    next(found)
    with pytest.raises(UnreadableDocument, match=r"^a\.jsonl, line 2: is broken JSON at column 1; correct"):
        next(found)
    Path("a.txt").write_text("a")
    with pytest.raises(
        UnreadableDocument, match=r"^a\.txt: holds no records; name a csv, tsv, json or jsonl"
    ):
        next(read_records("a.txt"))
    with pytest.raises(FileNotFoundError):
        next(read_records("gone.jsonl"))


def test_a_record_does_not_show_its_text() -> None:
    assert "Zyxwv" not in repr(Record(1, "a.jsonl, line 1", {"text": "Zyxwv"}))


def test_a_large_file_is_not_held_in_memory() -> None:
    line = json.dumps({"text": "word " * 4_000}) + "\n"
    with Path("large.jsonl").open("w") as file:
        file.writelines(line for _ in range(20_000_000 // len(line) + 1))
    assert Path("large.jsonl").stat().st_size > 20_000_000

    def peak(readings: Iterator[object]) -> int:
        tracemalloc.start()
        for _ in readings:
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    next(read_documents(["large.jsonl"]))
    assert peak(read_documents(["large.jsonl"])) < 5_000_000
