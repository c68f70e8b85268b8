"""The page about the server, and the figures that it is made of."""

import json
import re
from dataclasses import asdict

import numpy as np
import pytest

from benchmarks import server, server_page
from eval.measures.uncertainty import Estimate


@pytest.mark.skipif(not server.RESULT.exists(), reason="python -m benchmarks.server was not run yet")
def test_the_page_is_what_the_results_make() -> None:
    made = server_page.page(json.loads(server.RESULT.read_text(encoding="utf-8")))
    assert server_page.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.server_page"


def test_every_figure_is_on_the_page() -> None:
    generator = np.random.default_rng(7)
    taken = {
        way: (scale * generator.uniform(1, 2, 300)).tolist()
        for way, scale in {"HTTP": 0.03, "encoder and FAISS": 0.02, "retriever": 0.025}.items()
    }
    found = {
        "provenance": {
            "date": "2026-01-05", "hardware": "invented", "commit": "c0ffee",
            "settings": {"load average before": "0.10"},
        },
        "passages": 123_456, "questions": 60, "cores": 2,
        "search": server.searched(taken),
        "chat": {
            "clients": 4,
            "first byte, milliseconds": {
                "first time": {q: asdict(Estimate(71.5, 70.0, 80.0, n=9)) for q in ("0.5", "0.95")}
            },
        },
        "searches a second": {"4": asdict(Estimate(61.5, 60.0, 63.0, n=9))},
        "seconds until ready": {"runs": [3.0, 3.5, 9.0]},
        "bytes": {"ready": 700_000_000},
    }  # fmt: skip
    made = server_page.page(found)
    for figure in (
        "123,456",
        "71.5 (70.0–80.0)",
        "61.5 (60.0–63.0)",
        "3.50 (3.00–9.00)",
        "0.70",
        "c0ffee",
    ):
        assert figure in made
    tables = re.findall(r"(?:^\|.*\n)+", made, flags=re.MULTILINE)
    assert len(tables) == 2
    for rows in tables:
        assert len({line.count("|") for line in rows.splitlines()}) == 1


def test_a_ratio_of_quantiles_has_the_true_one_in_its_interval() -> None:
    generator = np.random.default_rng(7)
    one = generator.uniform(1, 2, 1000)
    ratio = server.ratio_of_quantiles((3 * one).tolist(), generator.permutation(one).tolist(), 0.99)
    assert ratio.value == pytest.approx(3)
    assert ratio.low is not None
    assert ratio.high is not None
    assert 2.9 < ratio.low <= 3 <= ratio.high < 3.1
    assert ratio.n == 1000


def test_requests_a_second_are_counted_between_the_ends() -> None:
    # Two clients for ten seconds, one answer in a quarter of a second each; one stops answering early.
    rows = [[value for began in np.arange(0, 10, 0.25) for value in (began, 0.25)] for _ in range(2)]
    rate = server.sustained(rows, 10)
    assert (rate.value, rate.n) == (8.0, 8)
