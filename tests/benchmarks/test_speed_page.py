"""The page about speed."""

import re

from benchmarks import speed


def test_the_page_is_what_the_results_make() -> None:
    made = speed.page()
    assert speed.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.speed --page"
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(tables) == 4
    for rows in tables:
        assert len({line.count("|") for line in rows.splitlines()}) == 1
