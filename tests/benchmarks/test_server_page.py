"""The page about the server, and the figures that it is made of."""

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from benchmarks import server, server_page
from eval.measures.uncertainty import Estimate


def test_every_figure_is_on_the_page() -> None:
    generator = np.random.default_rng(7)
    scales = {"HTTP": 0.03, "encoder and FAISS": 0.02, "retriever": 0.025}
    taken = {way: (scale * generator.uniform(1, 2, 300)).tolist() for way, scale in scales.items()}
    first_byte, rate = (asdict(Estimate(*each, n=9)) for each in ((71.5, 70.0, 80.0), (61.5, 60.0, 63.0)))
    settings = {"load average before": "0.10"}
    found: dict[str, Any] = {
        "provenance": {"date": "2026-01-05", "hardware": "x", "commit": "c0ffee", "settings": settings},
        **{"passages": 123_456, "questions": 60, "cores": 2, "search": server.searched(taken)},
        "chat": {
            "clients": 4,
            "first byte, milliseconds": {"first time": {"0.5": first_byte, "0.95": first_byte}},
        },
        "searches a second": {"4": rate},
        "seconds until ready": {"runs": [3.0, 3.5, 9.0]},
        "bytes": {"ready": 700_000_000},
    }
    made = server_page.page(found)
    for figure in ("123,456", "71.5 (70.0–80.0)", "61.5 (60.0–63.0)", "3.50 (3.00–9.00)", "0.70", "c0ffee"):
        assert figure in made
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert [len({line.count("|") for line in rows.splitlines()}) for rows in tables] == [1, 1]


def test_a_ratio_of_quantiles_has_the_true_one_in_its_interval() -> None:
    generator = np.random.default_rng(7)
    one = generator.uniform(1, 2, 1000)
    ratio = server.ratio_of_quantiles((3 * one).tolist(), generator.permutation(one).tolist(), 0.99)
    assert ratio.value == pytest.approx(3)
    assert ratio.n == 1000
    assert ratio.low is not None and ratio.high is not None
    assert 2.9 < ratio.low <= 3 <= ratio.high < 3.1


def test_requests_a_second_are_counted_between_the_ends() -> None:
    # Two clients for ten seconds, one answer in a quarter of a second each; one stops answering early.
    rows = [[value for began in np.arange(0, 10, 0.25) for value in (began, 0.25)] for _ in range(2)]
    rate = server.sustained(rows, 10)
    assert (rate.value, rate.n) == (8.0, 8)
