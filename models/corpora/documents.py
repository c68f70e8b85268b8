"""Corpora with character-level annotations: their published records, and examples made from them.

The entity types of the SPIA posts are noisy; the invented author's profile gives the true type of a value.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.corpora.detokenize import Style, joined
from models.corpora.examples import Example, Mention, Need
from models.corpora.labels import asked_labels, label_map
from models.corpora.names import is_name
from models.corpora.records import Row, parsed_lines
from models.corpora.sentences import Sentence, ordered

TAB_FILE = Path("tab", "dev.jsonl")
POSTS = "panorama_entities"
"""The file of the SPIA posts."""
LITBANK_STYLE = Style(dashes=True)
SLIP = 4
"""Maximum offset error, in characters, of an annotation in the posts."""

# Words that point at a place, and titles marked inside a longer mention.
_NO_MENTIONS = frozenset(("here", "there", "where", "mr.", "mrs.", "mr", "mrs", "miss", "ms.", "dr."))
_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Mark:
    """An annotated mention. ``identifier`` is DIRECT, QUASI or NO_MASK if annotated."""

    start: int
    end: int
    label: str
    words: str = field(default="", repr=False)
    entity: str = ""
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A published record; private. ``about`` is its profile of the author or patient."""

    id: str
    group: str
    text: str = field(repr=False)
    marks: tuple[Mark, ...] = field(default=(), repr=False)
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)


def tab_cases(folder: Path) -> Iterator[MarkedText]:
    """The cases of the Text Anonymization Benchmark."""
    return parsed_lines(folder / TAB_FILE, lambda row, _: tab_case(row))


def tab_case(row: Row) -> MarkedText:
    """A case of the Text Anonymization Benchmark."""
    marks = tuple(Mark(int(m["start"]), int(m["end"]), m["type"]) for m in row["mentions"])
    return MarkedText(row["doc_id"], row["doc_id"], _text(row["text"]), marks)


def spia_texts(folder: Path, file: str) -> Iterator[MarkedText]:
    """The texts of a SPIA file, cases of the benchmark annotated anew or posts."""
    return parsed_lines(folder / "spia" / f"{file}.jsonl", lambda row, _: spia_text(row))


def spia_text(row: Row) -> MarkedText:
    """A case or a post; the group of a post is its author."""
    about = row["metadata"]["provenance"].get("profile", {})
    group = about["Unique ID"] if about else row["metadata"]["provenance"]["doc_id"]
    marks = tuple(map(_spia_mark, row["entities"]))
    return MarkedText(row["metadata"]["data_id"], group, _text(row["text"]), marks, about)


def _spia_mark(entity: Row) -> Mark:
    start, words = int(entity["start_offset"]), str(entity.get("span_text", ""))
    end = int(entity.get("end_offset", start + len(words)))
    linked, identifier = (str(entity.get(name, "")) for name in ("entity_id", "identifier_type"))
    return Mark(start, end, str(entity["entity_type"]), words, linked, identifier)


_MUST = {"DIRECT": ("DIRECT", 2), "QUASI": ("QUASI", 2), "NO_MASK": ("QUASI", 0)}


def needs_of(text: MarkedText) -> tuple[Need, ...]:
    """What annotators of SPIA say of their marks: an identifier has to go, all else may stay."""
    found: list[Need] = []
    for mark in sorted(text.marks, key=lambda each: (each.start, -each.end)):
        start = nearest(text.text, mark)
        if start is not None and mark.identifier in _MUST and not (found and found[-1].end > start):
            found.append(Need(start, start + len(mark.words), mark.label, *_MUST[mark.identifier]))
    return tuple(found)


def medquad_answers(folder: Path) -> Iterator[MarkedText]:
    """Answers about diseases, by the page they stand on: text without people."""
    path = folder / "medquad" / "data.jsonl.gz"
    return parsed_lines(path, lambda row, _: MarkedText(row["id"], row["doc"], _text(row["answer"])))


