"""Reading pages that were made for people: tags, words, links and drawings."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree


class Reader(HTMLParser):
    """Collects what a page holds, and sees that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def words_of(html: str) -> str:
    """The words of a page or a part of it, drawings aside."""
    without = re.sub(r"<svg .*?</svg>", "", html, flags=re.DOTALL)
    return " ".join(" ".join(read(without).words).split())


def section_of(page: str, title: str) -> str:
    """One section."""
    (found,) = [part for part in page.split("<section>") if part.startswith(f"<h2>{title}</h2>")]
    return found.split("</section>")[0]


def drawings_of(page: str) -> list[ElementTree.Element]:
    """Every drawing of a page, which is well-formed."""
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL)]


def needs_nothing_else(page: str) -> None:
    """No script, no network, no font: links lead only to marks within a drawing of the same page."""
    reader = read(page)
    assert reader.open == []
    assert all(link.startswith("#") for link in reader.links), reader.links
    unwanted = {"script", "link", "img", "image", "iframe", "object", "base", "foreignobject", "metadata"}
    assert not reader.tags & unwanted
    assert not re.search(r"url\((?!#)|@import|@font-face|http|javascript:|\son\w+=", page)
    assert "prefers-color-scheme: dark" in page
    drawings = drawings_of(page)
    assert drawings
    named = [
        {one.get("id"): ElementTree.tostring(one) for one in each.iter() if one.get("id")}
        for each in drawings
    ]
    for name in {name for each in named for name in each}:
        assert len({each[name] for each in named if name in each}) == 1, (
            "drawings share names of the same things"
        )
    for each in drawings:
        assert each.get("role") == "img" and each.get("aria-label")
        assert "currentColor" in ElementTree.tostring(each, encoding="unicode"), "ink is that of the page"
