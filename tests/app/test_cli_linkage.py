"""``lethe bench linkage`` on invented letters and exam questions."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.cli.asking import ANSWERS
from app.cli.main import main
from eval.rows import read_rows
from eval.studies.linkage.report import METHODS, VERSION_1, VERSION_2, Attack, LinkageReport, MethodFigures
from tests.chat_server import ChatServer, Reply, chat_server, says
from tests.commands import in_process, write_lines

MEDQA = ["--corpus", "medqa"]
Capsys = pytest.CaptureFixture[str]
NAMES = ("Ada Quell", "Tobias Vane", "Mira Holm", "Jonas Rook", "Edda Marsh", "Ilse Thorn", "Piet Sand")
THINGS = ("kiln", "heron", "lathe", "weir", "barge", "quarry", "ferry")
SECRETS = ("Quell", "Vane", *THINGS)


def record(number: int) -> dict[str, object]:
    name, thing = NAMES[number], THINGS[number]
    text = (
        f"{name} mends a {thing} at noon. The {thing} of {name} is red. The roof of the house leaks badly. "
        f"Number {number}{number} is painted on the {thing}. The dog of the {thing} barks. "
        "What is to be mended?"
    )
    options = {letter: f"the {each}" for letter, each in zip("ABCD", THINGS[number:] + THINGS, strict=False)}
    return {"id": f"exam-{number}", "question": text, "options": options, "answer_idx": "A"}


@pytest.fixture
def exams(small_corpus: Path) -> Path:
    write_lines(small_corpus / "data.jsonl", map(record, range(len(NAMES))))
    return small_corpus


def measured(exams: Path, *more: str) -> tuple[LinkageReport, dict[str, MethodFigures]]:
    """The report of a run, and its figures by method."""
    output = exams.with_name("out")
    assert main(["bench", "linkage", str(exams), *MEDQA, "--output", str(output), *more]) == 0
    report = LinkageReport.model_validate_json((output / "linkage.json").read_text(encoding="utf-8"))
    return report, {each.method: each for each in report.methods}


def test_tables_figures_and_rows_of_every_method(exams: Path, capsys: Capsys) -> None:
    output = exams.with_name("out")
    report, found = measured(exams)
    out = capsys.readouterr().out
    assert tuple(found) == METHODS
    origin, redact, removed = (found[name] for name in ("origin", "redact", "everything removed"))
    # Seven documents: chance is one in seven, and what was not sanitized is linked and tells everything.
    assert report.documents == 7 and report.chance == pytest.approx(1 / 7)
    assert (origin.main.linkage.rate.value, origin.main.distance.mean.value) == (1, 0)
    assert origin.facts.value == origin.claims.value == origin.mauve == 1
    assert origin.main.leaked.value == 1
    assert redact.rate_minus_redact.value == 0 and redact.facts_over_redact.value == 1
    assert origin.rate_minus_redact.value == 1 - (redact.main.linkage.rate.value or 0)
    # Where nothing is, nothing is found: every document is skipped.
    assert (removed.main.linkage.rate.value, removed.main.linkage.skipped) == (0, 7)
    assert (removed.main.linkage.worst.value, removed.facts.value) == (1, 0)
    ends = removed.main.distance
    assert (ends.mean.value, ends.worst.value, ends.best.value) == (None, 0, 1)
    assert origin.accuracy is not None and report.chance_answer == 0.25
    assert origin.hidden.mean.value is None and origin.classes is None
    assert Counter(each.part for each in report.attacks).items() >= {("linker", 5), ("known", 5)}
    assert report.main == VERSION_2 and report.command == "PATH --corpus medqa"
    assert "**Warning**: judge[lexical-3level] compares words" in out
    assert "published, not comparable" in out and "By chance 0.143 would be linked right" in out
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    assert {row.system for row in read_rows(output / "rows.jsonl")} == set(METHODS)
    for path in output.iterdir():
        content = path.read_text(encoding="utf-8")
        assert not any(secret in content for secret in SECRETS), path.name


def test_a_second_run_goes_on_and_other_documents_are_another_run(exams: Path, capsys: Capsys) -> None:
    kept = exams.with_name("out") / "rows.jsonl"
    quick = ["--paper", "1", "--quick"]
    one, _ = measured(exams, *quick)
    assert one.main == VERSION_1 and one.command == "PATH --corpus medqa --paper 1 --quick"
    rows = kept.read_bytes()
    other, _ = measured(exams, *quick)
    assert kept.read_bytes() == rows
    assert one.methods == other.methods and not one.attacks
    # A run that was killed is measured again from there, with the same figures.
    kept.write_bytes(rows[: len(rows) // 2])
    measured(exams, *quick)
    assert sorted(kept.read_bytes().splitlines()) == sorted(rows.splitlines())
    command = ["bench", "linkage", str(exams), *MEDQA, *quick, "--output", str(kept.parent)]
    ran = in_process(capsys, *command, "--documents", "5")
    assert (ran.code, "is of another run" in ran.err) == (1, True)


def test_the_attack_and_the_judge_are_those_that_are_named(exams: Path, capsys: Capsys) -> None:
    named = ["--linker", "rouge", "--known", "last", "-k", "2", "--words", "own"]
    report, found = measured(exams, "--quick", *named, "--judge", "trained")
    assert report.main == Attack("rouge", "last", 2, "own")
    for option, value in zip(named[::2], named[1::2], strict=True):
        assert f"{option} {value}" in report.command
    assert report.engines["linker"] == "ROUGE-L recall, joined over documents"
    assert report.engines["judge"] == "judge[lethe-judge-3level]" and report.warning == ""
    assert "--judge trained" in report.command and "judge[lethe-judge-3level]" in capsys.readouterr().out
    assert found["origin"].claims.value == 1 and found["everything removed"].claims.value == 0


def test_a_folder_with_one_document_is_too_little(small_corpus: Path, capsys: Capsys) -> None:
    text = "Ada Quell mends the big old kiln at noon every day. The weir was painted green by her cousins "
    text += "in spring. It took them a week to carry all the ladders to the weir."
    (small_corpus / "a.txt").write_text(text)
    assert main(["bench", "linkage", str(small_corpus)]) == 2
    assert "among so few nothing can be linked wrongly" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "policy", "said"),
    [
        (["--corpus", "letters"], "lethe", "There is no corpus 'letters'"),
        (["-k", "6"], "lethe", "invalid choice: 6"),
        (MEDQA, "redact", "the settings say redact"),
        ([*MEDQA, "--ask-model"], "lethe", "--ask-model needs a language model: set generator.kind"),
        ([*MEDQA, "--also", "iterative"], "lethe", "--also iterative rewrites by a language model: add --"),
        ([*MEDQA, "--judge", "model"], "lethe", "--judge model is the language model: add --ask-model."),
    ],
)
def test_what_cannot_be_measured_is_refused(
    exams: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, more: list[str], policy: str, said: str
) -> None:
    monkeypatch.setenv("LETHE_POLICY__NAME", policy)
    ran = in_process(capsys, "bench", "linkage", str(exams), *more)
    assert (ran.code, said in ran.err) == (2, True), ran.err


ROLES = {
    "take a text apart": "atoms",
    "say a statement in other words": "known",
    "compare claims with a text": "judge",
    "how coherent": "coherence",
    "change a text so that nobody": "anonymize",
    "other words and other sentences": "reword",
    "find out what a text gives away": "infer",
    "what a reader inferred": "answer",
    "what people disclose": "disclose",
    "take an exam": "exam",
    "up to ten attributes": "name",
    "a list of attributes alone": "write",
    "may be published": "check",
    "checks it for privacy": "refine",
}
METHODS_BY_MODEL = ("sanitize-paraphrase", "iterative", "disclosure-abstraction", "sage")


def role_of(request: dict[str, Any]) -> str:
    return next(role for words, role in ROLES.items() if words in request["messages"][0]["content"])


def synthesizing(role: str, user: str, text: str) -> Reply:
    """It names the whole text as one attribute, writes that, and calls it safe without a name."""
    if role == "name":
        return says(json.dumps({"attributes": [{"name": "text", "value": text}]}))
    if role == "write":
        return says("#\n" + user.partition("text: ")[2])
    named = any(name in text for name in NAMES)
    return says(json.dumps({"safe": not named, "changes": ["say no name"] if named else []}))


def playing(request: dict[str, Any]) -> Reply:
    """What the model says in its role. It is unable to judge how coherent a text about a heron is."""
    user = request["messages"][1]["content"]
    text, _, claims = user.partition("Text:\n")[2].partition("\n\nClaims:\n")
    match role_of(request):
        case "atoms":
            parts = text.removesuffix(".").split(". ")
            return says("".join(f"{number}. {part}\n" for number, part in enumerate(parts, start=1)))
        case "known":
            return says("#\n" + " ".join(reversed(user.partition("Statement:\n")[2].split())))
        case "judge":
            told = [line.partition(". ")[2] in text for line in claims.splitlines()]
            ratings = [1 if each else 3 for each in told]
            rows = [{"claim": n, "reason": "", "rating": each} for n, each in enumerate(ratings, start=1)]
            return says(json.dumps({"ratings": rows}))
        case "exam":
            # It knows the answer where it is told of a person, and of some it will not speak.
            known = user.partition("Question:")[0]
            named = any(map(known.__contains__, NAMES))
            return says("I will not." if "ferry" in known else "A" if named else "B")
        case "coherence":
            return says("I cannot say." if "heron" in text else '{"reason": "", "rating": 4}')
        case "infer":
            row = {"attribute": "occupation", "reasoning": "", "guesses": ["miller"], "certainty": 1}
            return says(json.dumps({"inferences": [row]}))
        case "disclose":
            found = [{"words": name, "instead": ["somebody"]} for name in NAMES]
            return says(json.dumps({"disclosures": found}))
        case "name" | "write" | "check" as role:
            return synthesizing(role, user, text)
        case _:
            for name in NAMES:
                text = text.replace(name, "somebody")
            return says(f"#\n{text}")


def asking(monkeypatch: pytest.MonkeyPatch, chat: ChatServer) -> None:
    monkeypatch.setenv("LETHE_GENERATOR__KIND", "openai_compatible")
    monkeypatch.setenv("LETHE_GENERATOR__BASE_URL", chat.url)
    monkeypatch.setenv("LETHE_GENERATOR__MODEL", "player")


def test_a_language_model_cuts_rewords_judges_and_rewrites_and_is_asked_nothing_twice(
    exams: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    output = exams.with_name("out")
    more = ["--quick", "--ask-model", "--data-dir", str(exams.with_name("d")), "--also", "als-like"]
    more += [word for name in METHODS_BY_MODEL for word in ("--also", name)]
    with chat_server(answer=playing) as chat:
        asking(monkeypatch, chat)
        measured(exams, *more)
        ran = capsys.readouterr()
        asked = Counter(map(role_of, chat.requests))
        (output / "rows.jsonl").unlink()
        report, found = measured(exams, *more)
        assert Counter(map(role_of, chat.requests)) == asked
    assert list(found) == [*METHODS, "als-like", *METHODS_BY_MODEL]
    # The second round finds what the first wrote, and the third finds the same.
    assert (asked["infer"], asked["answer"]) == (2 * 7, 2 * 7)
    assert 7 < asked["known"] <= 3 * 7 and asked["atoms"] < len(found) * 7
    assert (asked["anonymize"], asked["reword"], asked["disclose"]) == (7, 7, 7)
    # Every text is named, written and checked; those with a name are refined, and checked again.
    assert asked["name"] == asked["write"] == 7 and 7 < asked["check"] == 7 + asked["refine"] <= 2 * 7
    assert asked["judge"] % 5 == 0
    told = "questions to the language model in all, reckoned from the originals, with claims cut by rule"
    assert told in ran.err
    first = found["origin"]
    assert (first.main.distance.mean.value, first.main.linkage.rate.value) == (0, 1)
    assert first.claims.value == 1 and report.claims.value == 5
    emptied = found["everything removed"]
    assert first.accuracy is not None and emptied.accuracy is not None
    assert (first.accuracy.hits, first.unanswered, emptied.accuracy.hits, emptied.unanswered) == (6, 1, 0, 0)
    assert report.answerer == f"exam[{report.engines['claims'][6:].partition(',')[0]}, prompt answer_exam v2]"
    # One of seven texts could not be judged, and nothing is no text.
    assert first.coherence is not None and (first.coherence.value, first.coherence.n) == (4, 6)
    assert (first.not_judged, found["everything removed"].not_judged) == (1, 7)
    names = ["split_claims v2", "reword_claim v2", "judge_claims v1", "judge_coherence v3"]
    for part, name in zip(("claims", "known claims", "judge", "coherence"), names, strict=True):
        assert f"prompt {name}" in report.engines[part] and "player" in report.engines[part]
    assert all("player" in report.engines[name] for name in METHODS_BY_MODEL) and report.warning == ""
    assert "player" not in report.engines["als-like"]
    tables = (output / "tables.md").read_text(encoding="utf-8")
    assert "| coherence | not judged |" in tables and "Asked of the language model: questions: " in tables
    assert report.command.endswith(
        "--ask-model --also als-like --also sanitize-paraphrase --also iterative "
        "--also disclosure-abstraction --also sage --quick"
    )
    assert report.usage["unreadable"] == report.usage["repaired"]
    for path in output.iterdir():
        content = path.read_bytes()
        assert not any(secret.encode() in content for secret in SECRETS), path.name
    assert (output / ANSWERS).is_file()


def test_a_judge_that_is_named_judges_beside_a_model(exams: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = ["--quick", "--documents", "3", "--ask-model", "--judge", "lexical", "--words", "own"]
    with chat_server(answer=playing) as chat:
        asking(monkeypatch, chat)
        report, _ = measured(exams, *more)
        assert set(map(role_of, chat.requests)) == {"atoms", "coherence", "exam"}
    assert report.engines["judge"] == "judge[lexical-3level]" and "player" in report.engines["claims"]
