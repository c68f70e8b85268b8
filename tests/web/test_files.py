"""What the server sends for the page, without a browser."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.server.routes.web import web_routes
from eval.reports.render import style
from tests.commands import ROOT

FOLDER = ROOT / "app" / "web"
FILES = sorted(path.name for path in FOLDER.iterdir())
RISKS = ("innerHTML", "outerHTML =", "insertAdjacent", "document.write", "eval(", "Function(", "localStorage")
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
RULES = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'"}
RULES |= {
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
SCRIPTS = [FOLDER / name for name in FILES if name.endswith(".js")]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(web_routes())
    with TestClient(app) as connected:
        yield connected


@pytest.mark.parametrize("path", ["/", *(f"/web/{name}" for name in FILES), "/web/report.css"])
def test_every_file_comes_under_the_strictest_rules_and_is_sent_once(client: TestClient, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    rules = dict(rule.split(" ", 1) for rule in first.headers["content-security-policy"].split("; "))
    assert rules == RULES
    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["referrer-policy"] == "no-referrer"
    if kind := KINDS.get("html" if path == "/" else path.rpartition(".")[2]):
        assert first.headers["content-type"] == f"{kind}; charset=utf-8"
    etag = first.headers["etag"]
    for known in (etag, f'W/{etag}, "another"'):
        again = client.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert client.get(path, headers={"if-none-match": '"another"'}).content == first.content
    assert client.head(path).headers["content-length"] == str(len(first.content))
    # A report looks in the page as it looks alone.
    assert path != "/web/report.css" or first.text == style()


@pytest.mark.parametrize("name", ["none.js", "web.py", "..%2fserver%2fweb.py", "%2e%2e", ""])
def test_nothing_else_is_sent(client: TestClient, name: str) -> None:
    assert client.get(f"/web/{name}").status_code == 404


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]


def test_the_page_has_no_inline_script_style_or_handler() -> None:
    tags = _Tags()
    tags.feed((FOLDER / "index.html").read_text())
    assert len(tags.ids) == len(set(tags.ids))
    for tag, attributes in tags.tags:
        assert tag != "style"
        assert tag != "script" or attributes["src"]
        assert not [name for name in attributes if name == "style" or name.startswith("on")], tag


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_reads_text_as_html_or_asks_another_server(path: Path) -> None:
    text = path.read_text()
    assert [risk for risk in (*RISKS, "cookie") if risk in text] == []
    assert {*re.findall(r"https?://[^\s\"]+", text)} <= {"http://www.w3.org/2000/svg"}
    # The one place that reads HTML is the report, which then stands in a frame that may do nothing.
    reads = ("DOMParser" in text, "srcdoc" in text, 'sandbox: "allow-same-origin" }' in text)
    assert reads == (path.name == "audit.js",) * 3
