"""Train the wording head on marked items, what careful writers put in their place, and members of sorts."""

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from models.catalog import ModelRef
from models.corpora.passages import FOLDER, Part, passages
from models.corpora.rubric import rows_of
from models.wording import (
    BUCKETS,
    FORMS,
    LOOK,
    Floats,
    Place,
    Sort,
    WordingModel,
    form_pieces,
    load_wording,
    sort_pieces,
    sparse_of,
)

NUMBERS = {
    **{"AGE": "age", "DATE": "date", "TIME": "time of day"},
    **{"DURATION": "length of time", "MONEY": "sum of money"},
}
"""The sort of a marked number, day or length that has no finer one."""
KIND_OF: Mapping[str, str] = {
    **dict.fromkeys(("FAMILY", "DEM", "ORIGIN"), "PERSONAL"),
    **dict.fromkeys((*NUMBERS, "QUANTITY"), "NUMBER"),
}
"""What the head reads as the kind; other kinds are their own."""
_PHRASES = ("PERSONAL", "MISC", "JOB", "CONDITION", "LOC", "ORG")
MEMBER = 1.0
"""The weight of a member that stands alone; an item of a text has 1."""
PARSED = 0.15
"""The weight of an item that a parser cut."""
MISTAKEN = 0.3
"""The weight of an item under another kind."""
UNKNOWN = 0.5
"""The share of these that are under none."""
KEPT = 0.08
"""The share of weights that are stored."""


@dataclass(frozen=True, slots=True)
class Example:
    """An item in its place, its sort, and the form of what a careful writer put there; either may be open."""

    place: Place
    sort: str
    form: str
    weight: float = 1.0


def examples_of(part: Part) -> list[Example]:
    """The items of a part of the passages that have words, or are numbers or days; and those of forms."""
    texts = {each.name: each for each in passages(part)}
    rows = {(str(row["id"]), row["start"], row["end"]): row for _, row in rows_of(FOLDER / "wordings.jsonl")}
    found = []
    for name, passage in texts.items():
        if passage.language != "English":
            continue
        for mark in passage.marks:
            row = rows.get((name, mark.start, mark.end), {})
            sort = str(row.get("sort", NUMBERS.get(mark.kind, "unsure")))
            if sort == "unsure":
                continue
            text, start, end = passage.text, mark.start, mark.end
            place = (text[start:end], text[max(0, start - LOOK) : start], text[end : end + LOOK])
            form = str(row.get("form", ""))
            found.append(Example(Place(KIND_OF.get(mark.kind, mark.kind), *place), sort, form))
            if mark.kind == "TEST" and place[0][:1].isdigit():
                found.append(Example(Place("NUMBER", *place), sort, ""))
    for _, row in rows_of(FOLDER / "forms.jsonl"):
        if row["part"] == part:
            before, after = str(row["before"])[-LOOK:], str(row["after"])[:LOOK]
            kind = KIND_OF.get(str(row["kind"]), str(row["kind"]))
            found.append(Example(Place(kind, str(row["item"]), before, after), "", str(row["form"])))
    return found


def _parsed() -> Iterator[Example]:
    """The forms of phrases that a parser cut from the passages; of any kind, since it knows none."""
    texts, chance = {each.name: each.text for each in passages("learn")}, random.Random(1)
    for _, row in rows_of(FOLDER / "forms_parsed.jsonl"):
        text = texts[str(row["id"])]
        for start, end, form in row["items"]:
            around = text[max(0, start - LOOK) : start], text[end : end + LOOK]
            yield Example(Place(chance.choice(_PHRASES), text[start:end], *around), "", form, PARSED)


def _mistaken(example: Example, chance: random.Random) -> Example:
    """The same as a reader may find it: under another kind, or under none."""
    kind = "" if chance.random() < UNKNOWN else chance.choice(_PHRASES)
    return replace(example, place=replace(example.place, kind=kind), weight=MISTAKEN * example.weight)


