"""Files and records that are known by how they begin. All is invented."""

import json
from pathlib import Path

import pytest

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.known import known_kind
from ingest.read.pdf_pages import find_tesseract
from ingest.read.reading import ReadLimits
from ingest.read.sources import read_documents
from tests.sample_files import write_all

CHATS: list[tuple[object, str]] = [
    (
        {"messages": [{"role": "user", "content": "Is Ada in?"}, {"role": "assistant", "content": "No."}]},
        "user: Is Ada in?\nassistant: No.",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Look"}]}], "model": "m"},
        "user: Look",
    ),
    (
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": '{"who": "Bo"}'}}],
                }
            ]
        },
        'assistant: find {"who": "Bo"}',
    ),
    (
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes?"}]},
        "human: Hi\ngpt: Yes?",
    ),
    (
        {
            "messages": [
                {"from": {"displayName": "Ines Roy"}, "body": {"contentType": "text", "content": "Late."}}
            ]
        },
        "Ines Roy: Late.",
    ),
]


def read(path: Path, **limits: bool) -> list[Document | UnreadableDocument]:
    return [each.item for each in read_documents([str(path)], limits=ReadLimits(**limits))]


def texts(path: Path) -> list[str]:
    return [each.text if isinstance(each, Document) else str(each) for each in read(path)]


@pytest.mark.parametrize(("chat", "text"), CHATS)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_chat_is_a_line_for_each_message(chat: object, text: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"chat.{ending}"
    path.write_text(json.dumps(chat))
    assert texts(path) == [text]


def test_messages_without_words_are_no_chat(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"messages": [{"level": 3}]}\n{"messages": "none"}\n')
    assert ["has no field 'text'" in each for each in texts(path)] == [True, True]


def test_each_entry_of_a_bundle_is_a_document_and_a_named_field_still_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    entry = [{"resource": {"resourceType": "Patient", "name": [{"family": "Oyelowo"}]}}]
    path.write_text(json.dumps({"resourceType": "Bundle", "link": [{"url": "x"}], "entry": entry}))
    assert texts(path) == ["resourceType: Patient\nfamily: Oyelowo"]
    path.write_text(json.dumps({"resourceType": "Patient", "text": "Ann is well.", "active": True}))
    assert texts(path) == ["Ann is well."]


def test_every_kind_is_known_without_its_extension(tmp_path: Path) -> None:
    plain = {"txt", "md", "log", "csv", "tsv", "png"}
    for kind, path in write_all(tmp_path / "in").items():
        bare = path.rename(path.with_suffix(""))
        with bare.open("rb") as stream:
            assert known_kind(stream.read(4096), stream) == ("" if kind in plain - {"png"} else f".{kind}")
        found = read(bare)
        assert all(isinstance(each, Document) for each in found) == (kind not in plain) or kind == "png"
        if kind in plain - {"png"}:
            assert "has no extension" in str(found[0])
        bare.unlink()


@pytest.mark.parametrize(
    ("begins", "count"),
    [
        ("Message-ID: <a@b.example>\nFrom: Ada <ada@b.example>\nSubject: rent\n\nThe rent is due.\n", 1),
        (
            "From ada Tue Mar  4 09:30:00 2031\n\nOne.\n\nFrom bo Tue Mar  4 10:30:00 2031\n\nTwo.\n",
            2,
        ),
    ],
)
def test_mail_in_a_text_file_is_mail(begins: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(begins)
    found = read(path)
    assert len(found) == count and all(isinstance(each, Document) for each in found)


@pytest.mark.parametrize(
    "text", ["From: the kitchen\nTo: all\n\nSoup.", "From Monday on the ward is closed.", "Note: none"]
)
def test_other_text_stays_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert texts(path) == [text]


@pytest.mark.skipif(not find_tesseract(), reason="tesseract is not installed")
def test_a_picture_is_read_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    files = write_all(tmp_path / "in")
    (found,) = read(files["png"])
    assert isinstance(found, Document) and "cannot lift her right arm" in found.text
    assert [(part.kind, part.count, part.read) for part in found.unread] == [("scanned page", 1, True)]
    broken = tmp_path / "a.png"
    broken.write_bytes(files["png"].read_bytes()[:200])
    assert "picture" in str(read(broken)[0])


ASIDES = {
    "docx": ("Call her first.", "comment"),
    "xlsx": ("His brother was treated", "comment"),
    "pptx": ("before you show this", "speaker note"),
    "pdf": ("second opinion", "note"),
}


@pytest.mark.parametrize("kind", ASIDES)
def test_what_stands_beside_a_text_is_counted_and_can_be_left_out(kind: str, tmp_path: Path) -> None:
    words, part = ASIDES[kind]
    path = write_all(tmp_path / "in")[kind]
    for asides in (True, False):
        (found,) = read(path, asides=asides)
        assert isinstance(found, Document) and (words in found.text) is asides
        assert [each.read for each in found.unread if each.kind == part] == [asides]
        if kind == "xlsx":
            assert ("120.5" in found.text) is asides
