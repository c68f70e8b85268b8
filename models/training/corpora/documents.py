"""How a line of each corpus with offsets becomes an example, or a document of sentences."""

import re
from collections.abc import Iterator

from models.training.corpora.detokenize import Style, joined
from models.training.corpora.names import is_name
from models.training.corpora.passages import Sentence, ordered
from models.training.corpora.records import Row
from models.training.examples import Example, Mention
from models.training.label_maps import asked_labels, mapped

_Mark = tuple[int, int, str]

LITBANK_STYLE = Style(dashes=True)

# Words that point at a place, and titles marked inside a longer mention.
_NO_MENTIONS = frozenset(("here", "there", "where", "mr.", "mrs.", "mr", "mrs", "miss", "ms.", "dr."))
_TOKEN = re.compile(r"\S+")


def tab_case(row: Row) -> Example:
    """A case of the Text Anonymization Benchmark, whole."""
    marks = [(m["start"], m["end"], m["type"]) for m in row["mentions"]]
    return _example("tab", row["doc_id"], row["doc_id"], row["text"], marks)


def spia_case(row: Row) -> Example:
    """A case annotated anew, whole; whatever was thought of its risk, a mention is a mention."""
    case_id = row["metadata"]["provenance"]["doc_id"]
    marks = [(m["start_offset"], m["end_offset"], m["entity_type"]) for m in row["entities"]]
    return _example("spia_cases", case_id, case_id, row["text"], marks)


def presidio(row: Row) -> Example:
    """A sentence made from a template."""
    marks = [(m["start"], m["end"], m["label"]) for m in row["spans"]]
    return _example(
        "presidio_synth", row["id"], f"template-{int(row['template_id']):04d}", row["text"], marks
    )


def medquad(row: Row) -> Example:
    """An answer about a disease: text without people."""
    return _example("medquad", row["id"], row["doc"], row["answer"], [])


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


def _litbank_line(name: str, group: str, line: str, at: int, marks: list[_Mark]) -> Sentence:
    found = list(_TOKEN.finditer(line))
    text, places = joined([token.group() for token in found], LITBANK_STYLE)
    # Where every code point of a token went.
    moved = {
        at + token.start() + offset: place[0] + offset
        for token, place in zip(found, places, strict=True)
        for offset in range(len(token.group()))
    }
    mentions: list[Mention] = []
    for start, end, label in marks:
        first, last = moved[start], _word_end(text, moved[end - 1] + 1)
        if text[first:last].lower() in _NO_MENTIONS:
            continue
        kinds = [label, f"named {label}"] if is_name(text[first:last].split()) else [label]
        mentions += [Mention(first, last, ours) for kind in kinds for ours in mapped("litbank", kind)]
    return Sentence(name, group, text, ordered(mentions, text))


def _word_end(text: str, end: int) -> int:
    """Past the rest of a word: some marks stop a letter short."""
    while end < len(text) and text[end].isalnum():
        end += 1
    return end


def _example(corpus: str, name: str, group: str, text: str, marks: list[_Mark]) -> Example:
    mentions = ordered(_renamed(corpus, marks), text)
    return Example(f"{corpus}:{name}", corpus, group, text, mentions, asked_labels(corpus))


def _renamed(corpus: str, marks: list[_Mark]) -> Iterator[Mention]:
    for start, end, label in marks:
        for ours in mapped(corpus, label):
            yield Mention(int(start), int(end), ours)
