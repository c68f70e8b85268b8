"""``lethe bench detection`` on a tiny, invented data folder, and the page made of what it writes."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli import bench
from app.cli.main import main
from app.settings.load import Settings
from benchmarks.models_page import page
from eval import provenance
from eval.studies.detection.report import DetectionReport
from eval.studies.risk.report import RiskReport
from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import EntityDetector, Sanitizer
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.corpora.rubric import Snippet, parse_marked
from tests.commands import ROOT, lethe, write_lines
from tests.doubles import PhraseDetector

WEIGHTS = ROOT / "models" / "weights"
needs_weights = pytest.mark.skipif(
    not all((WEIGHTS / f"{kind}.safetensors").is_file() for kind in ("detector", "risk")),
    reason="the embedded models are not in models/weights",
)

SENTENCES = ("Call Ada Lind at 555 0199.", "Otto Vole lives in Dornau.")
FOUND = {"Ada Lind": "person full name", "Call": "organization"}
WORDS = ("Ada", "Lind", "555 0199", "Otto", "Vole", "Dornau", "Mira", "Pinewood")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
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


def snippets(data: Path | None) -> list[Snippet]:
    """Twenty of which the last five are held out."""
    text, places, labels = parse_marked("[[Mira|person full name]] left [[Pinewood|organization]] early.")
    passes = ((0.7, 0.3), (0.8, 0.3))
    return [Snippet(f"legal-{n:03d}", "legal", text, places, labels, passes) for n in range(20)]


class Doubled:
    """Parts that are doubles; remembers what settings they were made of."""

    def __init__(self) -> None:
        self.made: list[Settings] = []

    def detector(self, settings: Settings) -> EntityDetector:
        self.made.append(settings)
        return PhraseDetector(FOUND if settings.detector.learned else {})

    def system(self, settings: Settings) -> "DoubledSystem":
        return DoubledSystem(DecidingSanitizer(self.detector(settings), REDACT, RiskPrior()))


@dataclass(frozen=True)
class DoubledSystem:
    made: Sanitizer

    def sanitizer(self) -> Sanitizer:
        return self.made


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Doubled:
    parts = Doubled()
    monkeypatch.setattr(bench, "detector_of", parts.detector)
    monkeypatch.setattr(bench, "risk_of", lambda settings: RiskPrior())
    monkeypatch.setattr(bench, "system_of", parts.system)
    monkeypatch.setattr(bench, "shipped_snippets", snippets)
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "kept"))
    return parts


def run(data: Path, *arguments: str) -> int:
    return main(["bench", "detection", str(data), *arguments])


def test_tables_are_printed_and_written(
    data: Path, doubled: Doubled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "figures"
    assert run(data, "--output", str(folder), "--commit", "0123abc") == 0
    printed = capsys.readouterr()
    assert "| figure | lethe | lethe, recall profile | patterns and rules |" in printed.out
    assert "| legal | all | 5 | 10 | 1.000 (1.000–1.000) |" in printed.out
    assert "| legal | all | 20 | 40 | 1.000" in printed.out, "the passes of all snippets are compared"
    assert "commit 0123abc" in printed.out
    assert (folder / "tables.md").read_text(encoding="utf-8") == printed.out
    assert f"lethe: figures: {folder}" in printed.err
    detection = DetectionReport.model_validate_json((folder / "detection.json").read_text())
    risk = RiskReport.model_validate_json((folder / "risk.json").read_text())
    assert detection.detectors == ("lethe", "lethe, recall profile", "patterns and rules")
    assert risk.models == ("learned", "prior")
    assert (detection.provenance.commit, risk.provenance.commit) == ("0123abc", "0123abc")
    written = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert not [word for word in WORDS if word in written + printed.out + printed.err]


def test_figures_are_those_of_each_detector(data: Path, doubled: Doubled, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    assert run(data, "--output", str(folder), "--corpus", "presidio_synth") == 0
    report = DetectionReport.model_validate_json((folder / "detection.json").read_text())
    (recall,) = [question.key for question in report.questions if question.title.endswith(": recall")]
    assert report.figure(recall, "lethe").estimate.value == pytest.approx(1 / 4)
    assert report.figure(recall, "patterns and rules").estimate.value == 0.0


def test_each_column_has_its_own_settings(
    data: Path, doubled: Doubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__THRESHOLD", "0.4")
    assert run(data) == 0
    embedded, recall, patterns = (settings.detector for settings in doubled.made)
    assert (embedded.learned, embedded.profile, embedded.threshold) == (True, "balanced", 0.4)
    assert (recall.learned, recall.profile, recall.threshold) == (True, "recall", None)
    assert patterns.learned is False


def test_columns_can_be_chosen(data: Path, doubled: Doubled, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, "--columns", "patterns, embedded") == 0
    assert "| figure | lethe | patterns and rules |" in capsys.readouterr().out


def test_the_prior_alone_is_measured_where_the_settings_say_so(
    data: Path, doubled: Doubled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    assert run(data, "--columns", "patterns") == 0
    assert "| domain | snippets | n | mentions | prior: Spearman | prior: error |" in capsys.readouterr().out


def test_a_foreign_model_has_no_recall_profile(
    data: Path,
    doubled: Doubled,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__MODEL", '{"source": "hub", "name": "somebody/gliner"}')
    assert run(data) == 0
    assert "| figure | lethe | patterns and rules |" in capsys.readouterr().out
    assert run(data, "--columns", "recall") == 2
    assert "the detector in the settings has no recall profile; leave recall out." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "all"], "--columns: there is no all; name some of embedded, recall, patterns"),
        (["--corpus", "moon"], "There is no benchmark corpus named moon: the names are"),
    ],
)
def test_misuse_is_reported_in_one_sentence(
    data: Path,
    doubled: Doubled,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(data, *arguments) == 2
    assert message in capsys.readouterr().err


def test_a_missing_data_folder_is_reported(tmp_path: Path) -> None:
    ran = lethe(tmp_path / "kept", "bench", "detection", str(tmp_path / "none"))
    assert (ran.code, ran.out) == (2, "")
    assert "none is not a folder: name the one with a subfolder for each corpus." in ran.err
    assert "Traceback" not in ran.err


def test_a_folder_without_corpora_is_reported(
    tmp_path: Path, doubled: Doubled, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 2
    assert "has none of the corpora to measure on" in capsys.readouterr().err


def test_an_output_that_is_a_file_is_reported_before_anything_is_measured(
    data: Path, doubled: Doubled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    assert run(data, "--output", str(taken)) == 1
    assert "taken: the report could not be written" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_reported(
    data: Path, doubled: Doubled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "figures" / "risk.json").mkdir(parents=True)
    assert run(data, "--output", str(tmp_path / "figures")) == 1
    assert "figures: the figures could not be written (Is a directory)." in capsys.readouterr().err


def test_what_a_sanitizer_changes_is_counted(doubled: Doubled) -> None:
    assert [[(s.start, s.end) for s in spans or ()] for spans in bench._generalizer(Settings())(
        [Document("a", "Call me."), Document("b", "Rest and water.")]
    )] == [[(0, 4)], []]  # fmt: skip


def test_a_failed_document_is_left_out_of_what_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        name = "failing (test double)"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            return [SanitizationError(each.doc_id, "detection failed (ValueError)") for each in documents]

    monkeypatch.setattr(bench, "system_of", lambda settings: DoubledSystem(Failing()))
    assert bench._generalizer(Settings())([Document("a", "x")]) == [None]


def test_the_commit_is_known_in_a_checkout_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit_here() is None
    (tmp_path / ".git").mkdir()
    assert provenance.commit_here() is None


def test_a_commit_says_whether_files_differ_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    (tmp_path / "a").write_text("one")
    git("init")
    git("add", "a")
    git("commit", "--message", "invented")
    clean = provenance.commit_here()
    assert clean and re.fullmatch("[0-9a-f]{7,}", clean)
    (tmp_path / "a").write_text("two")
    assert provenance.commit_here() == f"{clean}-dirty"


@needs_weights
def test_the_embedded_models_are_measured(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    ran = lethe(
        tmp_path / "kept", "bench", "detection", str(data), "--corpus", "presidio_synth",
        "--columns", "embedded,patterns", "--output", str(folder),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    detection = DetectionReport.model_validate_json((folder / "detection.json").read_text())
    assert detection.detectors == ("lethe", "patterns and rules")
    risk = RiskReport.model_validate_json((folder / "risk.json").read_text())
    learned, prior = (risk.row(name, kind="invented").spearman.value for name in ("learned", "prior"))
    assert learned is not None and prior is not None and learned > prior


@needs_weights
def test_the_embedded_model_looks_for_labels_it_is_asked_for() -> None:
    detector = bench._factory(Settings().detector)(["person full name", "chess opening"])
    (found,) = detector.detect([Document("a", "Mr Tobias Keller wrote to Ms Ada Lind on Tuesday.")])
    assert {entity.label for entity in found} <= {"person full name", "chess opening"}
    assert "person full name" in {entity.label for entity in found}


# -- the page ----------------------------------------------------------------------------------------------


def test_the_page_says_what_is_missing(tmp_path: Path) -> None:
    made = page(tmp_path, tmp_path)
    for name in ("detection", "risk", "label_curve", "leave_one_out", "needs"):
        assert f"Not measured yet: there is no `benchmarks/results/{name}.json`." in made
    for kind in ("detector", "risk"):
        assert f"Not trained yet: there is no `models/weights/{kind}.json`." in made
    assert "@" not in made
    assert "No person has checked the scores." in made


def card(**more: object) -> dict[str, object]:
    return {
        "name": "lethe-invented",
        "kind": "a kind",
        "licence": "apache-2.0",
        "recipe": {"seed": 20261120, "steps": 3000, "layer_rate": 0.00015},
        "seconds": 3456,
        "trained": "2030-01-01",
        **more,
    }


@pytest.fixture
def results(data: Path, doubled: Doubled, tmp_path: Path) -> Path:
    """A folder with every result and both cards."""
    folder = tmp_path / "figures"
    assert run(data, "--output", str(folder)) == 0
    thresholds = {"balanced": {"": 0.5, "date": 0.35}, "recall": {"": 0.2}}
    detector = card(thresholds=thresholds, examples={"tab": 1200}, left_out=[], characters=4_000_000)
    (folder / "detector.json").write_text(json.dumps(detector))
    (folder / "detector.safetensors").write_bytes(b"0" * 1_500_000)
    risk = card(snippets={"legal": 15}, scored_mentions=1234, further_mentions=0)
    (folder / "risk.json.card").write_text(json.dumps(risk))
    provenance = json.loads((folder / "risk.json").read_text())["provenance"]
    row = {"size": 2, "mean": 0.41, "low": 0.3, "high": 0.5, "runs": 5}
    about = {"held_out_mentions": 903, "held_out_snippets": 100}
    curve = {"provenance": provenance, "about": about, "sizes": [row], "runs": []}
    (folder / "label_curve.json").write_text(json.dumps(curve))
    figure = {"with": 0.9, "without": 0.85, "loss": [0.01, 0.09], "n": 1_234, "hits": [9, 8]}
    measures = ("mentions recall", "mentions precision", "DIRECT recall", "QUASI recall")
    mode = {
        "all": dict.fromkeys(measures, figure),
        "kept_lines_touched": [3, 3],
        "identifying_lines_missed": [0, 2],
    }
    family = {"family": "repeats", "lines": 205, "entries": 0, "modes": {"learned": mode, "alone": mode}}
    rules = {"samples": {"tab": [7, 900]}, "families": [family], "gone": [{**family, "family": "rules/ages"}]}
    (folder / "rule_families.json").write_text(json.dumps(rules))
    every = {kind: {"met": 90, "of": 100, "texts": 7} for kind in ("tweets", "novels", "forms")}
    every["nothing"] = {"met": 0, "of": 0, "texts": 0}
    runs = {
        "": every,
        "tweets": {"tweets": {"met": 70, "of": 100, "texts": 7}},
        "novels": {"novels": {"met": 80, "of": 100, "texts": 7}},
        "nothing": {"nothing": {"met": 0, "of": 0, "texts": 0}},
    }
    left_out = {"recipe": {"steps": 600}, "provenance": provenance, "runs": runs}
    (folder / "leave_one_out.json").write_text(json.dumps(left_out))
    return folder


def test_the_page_shows_every_result(results: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    for name in ("detector.json", "detector.safetensors"):
        (results / name).rename(weights / name)
    (results / "risk.json.card").rename(weights / "risk.json")
    made = page(results, weights)
    for part in (
        "| file | `models/weights/detector.safetensors`, 1.5 MB, 16-bit numbers |",
        "| file | `risk.safetensors`, not here |",
        "| recipe | seed 20261120, steps 3,000, layer_rate 0.00015 |",
        "| trained | 2030-01-01, 3,456 seconds |",
        "| texts learned from | tab 1,200 |",
        "| snippets learned from | legal 15 |",
        "| scored mentions | 1,234 |",
        "| date | 0.35 | 0.20 |",
        "| *every other label* | 0.50 | 0.20 |",
        "| figure | lethe | lethe, recall profile | patterns and rules |",
        "| tweets | 7 | 100 | 0.900 (0.826–0.945) | 0.700 (0.604–0.781) | 0.200 |",
        "Mean loss over 2 kinds of text: 0.150.",
        "Texts: tab 7; 1,234 mentions.",
        "| repeats | 205 |  | +5.00 [+1.00, +9.00] | +5.00 [+1.00, +9.00] | 9 → 8 | 9 → 8 | 3 | 0 → 2 |",
        "| rules/ages (gone) | 205 |",
        "3 of 3 misses, by label: ",
        "1 of 1 false alarms, by label: organization 1.",
        "| false alarm | presidio_synth |",
        "| legal | all | 5 | 10 | 1.000 (1.000–1.000) |",
        "| legal | all | 20 | 40 | 1.000",
        "| 2 | 0.410 | 0.300–0.500 | 5 |",
        "![Spearman by number of snippets](label_curve.svg)",
    ):
        assert part in made
    assert "mentions with a weaker signal" not in made
    assert made.count("no `benchmarks/results/needs.json`") == 3
    assert made.count("no `benchmarks/results/claim_judges") == 4
    assert made.count("Not measured yet") == 7
    assert made.count("Not trained yet") == made.count("no `models/weights/judge.json`") == 1
    assert made == page(results, weights)
    assert not [word for word in WORDS if word in made]


def test_families_that_were_not_left_out_yet_are_not_in_the_table(results: Path) -> None:
    (results / "leave_one_out.json").write_text(json.dumps({"recipe": {"steps": 600}, "runs": {}}))
    assert "no family of corpora was left out so far" in page(results, results / "none")
