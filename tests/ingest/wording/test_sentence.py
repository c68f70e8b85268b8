"""Words in the form that a sentence takes: a table that was written by reading, before the code."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ingest.documents import Action, Decision, Entity, Span
from ingest.wording.mentions import LOOK, Mention
from ingest.wording.replace import apply
from ingest.wording.sentence import (
    MOMENTS,
    Words,
    after_preposition,
    edges,
    fit,
    inflected,
    plural,
    words_from,
)
from ingest.wording.sorts import KIND_OF
from models.wording import FORMS, Place, embedded_wording
from tests.ingest.wording.test_wording import annotated

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
]
"""``after`` has the right answers; ``open`` marks rows that do not hold yet."""


def said(row: dict[str, Any]) -> str:
    """What stands in the row's text when its words are put in place of its item."""
    text = annotated(str(row["text"]))
    (entity,) = text.entities
    start, end = entity.span.start, entity.span.end
    before, after = text.text[max(0, start - LOOK) : start], text.text[end : end + LOOK]
    mention = Mention(entity, text.text[start:end], before, after)
    place = Place(KIND_OF.get(entity.label, "PERSON"), mention.said, before, after)
    forms = embedded_wording().read([place])[0].forms
    words = Words("", verb=str(row["words"])) if row.get("verb") else words_from(str(row["words"]))
    if entity.label in MOMENTS:
        found = edges(mention, after_preposition(words.one, mention))
    else:
        found = edges(mention, fit(mention, words, dict(zip(FORMS, map(float, forms), strict=True))))
    wide = Entity(
        Span(start - found.left, end + found.right), entity.label, entity.identifier, 1.0, "", entity.link
    )
    return apply(text, [Decision(wide, None, Action.GENERALIZE, "", found.words)]).residual.text


def bare(text: str) -> str:
    """The text without what its brackets name."""
    return re.sub(r"\[[^\]]*\]", "[]", text)


def holds(row: dict[str, Any]) -> bool:
    return bare(said(row)) in map(bare, row["after"])


def test_the_table_has_every_form() -> None:
    forms = Counter(row["form"] for row in ROWS)
    assert len(ROWS) > 500
    assert len(forms) > 30
    assert min(forms.values()) > 10


@pytest.mark.parametrize("form", sorted({row["form"] for row in ROWS}))
def test_words_fit_their_sentence(form: str) -> None:
    broken = [
        f"{row['text']} -> {said(row)}"
        for row in ROWS
        if row["form"] == form and not row.get("open") and not holds(row)
    ]
    assert broken == []


def test_few_rows_are_open() -> None:
    assert sum(bool(row.get("open")) for row in ROWS) < 0.15 * len(ROWS)


@pytest.mark.parametrize(
    ("phrase", "many"),
    [
        ("nurse", "nurses"),
        ("member of staff", "members of staff"),
        ("body", "bodies"),
        ("person in training", "people in training"),
        ("craftsman", "craftsmen"),
        ("child", "children"),
    ],
)
def test_plurals(phrase: str, many: str) -> None:
    assert plural(phrase) == many


@pytest.mark.parametrize(
    ("verb", "form", "words"),
    [
        ("work in law", "does", "works in law"),
        ("have a lung problem", "did", "had a lung problem"),
        ("be retired", "doing", "being retired"),
        ("take a medicine", "done", "taken a medicine"),
        ("study", "does", "studies"),
        ("live in a town", "doing", "living in a town"),
    ],
)
def test_verbs(verb: str, form: str, words: str) -> None:
    assert inflected(verb, form) == words


def test_every_verb_of_a_sort_is_inflected() -> None:
    model = embedded_wording()
    verbs = {each.verb.split()[0] for each in (*model.sorts, *model.groups) if each.verb}
    past = {verb: inflected(verb, "did") for verb in sorted(verbs)}
    regular = {verb for verb, form in past.items() if form in (f"{verb}d", f"{verb}ed")}
    assert {verb: past[verb] for verb in sorted(verbs - regular)} == {
        **{"be": "was", "come": "came", "do": "did", "have": "had", "run": "ran", "say": "said"},
        **{"speak": "spoke", "study": "studied", "take": "took"},
    }
    assert {inflected(verb, "doing") for verb in ("die", "run", "use")} == {"dying", "running", "using"}
