"""All records here are invented."""

import csv
import gzip
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ingest.read.text
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.reading import Fields, ReadLimits, below, count_values
from ingest.read.record_text import document_of
from ingest.read.records import SEPARATORS, Record, read_records, records, separator_of
from ingest.read.sources import read_documents
from tests.relative import relative

Item = Document | UnreadableDocument
REMEDY = "name that of the text with --text-field, or ... for all"
NO_TEXT_FIELD = "name a field that holds text"
BELOW = "name a field that holds text, or all that is below this one as text..."
NO_RECORD = "write {...} with named fields"


pytestmark = pytest.mark.usefixtures("clean")


def read(name: str, content: str | bytes, text: str = "text", key: str = "id") -> list[Item]:
    data = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return [reading.item for reading in read_documents([name], fields=Fields(text, key), limits=None)]


def told(items: list[Item]) -> list[str]:
    """Ids and texts of documents, sentences of errors."""
    return [f"{relative(i.doc_id)}: {i.text}" if isinstance(i, Document) else str(i) for i in items]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "A.JSONL"])
def test_json_lines(name: str) -> None:
    lines = '{"id": "k1", "text": "one"}\r\n\n{"text": "two\\r\\nlines"}\n{"id": 7, "text": "3"}'
    empty = "".join(f'\n{{"id": {value}, "text": "t"}}' for value in ("null", '""', '" \\n"'))
    expected = ["k1: one", f"{name}#3: two\nlines", "7: 3", *(f"{name}#{line}: t" for line in (5, 6, 7))]
    assert told(read(name, lines + empty)) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('["Zyxwv"]', f"is a list, not a record; {NO_RECORD}"),
        ('"Zyxwv"', f"is a text, not a record; {NO_RECORD}"),
        ("null", f"is null, not a record; {NO_RECORD}"),
        ('{"Zyxwv": 1', "is broken JSON at column 12; correct it or leave it out"),
        ("[" * 100_000, "is JSON with a number too long or nesting too deep; simplify it"),
        ("9" * 5_000, "is JSON with a number too long or nesting too deep; simplify it"),
        ('{"text": ["Zyxwv"]}', f"has a list in field 'text', not text; {BELOW}"),
        ('{"text": null}', f"has null in field 'text', not text; {NO_TEXT_FIELD}"),
        ('{"text": true}', f"has true or false in field 'text', not text; {NO_TEXT_FIELD}"),
        ('{"text": 1.5}', f"has a number in field 'text', not text; {NO_TEXT_FIELD}"),
        ('{"text": {"x": "Zyxwv"}}', f"has an object in field 'text', not text; {BELOW}"),
        ('{"text": " \\u200b\\n"}', "holds no text, or only white space; fill it in or leave it out"),
        ('{"text": "Zyxwv", "id": ["Zyxwv"]}', "has a list in field 'id'; an id is text or a whole number"),
        ('{"text": "Zyxwv", "id": true}', "has true or false in field 'id'; an id is text or a whole number"),
        ('{"Zyxwv": "asthma", "who": "Zyxwv"}', f"has no field 'text' among its 2 fields; {REMEDY}"),
        ('{"Zyxwv Utsr": 2}', f"has no field 'text' among its only field; {REMEDY}"),
        (b'{"text": "Zyxwv \xe9"}', "not UTF-8 at byte 35; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"),
    ],
)
def test_a_bad_record_is_one_sentence_without_its_text(line: str | bytes, reason: str) -> None:
    bad = line if isinstance(line, bytes) else line.encode()
    items = read("a.jsonl", b'{"text": "before"}\n' + bad + b'\n{"text": "after"}\n')
    assert told(items) == ["a.jsonl#1: before", f"a.jsonl, line 2: {reason}", "a.jsonl#3: after"]
    assert "Zyxwv" not in repr(items)


