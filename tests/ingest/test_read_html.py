"""What of a page is read, omitted and reported. All pages are invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import UnreadableDocument
from ingest.read.html import MAX_DEPTH, html_text


def text(markup: str) -> str:
    return html_text(markup, "x").text


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ('<p>See <img src="a.png" alt="the scan of  Ada"> here', "See the scan of Ada here"),
        ('<a href="#" title="Ward 7">link</a>', "Ward 7 link"),
        ('<input value="Ada B."><input placeholder="your name">', "Ada B. your name"),
        ("<noscript>Turn it <b>on</b></noscript>", "Turn it on"),
        ('<meta name="description" content="Notes on Ada"><p>body', "Notes on Ada\n\nbody"),
        ('<meta name="viewport" content="width=1"><p>body', "body"),
        ('<meta name=author content="Rosamund Hartigan"><p>body', "Rosamund Hartigan\n\nbody"),
        (
            "<button>Rosamund</button><button>Otto</button><label>Basil</label>Greta",
            "Rosamund Otto Basil Greta",
        ),
        ("<output>7</output>of<progress>12</progress>", "7 of 12"),
        ("<label>Name</label>: <b>Ada</b>, (<button>new</button>)", "Name: Ada, (new)"),
        ("<svg><text>Rosamund</text><text>ward</text></svg>", "Rosamund ward"),
        ("seen by<noscript>ROSAMUND</noscript>at 5", "seen by ROSAMUND at 5"),
        ("Otto<iframe>x</iframe>Greta<input>Basil", "Otto Greta Basil"),
        ("<span>Rosamund</span><span><b>Hartigan</b></span>", "Rosamund Hartigan"),
        ("<b>A</b>nna <i>re</i>written <a>A</a>BC<sup>2</sup>", "Anna rewritten ABC2"),
        ("<table><tr><td><i>Ada</i><b>Byron</b><td>7</table>", "Ada Byron | 7"),
        ("<pre><b>get</b>Name</pre>", "getName"),
        ('<button aria-label="Close">x</button>', "Close x"),
        ("<textarea>kept\n as is</textarea>", "kept\nas is"),
        ("<svg><title>Heart</title><text>left</text></svg>", "Heart\nleft"),
        ("5 < 6 &amp; 7 &gt; 3 &eacute; &unknown; &lt", "5 < 6 & 7 > 3 é &unknown; <"),
        ("<p>a\0b", "a\ufffdb"),
        ("<table><tr><td>a<td>b<tr><th>c<td>d<pre>x\ny</pre></table>", "a | b\n\nc | d x y"),
        ("<body>a</body></html> after", "a\n\nafter"),
        ("", ""),
        ("<", "<"),
    ],
)
def test_what_a_reader_of_the_page_has(markup: str, words: str) -> None:
    assert text(markup) == words


@pytest.mark.parametrize(
    ("markup", "parts"),
    [("<p>words", {})]
    + [("<!doctype html><?xml version='1.0'?><!-- --><style>p {}</style><script> </script>words", {})]
    + [("<!-- Zyxwv --><!--[if mso]>Zyxwv<![endif]-->words", {"comment": 2})]
    + [("<![CDATA[Zyxwv]]>words", {"comment": 1})]
    + [("<script>Zyxwv</script><script>Zyxwv</script>words", {"script": 2})]
    + [("<template><p>Zyxwv<template>Zyxwv</template></template>words", {"template": 1})]
    + [("<iframe src=x>Zyxwv</iframe><embed src=x><object></object>words", {"embedded page": 3})]
    + [('<input type=hidden value="Zyxwv"><input type=PASSWORD value="Zyxwv">words', {"hidden field": 2})]
    + [('<input type=hidden value="">words', {})]
    + [('<img src="data:image/png;base64,Zyxwv">words', {"embedded picture": 1})]
    + [("words<!-- Zyxwv", {"comment": 1, "end of the page": 1})]
    + [('words<a title="Zyxwv', {"end of the page": 1})]
    + [("words<script>Zyxwv", {"script": 1, "end of the page": 1}), ("<title>words", {"end of the page": 1})]
    + [("<textarea>words", {"end of the page": 1})],
)
def test_what_may_hold_text_and_is_left_out_is_told(markup: str, parts: dict[str, int]) -> None:
    read = html_text(markup, "x")
    assert read.text == "words"
    assert {part.kind: part.count for part in read.unread} == parts
    assert "Zyxwv" not in repr(read)


def test_a_page_nested_without_end_is_refused_where_it_would_take_too_long() -> None:
    assert text("<div>" * 50_000 + "deep") == "deep"
    with pytest.raises(UnreadableDocument) as refused:
        html_text("<b>" * (MAX_DEPTH + 1) + "Zyxwv" + "</i>" * (MAX_DEPTH + 1), "x")
    assert refused.value.reason == (
        "its HTML could not be parsed (more than 2,000 elements in each other); save the page again"
    )
    assert text("<b>" * 1_000 + "deep" + "</i>" * 100_000) == "deep"


WORDS = st.text("abc ", min_size=1).filter(str.strip)


@given(st.lists(st.tuples(st.sampled_from(["p", "b", "div", "td", "li", "h1", "pre", "a"]), WORDS)))
def test_all_words_of_a_page_are_read_in_order(parts: list[tuple[str, str]]) -> None:
    page = "".join(f"<{tag}>{words}</{tag}>" for tag, words in parts)
    # Without white space, because words of elements in one line run on.
    assert "".join(text(page).split()) == "".join(words for _, words in parts).replace(" ", "")


@given(st.text(max_size=200))
def test_text_without_markup_is_read_as_it_is(words: str) -> None:
    plain = words.replace("<", "").replace("&", "").replace("\0", "")
    assert text(plain).split() == plain.split()
