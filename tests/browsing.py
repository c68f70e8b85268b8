"""A real browser without a screen, on the page of a real server."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}
PAGES = ("chat", "search", "playground", "ingest", "collections", "audit", "trail", "keys")
SERIOUS = ("serious", "critical")


@contextmanager
def browsing() -> Iterator[Browser]:
    """Chromium; the test is skipped where it is not installed. No other browser is downloaded."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed here: apt-get install chromium")
    # Models answer slowly where tests run side by side.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        # Whoever runs tests in a container is root, for whom Chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_at(browser: Browser, url: str, *, refused: bool = False, **options: Any) -> Iterator[Page]:
    """A page of a new profile. It must be silent on the console and ask no other server.

    ``refused`` allows the lines that a browser writes about answers that are errors.
    """
    said: list[str] = []
    asked: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if not (refused and message.text.startswith("Failed to load resource")):
            said.append(message.text)

    context = browser.new_context(**({"viewport": WIDE, "locale": "en-GB"} | options))
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.on("console", listen)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(url)
        yield page
    finally:
        context.close()
    assert said == []
    elsewhere = [each for each in asked if urlsplit(each).netloc not in ("", urlsplit(url).netloc)]
    assert elsewhere == []
    assert asked


def violations(page: Page) -> list[str]:
    """What the accessibility rules of axe find serious or worse."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def go(page: Page, place: str) -> None:
    """Open a tab by its address, ``chat`` or ``collections/notes``."""
    page.evaluate("place => { location.hash = place }", place)
    page.locator(f"#page-{place.split('/')[0]}").wait_for()
