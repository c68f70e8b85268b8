"""The page of bits is what its figures make."""

import re

from benchmarks import bits_page


def test_the_page_is_what_the_figures_make() -> None:
    made = bits_page.page()
    assert bits_page.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.bits_page"
    assert not re.search(r"{[{%]|None|\bnan\b", made)
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(tables) == 4
    assert all(len({line.count("|") for line in table.splitlines()}) == 1 for table in tables)
