"""``lethe bench attributes``: offline, and with a server that plays attacker and rewriter. Invented posts."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.access.vault import Unsealable
from app.cli.asking import ANSWERS, SealedAnswers
from eval.studies.attributes import AttributesReport
from ingest.protecting.incognitext import read_pairs
from models.errors import LetheError
from tests.chat_server import ChatServer, Reply, chat_server, says
from tests.commands import PLAIN, Ran, in_process, write_lines
from tests.small_models import make_tiny_bart

POSTS = (
    ("My wife says that I snore louder than the night tram.", {"gender": "man", "marital status": "married"}),
    ("My husband burnt the pancakes and I laughed all morning.", {"gender": "woman"}),
    ("As a nurse I have seen stranger things on a ward at night.", {"job": "nurse", "gender": "woman"}),
    ("The kettle is broken again.", {"gender": "man"}),
)
Bench = Callable[..., Ran]
SECRET = "snore"
KEY = b"k" * 32


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    rows = ({"id": f"p{n}", "text": text, "profile": known, "x": 1} for n, (text, known) in enumerate(POSTS))
    write_lines(tmp_path / "posts.jsonl", rows)
    return tmp_path / "posts.jsonl"


@pytest.fixture
def bench(posts: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    def run(*more: str, field: str = "profile") -> Ran:
        return in_process(capsys, "bench", "attributes", str(posts), "--attributes-field", field, *more)

    return run


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A language model, which the settings name."""
    with chat_server(answer=playing) as chat:
        for name, value in (("KIND", "openai_compatible"), ("BASE_URL", chat.url), ("MODEL", "player")):
            monkeypatch.setenv(f"LETHE_GENERATOR__{name}", value)
        yield chat


def report_in(folder: Path) -> AttributesReport:
    return AttributesReport.model_validate_json((folder / "attributes.json").read_bytes())


def test_attackers_and_methods_stand_in_tables(bench: Bench, tmp_path: Path) -> None:
    done = bench("--output", str(tmp_path / "o"))
    assert done.code == 0, done.err
    report = report_in(tmp_path / "o")
    assert (report.documents, report.usage) == (4, {})
    found = {each.method: each for each in report.methods}
    assert list(found) == ["origin", "redact", "lethe", "search"]
    origin = found["origin"]
    assert [origin.rouge.value, origin.unchanged.value] == [1, 1]
    assert origin.cosine.value == pytest.approx(1)
    assert origin.attacks[0].by_attribute["sex"].strict.n == 4
    assert "| origin | lethe-attributes |" in (tmp_path / "o" / "tables.md").read_text()
    assert not any(SECRET in path.read_text() for path in (tmp_path / "o").iterdir())


def playing(request: dict[str, Any]) -> Reply:
    """What the model says, by the role that it is given."""
    system, user = (each["content"] for each in request["messages"][:2])
    if "find out what a text gives away" in system:
        sex = "male" if "wife" in user else "female"
        said = {"attribute": "sex", "reasoning": "", "guesses": [sex], "certainty": 3}
        return says(json.dumps({"inferences": [said]}))
    if "how coherent a text is" in system:
        return says('{"reason": "", "rating": 4}')
    if "with its adapted version" in system:
        scores = {"readability": 8, "meaning": 6, "faithful": 1}
        said = {name: {"reason": "", "score": score} for name, score in scores.items()}
        return says("I will not judge husbands." if "husband" in user else json.dumps(said))
    return says("#\n" + user.partition("Text:\n")[2].replace("wife", "friend").replace("husband", "friend"))


