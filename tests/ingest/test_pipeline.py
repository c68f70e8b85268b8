"""Every text of a run is kept, however ids and batches fall. All texts are invented."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.keys import content_key
from ingest.pipeline import Arriving, Begin, Intake, Limits, Pipeline, Tally, at_once
from ingest.protocols import Outcomes
from ingest.read.reading import Reading
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import LetheError
from models.progress import report
from retrieval.passages import Writer, preparing
from retrieval.store.database import CutDocument, Store
from tests.doubles import FailingDetector, WordEncoder

KEY = b"k" * 32
BAD = "poison"
PREPARE = preparing(DecidingSanitizer(FailingDetector(BAD), REDACT, RiskPrior()), WordEncoder(), 16)
IDS, TEXTS = ("1", "2", "3", "4"), ("ash", "birch", "cedar", "oak", BAD)

Run = Sequence[tuple[str, str]]
RUNS = st.lists(
    st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(TEXTS)), max_size=8), min_size=1, max_size=4
)


def arriving(*documents: Document) -> list[Arriving[Document]]:
    return [Intake(lambda ids: ids, KEY).arriving(Reading(each, len(each.text))) for each in documents]


def carry(store: Store, run: Run, batch: int, ahead: int = 0) -> Tally:
    pipeline = Pipeline(at_once(PREPARE), Limits(documents=batch), ahead)
    return pipeline.run(arriving(*(Document(doc_id, text) for doc_id, text in run)), Writer(store))


def named(store: Store) -> dict[str, str]:
    """What each id names, the ids of duplicates among them."""
    texts = {content_key(text, KEY): text for text in TEXTS}
    rows = store._connection.execute(
        "SELECT doc_id, content_key FROM documents UNION ALL "
        "SELECT alias, content_key FROM aliases JOIN documents USING (doc_id)"
    ).fetchall()
    assert len(dict(rows)) == len(rows), "an id names two texts"
    return {doc_id: texts[key] for doc_id, key in rows}


def expected(before: Mapping[str, str], run: Run) -> tuple[dict[str, str], int, int]:
    """What the ids name after a run, how many arrivals were carried or there already, how many failed."""
    names, seen, failed = dict(before), set[str](), 0
    for doc_id, text in run:
        if text == BAD or (doc_id in seen and names[doc_id] != text):
            failed += 1
        else:
            names[doc_id] = text
            seen.add(doc_id)
    return names, len(run) - failed, failed


@settings(max_examples=150, deadline=None)
@given(RUNS, st.integers(1, 9), st.integers(0, 3))
def test_no_text_is_lost_and_nothing_is_counted_that_is_not_there(
    runs: list[Run], batch: int, ahead: int
) -> None:
    store, names = Store(None), dict[str, str]()
    for run in runs:
        tally = carry(store, run, batch, ahead)
        names, there, failed = expected(names, run)
        assert named(store) == names
        assert (tally.kept + tally.duplicates, tally.failed) == (there, failed)
        passages = store._connection.execute("SELECT text FROM passages").fetchall()
        assert sorted(text for (text,) in passages) == sorted(set(names.values()))
    store.close()


def test_a_clash_takes_no_text_from_another_document() -> None:
    store = Store(None)
    tally = carry(store, [("1", "ash"), ("1", "birch"), ("2", "birch")], 32)
    assert named(store) == {"1": "ash", "2": "birch"}
    assert (tally.kept, tally.duplicates, tally.failed) == (2, 0, 1)
    assert tally.failures[0].reason.startswith("another document of this run has the same id.")


def test_copies_of_what_fails_fail_too() -> None:
    tally = carry(Store(None), [("1", BAD), ("2", BAD), ("1", "ash")], 32)
    assert (tally.kept, tally.duplicates, tally.failed) == (1, 0, 2)


def test_a_changed_document_that_fails_leaves_the_old_version_and_says_so() -> None:
    store = Store(None)
    carry(store, [("1", "ash")], 32)
    tally = carry(store, [("1", BAD), ("2", BAD)], 32)
    assert named(store) == {"1": "ash"}
    assert (tally.kept, tally.replaced, tally.failed) == (0, 0, 2)
    assert [failure.reason for failure in tally.failures] == [
        "document 1 was not indexed: detection failed (RuntimeError); the version kept before stays. Erase "
        "it if it must go.",
        "document 2 was not indexed: detection failed (RuntimeError); nothing of it was kept",
    ]


def test_what_fails_is_told_by_the_place_that_it_was_read_at() -> None:
    pipeline = Pipeline(at_once(PREPARE), Limits())
    intake = Intake(lambda ids: [f"doc-{each}" for each in ids], KEY)
    read = [
        Document("1", "ash", {"source": "a.csv", "place": "a.csv, line 2"}),
        Document("1", "oak", {"source": "a.csv", "place": "a.csv, line 3"}),
        Document("2", BAD, {"source": "b.txt"}),
        Document("3", BAD),
    ]
    readings = [Reading(document, 0) for document in read]
    failures = pipeline.run(map(intake.arriving, readings), Writer(Store(None))).failures
    assert [failure.place for failure in failures] == ["a.csv, line 3", "b.txt", "doc-3"]
    assert ["doc-2" in failures[1].reason, "doc-3" in failures[2].reason] == [True, True]


class Stopped(LetheError):
    """What somebody who follows the progress raises."""


def reading_models(documents: Sequence[Document]) -> list[SanitizationError]:
    for _ in range(10):
        report(len(documents[0].text) // 10)
    return [SanitizationError(each.doc_id, "it is a test") for each in documents]


def test_a_long_document_is_seen_to_go_on() -> None:
    text = "ash " * 1_000
    seen = list[int]()
    begin: Begin[Document, CutDocument] = at_once(reading_models)
    pipeline, writer = Pipeline(begin, Limits()), Writer(Store(None))
    pipeline.run(arriving(Document("1", text)), writer, lambda tally: seen.append(tally.bytes_done))
    assert seen == sorted(seen) and len(set(seen)) >= 7
    assert (seen[0] < 400, seen[-1]) == (True, 4_000)


def test_a_long_document_can_be_ended_and_nothing_of_it_is_stored() -> None:
    def ends(tally: Tally) -> None:
        if tally.worked:
            raise Stopped

    store = Store(None)

    def reading(documents: Sequence[Document]) -> Outcomes[CutDocument]:
        report(1)
        return PREPARE(documents)

    with pytest.raises(Stopped):
        Pipeline(at_once(reading), Limits()).run(arriving(Document("1", "ash")), Writer(store), ends)
    assert named(store) == {}
