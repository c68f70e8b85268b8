"""Three invented documents from end to end: what is kept, what is answered, what an attacker gets.

``pytest tests/golden --update-golden`` rewrites the expectations; the diff is for a person to read.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.compose import retriever_of, system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.rows import answer_row, sanitized_row
from app.settings.load import load_settings
from eval.attacks.extraction import Aim, extraction_suite
from eval.corpora.corpus import read_corpus
from eval.studies.extraction import extraction
from ingest.deciding.policy import PolicyName
from ingest.documents import Document, SanitizedDocument
from ingest.read.sources import read_documents
from retrieval.search import HYBRID
from retrieval.system import System
from retrieval.writing import whole

HERE = Path(__file__).parent
INPUT = str(HERE / "inputs" / "documents.jsonl")
QUESTIONS = ("Why was lisinopril stopped?", "What is wrong with the boiler?")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataDir:
    folder = str(tmp_path_factory.mktemp("golden"))
    return DataDir(load_settings({"data_dir": folder, "ingest.keep_ids": True, "numbers": "float32"}))


@pytest.fixture(scope="module")
def system(data: DataDir) -> System:
    return system_of(data.settings)


def _coarse(name: str, value: object) -> object:
    """Bits to two figures: they are sums, and processors differ in the last digits of each part."""
    if isinstance(value, float) and name in ("priority", "bits") and value:
        return float(f"{value:.1e}")
    return value


def rounded(value: object) -> object:
    """Floats with two decimals, so that another processor's last digits are no difference."""
    match value:
        case float():
            return round(value, 2)
        case dict():
            return {name: rounded(_coarse(name, each)) for name, each in value.items()}
        case list() | tuple():
            return [rounded(each) for each in value]
        case _:
            return value


def compare(request: pytest.FixtureRequest, name: str, found: object) -> None:
    path = HERE / "expected" / name
    content = json.dumps(rounded(found), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert content == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("policy", "name"), [("lethe", "sanitized_lethe.json"), ("trip", "sanitized.json")])
def test_sanitized(request: pytest.FixtureRequest, system: System, policy: PolicyName, name: str) -> None:
    system = replace(system, policy=replace(system.policy, name=policy))
    documents = [r.item for r in read_documents([INPUT]) if isinstance(r.item, Document)]
    outcomes = system.sanitizer().sanitize(documents)
    compare(request, name, [sanitized_row(o) for o in outcomes if isinstance(o, SanitizedDocument)])


def test_the_texts_are_the_same_in_half_the_bits(data: DataDir) -> None:
    settings = data.settings.model_copy(update={"numbers": "bfloat16"})
    documents = [r.item for r in read_documents([INPUT]) if isinstance(r.item, Document)]
    outcomes = system_of(settings).sanitizer().sanitize(documents)
    expected = json.loads((HERE / "expected" / "sanitized_lethe.json").read_text(encoding="utf-8"))
    found = [each.text for each in outcomes if isinstance(each, SanitizedDocument)]
    assert found == [each["text"] for each in expected]


def test_answers(request: pytest.FixtureRequest, system: System, data: DataDir) -> None:
    ingest(system, data, "golden", read_documents([INPUT]))
    with data.open("golden") as collection:
        found = retriever_of(collection, system.encoder, HYBRID).retrieve(QUESTIONS, 3)
        pairs = zip(QUESTIONS, found, strict=True)
        answers = [
            answer_row(whole(system.generator.write(question, passages))) for question, passages in pairs
        ]
    compare(request, "answers.json", answers)


def test_audit(request: pytest.FixtureRequest, system: System, data: DataDir) -> None:
    corpus = read_corpus(read_documents([INPUT]), data.public_ids)
    report = extraction(system, corpus, extraction_suite(list(Aim), n=5, seed=0))
    arms = [
        arm.model_dump(mode="json", include={"name", "entity_leakage", "coverage"}) for arm in report.arms
    ]
    compare(request, "audit.json", arms)