def make_wording(folder: Path) -> dict[str, Any]:
    """Train, write the model into a new folder and return its card."""
    from safetensors.numpy import save_file

    began = time.monotonic()
    rows = [row for _, row in rows_of(FOLDER / "sorts.jsonl")]
    names = [row["sort"] for row in rows]
    members = [
        Example(Place(KIND_OF.get(row["kind"], row["kind"]), member, "", ""), row["sort"], "", MEMBER)
        for row in rows
        for member in row["members"]
    ]
    learned = [*examples_of("learn"), *members]
    chance = random.Random(1)
    mistaken = [_mistaken(each, chance) for each in learned]
    of_sorts = [each for each in (*learned, *mistaken) if each.sort in names]
    sorts = _fitted(of_sorts, names, "sort", 10.0)
    of_forms = (each for each in (*learned, *mistaken) if each.form)
    forms = _fitted([*of_forms, *_parsed()], FORMS, "form", 4.0)
    folder.mkdir(parents=True)
    save_file(
        {**sparse_of(sorts, KEPT, "sorts"), **sparse_of(forms, KEPT, "forms")}, folder / "wording.safetensors"
    )
    groups = {row["group"]: row for row in rows}
    card = {
        "name": "lethe-wording",
        "seconds": round(time.monotonic() - began),
        "trained": date.today().isoformat(),
        "passages": {"items": len(learned) - len(members), "members of sorts": len(members)},
        "groups": [asdict(_sort(row, "group_", name)) for name, row in groups.items()],
        "sorts": [
            {"words": asdict(_sort(row, "", row["sort"])), "group": row["group"], "members": row["members"]}
            for row in rows
        ],
    }
    (folder / "wording.json").write_text(json.dumps(card, ensure_ascii=False) + "\n", encoding="utf-8")
    model = load_wording(ModelRef(source="path", name=str(folder)))
    card["aside"] = shares_right(model, examples_of("aside"))
    (folder / "wording.json").write_text(json.dumps(card, ensure_ascii=False) + "\n", encoding="utf-8")
    return card


def shares_right(model: WordingModel, examples: Sequence[Example]) -> dict[str, float]:
    """The shares of items whose likeliest sort, group and form are right; of numbers, whose sort is."""
    read = model.read([each.place for each in examples])
    group_of = {sort.name: model.group_of[number] for number, sort in enumerate(model.sorts)}
    found: dict[str, list[bool]] = {"sort": [], "group": [], "number": [], "form": []}
    for example, each in zip(examples, read, strict=True):
        if example.form:
            found["form"].append(FORMS[each.forms.argmax()] == example.form)
        if example.sort in group_of:
            right = model.sorts[int(each.sorts.argmax())].name == example.sort
            number = example.place.kind == "NUMBER"
            found["number" if number else "sort"].append(right)
            if not number:
                found["group"].append(int(each.groups.argmax()) == group_of[example.sort])
    shares = {name: round(sum(hits) / max(1, len(hits)), 3) for name, hits in found.items()}
    return {**shares, "items": len(found["sort"])}


def _sort(row: Mapping[str, Any], prefix: str, name: str) -> Sort:
    words = (row[f"{prefix}{form}"] or "" for form in ("one", "many", "bare", "verb", "is"))
    return Sort(name, row["kind"], *words)


def _fitted(examples: Sequence[Example], classes: Sequence[str], wanted: str, strength: float) -> Floats:
    """The weights of a multinomial logistic regression, of shape (``BUCKETS``, classes)."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    pieces_of = sort_pieces if wanted == "sort" else form_pieces
    pieces = [pieces_of(each.place) for each in examples]
    shape = (len(pieces), BUCKETS)
    ends = np.cumsum([0, *map(len, pieces)])
    columns = np.fromiter((bucket for each in pieces for bucket in each), np.int32)
    values = np.fromiter((value for each in pieces for value in each.values()), np.float64)
    table = csr_matrix((values, columns, ends), shape)
    labels = np.array([list(classes).index(getattr(each, wanted)) for each in examples])
    weights = np.array([each.weight for each in examples])
    model = LogisticRegression(C=strength, max_iter=150, fit_intercept=False).fit(table, labels, weights)
    found = np.zeros((BUCKETS, len(classes)), np.float32)
    found[:, model.classes_] = model.coef_.T
    return found