def test_nested_and_joined_fields() -> None:
    fields = {"a": {"b": "inner", "k": "K"}, "c": "outer", "d": "", "e.f": "dotted", "g+h": "plus"}
    record = json.dumps(fields)
    assert told(read("a.jsonl", record, "a.b", "a.k")) == ["K: inner"]
    for wanted, text in {"c+a.b": "outer\n\ninner", "d+c": "outer", "e.f": "dotted", "g+h": "plus"}.items():
        assert told(read("a.jsonl", record, wanted)) == [f"a.jsonl#1: {text}"]
    assert "has no field 'a.x'" in told(read("a.jsonl", record, "c+a.x"))[0]
    assert "has no field 'c.x'" in told(read("a.jsonl", record, "c.x"))[0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_encodings_with_a_mark(encoding: str) -> None:
    lines = '{"text": "né"}\n{"text": "b"}'.encode(encoding)
    assert told(read("a.jsonl", lines)) == ["a.jsonl#1: né", "a.jsonl#2: b"]
    assert told(read("a.csv", "id,text\nk,né\n".encode(encoding))) == ["k: né"]
    assert told(read("a.json", '{"text": "né"}'.encode(encoding))) == ["a.json#1: né"]
    if encoding == "utf-16":
        assert told(read("a.jsonl", lines[:-1]))[-1].endswith(
            "starts like UTF-16 but breaks off; save it again as UTF-8"
        )


def test_a_line_or_a_text_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ingest.read.text.MAX_CHARACTERS == 50_000_000
    monkeypatch.setattr(ingest.read.text, "MAX_CHARACTERS", 10)
    monkeypatch.setattr(ingest.read.text, "MAX_BYTES", 100)
    texts = ("Zyxwv678901", "1234567890", "x" * 200, "c")
    assert told(read("a.jsonl", "\n".join(json.dumps({"text": text}) for text in texts))) == [
        "a.jsonl, line 1: holds 11 characters, more than 10; split it",
        "a.jsonl#2: 1234567890",
        "a.jsonl, line 3: is longer than 100 bytes; split it",
        "a.jsonl#4: c",
    ]


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize("around", ["{}", '{{"made": "today", "rows": {}, "tags": ["x"]}}'])
def test_json_lists(name: str, around: str) -> None:
    content = around.format('[{"text": "one"}, {"text": "two"}]')
    assert told(read(name, content)) == [f"{name}#1: one", f"{name}#2: two"]


ICONV = "convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"
UNCLOSED = "has a quote never closed, or text behind a closed one; double the quotes within fields"
UNIX = "save it with line feeds, as tables for Unix have"
PARTED = "fields where the first line names 2; quote what holds separators"
NEITHER = f"has no field 'text' among its 2 fields; {REMEDY}"
SEVERAL = "several lines; name the file .json, or write a record a line"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.json", '{"text": "one", "mentions": [{"start": 0}]}', ["@#1: one"]),
        ("a.json", '[5, {"text": "x"}]', [f"@, record 1: is a number, not a record; {NO_RECORD}", "@#2: x"]),
        ("a.json", '[{"x": "x"}]', [f"@, record 1: has no field 'text' among its only field; {REMEDY}"]),
        ("a.json", '{"a":\n "Zyxwv', ["@: is broken JSON at line 2; correct it or leave it out"]),
        ("a.json", '{"a": [{"text": "x"}], "b": [{"text": "y"}]}', [f"@: {NEITHER}"]),
        ("a.jsonl", '[\n{"text": "a"},\n{"text": "b"}\n]', [f"@, line 1: starts a JSON text of {SEVERAL}"]),
        ("a.csv", '\ufeffid,text\r\n1,"a ""b"", c\r\nd"\r\n\r\n2,e\r\n', ['1: a "b", c\nd', "2: e"]),
        ("a.csv", "id,text\n3,f,g\n,h", [f"@, line 2: has 3 {PARTED}", "@#3: h"]),
        ("a.csv", "id,text\n3,f\n4\n", ["3: f", f"@, line 3: has 1 {PARTED}"]),
        ("a.tsv", 'id\ttext\nk\t"x\ty, z"\n', ["k: x\ty, z"]),
        ("a.csv", 'id,text\n1,a\n2,"Zyxwv\n3,c\n', ["1: a", f"@, line 3: {UNCLOSED}"]),
        ("a.csv", "id,text\r1,a\r", [f"@, line 1: has carriage returns that end no line; {UNIX}"]),
        # What may be a row of values is not shown as names of columns, and told once.
        ("a.csv", "Zyxwv,42\nUtsr,43\n", [f"@, line 2: {NEITHER}"]),
        ("a.csv", b"id,text\n1,Zyxwv \xe9\n2,b\n", [f"@, line 2: not UTF-8 at byte 16; {ICONV}", "2: b"]),
        ("a.csv", b"id,t\xe9xt\n1,a\n", [f"@, line 1: not UTF-8 at byte 4; {ICONV}"]),
        ("a.csv", "text,text\na,b\n", ["@, line 1: names a column twice; give each column its own name"]),
        ("a.csv", "Clients of the mill;;\nid;text;x\n1;a;b\n2;c;d\n", ["1: a", "2: c"]),
        ("a.csv", "sep=;\r\nid;text\r\n1;a, b, c\r\n;d\r\n", ["1: a, b, c", "@#4: d"]),
        ("a.csv", '"SEP=;"\nid;text\n1;a, b\n', ["1: a, b"]),
        ("a.csv", f"id,text\n1,{'word ' * 100_000}\n", [f"1: {'word ' * 100_000}"]),
    ],
    ids=range(20),
)
def test_records_of_json_and_tables(name: str, content: str | bytes, expected: list[str]) -> None:
    assert [each.replace(name, "@") for each in told(read(name, content))] == expected


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
    with pytest.raises(
        UnreadableDocument, match=r"^a\.jsonl, line 2: is broken JSON at column 1; correct"
    ) as told:
        next(found)
    assert "Zyxwv" not in str(told.value)
    Path("a.txt").write_text("a")
    with pytest.raises(
        UnreadableDocument, match=r"^a\.txt: holds no records; name a csv, tsv, json or jsonl"
    ):
        next(read_records("a.txt"))
    with pytest.raises(FileNotFoundError):
        next(read_records("gone.jsonl"))


