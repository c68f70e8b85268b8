"""Words in the form that a sentence takes: a table that was written by reading, before the code."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.documents import Action, Decision, Span
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

TABLE = Path(__file__).parent / "sentences.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
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
    wide = replace(entity, span=Span(start - found.left, end + found.right))
    return apply(text, [Decision(wide, None, Action.GENERALIZE, "", found.words)]).residual.text


def holds(row: dict[str, Any]) -> bool:
    """Whether a right answer stands there, whatever its brackets name."""
    return re.sub(r"\[[^\]]*\]", "[]", said(row)) in [
        re.sub(r"\[[^\]]*\]", "[]", each) for each in row["after"]
    ]


def test_the_table_has_every_form_and_few_open_rows() -> None:
    forms = Counter(row["form"] for row in ROWS)
    assert len(ROWS) > 500 and len(forms) > 30 and min(forms.values()) > 10
    assert sum(bool(row.get("open")) for row in ROWS) < 0.15 * len(ROWS)


@pytest.mark.parametrize("form", sorted({row["form"] for row in ROWS}))
def test_words_fit_their_sentence(form: str) -> None:
    rows = [row for row in ROWS if row["form"] == form and not row.get("open")]
    broken = [f"{row['text']} -> {said(row)}" for row in rows if not holds(row)]
    assert broken == []


def test_plurals_and_verbs() -> None:
    many = {
        "nurse": "nurses",
        "member of staff": "members of staff",
        "body": "bodies",
        "craftsman": "craftsmen",
    }
    many |= {"person in training": "people in training", "child": "children"}
    assert {phrase: plural(phrase) for phrase in many} == many
    forms = {
        ("work in law", "does"): "works in law",
        ("have a lung problem", "did"): "had a lung problem",
        ("be retired", "doing"): "being retired",
        ("take a medicine", "done"): "taken a medicine",
        ("study", "does"): "studies",
    }
    assert {(verb, form): inflected(verb, form) for verb, form in forms} == forms


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
