"""Every page of figures is what its template and the kept figures make, and its tables are whole."""

import json
import re
from collections.abc import Callable
from types import ModuleType

import pytest

from benchmarks import (
    attacks_page,
    bits_page,
    linkage_page,
    papers_page,
    results_page,
    scale_page,
    server,
    server_page,
    speed,
    tab_page,
    wording_page,
)


def of_the_server() -> str:
    if not server.RESULT.exists():
        pytest.skip("python -m benchmarks.server was not run yet")
    return server_page.page(json.loads(server.RESULT.read_text(encoding="utf-8")))


def of_the_results() -> str:
    return results_page.page(results_page.kept_reports())


@pytest.mark.parametrize(
    ("module", "make", "tables", "most_lines"),
    [
        (attacks_page, attacks_page.page, None, None),
        (bits_page, bits_page.page, 4, None),
        (linkage_page, linkage_page.page, None, None),
        (papers_page, papers_page.page, 2, 100),
        (results_page, of_the_results, None, 400),
        (scale_page, scale_page.page, 3, None),
        (server_page, of_the_server, 2, None),
        (speed, speed.page, 4, None),
        (tab_page, tab_page.page, 2, 200),
        (wording_page, wording_page.page, None, 200),
    ],
    ids=lambda value: value.__name__ if isinstance(value, ModuleType) else "",
)
def test_a_page_is_what_the_results_make(
    module: ModuleType, make: Callable[[], str], tables: int | None, most_lines: int | None
) -> None:
    made = make()
    assert module.PAGE.read_text(encoding="utf-8") == made, f"run: python -m {module.__name__}"
    assert not re.search(r"{[{%]|\bnan\b", made)
    found = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(found) == tables or tables is None and found
    assert len(made.splitlines()) <= (most_lines or 1_000)
    for rows in found:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()}) == 1
