"""Erasing by id and by name, sanitizing again and the trail, in the page; every note and name is invented."""

import base64
import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from app.access.database import FILE
from tests.browsing import NARROW, WIDE, go, page_at, violations
from tests.commands import lethe
from tests.serving import Served, served
from tests.web.test_keys_page import give, made

pytestmark = pytest.mark.slow
VAULT = {"LETHE_VAULT__ENABLED": "true", "LETHE_VAULT__KEY": base64.b64encode(b"v" * 32).decode()}
LETTERS = {
    "a": "Invented letter. Mr Tobias Keller sold the boat. He is content.",
    "b": "Invented letter. In the end Tobias Keller bought the mill.",
    "c": "Invented letter. Ms Anna Gruber bought the other mill.",
    "d": "Invented letter. The pond is deep, and the heron was fed.",
    "e": "Invented letter. The lamp at the pier is out again.",
}


def ended(client: httpx.Client, job: str) -> str:
    """How a job has ended."""
    for _ in range(600):
        if (state := str(client.get(f"/v1/jobs/{job}").json()["state"])) not in ("waiting", "running"):
            break
        time.sleep(0.2)
    return state


def ingest(server: Served, collection: str, letters: dict[str, str], policy: dict[str, str]) -> None:
    """Give letters to a collection and wait until they are stored."""
    with server.client() as client:
        documents = [{"id": name, "text": text} for name, text in letters.items()]
        body = {"documents": documents, "policy": policy}
        job = client.post(f"/v1/collections/{collection}/documents", json=body).json()["job_id"]
        assert ended(client, job) == "done"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("erasing") / "data"
    data.mkdir()
    (data / "settings.toml").write_text("threads = 1\n")
    return data


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        ingest(running, "bare", {"f": "Invented letter. The ferry was late."}, {"name": "suppress"})
    with served(data, "--host", "127.0.0.1", **VAULT) as running:
        ingest(running, "letters", LETTERS, {"name": "trip", "replacements": "alias"})
        yield running


@pytest.fixture
def page(server: Served, browser: Browser) -> Iterator[Page]:
    with page_at(browser, server.url) as opened:
        yield opened


def ids_in(server: Served, collection: str) -> list[str]:
    with server.client() as client:
        found = client.get(f"/v1/collections/{collection}/documents").json()["documents"]
    return [each["doc_id"] for each in found]


def open_part(page: Page, collection: str, title: str) -> None:
    go(page, f"collections/{collection}")
    expect(page.locator("#collection-title")).to_have_text(collection)
    # What is still drawn above it would move it away from the pointer.
    page.locator("svg.histogram").wait_for()
    page.locator("#collection summary").filter(has_text=title).click()


def confirm(page: Page, *said: str) -> None:
    dialog = page.get_by_role("dialog")
    for words in said:
        expect(dialog).to_contain_text(words)
    dialog.get_by_role("button", name="Erase").click()


# -- views ---------------------------------------------------------------------------------------------


