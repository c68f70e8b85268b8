"""``lethe bench defences`` on invented letters."""

from pathlib import Path

import pytest

from app.cli.arguments import options_of
from app.cli.defences import OneCaller
from app.cli.main import main
from app.server.quotas.later import TryLater
from app.settings.load import ServerSettings
from eval.studies.defences import ALL, FURTHER, NONE, DefencesReport
from retrieval.documents import Answer, Passage, RetrievedPassage
from tests.commands import write_lines
from tests.doubles import WordEncoder

NAMES = ("Quellmann", "Vennstrom", "Tarrant", "Oskeld", "Brumway", "Thessaly")
ALSO = ("--also", "pirates", "--also", "pirates")
THINGS = "kiln heron lathe weir barge quarry ferry harp anvil loom plough raft".split()


@pytest.fixture
def letters(small_corpus: Path) -> Path:
    texts = (
        f"Mr Tobias {NAMES[number % 6]} wrote about the old {thing} of the harbor town. The {thing} was "
        f"painted red by its keeper in the spring. Call 01632 960 {number + 100} about it at noon."
        for number, thing in enumerate(THINGS)
    )
    rows = ({"id": f"letter-{number}", "text": text} for number, text in enumerate(texts))
    write_lines(small_corpus / "letters.jsonl", rows)
    return small_corpus


def test_tables_and_figures_of_every_defence(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = letters.with_name("out")
    assert main(["bench", "defences", str(letters), "--questions", "6", "--output", str(output), *ALSO]) == 0
    out = capsys.readouterr().out
    report = DefencesReport.model_validate_json((output / "defences.json").read_text(encoding="utf-8"))
    found = {each.defence: each for each in report.defences}
    assert (found[NONE].injected.value or 0) > (found[NONE].injected_without.value or 0)
    assert (found[NONE].canaries.value or 0) > 0.5
    assert found[ALL].canaries.value == 0 and (found[ALL].refused_attacks.value or 0) > 0
    assert report.command == "PATH --questions 6 --also pirates"
    assert {tuple(each.also) for each in report.defences} == {("pirates",)}
    assert "| pirates |" in out
    assert report.limits == {
        "quoted words": 20, "least similarity": 0.5, "level of copies": 0.05, "epsilon of a vector": 10,
        "like questions": 10, "percent of documents": 20,
    }  # fmt: skip
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    for path in output.iterdir():
        content = path.read_text(encoding="utf-8")
        assert not any(word in content for word in (*NAMES, "harbor", "letter-")), path.name
    # Nothing of it is a collection.
    assert not list(letters.parent.glob("data/*/collection.db"))


def test_every_further_attack_can_be_asked_for_and_no_other(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (also,) = (each for each in options_of("bench defences") if each["name"] == "--also")
    assert list(FURTHER) == also["choices"]
    with pytest.raises(SystemExit):
        main(["bench", "defences", str(letters), "--also", "ikea"])
    assert "invalid choice: 'ikea' (choose from 'copybreak', 'pirates', 'dgea')" in capsys.readouterr().err


class Always:
    """Answers everything with a passage of another document."""

    asked = 0

    def ask(self, question: str) -> Answer:
        self.asked += 1
        passage = Passage(self.asked, f"d{self.asked}", 0, 4, "said")
        return Answer("said", (), [RetrievedPassage(passage, 0.5)], "always")


@pytest.mark.parametrize(
    ("limits", "told", "asked"),
    [
        (ServerSettings(alike_questions=2), "asked 2 questions like this one", 2),
        (ServerSettings(documents_percent=20), "its share of the documents", 3),
    ],
)
def test_one_caller_meets_the_budgets_of_the_server(limits: ServerSettings, told: str, asked: int) -> None:
    target = Always()
    caller = OneCaller(target, limits, WordEncoder(), 10)
    for _ in range(2):
        caller.ask("Where is the heron?")
    with pytest.raises(TryLater, match=told):
        caller.ask("Where is the heron?")
    assert target.asked == asked
