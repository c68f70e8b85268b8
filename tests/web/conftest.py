"""One browser and one server for the tests of the page; every note and name is invented."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browsing import browsing, page_at
from tests.serving import Served, ingested, served

NOTES = [
    "Invented note. Mr Tobias Keller keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. The wiki of the choir says <img src=x onerror=pwned=1><script>pwned=1</script> in bold.",
    *(f"Invented note. The heron by pond {number} was fed with herring at noon." for number in range(60)),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # More threads than free cores make small models many times slower.
    data = ingested(tmp_path_factory.mktemp("web"), "threads = 1\n", NOTES)
    with served(data, "--host", "127.0.0.1") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as opened:
        yield opened


@pytest.fixture
def page(server: Served, browser: Browser) -> Iterator[Page]:
    with page_at(browser, server.url) as opened:
        yield opened


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files to ingest: one with a line that is not JSON."""
    letter = tmp_path / "letter of the miller.txt"
    letter.write_text("Invented letter. Ms Runa Hagestad, born on 9 February 1978, repairs the mill wheel.")
    visits = tmp_path / "visits.jsonl"
    visits.write_text('{"id": "v1", "text": "Invented visit. The ferry was late."}\nnot JSON\n')
    return [letter, visits]