def test_a_large_file_is_not_held_in_memory() -> None:
    line = json.dumps({"text": "word " * 4_000}) + "\n"
    with Path("large.jsonl").open("w") as file:
        file.writelines(line for _ in range(10_000_000 // len(line) + 1))

    for limits in (None, ReadLimits()):
        next(read_documents(["large.jsonl"], limits=limits))
        tracemalloc.start()
        assert sum(1 for _ in read_documents(["large.jsonl"], limits=limits)) > 400
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 5_000_000


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        ([], ","),
        (["id;text", "1;a, b, c", "2;d"], ";"),
        (["id,text", "1,a; b; c"], ","),
        (['"a,b,c";text', "1;x"], ";"),
        # The commas part the first line only, the semicolons all of them.
        (["first, last, or both;text", "1;x", "2;y"], ";"),
        (["id|text", "1|a,b", "2|c|d"], "|"),
        (["id,text", '1,"goes on behind', "what is looked at"], ","),
    ],
)
def test_the_separator_is_what_parts_the_first_lines_evenly(lines: list[str], separator: str) -> None:
    assert separator_of(lines) == separator


ROW = st.lists(st.text('ab,;|\t\n" é'), min_size=3, max_size=3)


@given(st.sampled_from(SEPARATORS), st.sampled_from(["", "\ufeff"]), st.lists(ROW, min_size=1, max_size=5))
def test_what_a_spreadsheet_writes_is_read_back(separator: str, mark: str, rows: list[list[str]]) -> None:
    out = io.StringIO()
    out.write(mark)
    csv.writer(out, delimiter=separator).writerows([["id", "text", "more"], *rows])
    found = list(records(io.BytesIO(out.getvalue().encode()), "x", ".csv", "text"))
    assert [list(r.fields.values()) for r in found if isinstance(r, Record)] == rows


def unread(items: list[Item]) -> list[list[tuple[str, int]]]:
    return [[(part.kind, part.count) for part in item.unread] for item in items if isinstance(item, Document)]


def test_what_was_not_asked_for_is_counted() -> None:
    table = "id,text,name,age\n1,a,Zyxwv,41\n2,b,,\n"
    assert unread(read("a.csv", table)) == [[("column", 2)], []]
    assert unread(read("a.csv", table, "text+name+age")) == [[], []]
    nested = json.dumps({"id": 1, "text": "a", "who": {"name": "Zyxwv", "of": [1, None, ""]}, "no": None})
    assert unread(read("a.jsonl", nested)) == [[("field", 2)]]
    assert unread(read("a.jsonl", nested, "...")) == [[]]
    (item,) = read("a.jsonl", nested)
    assert isinstance(item, Document)
    assert item.unread[0].reason == "only the named field of the text is read; name several as a+b"
    assert "Zyxwv" not in repr(item)


