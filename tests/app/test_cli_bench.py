"""``lethe bench detection`` on a tiny, invented data folder, and the page made of what it writes."""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.cli import bench
from app.cli.main import main
from app.settings.load import Settings
from benchmarks.models_page import page
from eval import provenance
from eval.studies.detection.study import DetectionReport
from eval.studies.detection.tasks import LabelFactory
from eval.studies.risk import RiskReport
from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.protocols import EntityDetector
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.corpora.rubric import Snippet, parse_marked
from tests.commands import ROOT, in_process, lethe, write_lines
from tests.doubles import PhraseDetector

WEIGHTS = ROOT / "models" / "weights"
needs_weights = pytest.mark.skipif(
    not all((WEIGHTS / f"{name}.safetensors").is_file() for name in ("reader", "encoder")),
    reason="the reader is not in models/weights",
)

SENTENCES = ("Call Ada Lind at 555 0199.", "Otto Vole lives in Dornau.")
FOUND = {"Ada Lind": "person full name", "Call": "organization"}
WORDS = ("Ada", "Lind", "555 0199", "Otto", "Vole", "Dornau", "Mira", "Pinewood")


def corpora(folder: Path) -> Path:
    """A data folder with one tiny corpus."""
    spans = [
        [{"start": 5, "end": 13, "label": "PERSON"}, {"start": 17, "end": 25, "label": "PHONE_NUMBER"}],
        [{"start": 0, "end": 9, "label": "PERSON"}, {"start": 19, "end": 25, "label": "GPE"}],
    ]
    rows = [
        {"id": f"s{n}", "template_id": "1", "text": text, "spans": marks}
        for n, (text, marks) in enumerate(zip(SENTENCES, spans, strict=True))
    ]
    write_lines(folder / "presidio_synth" / "data.jsonl", rows)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return corpora(tmp_path / "corpora")


def snippets(data: Path | None) -> list[Snippet]:
    """Twenty of which the last five are held out."""
    text, places, labels = parse_marked("[[Mira|person full name]] left [[Pinewood|organization]] early.")
    passes = ((0.7, 0.3), (0.8, 0.3))
    return [Snippet(f"legal-{n:03d}", "legal", text, places, labels, passes) for n in range(20)]


class Doubled:
    """Parts that are doubles; remembers what settings they were made of."""

    def __init__(self, patched: pytest.MonkeyPatch, data: Path) -> None:
        self.made: list[Settings] = []
        patched.setattr(bench, "detector_of", self.detector)
        patched.setattr(bench, "risk_of", lambda settings: RiskPrior())
        patched.setattr(bench, "system_of", self.system)
        patched.setattr(bench, "shipped_snippets", snippets)
        patched.setenv("LETHE_DATA_DIR", str(data))

    def detector(self, settings: Settings) -> EntityDetector:
        self.made.append(settings)
        return PhraseDetector(FOUND if settings.detector.learned else {})

    def system(self, settings: Settings) -> Any:
        sanitizer = DecidingSanitizer(self.detector(settings), REDACT, RiskPrior())
        return SimpleNamespace(sanitizer=lambda: sanitizer)


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Doubled:
    return Doubled(monkeypatch, tmp_path / "kept")


def run(data: Path, *arguments: str) -> int:
    return main(["bench", "detection", str(data), *arguments])


def reports(folder: Path) -> tuple[DetectionReport, RiskReport]:
    detection = DetectionReport.model_validate_json((folder / "detection.json").read_text())
    return detection, RiskReport.model_validate_json((folder / "risk.json").read_text())


