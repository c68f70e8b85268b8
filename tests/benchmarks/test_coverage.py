"""The page of what can be run is up to date and has every row of the papers; its checks find faults."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from benchmarks import coverage
from benchmarks.coverage import ADAPTER, BY_PATH, NOT_DONE, OFFLINE, STATES, Paper, Row, faults, papers_in
from eval.attacks.claims import Choice
from eval.studies.defences import ABSENT
from eval.studies.intact.order import DOU, METHODS, PUBLISHED
from eval.studies.linkage.report import LINKERS
from models.errors import LetheError

ROWS = {
    "TRIP-RAG (Zhu et al.)": """
        TRIP-RAG, full | TRIP-RAG, privacy only | TRIP-RAG, without topic | TRIP-RAG, without knowledge |
        Entity detection (NER stage) | Surrogate training | Label-size curve | Threshold determination |
        Generalization map | Redact | Paraphrase | LPRAG | Origin | Recall@k overlap | BLEU, BLEU-1 and
        ROUGE-L of answers | Leakage under the extraction attack | Grid of weights | Spearman of pairs of
        features | Spearman of surrogate and people
    """,
    "INTACT (Pilán et al.)": """
        INTACT, generation of candidates | INTACT, selection by inference attack | Rules for dates | Most
        specific | Least specific | Suppression | Entity type | Presidio, synthetic values | Abstraction (Dou
        et al.) | TPS | TIC and RIC | NMI of clusters | TRIR | Truthfulness and abstraction | Histogram of
        candidate ranks | Fallback by type | Similarity of replacements by type
    """,
    "IncogniText": """
        IncogniText, headline | IncogniText, no target | IncogniText, no early stopping | IncogniText,
        anonymizer sees the inference | IncogniText, anonymizer sees the truth | IncogniText, anonymizer sees
        both | IncogniText, adversary sees the truth | Target value, fixed | Target value, drawn at random |
        Target value, of the user's choice | Target value by randomized response | Several attributes at once
        | Histogram of iterations | Accuracy of the attacker by attribute | LoRA distillation
        | Protection without a language model | Azure
        language service (ALS) | DP-BART-PR+ | Self-disclosure abstraction (Dou-SD) | FgAA (Staab et al.) |
        Utility by a language model as judge | ROUGE of the sanitized text | BLEU of the sanitized text
    """,
    "A False Sense of Privacy (Xin et al.)": """
        Atomizer | Known claims, the first | Known claims, random | Known claims, the last | Known claims,
        paraphrased | Number of known claims, 1 to 5 | Known claims alone, without a link | Linker ROUGE |
        Linker BM25, single | Linker BM25, majority | Linker dense (GRIT), single | Linker dense (GRIT),
        majority | Correct linkage rate | Semantic distance | Lexical distance | Improved lexical distance |
        MAUVE | Embedding distance | Existence of personal details (PII) | Leakage by 24 categories | Leakage
        by 16 categories | Distribution of distances | Task utility, MedQA | Task utility, chi-squared |
        Coherence by a judge | Agreement of judge and people | Sanitize and paraphrase | Azure PII |
        Sanitization of spans (Dou et al.) | Iterative anonymization | Synthesis | Synthesis with
        differential privacy | DP n-gram synthesis, not DP-SGD | No sanitization | All information removed
    """,
    "Related work": """
        SAGE, synthetic documents (Zeng et al. 2025) | TAB, recall of direct entities | TAB, recall of
        quasi-identifiers | TAB, recall of tokens | TAB, precision | TAB, weighted precision | TPI |
        Extraction, targeted (Zeng et al. 2024) | Extraction, untargeted (Zeng et al. 2024) | Anchored
        copying (Qi et al. 2024) | DGEA, greedy search in vectors | CopyBreak (RAG-Thief) | IKEA, benign
        questions | Pirates of the RAG | Planted secrets (canaries) | Indirect injection | Membership by
        asking directly | Membership by S2MIA | Membership by masked words (MBA) | Membership by
        interrogation (IA) | Inversion of embeddings | Guess-back of replaced values | Defence 1, sanitized
        index | Defence 2, threshold of similarity | Defence 3, reranking | Defence 4, summary of passages |
        Defence 5, rule of the prompt against repeating | Defence 6, gate for questions | Defence 7, filter
        for answers | Defence 8, budgets and like questions | Defence 9, diversity of passages | Defence 10,
        detector of membership (Mirabel) | Defence 11, rewriting of questions | Defence 12, access by
        document | Defence 13, quoting against injection | Defence 14, synthetic base | Defence 15, noise in
        vectors or search | SPIA, IPR and CPR
    """,
}
"""The rows of each paper, which no change may lose."""

REDACT = Row("Redact", OFFLINE, "redact", "lethe sanitize PATH --policy redact", "tests/eval/test_overlap.py")


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    return papers_in(coverage.ROWS.read_text(encoding="utf-8"))


def rows(papers: list[Paper]) -> dict[str, Row]:
    return {row.row: row for paper in papers for row in paper.rows}


def of(row: Row) -> list[str]:
    return faults([Paper("invented", [row])])


def test_the_page_is_what_its_template_and_the_rows_make(papers: list[Paper]) -> None:
    made = coverage.page(papers)
    assert coverage.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.coverage"
    assert all(f"\n## {paper.title}\n" in made for paper in papers)
    assert all(f"\n| {name} |" in made for name in rows(papers))


def test_every_row_of_the_papers_is_there(papers: list[Paper]) -> None:
    assert {paper.title: {row.row for row in paper.rows} for paper in papers} == {
        title: set(" ".join(names.split()).split(" | ")) for title, names in ROWS.items()
    }


def test_a_row_is_done_where_the_code_says_so(papers: list[Paper]) -> None:
    found = rows(papers)
    defences = [row for name, row in found.items() if name.startswith("Defence ")]
    assert len(defences) == 15
    assert not [row.row for row in found.values() if row.state == NOT_DONE]
    assert ABSENT == ("noise in search",)
    commands = {row.command for row in found.values()}
    assert commands >= {f"lethe bench linkage PATH --linker {name}" for name in LINKERS}
    assert commands >= {f"lethe bench linkage PATH --known {name}" for name in get_args(Choice)}
    assert found["Abstraction (Dou et al.)"].state == BY_PATH and DOU not in METHODS
    engines = {row.engine for row in found.values()}
    assert engines >= set(METHODS) - set(PUBLISHED.values()) - {"lethe"}


def test_counts_by_paper_and_state() -> None:
    some = [REDACT, replace(REDACT, row="More"), Row("Less", NOT_DONE)]
    lines = coverage.counts_table([Paper("one", some), Paper("other", some[2:])]).splitlines()
    assert lines[0] == f"| paper | {' | '.join(STATES)} | rows |"
    assert lines[2:] == [
        "| one | 2 | 0 | 0 | 0 | 1 | 3 |",
        "| other | 0 | 0 | 0 | 0 | 1 | 1 |",
        "| all | 2 | 0 | 0 | 0 | 2 | 4 |",
    ]


def test_a_whole_row_has_no_fault() -> None:
    assert of(REDACT) == of(Row("Nothing", NOT_DONE, note="why")) == []
    assert of(replace(REDACT, command='lethe search "dry cough" -c NAME')) == []
    assert of(replace(REDACT, command="python -m benchmarks.label_curve DATA")) == []
    assert of(Row("Part", ADAPTER, "part", test="tests/eval/test_overlap.py::test_overlap_by_hand")) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"command": "lethe sanitize PATH --polish redact"},
            "Redact: `lethe sanitize PATH --polish redact` is no command: lethe: error: unrecognized "
            "arguments: --polish redact",
        ),
        (
            {"command": "lethe bench linkage PATH --linker telepathy"},
            "argument --linker: invalid choice: 'telepathy' (choose from",
        ),
        ({"command": "lethe sanitize"}, "the following arguments are required: PATH"),
        ({"command": "lethe --help"}, "`lethe --help` is no command: it only shows help"),
        (
            {"command": "lethe sanitize FILE"},
            "Redact: `lethe sanitize FILE` has FILE; the placeholders are DATA, NAME, PATH",
        ),
        (
            {"command": "python -m benchmarks.nowhere DATA"},
            "Redact: `python -m benchmarks.nowhere DATA`: there is no module benchmarks.nowhere",
        ),
        (
            {"command": "make demo"},
            "Redact: `make demo` is neither a verb of lethe nor a module of this project",
        ),
        (
            {"command": "lethe bench trip-rag PATH --gguf PATH"},
            "Redact: --gguf asks for a model that does not ship, so it does not run offline",
        ),
        (
            {"test": "tests/eval/test_nowhere.py"},
            "Redact: there is no file of tests tests/eval/test_nowhere.py",
        ),
        ({"test": "benchmarks/coverage.py"}, "Redact: there is no file of tests benchmarks/coverage.py"),
        (
            {"test": "tests/eval/test_overlap.py::test_nothing"},
            "Redact: tests/eval/test_overlap.py has no test test_nothing",
        ),
        (
            {"state": "nearly done"},
            "Redact: 'nearly done' is no state; the states are runs offline, needs a model by path, needs an "
            "accelerator, adapter only, not done",
        ),
        ({"engine": ""}, "Redact: what runs offline needs an engine"),
        ({"command": ""}, "Redact: what runs offline needs a command"),
        ({"test": "", "state": BY_PATH}, "Redact: what needs a model by path needs a test"),
        ({"state": ADAPTER}, "Redact: what is adapter only has no command"),
    ],
)
def test_a_fault_is_said(changed: dict[str, str], said: str) -> None:
    (fault,) = of(replace(REDACT, **changed))
    assert said in fault and fault.startswith("Redact: ")


def test_every_fault_is_said_at_once() -> None:
    found = [
        Paper("one", [REDACT, replace(REDACT, state=NOT_DONE)]),
        Paper("other", [replace(REDACT, test="")]),
    ]
    with pytest.raises(LetheError) as error:
        coverage.page(found)
    assert str(error.value).splitlines() == [
        "Redact: what is not done has no engine",
        "Redact: what is not done has no command",
        "Redact: what is not done has no test",
        "Redact: what runs offline needs a test",
        "Redact: the name of 3 rows; give each its own",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[[a]]\nrow = "x"\nstat = "y"\n',
            "A paper, x: there is no field stat; the fields are command, engine, note, ",
        ),
        ('[[a]]\nstate = "not done"\n', "A paper, a row without a name: row is missing."),
        ('[[b]]\nrow = "x"\n', "titles are of a, and rows of b: give each paper both."),
    ],
)
def test_rows_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(LetheError) as error:
        papers_in(f'[titles]\na = "A paper"\n{text}')
    assert said in str(error.value)


def test_the_command_says_the_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "rows.toml"
    table.write_text('[titles]\na = "A paper"\n[[a]]\nrow = "x"\nstate = "done"\n', encoding="utf-8")
    monkeypatch.setattr(coverage, "ROWS", table)
    monkeypatch.setattr(coverage, "PAGE", tmp_path / "page.md")
    assert coverage.main() == 1
    assert "x: 'done' is no state" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
    table.write_text('[titles]\na = "A paper"\n[[a]]\nrow = "x"\nstate = "not done"\n', encoding="utf-8")
    assert coverage.main() == 0
    assert "| x | **not done** | – | – | – |  |" in (tmp_path / "page.md").read_text(encoding="utf-8")