PATIENT = {
    "id": "p1",
    "text": {"div": '<div xmlns="http://www.w3.org/1999/xhtml"><p>Ada &amp; Bo</p><!-- x --></div>'},
    "note": [{"text": "one"}, {"text": "two"}, {"other": 1}],
    "value": 7.2,
    "active": True,
    "gone": None,
}
VISIT = {"id": "p2", "note": [{"text": "three"}]}
BUNDLE = {"resourceType": "Bundle", "entry": [{"resource": PATIENT}, {"resource": VISIT}]}


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("entry[*].resource.text.div", "Ada & Bo"),
        ("entry[*].resource.note[*].text", "one\ntwo\nthree"),
        ("entry[*].resource.text.div+entry[*].resource.note[*].text", "Ada & Bo\n\none\ntwo\nthree"),
        ("entry[1].resource.note[0].text", "three"),
        ("entry[1].resource.note[*].text+entry[*].resource.gone", "three"),
        ("entry[1]...", "id: p2\ntext: three"),
        ("entry[*].resource.note...", "text: one\ntext: two\nother: 1\ntext: three"),
        ("entry[0]...", "id: p1\ndiv: Ada & Bo\ntext: one\ntext: two\nother: 1\nvalue: 7.2\nactive: true"),
    ],
)
def test_paths_into_lists_and_to_all_below(wanted: str, text: str) -> None:
    assert told(read("a.json", json.dumps(BUNDLE), wanted)) == [f"a.json#1: {text}"]


def test_the_entries_of_a_bundle_are_documents_where_the_path_begins_within_them() -> None:
    items = read("a.json", json.dumps(BUNDLE), "resource.note[*].text", "resource.id")
    assert told(items) == ["p1: one\ntwo", "p2: three"]
    (counts,) = unread(read("a.json", json.dumps(BUNDLE), "entry[*].resource.text.div+entry[*].resource.id"))
    assert counts[0] == ("comment", 1), "what a page within a record leaves out is told"
    deep = '{"a": [' * 400 + '"deep"' + "]}" * 400
    assert told(read("a.jsonl", f'{{"x": {deep}}}', "x...")) == ["a.jsonl#1: a: deep"]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        *((path, f"has no field '{path}' among its 2 fields") for path in ("entry[5].id", "entry[x].id")),
        *(
            (path, f"has no field '{path}' among its 2 fields")
            for path in ("entry[*].gone", "resourceType.x...")
        ),
        (
            "entry[*].resource.value",
            f"has a number in field 'entry[*].resource.value', not text; {NO_TEXT_FIELD}",
        ),
        ("entry[*][[..+++", "has no field 'entry[*][[..' among its 2 fields"),
        ("entry[*].resource", f"has an object in field 'entry[*].resource', not text; {NO_TEXT_FIELD}"),
    ],
)
def test_paths_that_lead_to_no_text(wanted: str, reason: str) -> None:
    (item,) = read("a.json", json.dumps(BUNDLE), wanted)
    assert isinstance(item, UnreadableDocument)
    assert item.reason.startswith(reason)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc ", min_size=1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
)


@given(VALUES)
def test_every_value_below_is_read_or_counted(value: object) -> None:
    fields = {"all": value, "text": "words"}
    said = [each for _, each in below(value) if each is not None and str(each).strip()]
    assert count_values(fields) == len(said) + 1
    document = document_of(Record(1, "x", fields), "x", Fields("text", "id"))
    assert sum(part.count for part in document.unread) == len(said)
    assert document_of(Record(1, "x", fields), "x", Fields("text+all...", "id")).unread == ()


@pytest.mark.parametrize(
    "twice", ['{"text": "Zyxwv", "text": "b"}', '{"text": "b", "c": {"Zyxwv": 1, "Zyxwv": 2}}']
)
def test_a_record_that_names_a_field_twice_is_refused(twice: str) -> None:
    reason = "names a field twice in one record; give each field its own name"
    items = read("a.jsonl", f'{twice}\n{{"text": "after"}}\n')
    assert told(items) == [f"a.jsonl, line 1: {reason}", "a.jsonl#2: after"]
    assert told(read("a.json", f"[{twice}]")) == [f"a.json: {reason}"]
    assert "Zyxwv" not in repr(items)
