"""``lethe attack membership`` on invented letters."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.cli.asking import ANSWERS
from app.cli.main import main
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
from tests.commands import in_process
from tests.hashing_encoder import HashingEncoder

NAMES = ("Quellmann", "Vennstrom", "Tarrant", "Oskeld", "Brumway", "Thessaly")
THINGS = "kiln heron lathe weir barge quarry ferry harp anvil loom plough raft".split()
PLACES = "mill quay barn lodge tower abbey forge croft manor chapel granary smithy".split()
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
    lines = (json.dumps(letter(number)) for number in range(len(THINGS)))
    (small_corpus / "letters.jsonl").write_text("\n".join(lines))
    return small_corpus


def by_score(report: dict[str, Any], arm: str) -> dict[str, dict[str, Any]]:
    (found,) = (each for each in report["arms"] if each["name"] == arm)
    return {each["score"]: each for each in found["scores"]}


def test_members_are_told_from_others_and_another_run_goes_on_or_is_refused(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = letters.with_name("report")
    command = ["attack", "membership", str(letters), "--held-out", "0.5", "--report", str(folder)]
    assert main(command) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
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
    assert "arm origin" in err and "TPR 10%" in err and "5+5" in err and "no attacker knows" in err
    assert {path.name for path in folder.iterdir()} == {"report.html", "summary.json", "rows.jsonl"}
    assert json.loads((folder / "summary.json").read_text()) == report
    page = (folder / "report.html").read_text()
    assert "oracle&#39;s accuracy" in page and "by chance" in page
    assert len(read_rows(folder / "rows.jsonl")) == 3 * len(SCORES) * 10
    again = in_process(capsys, *command)
    assert (again.code, again.summary["arms"][0]["scores"]) == (0, report["arms"][0]["scores"])
    assert len(read_rows(folder / "rows.jsonl")) == 3 * len(SCORES) * 10
    other = in_process(capsys, *command, "--seed", "1")
    assert other.code == 1 and "is of another run" in other.messages[-1]
    for shown in (out, err, *(path.read_text() for path in folder.iterdir())):
        assert not any(word in shown for word in (*NAMES, *THINGS[2:7], "letter-1"))


def test_quoting_answers_are_asked_for_no_yes(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = in_process(capsys, "attack", "membership", str(letters), "--generator", "settings")
    assert list(by_score(ran.summary, "lethe")) == CALIBRATED
    assert (
        f"Left out: {DIRECT}" in ran.summary["notes"][0]
        and "answers are by extractive" in ran.summary["notes"][0]
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--held-out", "1"], 2, "argument --held-out: must be a number above 0 and below 1"),
        (["--candidates", "0"], 2, "argument --candidates: must be a whole number, 1 or more"),
        (["--held-out", "0.99"], 2, "12 documents cannot be held out of 12 different ones: ask for 1 to 11"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    letters: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    ran = in_process(capsys, "attack", "membership", str(letters), *arguments)
    assert ran.code == code and said in ran.err


def test_too_few_documents_are_refused(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (letters / "letters.jsonl").write_text("\n".join(json.dumps(letter(number)) for number in range(9)))
    ran = in_process(capsys, "attack", "membership", str(letters))
    assert ran.code == 1
    assert ran.messages[-1] == (
        "lethe: 9 documents are too few to hold some out and index the rest: give 10 or more, better "
        "hundreds."
    )


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


def asking(monkeypatch: pytest.MonkeyPatch, chat: ChatServer) -> None:
    monkeypatch.setenv("LETHE_GENERATOR__KIND", "openai_compatible")
    monkeypatch.setenv("LETHE_GENERATOR__BASE_URL", chat.url)
    monkeypatch.setenv("LETHE_GENERATOR__MODEL", "player")


def test_a_language_model_is_asked_whether_it_is_there_and_questions_about_it(
    letters: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = letters.with_name("report")
    command = ["attack", "membership", str(letters), "--held-out", "0.5", "--policy", "redact"]
    command += ["--generator", "settings", "-k", "1", "--report", str(folder)]
    with chat_server(answer=playing) as chat:
        asking(monkeypatch, chat)
        ran = in_process(capsys, *command)
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
    assert (
        "Candidates of lethe without an answer that can be read, which are in no figure: "
        f"{DIRECT} (1), {INTERROGATION} (1)."
    ) in report["notes"]
    assert report["notes"][0].startswith(
        "No question could be written about 1 of 10 candidates: their text was "
    )
    assert "player" in report["victim"] and "prompt interrogate v1" in report["shadow"]
    assert (
        "10 questions to the language model, 0 more are answered already: about" in ran.err
        and "to write yes/no questions; then at most 729 questions to the system" in ran.err
    )
    assert (folder / ANSWERS).is_file()
    for path in folder.iterdir():
        assert not any(name.encode() in path.read_bytes() for name in (*NAMES, "lathe")), path.name


def test_the_plan_counts_a_call_for_each_passage_that_is_condensed(
    letters: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["attack", "membership", str(letters), "--candidates", "1", "--policy", "redact", "-k", "2"]
    with chat_server(answer=playing) as chat:
        asking(monkeypatch, chat)
        monkeypatch.setenv("LETHE_GENERATOR__CONDENSE", "true")
        ran = in_process(capsys, *command, "--generator", "settings")
    # Three scores ask about three versions of two candidates and a reference, the fourth 15 questions each.
    assert (
        "then at most 153 questions to the system, each with up to 2 passages, which the model condenses one "
        "by one: 459 calls; fewer candidates take less"
    ) in ran.err
    # What is not in the asked form is asked for once more.
    condensing = [each for each in chat.requests if "You shorten a passage" in str(each["messages"][0])]
    assert 0 < len([each for each in condensing if len(each["messages"]) == 2]) <= 459 - 153


def test_a_remote_model_is_sent_nothing(
    letters: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with chat_server(answer=playing) as chat:
        asking(monkeypatch, chat)
        monkeypatch.setenv("LETHE_GENERATOR__TRUST", "remote")
        ran = in_process(capsys, "attack", "membership", str(letters), "--generator", "settings")
    assert (ran.code, ran.out, chat.requests) == (2, "", [])
    assert 'generator.trust is "remote", and this would send raw documents to the model.' in ran.err


def test_a_model_that_goes_away_is_not_measured(
    letters: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leaving(request: dict[str, Any]) -> Reply:
        return Reply(b"{}", status=401) if role_of(request) == "direct" else playing(request)

    command = ["attack", "membership", str(letters), "--candidates", "1", "--generator", "settings"]
    with chat_server(answer=leaving) as chat:
        asking(monkeypatch, chat)
        ran = in_process(capsys, *command, "--policy", "redact")
    assert ran.code == 1
    found = by_score(ran.summary, "origin")[DIRECT]
    assert found["failures"] == {"ServerRefused": 2} and found["auc"]["value"] is None
    assert by_score(ran.summary, "origin")[RETRIEVAL]["members"] == 1
    # One member and one other: no interval lies above chance.
    first, *others = ran.summary["problems"]
    assert first == (
        "The best similarity did not tell members from others in the unsanitized arm (origin); nothing can "
        "be concluded. Give more documents."
    )
    assert others == [
        f"Not measured in {arm}: {DIRECT} of 2 candidates (ServerRefused 2)."
        for arm in ("origin", "redact", "lethe")
    ]