def aci_visits(folder: Path) -> Iterator[tuple[MarkedText, MarkedText]]:
    """Dialogue and note of each visit, with what is known about the patient."""

    def part(row: Row, name: str) -> MarkedText:
        about = {key: _text(value) for key, value in row["metadata"].items()}
        return MarkedText(f"{row['id']} {name}", row["id"], _text(row[name]), about=about)

    path = folder / "aci_bench" / "data.jsonl"
    return parsed_lines(path, lambda row, _: (part(row, "dialogue"), part(row, "note")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is no text")
    return value


def nearest(text: str, mark: Mark) -> int | None:
    """The occurrence of a mark's words nearest to its offset; None if there is none near."""
    places = [place for place in range(mark.start - SLIP, mark.start + SLIP + 1) if place >= 0]
    found = [place for place in places if mark.words and text.startswith(mark.words, place)]
    return min(found, key=lambda place: abs(place - mark.start), default=None)


def example_of(corpus: str, text: MarkedText, name: str = "") -> Example:
    """The whole text with its marks, whatever their risk, under our labels; its name is else its group."""
    marks = ((mark.start, mark.end, mark.label) for mark in text.marks)
    return _example(corpus, name or text.group, text, marks)


def _example(corpus: str, name: str, text: MarkedText, marks: Iterator[tuple[int, int, str]]) -> Example:
    table = label_map(corpus)
    found = (Mention(start, end, ours) for start, end, label in marks for ours in table.get(label, ()))
    mentions = ordered(found, text.text)
    return Example(f"{corpus}:{name}", corpus, text.group, text.text, mentions, asked_labels(corpus))


def presidio(row: Row) -> Example:
    """A sentence made from a template."""
    marks = tuple(Mark(int(m["start"]), int(m["end"]), m["label"]) for m in row["spans"])
    text = MarkedText(row["id"], f"template-{int(row['template_id']):04d}", row["text"], marks)
    return example_of("presidio_synth", text, text.id)


def litbank(row: Row) -> list[Sentence]:
    """The lines of an excerpt, which is kept as tokens between blanks."""
    marks = [(int(m["start"]), int(m["end"]), str(m["label"])) for m in row["spans"]]
    lines: list[Sentence] = []
    at = 0
    for number, line in enumerate(row["text"].split("\n")):
        inside = [mark for mark in marks if at <= mark[0] < at + len(line)]
        lines.append(_litbank_line(f"{row['id']}-{number:03d}", row["id"], line, at, inside))
        at += len(line) + 1
    return lines


def _litbank_line(name: str, group: str, line: str, at: int, marks: list[tuple[int, int, str]]) -> Sentence:
    found = list(_TOKEN.finditer(line))
    text, places = joined([token.group() for token in found], LITBANK_STYLE)
    # Where every code point of a token went.
    moved = {
        at + token.start() + offset: place[0] + offset
        for token, place in zip(found, places, strict=True)
        for offset in range(len(token.group()))
    }
    mentions: list[Mention] = []
    table = label_map("litbank")
    for start, end, label in marks:
        first, last = moved[start], moved[end - 1] + 1
        # Some marks stop a letter short.
        while last < len(text) and text[last].isalnum():
            last += 1
        if text[first:last].lower() in _NO_MENTIONS:
            continue
        kinds = [label, f"named {label}"] if is_name(text[first:last].split()) else [label]
        mentions += [Mention(first, last, ours) for kind in kinds for ours in table.get(kind, ())]
    return Sentence(name, group, text, ordered(mentions, text))


_FIELDS: dict[str, tuple[str, ...]] = {
    "PERSON": ("Father's Name", "Mother's Name", "Spouse Name", "Emergency Contact Name"),
    "ORG": ("Employer",),
    "NATIONAL_ID": ("National ID",),
    "PASSPORT": ("Passport Number",),
    "LICENCE": ("Driver's License",),
    "PHONE": ("Phone Number", "Work Phone", "Emergency Contact Phone"),
    "EMAIL": ("Email Address", "Work Email"),
    "ADDRESS": ("Address",),
}
# In order: the first that matches the whole value decides.
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("EMAIL", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\.?")),
    ("SSN", re.compile(r"\d{3}-\d{2}-\d{4}")),
    ("NATIONAL_ID", re.compile(r"[A-Z]{2}-ID-\d+")),
    ("LICENCE", re.compile(r"[A-Z]{2}-DL-\d+")),
    ("PHONE", re.compile(r"[#+(]?[\d ().-]{9,}(?:x\d+)*")),
    ("POSTCODE", re.compile(r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}")),
    ("CODE", re.compile(r"[A-Z]?\d{8,9}")),
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\b.*")
_HANDLE = re.compile(r"(?=\S*(?:\d|_|\w\.\w|[a-z][A-Z]))[\w.]+")
_BEFORE_HANDLE = re.compile(r"(?:@|\bUser ?name: ?)$")


def post(text: MarkedText) -> Example:
    """A post with its marks, their types and offsets corrected."""
    return replace(_example("spia_posts", text.id, text, _mended(text)), needs=needs_of(text))


def court_case(text: MarkedText) -> Example:
    """A court case with its marks, and what of them has to go."""
    return replace(example_of("spia_cases", text), needs=needs_of(text))


def _mended(post: MarkedText) -> Iterator[tuple[int, int, str]]:
    known, address = _known(post.about), str(post.about.get("Address", ""))
    for mark in post.marks:
        start = nearest(post.text, mark)
        if start is None:
            continue
        end, before = start + len(mark.words), post.text[:start]
        label = _label(mark.words, mark.label, before, known, address)
        if label == "HANDLE" and before.endswith("@"):
            start -= 1
        if label == "EMAIL" and mark.words.endswith("."):
            end -= 1
        yield start, end, label


def _known(about: Mapping[str, Any]) -> dict[str, str]:
    """The folded values of the profile, with their types."""
    values = {_fold(str(about.get(field, ""))): kind for kind, fields in _FIELDS.items() for field in fields}
    first, last = str(about.get("First Name", "")), str(about.get("Last Name", ""))
    values |= {_fold(name): "PERSON" for name in (first, f"{first} {last}")}
    handles = ast.literal_eval(str(about.get("Social Media Handles", "{}")))
    values |= {_fold(str(handle)): "HANDLE" for handle in handles.values()}
    return {value: kind for value, kind in values.items() if value not in ("", "na", "none")}


def _fold(value: str) -> str:
    return re.sub(r"[^\w]", "", value).lower()


def _label(value: str, given: str, before: str, known: dict[str, str], address: str) -> str:
    kind = known.get(_fold(value))
    if kind == "NATIONAL_ID" and _SHAPES[1][1].fullmatch(value):
        return "SSN"
    if kind is not None:
        return "HANDLE" if kind == "PERSON" and before.endswith("@") else kind
    for shape, pattern in _SHAPES:
        if pattern.fullmatch(value):
            return shape
    return _by_type(value, given, before, address)


def _by_type(value: str, given: str, before: str, address: str) -> str:
    digits = sum(map(str.isdecimal, value))
    if _DATE.fullmatch(value):
        return "DATETIME"
    if given in ("PERSON", "ORG") and len(value) > 3 and value in address:
        return "LOC"
    if given == "PERSON":
        if _BEFORE_HANDLE.search(before) or _HANDLE.fullmatch(value):
            return "HANDLE"
        return "CODE" if digits >= 3 else "ORG" if ", " in value and " and " in value else "PERSON"
    if given == "LOC" and digits:
        return "ADDRESS"
    # Codes with spaces are error messages.
    return "" if given == "CODE" and " " in value else given
