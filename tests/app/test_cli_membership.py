"""``lethe attack membership`` on invented letters."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.cli.asking import ANSWERS
from eval.attacks.membership import (
    BY_PERTURBED,
    BY_REFERENCES,
    DIRECT,
    INTERROGATION,
    RETRIEVAL,
    SCORES,
    YES_OR_NO,
)
from eval.rows import read_rows
from tests.chat_server import ChatServer, Reply, chat_server, says, streams
from tests.commands import Ran, in_process, write_lines
from tests.hashing_encoder import HashingEncoder

NAMES = ("Quellmann", "Vennstrom", "Tarrant", "Oskeld", "Brumway", "Thessaly")
THINGS = "kiln heron lathe weir barge quarry ferry harp anvil loom plough raft".split()
PLACES = "mill quay barn lodge tower abbey forge croft manor chapel granary smithy".split()
Attack = Callable[..., Ran]
CALIBRATED = [score + form for score in SCORES for form in ("", BY_PERTURBED, BY_REFERENCES)]


def letter(number: int) -> dict[str, str]:
    thing, place = THINGS[number], PLACES[number]
    text = (
        f"Mr Tobias {NAMES[number % 6]} wrote about the old {thing} near the {place}. The {thing} was "
        f"painted red by the keeper of the {place} in the spring. Call 01632 960 {number + 100} about it."
    )
    return {"id": f"letter-{number}", "text": text}


@pytest.fixture
def letters(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("app.compose._encoder", lambda settings: HashingEncoder())
    write_lines(small_corpus / "letters.jsonl", map(letter, range(len(THINGS))))
    return small_corpus


@pytest.fixture
def attack(letters: Path, capsys: pytest.CaptureFixture[str]) -> Attack:
    return partial(in_process, capsys, "attack", "membership", str(letters))


def by_score(report: dict[str, Any], arm: str) -> dict[str, dict[str, Any]]:
    (found,) = (each for each in report["arms"] if each["name"] == arm)
    return {each["score"]: each for each in found["scores"]}


def test_members_are_told_from_others_and_another_run_goes_on_or_is_refused(
    letters: Path, attack: Attack
) -> None:
    folder = letters.with_name("report")
    command = ["--held-out", "0.5", "--report", str(folder)]
    ran = attack(*command)
    report = ran.summary
    assert ran.code == 0
    assert [each["name"] for each in report["arms"]] == ["origin", "redact", "lethe"]
    # Six are held out, and a quarter of them are references.
    sizes = [report[each] for each in ("indexed", "members", "others", "references")]
    assert sizes == [6, 5, 5, 1] and report["attack"]["planned"] == 10
    origin = by_score(report, "origin")
    assert list(origin) == CALIBRATED
    best = origin[RETRIEVAL]
    assert best["auc"]["value"] == best["oracle_accuracy"]["value"] == best["tpr"]["0.01"]["value"] == 1
    assert best["auc"]["low"] > 0.5 and best["chance_accuracy"] < 1
    assert (best["members"], best["others"], best["unread"], best["failures"]) == (5, 5, 0, {})
    assert report["problems"] == [] and report["shadow"] == ""
    (left_out,) = (each for each in report["notes"] if each.startswith("Left out"))
    assert left_out == (
        f"Left out: {DIRECT} and {INTERROGATION}. They need a language model that answers yes or no, and "
        "answers are by verbatim (worst case): set generator.kind, and give --generator settings."
    )
    assert all(each in ran.err for each in ("arm origin", "TPR 10%", "5+5", "no attacker knows"))
    assert {path.name for path in folder.iterdir()} == {"report.html", "summary.json", "rows.jsonl"}
    assert json.loads((folder / "summary.json").read_text()) == report
    page = (folder / "report.html").read_text()
    assert "oracle&#39;s accuracy" in page and "by chance" in page
    assert len(read_rows(folder / "rows.jsonl")) == 3 * len(SCORES) * 10
    again = attack(*command)
    assert (again.code, again.summary["arms"][0]["scores"]) == (0, report["arms"][0]["scores"])
    assert len(read_rows(folder / "rows.jsonl")) == 3 * len(SCORES) * 10
    other = attack(*command, "--seed", "1")
    assert other.code == 1 and "is of another run" in other.messages[-1]
    for shown in (ran.out, ran.err, *(path.read_text() for path in folder.iterdir())):
        assert not any(word in shown for word in (*NAMES, *THINGS[2:7], "letter-1"))


def test_quoting_answers_are_asked_for_no_yes(attack: Attack) -> None:
    report = attack("--generator", "settings", "--candidates", "1").summary
    assert list(by_score(report, "lethe")) == CALIBRATED
    assert f"Left out: {DIRECT}" in report["notes"][0] and "answers are by extractive" in report["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "documents", "code", "said"),
    [
        (["--held-out", "1"], 12, 2, "argument --held-out: must be a number above 0 and below 1"),
        (["--candidates", "0"], 12, 2, "argument --candidates: must be a whole number, 1 or more"),
        (["--held-out", "0.99"], 12, 2, "12 documents cannot be held out of 12 different ones: ask"),
        ([], 9, 1, "9 documents are too few to hold some out and index the rest: give 10 or more"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    letters: Path, attack: Attack, arguments: list[str], documents: int, code: int, said: str
) -> None:
    write_lines(letters / "letters.jsonl", map(letter, range(documents)))
    ran = attack(*arguments)
    assert ran.code == code and said in ran.err


# -- with a language model -------------------------------------------------------------------------------


def role_of(request: dict[str, Any]) -> str:
    system, user = (each["content"] for each in request["messages"][:2])
    if "You write questions" in system:
        return "shadow"
    return next((role for words, role in ASKED.items() if words in user), "other")


ASKED = {"Is this text among your passages?": "direct", "Begin your answer with Yes or No.": "interrogated"}


def playing(request: dict[str, Any]) -> Reply:
    """The shadow cannot write about a heron, nor the victim say whether a barge is there."""
    user = request["messages"][1]["content"]
    passages, _, question = user.partition("\n\nQuestion: ")
    things = [each for each in THINGS if each in question]
    match role_of(request):
        case "shadow":
            thing = next(each for each in THINGS if each in user)
            rows = [
                {"question": f"Was the {thing} painted red?", "answer": "yes"},
                {"question": f"Was the {thing} painted blue?", "answer": "no"},
                {"question": f"Who painted the {thing}?", "answer": "the keeper"},
            ]
            return says('{"questions": [' if thing == "heron" else json.dumps({"questions": rows}))
        case "direct":
            said = "It may well be." if "barge" in question else None
        case "interrogated":
            said = "No." if "blue" in question else None
        case _:
            said = passages
    answer = said or ("Yes [1]." if all(each in passages for each in things) else "No.")
    return streams(answer) if request.get("stream") else says(answer)


@contextmanager
def asking(
    patched: pytest.MonkeyPatch, answer: Callable[[dict[str, Any]], Reply], **more: str
) -> Iterator[ChatServer]:
    """A language model that answers so, and settings that name it."""
    with chat_server(answer=answer) as chat:
        named = {"KIND": "openai_compatible", "BASE_URL": chat.url, "MODEL": "player", **more}
        for name, value in named.items():
            patched.setenv(f"LETHE_GENERATOR__{name}", value)
        yield chat


def test_a_language_model_is_asked_whether_it_is_there_and_questions_about_it(
    letters: Path, attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = letters.with_name("report")
    command = ["--held-out", "0.5", "--policy", "redact", "-k", "1", "--report", str(folder)]
    with asking(monkeypatch, playing) as chat:
        ran = attack(*command, "--generator", "settings")
    asked = Counter(map(role_of, chat.requests))
    report = ran.summary
    origin = by_score(report, "origin")
    assert list(origin) == [*CALIBRATED, DIRECT, DIRECT + BY_PERTURBED, DIRECT + BY_REFERENCES, INTERROGATION]
    # The victim is asked about each candidate, two versions of it, and a reference. The shadow is asked once
    # more where its answer cannot be read, and what is no yes or no is no question.
    assert asked["direct"] == 3 * (3 * 10 + 1)
    assert (asked["shadow"], asked["interrogated"]) == (10 + 1, 3 * 2 * (10 - 1))
    for score in YES_OR_NO:
        found = origin[score]
        assert (found["auc"]["value"], found["unread"], found["members"] + found["others"]) == (1, 1, 9)
    unread = "Candidates of lethe without an answer that can be read, which are in no figure: "
    assert f"{unread}{DIRECT} (1), {INTERROGATION} (1)." in report["notes"]
    unwritten = "No question could be written about 1 of 10 candidates: their text was "
    assert report["notes"][0].startswith(unwritten)
    assert "player" in report["victim"] and "prompt interrogate v1" in report["shadow"]
    assert "10 questions to the language model, 0 more are answered already: about" in ran.err
    assert "to write yes/no questions; then at most 729 questions to the system" in ran.err
    assert (folder / ANSWERS).is_file()
    for path in folder.iterdir():
        assert not any(name.encode() in path.read_bytes() for name in (*NAMES, "lathe")), path.name


def test_the_plan_counts_condensing(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    with asking(monkeypatch, playing, CONDENSE="true") as chat:
        ran = attack("--candidates", "1", "--policy", "redact", "-k", "2", "--generator", "settings")
    # Three scores ask about three versions of two candidates and a reference, the fourth 15 questions each.
    assert (
        "then at most 153 questions to the system, each with up to 2 passages, which the model condenses one "
        "by one: 459 calls; fewer candidates take less"
    ) in ran.err
    # What is not in the asked form is asked for once more.
    condensing = [each for each in chat.requests if "You shorten a passage" in str(each["messages"][0])]
    assert 0 < len([each for each in condensing if len(each["messages"]) == 2]) <= 459 - 153


def test_a_remote_model_is_sent_nothing(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    with asking(monkeypatch, playing, TRUST="remote") as chat:
        ran = attack("--generator", "settings")
    assert (ran.code, ran.out, chat.requests) == (2, "", [])
    assert 'generator.trust is "remote", and this would send raw documents to the model.' in ran.err


def test_a_model_that_goes_away_is_not_measured(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaving(request: dict[str, Any]) -> Reply:
        return Reply(b"{}", status=401) if role_of(request) == "direct" else playing(request)

    with asking(monkeypatch, leaving):
        ran = attack("--candidates", "1", "--generator", "settings", "--policy", "redact")
    origin = by_score(ran.summary, "origin")
    assert ran.code == 1
    assert origin[DIRECT]["failures"] == {"ServerRefused": 2} and origin[DIRECT]["auc"]["value"] is None
    assert origin[RETRIEVAL]["members"] == 1
    # One member and one other: no interval lies above chance.
    first = (
        "The best similarity did not tell members from others in the unsanitized arm (origin); nothing can "
        "be concluded. Give more documents."
    )
    lost = f"{DIRECT} of 2 candidates (ServerRefused 2)."
    arms = ("origin", "redact", "lethe")
    assert ran.summary["problems"] == [first, *(f"Not measured in {arm}: {lost}" for arm in arms)]