def test_tables_and_figures_of_each_detector(
    data: Path, doubled: Doubled, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__THRESHOLD", "0.4")
    folder = data.with_name("figures")
    assert run(data, "--output", str(folder), "--commit", "0123abc", "--corpus", "presidio_synth") == 0
    made = [(each.detector.learned, each.detector.threshold) for each in doubled.made]
    assert made == [(True, 0.4), (False, 0.4)]
    printed = capsys.readouterr()
    assert "| figure | lethe | patterns |" in printed.out
    assert "| legal | all | 5 | 10 | 1.000 (1.000–1.000) |" in printed.out
    assert "| legal | all | 20 | 40 | 1.000" in printed.out, "the passes of all snippets are compared"
    assert "commit 0123abc" in printed.out
    assert (folder / "tables.md").read_text(encoding="utf-8") == printed.out
    assert f"lethe: figures: {folder}" in printed.err
    detection, risk = reports(folder)
    assert (detection.detectors, risk.models) == (("lethe", "patterns"), ("learned", "prior"))
    assert (detection.provenance.commit, risk.provenance.commit) == ("0123abc", "0123abc")
    (recall,) = [question.key for question in detection.questions if question.title.endswith(": recall")]
    values = [detection.figure(recall, each).estimate.value for each in detection.detectors]
    assert values == pytest.approx([1 / 4, 0.0])
    written = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert not [word for word in WORDS if word in written + printed.out + printed.err]


def test_columns_and_the_prior_alone_can_be_chosen(
    data: Path, doubled: Doubled, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(data, "--columns", "patterns, embedded") == 0
    assert "| figure | lethe | patterns |" in capsys.readouterr().out
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    assert run(data, "--columns", "patterns") == 0
    out = capsys.readouterr().out
    assert "| domain | snippets | n | mentions | prior: Spearman | prior: error |" in out


@pytest.mark.usefixtures("doubled")
def test_only_a_reader_is_asked_for_other_labels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def factory(settings: Settings) -> LabelFactory:
        asked.append(settings.detector.model.name)
        return lambda labels: PhraseDetector({})

    monkeypatch.setattr(bench, "_factory", factory)
    assert run(data) == 0
    assert asked == ["default"]
    monkeypatch.setenv("LETHE_DETECTOR__MODEL", '{"source": "hub", "name": "somebody/gliner"}')
    assert run(data) == 0
    assert asked == ["default"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("corpora --columns all", 2, "--columns: there is no all; name some of embedded, patterns"),
        ("corpora --corpus moon", 2, "There is no benchmark corpus named moon: the names are"),
        ("empty", 2, "has none of the corpora to measure on"),
        ("none", 2, "none is not a folder: name the one with a subfolder for each corpus."),
        ("corpora --output taken", 1, "taken: the report could not be written"),
        ("corpora --output figures", 1, "figures: the figures could not be written (Is a directory)."),
    ],
)
@pytest.mark.usefixtures("doubled")
def test_misuse_is_reported_in_one_sentence(
    clean: Path, arguments: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora(clean / "corpora")
    Path("taken").touch()
    for folder in ("empty", "figures/risk.json"):
        Path(folder).mkdir(parents=True)
    ran = in_process(capsys, "bench", "detection", *arguments.split())
    assert (ran.code, message in ran.err) == (code, True)


def test_what_a_sanitizer_changes_is_counted(doubled: Doubled) -> None:
    documents = [Document("a", "Call me."), Document("b", "Rest and water.")]
    changed = bench._generalizer(Settings())(documents)
    assert [[(span.start, span.end) for span in spans or ()] for spans in changed] == [[(0, 4)], []]


def test_a_failed_document_is_left_out_of_what_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [SanitizationError("a", "detection failed (ValueError)")]
    failing = SimpleNamespace(sanitizer=lambda: SimpleNamespace(sanitize=lambda documents: failed))
    monkeypatch.setattr(bench, "system_of", lambda settings: failing)
    assert bench._generalizer(Settings())([Document("a", "x")]) == [None]


def test_the_commit_of_a_checkout_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit_here() is None
    (tmp_path / ".git").mkdir()
    assert provenance.commit_here() is None
    (tmp_path / "a").write_text("one")
    git("init")
    git("add", "a")
    git("commit", "--message", "invented")
    clean = provenance.commit_here()
    assert clean and re.fullmatch("[0-9a-f]{7,}", clean)
    (tmp_path / "a").write_text("two")
    assert provenance.commit_here() == f"{clean}-dirty"


@needs_weights
def test_the_embedded_models_are_measured(data: Path) -> None:
    folder = data.with_name("figures")
    chosen = ["--corpus", "presidio_synth", "--columns", "embedded,patterns", "--output", str(folder)]
    ran = lethe(data.with_name("kept"), "bench", "detection", str(data), *chosen)
    assert ran.code == 0, ran.err
    detection, risk = reports(folder)
    assert detection.detectors == ("lethe", "patterns")
    learned, prior = (risk.row(name, kind="invented").spearman.value for name in ("learned", "prior"))
    assert learned is not None and prior is not None and learned > prior


# -- the page ----------------------------------------------------------------------------------------------


def test_the_page_says_what_is_missing(tmp_path: Path) -> None:
    made = page(tmp_path, tmp_path)
    for name in ("detection", "risk", "reader"):
        assert f"Not measured yet: there is no `benchmarks/results/{name}.json`." in made
    for kind in ("reader", "judge"):
        assert f"Not trained yet: there is no `models/weights/{kind}.json`." in made
    assert "@" not in made
    assert "No person has checked the scores." in made


def row(detector: str, language: str, figure: str, value: float, n: float) -> dict[str, object]:
    estimate = {"value": value, "low": value - 0.1, "high": value + 0.1, "hits": 1, "n": n, "why_not": ""}
    about = {"detector": detector, "language": language, "passages": 12, "refused": language == "German"}
    return {**about, "figure": figure, **estimate}


FIGURES = [
    row("first", "Dutch", "DIRECT, covered", 0.5, 1234),
    row("second", "Dutch", "DIRECT, covered", 0.75, 1234),
    row("first", "German", "DIRECT, covered", 0.25, 9),
    row("second", "German", "DIRECT, covered", 0.625, 9),
    *(
        row(detector, language, "invented names per 10,000 characters", value, 2.6554)
        for language in ("Dutch", "German")
        for detector, value in (("first", 23.46), ("second", 1.25))
    ),
]


CURVE = {
    "about": {"encoder": "invented/encoder", "held_out_mentions": 1903, "held_out_snippets": 100},
    "sizes": [{"size": 2, "mean": 0.35, "low": -0.2, "high": 0.53, "runs": 5}],
}
CARD = {
    "name": "lethe-invented",
    "kind": "a kind",
    "licence": "apache-2.0",
    "phases": [{"layers": 12, "steps": 1790}, {"layers": 8, "steps": 20, "start": "the first"}],
    "passages": {"learn": 1200},
    "characters": {"learn": 345678},
    "seconds": 3456,
    "trained": "2020-01-01",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every result but those of the judges, and a folder ``weights`` with the reader's card."""
    folder = tmp_path_factory.mktemp("bench") / "figures"
    weights = folder / "weights"
    with pytest.MonkeyPatch.context() as patched:
        Doubled(patched, folder.with_name("kept"))
        assert run(corpora(folder.with_name("corpora")), "--output", str(folder)) == 0
    provenance = json.loads((folder / "risk.json").read_text())["provenance"]
    (folder / "reader.json").write_text(json.dumps({"provenance": provenance, "seed": 0, "rows": FIGURES}))
    (folder / "label_curve.json").write_text(json.dumps({"provenance": provenance, **CURVE}))
    weights.mkdir()
    (weights / "reader.json").write_text(json.dumps(CARD))
    (weights / "reader.safetensors").write_bytes(b"0" * 1_500_000)
    return folder


def test_the_page_shows_every_result(results: Path) -> None:
    made = page(results, results / "weights")
    for part in (
        "| name | `lethe-invented`: a kind |",
        "| files | `models/weights/reader.safetensors`, 1.5 MB, `encoder.safetensors`, not here |",
        "| trained | 2020-01-01, 3,456 seconds |",
        "| phases | 12 layers, 1,790 steps, then 8 layers, 20 steps |",
        "| marked passages | learn 1,200 |",
        "| their characters | learn 345,678 |",
        "Passages: Dutch 12, German 12; 2 more were refused.\n",
        "| figure | language | n | first | second |\n| --- | --- | ---: | ---: | ---: |",
        "| DIRECT, covered | Dutch | 1,234 | 0.500 (0.400–0.600) | 0.750 (0.650–0.850) |",
        "| DIRECT, covered | German | 9 | 0.250 (0.150–0.350) | 0.625 (0.525–0.725) |",
        "| invented names per 10,000 characters | German | 2.7 | 23.5 (23.4–23.6) | 1.2 (1.1–1.4) |",
        "| figure | lethe | ",
        "3 of 3 misses, by label: ",
        "1 of 1 false alarms, by label: organization 1.",
        "| false alarm | presidio_synth |",
        "| legal | all | 5 | 10 | 1.000 (1.000–1.000) |",
        "| legal | all | 20 | 40 | 1.000",
        "| 2 | 0.350 | -0.200–0.530 | 5 |",
        "invented/encoder; 1,903 mentions of 100 held-out snippets. Measured ",
    ):
        assert part in made, part
    assert re.search(r"\| marks \| F1, \d+ passages \|\n.*\n\| any mark \| 0\.\d{3} \(", made)
    absent = set(re.findall(r"Not measured yet: there is no `benchmarks/results/(\w+)\.json`", made))
    assert absent == {"claim_judges", "claim_judges_fresh", "judged_blind", "parts"}
    assert made.count("Not trained yet") == made.count("no `models/weights/judge.json`") == 1
    assert "@" not in made
    assert made == page(results, results / "weights")
    assert not [word for word in WORDS if word in made]


@pytest.mark.parametrize(("trained", "warnings"), [("2020-01-01", 0), ("2999-01-01", 3)])
def test_figures_older_than_the_reader_are_said_to_be(
    results: Path, tmp_path: Path, trained: str, warnings: int
) -> None:
    (tmp_path / "reader.json").write_text(json.dumps(CARD | {"trained": trained}))
    assert page(results, tmp_path).count("**Measured before the reader was trained") == warnings
