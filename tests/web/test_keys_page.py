"""Keys in the page: given, kept, forgotten, created and revoked; every name is invented."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsing import go, page_at
from tests.commands import lethe
from tests.serving import Served, ingested, served

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return ingested(tmp_path, "threads = 1\n", ["Invented note. The heron was fed at noon."])


@pytest.fixture
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        yield running


def made(data: Path, *scopes: str) -> str:
    ran = lethe(data, "keys", "create", "reader", "--scope", ",".join(scopes))
    assert ran.code == 0, ran.err
    return str(ran.summary["key"])


def give(page: Page, key: str, *, keep: bool = False) -> None:
    dialog = page.get_by_role("dialog", name="This server needs a key")
    dialog.get_by_label("Key", exact=True).fill(key)
    dialog.get_by_label("Keep it until this tab is closed").set_checked(keep)
    dialog.get_by_role("button", name="Use this key").click()


def stored(page: Page) -> str:
    return str(page.evaluate("JSON.stringify({...sessionStorage, ...localStorage}) + document.cookie"))


def test_the_first_key_is_shown_once_and_is_wanted_from_then_on(server: Served, browser: Browser) -> None:
    with page_at(browser, server.url, refused=True) as page:
        go(page, "keys")
        expect(page.locator("#keys-list")).to_contain_text("There are no keys yet")
        page.get_by_label("Who will use it").fill("front desk")
        # The first one may do everything, or nobody could make another.
        page.get_by_label("manage keys (admin)").uncheck()
        page.get_by_role("button", name="Create key").click()
        expect(page.locator("#keys-error")).to_contain_text("Give it the scope admin")
        page.get_by_label("manage keys (admin)").check()
        page.get_by_role("button", name="Create key").click()
        shown = page.get_by_label("The new key")
        key = shown.input_value()
        assert key.startswith("lethe_")
        page.get_by_role("button", name="Hide it").click()
        expect(shown).to_have_count(0)
        assert key not in page.content()
        go(page, "chat")
        give(page, key)
        expect(page.locator("#chat-collection option")).to_have_text(["notes"])
        expect(page.locator("#who")).to_have_text("front desk")
        go(page, "keys")
        expect(page.get_by_label("manage keys (admin)")).not_to_be_checked()
        page.get_by_label("Who will use it").fill("night shift")
        page.get_by_label("Collections", exact=True).fill("notes")
        page.get_by_role("button", name="Create key").click()
        row = page.get_by_role("row").filter(has_text="night shift")
        expect(row).to_contain_text("notes")
        row.get_by_role("button", name="Revoke the key of night shift").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(row).to_contain_text("revoked")


def test_a_key_stays_in_memory_unless_it_is_to_be_kept_and_never_in_an_address(
    data: Path, server: Served, browser: Browser
) -> None:
    key = made(data, "query", "ingest")
    with page_at(browser, server.url, refused=True) as page:
        addresses: list[str] = []
        page.on("request", lambda request: addresses.append(request.url))
        give(page, "lethe_00000000_" + "x" * 43)
        expect(page.locator("#key-why")).to_have_text("The server does not know this key.")
        give(page, key)
        expect(page.locator("#who")).to_have_text("reader")
        assert key not in stored(page)
        for name in ("playground", "ingest", "collections"):
            go(page, name)
        # Keys are managed with the scope admin.
        expect(page.get_by_role("link", name="Keys")).to_be_hidden()
        page.reload()
        give(page, key, keep=True)
        expect(page.locator("#who")).to_have_text("reader")
        assert key in stored(page)
        page.reload()
        expect(page.locator("#who")).to_have_text("reader")
        page.get_by_role("button", name="Forget the key").click()
        expect(page.get_by_role("dialog", name="This server needs a key")).to_be_visible()
        assert key not in stored(page)
        assert [each for each in addresses if key in each or "lethe_" in each] == []
        assert key not in page.content()


def test_what_a_key_may_not_do_is_said_in_the_place_where_it_was_tried(
    data: Path, server: Served, browser: Browser
) -> None:
    key = made(data, "query")
    with page_at(browser, server.url, refused=True) as page:
        give(page, key)
        expect(page.locator("#who")).to_have_text("reader")
        expect(page.get_by_role("link", name="Ingest")).to_be_hidden()
        go(page, "ingest")
        expect(page.locator("#job-error")).to_contain_text("This key does not have the scope ingest")
        go(page, "chat")
        page.get_by_label("Question", exact=True).fill("What was fed at noon?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn").last).to_contain_text("heron")
        page.get_by_role("button", name="Forget the key").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.locator("#chat-error")).to_contain_text("This needs a key.")
