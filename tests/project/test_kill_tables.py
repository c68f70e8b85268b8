"""An ingest into a vector database that is killed ends as an undisturbed one. All records are invented."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from app.compose import retriever_of
from app.data_dir import DataDir
from app.settings.load import load_settings
from retrieval.search import DENSE
from tests.commands import write_records
from tests.databases import table_at
from tests.doubles import WordEncoder
from tests.killing import (
    COLLECTION,
    at_steps,
    cheap,
    invented,
    once_all_are_kept,
    run_to_the_end,
    seen,
    was_killed,
)

RECORDS, KILLS = 60, 6
QUESTIONS = ("Who came about the boiler?", "lisinopril", "bees behind the chapel", "an unpaid fine")
Found = list[list[tuple[str, str]]]


def content_of(folder: Path) -> tuple[list[tuple[str, int, str]], Found]:
    """Passages, and what is found by vectors alone; the rows are those of the passages and nothing else."""
    settings = load_settings({"data_dir": str(folder / "data")})
    address = settings.retrieval.index_address
    assert address is not None
    with DataDir(settings).open(COLLECTION) as collection:
        table = table_at(settings.retrieval.index, address.get_secret_value(), collection.manifest.table)
        ids = collection.store.passage_ids()
        assert sorted(table.ids().tolist()) == sorted(ids)
        assert table.count() == len(ids)
        retrieved = retriever_of(collection, WordEncoder(), DENSE).retrieve(QUESTIONS, 5)
        passages = collection.store.passages(ids).values()
    return (
        sorted((each.doc_id, each.start, each.text) for each in passages),
        [[(each.passage.doc_id, each.passage.text) for each in row] for row in retrieved],
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["milvus", "pgvector"])
def test_killed_before_and_while_rows_are_written(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    address_of: Callable[[str], str] = (
        (lambda name: str(tmp_path / f"{name}.db"))
        if kind == "milvus"
        else (lambda name: str(request.getfixturevalue("pgvector")))
    )
    texts, planted = invented(RECORDS)
    arguments = cheap(write_records(tmp_path / "records.jsonl", texts))
    for name in ("undisturbed", "killed"):
        (tmp_path / name / "data").mkdir(parents=True)
        settings = f'[retrieval]\nindex = "{kind}"\nindex_address = "{address_of(name)}"\n'
        (tmp_path / name / "data" / "settings.toml").write_text(settings)
    gaps = run_to_the_end(arguments, tmp_path / "undisturbed")
    generator = random.Random(KILLS)
    steps = at_steps(generator, gaps)
    hits = [
        was_killed(
            arguments,
            tmp_path / "killed",
            next(steps) if number < 2 else once_all_are_kept(RECORDS, generator.uniform(0, gaps[-1])),
        )
        for number in range(KILLS)
    ]
    assert any(hits[2:])
    run_to_the_end(arguments, tmp_path / "killed")
    assert content_of(tmp_path / "killed") == content_of(tmp_path / "undisturbed")
    if kind == "milvus":
        assert seen(tmp_path, planted) == ["records.jsonl"]
