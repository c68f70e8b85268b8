"""The records of the benchmark of scale, and its curve."""

from itertools import islice

from benchmarks import ingest_curve


def test_records_are_the_same_each_time_and_all_differ() -> None:
    some = list(ingest_curve.records(300))
    assert some == list(islice(ingest_curve.records(400), 300))
    assert len({record["text"] for record in some}) == len({record["id"] for record in some}) == 300


def test_the_curve_is_read_where_its_numbers_are_reached() -> None:
    seen = [
        (1.0, 0, 5, 1.0),
        (2.0, 10, 9, 3.0),
        (3.0, 1010, 7, 5.0),
        (4.0, 3010, 8, 7.0),
        (5.0, 3010, 8, 7.0),
    ]
    read = [ingest_curve.Taken(*each) for each in seen]
    rows = ingest_curve._rows(read, [100 * number for number in range(4000)])
    shown = ("documents", "characters_per_second", "characters_per_processor_second", "peak_bytes")
    expected = [(1010, 100_000, 50_000, 9), (3010, 200_000, 100_000, 9)]
    assert [tuple(row[name] for name in shown) for row in rows] == expected