def test_a_language_model_attacks_and_protects_and_is_asked_nothing_twice(
    bench: Bench, tmp_path: Path, model: ChatServer
) -> None:
    kept = tmp_path / "pairs.jsonl"
    more = ["--ask-model", "--output", str(tmp_path / "o"), "--data-dir", str(tmp_path / "d")]
    more += ["--pairs", str(kept), "--also", "als-like", "--also", "sanitize-paraphrase"]
    first = bench(*more)
    assert first.code == 0, first.err
    assert "4 questions to the language model, 0 more are answered already" in first.err
    assert "questions to the language model in all, reckoned from the texts as they are" in first.err
    asked = len(model.requests)
    kept.unlink()
    again = bench(*more)
    assert again.code == 0 and len(model.requests) == asked
    assert "0 questions to the language model, 4 more are answered already" in again.err
    (pair,) = read_pairs(kept)
    assert (pair.attribute, pair.truth, pair.target) == ("sex", "male", "female")
    assert (pair.original, pair.rewritten) == (POSTS[0][0], POSTS[0][0].replace("wife", "friend"))
    assert kept.stat().st_mode & 0o777 == 0o600
    assert f"1 pairs: {kept}. It holds raw texts and what is true of their authors" in first.err
    assert SECRET not in first.err
    report = report_in(tmp_path / "o")
    found = {each.method: each for each in report.methods}
    also = ["als-like", "sanitize-paraphrase"]
    assert list(found) == ["origin", "redact", "lethe", "search", *also, "feedback", "incognitext"]
    assert list(report.engines) == also and "prompt anonymize_text v2" in report.engines[also[1]]
    judged = found["sanitize-paraphrase"].judged
    # (8 / 10 + 6 / 10 + 1) / 3, none for one that was asked for twice, and 1 for two that did not change.
    assert judged["utility"].value == pytest.approx(2.8 / 3) and judged["utility"].n == 3
    assert (judged["coherence"].value, judged["coherence"].n) == (4, 4)
    assert {each.not_judged for each in report.methods} >= {1}
    assert {each.failed for each in report.methods} == {0}
    judges = [name.partition("prompt ")[2] for name in report.judges]
    assert judges == ["judge_coherence v3]", "judge_utility v3]"]
    attackers = [each.attacker.partition(" ")[0] for each in found["origin"].attacks]
    assert attackers == ["lethe-attributes", "adversary"]
    guessed = {name: each.attacks[1].by_attribute["sex"].strict for name, each in found.items()}
    assert (guessed["origin"].hits, guessed["origin"].n, guessed["incognitext"].hits) == (3, 4, 2)
    assert not found["incognitext"].truthful and found["feedback"].truthful
    assert found["incognitext"].stops["sex"] == {"no longer inferred": 1, "rounds": 2, "already safe": 1}
    assert sum(found["feedback"].rounds.values()) == sum(map(len, (known for _, known in POSTS)))
    tables = (tmp_path / "o" / "tables.md").read_text()
    assert "| sanitize-paraphrase * | 0.93" in tables and "*Not judged* counts answers" in tables
    assert "| incognitext * |" in tables and "Asked of the language model: questions: " in tables
    for path in (tmp_path / "o").iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_dp_bart_is_a_method_for_each_budget_and_held_to_nothing(bench: Bench, tmp_path: Path) -> None:
    folder = make_tiny_bart(tmp_path / "tiny-bart")
    done = bench("--dp-bart", str(folder), "--budgets", "10,2500", "--output", str(tmp_path / "o"))
    assert done.code == 0, done.err
    report = report_in(tmp_path / "o")
    assert report.command.endswith("--dp-bart tiny-bart --budgets 10,2500")
    of_bart = [each for each in report.methods if each.method.startswith("dp-bart (tiny-bart, epsilon ")]
    assert ["2500" in each.method for each in of_bart] == [False, True]
    assert not any(each.truthful or each.failed or each.unchanged.value for each in of_bart)
    assert all(each.truthful for each in report.methods if each not in of_bart)
    assert "| dp-bart (tiny-bart, epsilon 10 and delta 1e-05 a text, 8 of 32 neurons pruned) * |" in done.out


