"""Three invented documents from end to end: what is kept, what is answered, what an attacker gets.

``pytest tests/golden --update-golden`` rewrites the expectations; the diff is for a person to read.
"""

import json
from pathlib import Path

import pytest

from app.attacking import extraction
from app.compose import Services
from app.corpus import read_corpus
from app.ingesting import ingest
from app.rows import answer_row, sanitized_row
from app.settings import load_settings
from eval.attacks.extraction import Aim
from eval.attacks.suite import extraction_suite
from ingest.documents import Document, SanitizedDocument
from ingest.read.sources import read_documents

HERE = Path(__file__).parent
INPUT = str(HERE / "inputs" / "documents.jsonl")
QUESTIONS = ("Why was lisinopril stopped?", "What is wrong with the boiler?")


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    return Services(
        load_settings({"data_dir": str(tmp_path_factory.mktemp("golden")), "ingest.keep_ids": True})
    )


def rounded(value: object) -> object:
    """Floats with two decimals, so that another processor's last digits are no difference."""
    match value:
        case float():
            return round(value, 2)
        case dict():
            return {name: rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [rounded(each) for each in value]
        case _:
            return value


def compare(request: pytest.FixtureRequest, name: str, found: object) -> None:
    path = HERE / "expected" / name
    told = json.dumps(rounded(found), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(told, encoding="utf-8")
    assert told == path.read_text(encoding="utf-8")


def test_sanitized(request: pytest.FixtureRequest, services: Services) -> None:
    documents = [r.item for r in read_documents([INPUT]) if isinstance(r.item, Document)]
    outcomes = services.sanitizer().sanitize(documents)
    compare(
        request, "sanitized.json", [sanitized_row(o) for o in outcomes if isinstance(o, SanitizedDocument)]
    )


def test_answers(request: pytest.FixtureRequest, services: Services) -> None:
    ingest(services, "golden", read_documents([INPUT]))
    with services.open("golden") as collection:
        found = services.retriever(collection).retrieve(QUESTIONS, 3)
        pairs = zip(QUESTIONS, found, strict=True)
        answers = [
            answer_row(services.generator.generate(question, passages)) for question, passages in pairs
        ]
    compare(request, "answers.json", answers)


def test_audit(request: pytest.FixtureRequest, services: Services) -> None:
    corpus = read_corpus(services, read_documents([INPUT]), gold=None)
    report = extraction(services, corpus, extraction_suite(list(Aim), n=5, seed=0))
    arms = [
        arm.model_dump(mode="json", include={"name", "entity_leakage", "coverage"}) for arm in report.arms
    ]
    compare(request, "audit.json", arms)
