"""What stands behind a disguise is found where the disguise stands. Every text here is invented."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.hybrid import HybridDetector
from ingest.documents import Action, Decision, Document, Span
from ingest.language.disguises import undisguised, view_of
from ingest.linking.link import link
from ingest.spans import resolve, substitute
from ingest.wording.replace import render
from tests.doubles import PhraseDetector

NAMES = ("Marguerite", "Ashdown", "Okonjo", "Zoë", "Brightwell")
PLAIN = "We met. |100% sure & so on; |e.g. U.S.A. |well-known |\n|x_yes |50 % |C++ = D7 |ée ".split("|")
DISGUISES = (
    lambda word: "".join(f"%{octet:02X}" for octet in word.encode()),
    lambda word: "".join(f"&#{ord(char)};" for char in word),
    lambda word: "".join(f"\\u{ord(char):04x}" for char in word),
    *(joint.join for joint in (" ", "-", "_", "  ", ".")),
)


@given(st.lists(st.one_of(st.sampled_from(PLAIN), st.sampled_from(NAMES)), max_size=12).map(" ".join))
def test_a_text_without_disguise_has_no_view(text: str) -> None:
    assert view_of(text) is None
    assert undisguised(text) == text


SOME = st.lists(st.sampled_from(PLAIN), max_size=6).map("".join)


@given(SOME, st.sampled_from([name for name in NAMES if len(name) > 4]), st.sampled_from(DISGUISES), SOME)
def test_a_word_of_the_view_stands_for_exactly_its_disguise(
    before: str, name: str, disguise: Callable[[str], str], after: str
) -> None:
    hidden = disguise(name)
    text = f"{before}<{hidden}> {after}"
    view = view_of(text)
    assert view is not None
    place, at = view.text.index(name), text.index(hidden)
    assert view.original(Span(place, place + len(name))) == Span(at, at + len(hidden))


@given(st.text("aB %20&#;\\u0041-_=+.\n@", max_size=60))
def test_every_span_of_a_view_lies_in_the_text_and_in_order(text: str) -> None:
    view = view_of(text)
    ends = [0]
    for place in range(len(view.text) if view else 0):
        assert view is not None
        span = view.original(Span(place, place + 1))
        assert span.end <= len(text)
        assert ends[-1] <= span.start or ends[-1] == span.end
        ends.append(span.end)


READ = {
    "M a r g u e r i t e   A s h d o w n": "Marguerite Ashdown",
    "M a r g u e r i t e A s h d o w n": "Marguerite Ashdown",
    "J-O-H-N S-M-Y-T-H-E": "John Smythe",
    "%2541shdown": "Ashdown",
    "Ren%E9e": "Renée",
    "q=Marguerite+Ashdown": "q=Marguerite Ashdown",
    "M&shy;arguerite&#x41;": "MargueriteA",
    "\\ud835\\udc0c \\x41": "𝐌 A",
    "born ⑫ May, ㊲ and ⒛": "born 12 May, 37 and 20",
    "&unknown; %C3%A9": "&unknown; é",
}


@pytest.mark.parametrize("written", READ)
def test_a_disguise_is_read_and_neither_it_nor_the_text_is_shown(written: str) -> None:
    assert undisguised(written) == READ[written]
    assert "shdown" not in repr(view_of(written))


HIDDEN = [
    "We met M a r g u e r i t e   A s h d o w n there.",
    "We met M-A-R-G-U-E-R-I-T-E A-S-H-D-O-W-N there.",
    "The file Marguerite%20Ashdown was sent.",
    "See https://shop.example/find?q=Marguerite+Ashdown there.",
    "We met Marguerite&nbsp;Ashdown there, with &#65;shdown.",
    '{"name": "\\u004darguerite \\u0041shdown"}',
    "We met 𝐌𝐚𝐫𝐠𝐮𝐞𝐫𝐢𝐭𝐞 𝐀𝐬𝐡𝐝𝐨𝐰𝐧 and Ⓜⓐⓡⓖⓤⓔⓡⓘⓣⓔ Ⓐⓢⓗⓓⓞⓦⓝ there.",
    "We met Ms Ashdown. Then A s h d o w n left.\n\nSo did %41shdown.",
    "Ask A s h d o w n.\n\nWe met Ms Ashdown there.",
]

FORMS = ("Marguerite Ashdown", "MARGUERITE ASHDOWN", "Marguerite\xa0Ashdown", "Ashdown", "Zorvath")
DETECTOR = HybridDetector(PhraseDetector(dict.fromkeys(FORMS, "person full name")))


def gone(text: str) -> str:
    (found,) = DETECTOR.detect([Document("d", text)])
    names = [each for each in found if each.identifier == "direct" or each.label == "URL link"]
    resolved = resolve(Decision(each, None, Action.GENERALIZE, "test") for each in names)
    return substitute(text, render(text, resolved).replacements)


@pytest.mark.parametrize("text", HIDDEN)
def test_a_disguised_name_goes_whole(text: str) -> None:
    left = undisguised(gone(text)).casefold()
    assert "marg" not in left and "shdown" not in left
    assert "somebody" in left or "link" in left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("write to anna%40ex.org now", "write to an email address now"),
        ("write to a n n a @ e x . o r g now", "write to an email address now"),
        ("name%3DQuill%26phone%3D07700900123", "name%3Dsomebody%26phone%3Da phone number"),
        ("We saw z o r v a t h and nobody else.", "We saw somebody and nobody else."),
    ],
    ids=["in octets", "spaced", "behind a disguised word", "by a model"],
)
def test_a_disguised_identifier_goes_whole(text: str, left: str) -> None:
    assert gone(text) == left


def test_a_disguised_name_is_linked_with_the_name() -> None:
    text = "Marguerite Ashdown, M a r g u e r i t e   A s h d o w n, Marguerite%20Ashdown, 𝐌𝐚𝐫𝐠𝐮𝐞𝐫𝐢𝐭𝐞 Ashdown"
    document = Document("d", text)
    whole = [each for each in link(document, DETECTOR.detect([document])[0]) if len(each.span) > 15]
    assert [each.link for each in whole] == [0] * 4


@pytest.mark.parametrize(
    "text",
    ["Save 20%25 on the quay &amp; more; x-y-z and p.r.n. twice.", "for a_b_c in d: print(%d)"]
    + ["Rows: Y N N Y Y, grid a b c d, and T-B-A.", "path %TEMP% is 95%CI, &c. and R&D;"],
)
def test_no_name_comes_of_what_names_nobody(text: str) -> None:
    (found,) = HybridDetector().detect([Document("d", text)])
    assert [each for each in found if each.label == "person full name"] == []