def filled(page: Page) -> dict[str, Any]:
    """How each view is given something to show."""

    def erasing() -> None:
        open_part(page, "letters", "Erase by file name, id or person")
        page.get_by_label("Documents, one a line").fill("never")

    def again() -> None:
        open_part(page, "letters", "Sanitize again")

    return {
        "erasing": erasing,
        "again": again,
        "no vault": lambda: open_part(page, "bare", "Sanitize again"),
        "no aliases": lambda: open_part(page, "bare", "Erase by file name"),
        "trail": lambda: page.locator("#trail-list tbody tr").first.wait_for(),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_view_breaks_a_rule_of_accessibility_or_is_wider_than_the_screen(
    server: Served, browser: Browser, tmp_path: Path, scheme: str, size: dict[str, int]
) -> None:
    options: dict[str, Any] = {"viewport": size, "color_scheme": scheme}
    with page_at(browser, server.url, **options) as page:
        for name, fill in filled(page).items():
            go(page, "trail" if name == "trail" else "collections")
            fill()
            assert violations(page) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
            # No table has to be scrolled sideways.
            tables = page.locator(".wide:visible").all()
            widths = [each.evaluate("it => [it.scrollWidth, it.clientWidth]") for each in tables]
            assert size is WIDE or all(inside <= outside for inside, outside in widths), name
            page.screenshot(path=tmp_path / f"{name}.png", full_page=True)


def test_a_table_stays_a_table_where_its_rows_stand_below_each_other(
    server: Served, browser: Browser
) -> None:
    with page_at(browser, server.url, viewport=NARROW) as page:
        go(page, "trail")
        table = page.get_by_role("table", name="Entries, newest first")
        row = table.get_by_role("row").nth(1)
        expect(row.get_by_role("rowheader")).to_have_count(1)
        expect(row.get_by_role("cell").first).to_be_visible()
        assert row.get_by_role("cell").first.get_attribute("data-head") == "When"
        assert table.get_by_role("columnheader").count() == 7


# -- sanitizing again ----------------------------------------------------------------------------------


def test_a_collection_is_sanitized_again_from_the_vault_into_another(server: Served, page: Page) -> None:
    open_part(page, "letters", "Sanitize again under another policy")
    page.get_by_label("New collection", exact=True).fill("letters-strict")
    page.get_by_label("Its policy").select_option("suppress")
    page.get_by_role("button", name="Sanitize again").click()
    expect(page.get_by_role("heading", name="Resanitizing into letters-strict")).to_be_visible()
    expect(page.locator("#job-now .state")).to_have_text("done", timeout=90_000)
    expect(page.locator("#job-now .figures").first).to_contain_text(f"{len(LETTERS)} kept")
    page.get_by_role("link", name="Open letters-strict").click()
    expect(page.locator("#documents tbody tr")).to_have_count(len(LETTERS))
    expect(page.locator("#collections-list")).to_contain_text("suppress")


def test_where_there_is_no_original_or_the_name_is_taken_the_page_says_so(
    server: Served, browser: Browser
) -> None:
    with page_at(browser, server.url, refused=True) as page:
        open_part(page, "bare", "Sanitize again under another policy")
        expect(page.locator("#collection details[open]")).to_contain_text("no originals in the vault")
        expect(page.get_by_role("button", name="Sanitize again")).to_have_count(0)
        open_part(page, "letters", "Sanitize again under another policy")
        page.get_by_label("New collection", exact=True).fill("bare")
        page.get_by_role("button", name="Sanitize again").click()
        expect(page.get_by_role("alert")).to_contain_text("there is such a collection")


# -- erasing -------------------------------------------------------------------------------------------


def test_all_about_a_person_is_erased_by_name_after_a_question(server: Served, page: Page) -> None:
    open_part(page, "letters", "Erase by file name, id or person")
    # By the keyboard alone.
    page.get_by_label("People, one full name a line").focus()
    page.keyboard.type("Tobias Keller")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Erase all about 1 person?")
    expect(dialog).to_contain_text("Every document in which Tobias Keller has an alias goes")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert len(ids_in(server, "letters")) == len(LETTERS)
    page.get_by_role("button", name="Erase", exact=True).click()
    confirm(page, "This cannot be undone")
    receipt = page.locator("#receipt")
    expect(receipt).to_contain_text("2 documents erased")
    expect(receipt).to_contain_text("0 taken for stored")
    expect(receipt).to_contain_text("0 traces in")
    expect(page.locator("#documents tbody tr")).to_have_count(len(LETTERS) - 2)
    expect(page.get_by_role("heading", name="letters", exact=True)).to_be_focused()
    assert violations(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the receipt").click()
    kept = json.loads(Path(saved.value.path()).read_text())
    assert (kept["complete"], len(kept["erasures"])) == (True, 2)
    # The name stays neither in an address nor in the page.
    assert "Keller" not in page.url + page.content()


def test_a_document_is_erased_by_id_and_what_is_not_there_is_said(server: Served, browser: Browser) -> None:
    with page_at(browser, server.url, refused=True) as page:
        open_part(page, "letters", "Erase by file name, id or person")
        page.get_by_role("button", name="Erase", exact=True).click()
        expect(page.locator("#receipt")).to_contain_text("Select the documents to erase")
        first, *_ = ids_in(server, "letters")
        page.get_by_label("Documents, one a line").fill(f"{first}\n\n  never  \n")
        page.get_by_role("button", name="Erase", exact=True).click()
        confirm(page, "Erase 2 documents or files?", f"{first}, never")
        expect(page.locator("#receipt")).to_contain_text("1 document erased")
        expect(page.locator("#receipt")).to_contain_text("Proved: search and attack found every passage")
        expect(page.locator("#receipt")).to_contain_text("Not found: never.")
        page.locator("#collection summary").filter(has_text="Erase by file name").click()
        page.get_by_label("People, one full name a line").fill("the")
        page.get_by_role("button", name="Erase", exact=True).click()
        confirm(page)
        expect(page.get_by_role("alert")).to_contain_text("a name was not recognized")


MAIL = b"From: a@b.example\nSubject: ferry\nMessage-ID: <1@b.example>\n\nInvented. The ferry is late.\n"
LINES = b'{"text": "Invented. The weir is open."}\n{"text": "Invented. The mill is shut."}\n'


@pytest.mark.parametrize(
    ("name", "content", "documents"),
    [
        (
            "ferry of Varde.txt",
            b"Invented note. The ferry to the island was late again.",
            "1 document erased",
        ),
        ("ferry of Varde.eml", MAIL, "1 document erased"),
        ("two.jsonl", LINES, "2 documents erased"),
    ],
)
def test_an_uploaded_file_is_erased_by_its_name(
    server: Served, page: Page, name: str, content: bytes, documents: str
) -> None:
    with server.client() as client:
        job = client.post("/v1/collections/uploaded/documents", files=[("files", (name, content))]).json()
        assert ended(client, job["job_id"]) == "done"
    open_part(page, "uploaded", "Erase by file name or id")
    expect(page.locator("#collection")).to_contain_text("Names of files are not stored")
    page.get_by_label("Documents, one a line").fill(name)
    page.get_by_role("button", name="Erase", exact=True).click()
    confirm(page, "Erase 1 document or file?")
    expect(page.locator("#receipt")).to_contain_text(documents)
    assert ids_in(server, "uploaded") == []


def test_what_a_receipt_does_not_prove_is_said_with_the_reason(server: Served, page: Page) -> None:
    reason = "The erasure was begun before and cut short."
    answer = {
        "collection": "letters",
        "complete": True,
        "proved": False,
        "not_proved": [
            {
                "cause": "resumed",
                "checks": ["search", "membership", "files"],
                "reason": reason,
                "documents": 1,
                "passages": 2,
            }
        ],
        "erasures": [
            {
                "doc_id": "x",
                "also_known_as": [],
                "passages": 2,
                "ledger_rows": 1,
                "bytes_searched": 0,
                "traces_found": 0,
                "resumed": True,
            }
        ],
        "not_found": [],
        "proof": {
            "before": {"passages": 0, "found": 0, "members": 0},
            "after": {"passages": 0, "found": 0, "members": 0},
            "read_back": 0,
        },
    }
    page.route("**/v1/collections/letters/erase", lambda route: route.fulfill(json=answer))
    open_part(page, "letters", "Erase by file name, id or person")
    page.get_by_label("Documents, one a line").fill("x")
    page.get_by_role("button", name="Erase", exact=True).click()
    confirm(page)
    receipt = page.locator("#receipt")
    expect(receipt).to_contain_text("Not all is proved")
    expect(receipt).to_contain_text(f"1 document, 2 passages: {reason} Open: the search by words, the attack")
    expect(receipt).to_contain_text("not searched for")
    expect(receipt).to_contain_text("cut short before, finished now")
    expect(receipt).not_to_contain_text("Proved:")
    assert violations(page) == []


# -- the trail -----------------------------------------------------------------------------------------


def test_the_trail_is_shown_newest_first_and_by_collection(server: Served, data: Path, page: Page) -> None:
    with server.client() as client:
        for number in range(60):
            client.post("/v1/search", json={"collection": "bare", "question": f"Which ferry {number}?"})
    go(page, "trail")
    rows = page.locator("#trail-list tbody tr")
    expect(rows).to_have_count(50)
    numbers = [int(each.replace(",", "")) for each in rows.locator("th").all_text_contents()]
    assert numbers == list(range(numbers[0], numbers[0] - 50, -1))
    expect(rows.first).to_contain_text("POST /v1/search")
    expect(rows.first).to_contain_text("no key")
    expect(page.locator("#trail-chain")).to_contain_text(f"Each of {numbers[0]} entries fits")
    page.get_by_role("button", name="Next").click()
    expect(rows.first.locator("th")).to_have_text(str(numbers[-1] - 1))
    expect(page.get_by_role("region", name="Entries, newest first")).to_be_focused()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the head").click()
    verified = lethe(data, "trail", "verify", "--head", str(saved.value.path()))
    assert (verified.code, verified.summary["first_broken"]) == (0, None)
    page.locator("#trail-collection").fill("letters")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#trail/letters$"))
    expect(page.get_by_role("table", name="Entries about letters, newest first")).to_be_visible()
    cells = page.locator("#trail-list td[data-head=Collection]").all_text_contents()
    assert set(cells) == {"letters"}
    go(page, "trail/never")
    expect(page.locator("#trail-list")).to_have_text("There are no entries.")


def test_a_broken_chain_is_seen(server: Served, data: Path, page: Page) -> None:
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        last, event = connection.execute("SELECT seq, event FROM trail ORDER BY seq DESC LIMIT 1").fetchone()
        connection.execute("UPDATE trail SET event = 'x' WHERE seq = ?", (last,))
        try:
            # The head decides whether the chain is looked at anew.
            with server.client() as client:
                client.post("/v1/search", json={"collection": "bare", "question": "Which ferry?"})
            go(page, "trail")
            expect(page.locator("#trail-chain")).to_contain_text(f"The chain is broken at entry {last}")
            row = page.get_by_role("row").filter(has_text="does not fit")
            expect(row.get_by_role("rowheader")).to_have_text(str(last))
            assert violations(page) == []
        finally:
            connection.execute("UPDATE trail SET event = ? WHERE seq = ?", (event, last))


def test_the_trail_is_offered_to_keys_that_may_see_it_only(
    server: Served, data: Path, browser: Browser
) -> None:
    reader = made(data, "query")
    auditor = made(data, "audit")
    with page_at(browser, server.url, refused=True) as page:
        give(page, reader)
        expect(page.locator("#who")).to_have_text("reader")
        expect(page.get_by_role("link", name="Trail")).to_be_hidden()
        page.get_by_role("button", name="Forget the key").click()
        give(page, auditor)
        page.get_by_role("link", name="Trail").click()
        expect(page.locator("#trail-chain")).to_contain_text("The chain is whole.")
