"""What settings put around a search, in a server and on the command line. All texts are invented."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli.main import main
from app.compose import defending
from app.data_dir import DataDir
from app.erasing import erase_with_proof, sought
from app.server.served import DataCollections
from app.settings.load import load_settings
from models.errors import ConfigurationError
from retrieval.documents import Passage, RetrievedPassage
from retrieval.search import NEAREST
from tests.commands import in_process, write_records
from tests.doubles import Scripted
from tests.tiny_encoder import make_tiny_cross_encoder

THINGS = (
    "kiln heron lathe weir barge quarry ferry harp anvil loom plough raft forge sieve bellows churn pulley "
    "wharf trellis spindle cistern lantern mortar saddle"
).split()
NOTES = ["Invented note." + f" The {thing} was painted by its keeper at noon." * 5 for thing in THINGS]
WHOLE, ASKED = NOTES[0], "Who painted the kiln?"
MODEL = {"generator.kind": "openai_compatible", "generator.model": "m"}
LOCAL, REMOTE = "http://127.0.0.1:1/v1", "https://models.example/v1"


class Shelf:
    """Finds three passages, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], int]] = []

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        self.asked.append(([*questions], k))
        passages = [Passage(n, f"d{n}", 0, len(text), text) for n, text in enumerate(NOTES[:3])]
        return [
            [RetrievedPassage(each, 0.4 + 0.1 * each.passage_id, 1.5) for each in passages] for _ in questions
        ]


def test_all_of_it_or_nothing_is_put_around_a_search_as_the_settings_say(tmp_path: Path) -> None:
    shelf = Shelf()
    assert defending(load_settings({}), None)(shelf, lambda: 3) is shelf
    folder = make_tiny_cross_encoder(tmp_path / "tiny")
    search = {
        "least_similarity": 0.5,
        "hide_copies": 0.05,
        "reranker": str(folder),
        "rewrite_questions": True,
    }
    settings = load_settings({**MODEL, "generator.base_url": LOCAL, "retrieval": search})
    model = Scripted(lambda role, question, seed: "#\nBy whom was the kiln painted?")
    (found,) = defending(settings, model)(shelf, lambda: 3).retrieve([ASKED], 2)
    assert shelf.asked == [(["By whom was the kiln painted?"], NEAREST)]
    assert {each.passage.doc_id for each in found} == {"d1", "d2"}
    # The reranker's scores, in its order.
    assert all(each.score != 1.5 for each in found) and found[0].score >= found[1].score


def test_questions_are_rewritten_by_a_local_model_or_not_at_all() -> None:
    rewriting = load_settings({"retrieval.rewrite_questions": True})
    remote = load_settings({**MODEL, "generator.base_url": REMOTE, "retrieval.rewrite_questions": True})
    needed = r"^retrieval\.rewrite_questions needs a language model"
    with pytest.raises(ConfigurationError, match=f"{needed}: set "):
        defending(rewriting, None)
    with pytest.raises(ConfigurationError, match=r'^generator\.trust is "remote", and retrieval\.rewrite_qu'):
        defending(remote, Scripted(lambda role, question, seed: "#\nnew"))
    with pytest.raises(ConfigurationError, match=needed):
        DataCollections(DataDir(rewriting))


@pytest.fixture
def notes(small_corpus: Path) -> Path:
    """The data folder, with a collection of the notes."""
    path = str(write_records(small_corpus / "notes.jsonl", NOTES))
    assert main(["ingest", path, "-c", "notes", "--policy", "redact"]) == 0
    return small_corpus.with_name("data")


def searched(question: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [row["text"] for row in in_process(capsys, "search", question, "-c", "notes").rows]


def there(found: Sequence[str]) -> bool:
    """Whether a passage of the first note is among them."""
    return any(each.startswith(WHOLE[:60]) for each in found)


def test_command_and_server_search_as_the_settings_say(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert there(searched(WHOLE, capsys)) and there(searched(ASKED, capsys))
    monkeypatch.setenv("LETHE_RETRIEVAL__HIDE_COPIES", "0.2")
    hidden = searched(WHOLE, capsys)
    assert len(hidden) == 5 and not there(hidden)
    assert there(searched(ASKED, capsys))
    served = DataCollections(DataDir(load_settings({}))).get("notes")
    assert [each.passage.text for each in served.retriever_for(None).retrieve([WHOLE], 5)[0]] == hidden
    assert there([each.passage.text for each in served.bare.retrieve([WHOLE], 5)[0]])
    monkeypatch.setenv("LETHE_RETRIEVAL__LEAST_SIMILARITY", "1")
    assert searched(ASKED, capsys) == []
    assert in_process(capsys, "ask", ASKED, "-c", "notes").summary["passages"] == []


def test_what_proves_an_erasure_hides_nothing(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_RETRIEVAL__HIDE_COPIES", "0.2")
    monkeypatch.setattr(
        "app.erasing._elsewhere",
        lambda settings, name, ids: DataDir(settings).open(name).erase_all(ids),
    )
    data = DataDir(load_settings({}))
    served = DataCollections(data)
    with data.open("notes") as collection:
        doc_id = next(each.doc_id for each in collection.store.documents())
    asked = sought(data, "notes", [doc_id])
    receipt = erase_with_proof(data, "notes", asked, lambda: served.get("notes").bare)
    assert (receipt.proof.before.found, receipt.proof.after.found) == (2, 0)