FEEDBACK = ["--ask-model", "--pairs", "p.jsonl", "--variant", "feedback"]


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--pairs", "p.jsonl"], 2, "--pairs is for a language model: name one, and give --ask-model"),
        (["--ask-model", "--pairs", "no/p.jsonl"], 2, "--pairs: the folder of no/p.jsonl is not there"),
        (["--ask-model", "--pairs", "."], 2, "--pairs: . is there already"),
        (FEEDBACK, 2, "--pairs needs a variant with a target"),
        (["--target", "sex=male"], 2, "--target is for a language model"),
        *((["--target", wrong], 2, "must be one of age, sex, ") for wrong in ("shoe=9", "sex", "sex=")),
        (["--epsilon", "1"], 2, "--epsilon is for a language model"),
        (["--budgets", "10"], 2, "--budgets are of --dp-bart"),
        (["--ask-model", "--epsilon", "1", "--target", "sex=male"], 2, "--target leaves nothing to draw"),
        (["--ask-model"], 2, "--ask-model needs a language model: set generator.kind"),
        (["--dp-bart", "."], 1, "it needs config.json, safetensors and a tokenizer, for BartForConditional"),
    ],
)
def test_what_cannot_be_measured_or_kept_is_refused(
    bench: Bench, more: list[str], code: int, said: str
) -> None:
    done = bench(*more)
    assert (done.code, said in done.err) == (code, True), done.err


def test_a_target_is_what_somebody_chose_and_a_star_stands_for_each_character(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: ChatServer
) -> None:
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    chosen = ["--variant", "incognitext", "--target", "occupation=chef", "--target", "sex=male"]
    done = bench("--ask-model", *chosen, "--output", str(tmp_path / "o"), "--data-dir", str(tmp_path / "d"))
    assert done.code == 0, done.err
    asked = [request["messages"][1]["content"].splitlines() for request in model.requests]
    wanted = [lines[:2] for lines in asked if any(line.startswith("Wanted value: ") for line in lines[1:])]
    # Of the man the chosen value is true: he gets one that is drawn, and there is one other.
    assert {tuple(line.partition(": ")[2] for line in lines) for lines in wanted} == {
        ("sex", "male"),
        ("sex", "female"),
    }
    assert " ".join(chosen) in report_in(tmp_path / "o").command


def test_a_remote_model_does_not_read_posts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("KIND", "openai_compatible"), ("BASE_URL", "https://x.example/v1"), ("MODEL", "m")):
        monkeypatch.setenv(f"LETHE_GENERATOR__{name}", value)
    done = bench("--ask-model")
    assert (done.code, "would send raw documents to the model" in done.err) == (2, True)


def test_a_field_that_says_nothing_is_an_error(bench: Bench) -> None:
    done = bench(field="x")
    assert done.code in (1, 2)
    assert "Traceback" not in done.err and SECRET not in done.err


def test_answers_are_kept_sealed_and_open_at_their_place_with_their_key_alone(tmp_path: Path) -> None:
    path = tmp_path / ANSWERS
    with SealedAnswers(path, KEY) as answers:
        assert answers.get(b"one") is None
        answers.put(b"one", f"{SECRET} \ud800")
        answers.put(b"one", SECRET)
        answers.put(b"two", "2")
    with SealedAnswers(path, KEY) as answers:
        assert answers.get(b"one") == SECRET
    content = path.read_bytes()
    assert SECRET.encode() not in content and b"one" not in content.replace(b"NOT NULL", b"")
    with SealedAnswers(path, b"o" * 32) as others:
        assert others.get(b"one") is None
    with sqlite3.connect(path) as connection:
        (first, second) = [row[0] for row in connection.execute("SELECT sealed FROM answers")]
        connection.execute("UPDATE answers SET sealed = ? WHERE sealed = ?", (second, first))
    with SealedAnswers(path, KEY) as answers, pytest.raises(Unsealable):
        answers.get(b"one"), answers.get(b"two")


def test_a_file_of_something_else_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / ANSWERS
    path.write_text("no database " * 100)
    with pytest.raises(LetheError, match="cannot be used .DatabaseError.: name another folder with --output"):
        SealedAnswers(path, KEY)
