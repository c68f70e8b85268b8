"""The presets: what they say, how they are found, and the paper's from end to end. All texts are invented."""

import argparse
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from app.cli.arguments import parser
from app.cli.given import settings_arguments
from app.cli.main import main
from app.compose import detector_of, encoder_of, language_model_of
from app.policies import policy_of, write_policy
from app.presets import preset_file, preset_names
from app.settings.load import PolicySettings, Settings, load_settings
from app.settings.report import settings_rows
from eval.studies.compare.methods import TRIP
from ingest.deciding.policy import AT_OR_ABOVE, BELOW, hard_rule, reason_of
from ingest.documents import Document, Entity, Scores, Span
from ingest.labels import LABELS
from ingest.read.sources import read_documents
from ingest.scoring.scale import Weights
from models.catalog import MODELS, ModelRef, describe
from models.encoders.minilm import MiniLM
from models.errors import ConfigurationError, ModelUnavailable
from tests.commands import ROOT, write_lines
from tests.tiny_encoder import MAX_TOKENS, make_tiny_encoder
from tests.tiny_gguf import make_tiny_gguf
from tests.tiny_gliner import make_two_encoders

DETECTOR, ENCODER = "urchade/gliner_medium-v2.1", "BAAI/bge-large-en-v1.5"
OTHER_ENCODER = "Qwen/Qwen3-Embedding-0.6B"
PAPER = ("--preset", "paper", "--gguf", "llama.gguf")
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")

PEOPLE = ("Tobias Quellmann", "Ada Vennström", "Oswin Tarrant", "Mira Jaspersen", "Ilko Brandtner")


def consultations(folder: Path, count: int) -> Path:
    """A corpus of so many invented consultations, in a folder of its own."""
    people = [PEOPLE[number % len(PEOPLE)] for number in range(count)]
    rows = [
        {
            "input": f"Invented. I am {person}, aged {40 + number}; my knee creaks.",
            "output": f"Mr {person.split()[1]}, rest it for {number + 2} days.",
        }
        for number, person in enumerate(people)
    ]
    write_lines(folder / "healthcaremagic" / "data.jsonl", rows)
    return folder / "healthcaremagic"


def given(*words: str) -> argparse.Namespace:
    """What ``lethe bench trip-rag`` reads of these words."""
    return parser().parse_args(["bench", "trip-rag", "letters", *words])


def settings_of(*words: str) -> Settings:
    return load_settings(settings_arguments(given(*words)))


def origins(*words: str) -> dict[str, str]:
    arguments = settings_arguments(given(*words))
    return {row.name: row.origin for row in settings_rows(load_settings(arguments), arguments)}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def commands(program: str) -> list[list[str]]:
    lines = "\n".join(blocks("sh")).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith(f"{program} ")]


pytestmark = pytest.mark.usefixtures("clean")


def put(cache: Path, name: str, folder: Path) -> None:
    """Put a model's folder where the pinned commit of that name is looked for."""
    known = describe(name)
    assert known is not None and known.revision is not None
    kept = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(folder, kept / "snapshots" / known.revision)


def test_every_preset_is_a_settings_file_in_the_package() -> None:
    assert "paper" in preset_names()
    for name in preset_names():
        values = tomllib.loads(preset_file(name).read_text(encoding="utf-8"))
        assert not {"data_dir", "settings_file"} & set(values)
        assert load_settings({"settings_file": preset_file(name), "generator.path": "any.gguf"})
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "*.toml" in project["tool"]["setuptools"]["package-data"]["*"]
    assert (preset_file("paper").parent / "__init__.py").is_file()


def test_the_papers_preset_is_what_its_section_5_1_says_with_pinned_models() -> None:
    settings = settings_of(*PAPER)
    assert settings.detector.model == ModelRef(source="hub", name=DETECTOR)
    assert settings.encoder == ModelRef(source="hub", name=ENCODER)
    for ref in (settings.detector.model, settings.encoder):
        known = describe(ref.name)
        assert known is not None and re.fullmatch("[0-9a-f]{40}", known.revision or "")
    # Passages are those that all three encoders read whole.
    assert (settings.retrieval.k, settings.retrieval.passage_tokens) == (5, MiniLM.max_tokens)
    assert (settings.generator.kind, settings.generator.path) == ("llama_cpp", Path("llama.gguf"))
    policy = policy_of(settings)
    assert (policy.name, policy.tau) == ("trip", 0.6237)
    assert policy.weights == Weights(1.0, 0.5, 0.4, "difference")
    assert (policy.direct_limit, policy.replacements) == (1.0, "descriptor")
    assert settings.policy.scale is None


def test_under_the_papers_preset_the_priority_alone_decides() -> None:
    policy = policy_of(settings_of(*PAPER))
    below, at = (Scores(0.5, 0.5, 0.5, priority) for priority in (0.6236, 0.6237))
    assert (reason_of(below, policy), reason_of(at, policy)) == (BELOW, AT_OR_ABOVE)
    for name, label in LABELS.items():
        if not label.rigid:
            entity = Entity(Span(0, 5), name, label.identifier, 0.9, "invented")
            assert hard_rule(entity, 0.999, policy) is hard_rule(entity, 0.0, policy) is None, name


def test_an_unknown_preset_is_refused_with_the_names_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        preset_file("../paper")
    assert str(caught.value) == f"There is no preset '../paper': the names are {', '.join(preset_names())}."
    assert main(["bench", "trip-rag", "letters", "--preset", "papers"]) == 2
    assert "There is no preset 'papers': the names are " in capsys.readouterr().err


def test_a_preset_stands_in_the_place_of_the_settings_file() -> None:
    assert settings_of() == Settings()
    Path("lethe-data").mkdir()
    Path("lethe-data/settings.toml").write_text("threads = 3\n", encoding="utf-8")
    assert settings_of().threads == 3
    assert settings_of(*PAPER).threads is None


def test_a_policy_file_is_laid_over_a_preset_key_by_key_and_a_whole_one_leaves_it_nothing() -> None:
    Path("mine.toml").write_text("tau = 0.25\nscale = [0.0, 0.5, 0.1, 0.9]\n", encoding="utf-8")
    preset, laid = settings_of(*PAPER).policy, settings_of(*PAPER, "--policy", "mine.toml").policy
    fitted = {"tau": 0.25, "scale": (0.0, 0.5, 0.1, 0.9)}
    assert laid == preset.model_copy(update=fitted)
    assert settings_of(*PAPER, "--policy", "mine.toml", "--tau", "0.75").policy.tau == 0.75
    of = origins(*PAPER, "--policy", "mine.toml")
    assert (of["policy.tau"], of["policy.beta"]) == ("argument", "file")
    write_policy(
        Path("fitted.toml"), PolicySettings(), {"tau": 0.25, "scale": [0.0, 0.5, 0.1, 0.9]}, "a test"
    )
    assert settings_of(*PAPER, "--policy", "fitted.toml").policy == PolicySettings.model_validate(fitted)


def test_a_generator_is_asked_for_and_may_be_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_of("--preset", "paper")
    assert str(caught.value) == (
        f"settings: generator ({preset_file('paper')}): "
        "llama_cpp needs generator.path, a GGUF file, or --gguf"
    )
    exported = [words[0].split("=", 1) for words in commands("export")]
    assert len(exported) == 5
    for name, value in exported:
        monkeypatch.setenv(name, value)
    settings = settings_of("--preset", "paper")
    assert (settings.generator.kind, settings.generator.model) == ("openai_compatible", "llama-2-7b-chat")
    assert settings.risk.model.name == "paper-risk"


def test_models_that_are_not_here_are_named_with_the_command_that_fetches_them(cache: Path) -> None:
    settings = settings_of(*PAPER[:3], "absent.gguf")
    for part, role, name in ((detector_of, "detector", DETECTOR), (encoder_of, "encoder", ENCODER)):
        with pytest.raises(ModelUnavailable) as caught:
            part(settings)
        known = describe(name)
        assert known is not None
        assert str(caught.value) == (
            f"The {role} model {name} ({known.revision}) is not in the local cache: "
            f"run 'lethe models pull {name}', or copy its folder here and give that path."
        )
    with pytest.raises(ModelUnavailable, match=r"absent\.gguf cannot be read|llama-cpp-python, which runs"):
        language_model_of(settings)


@pytest.mark.slow
def test_the_papers_preset_runs_the_benchmark(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python runs GGUF files")
    put(cache, DETECTOR, make_two_encoders(tmp_path / "gliner"))
    make_tiny_encoder(tmp_path / "encoder")
    for name in (ENCODER, OTHER_ENCODER):
        put(cache, name, tmp_path / "encoder" / "tiny")
    make_tiny_gguf(tmp_path / "tiny.gguf")
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    # The small stand-ins read less and need not say much.
    monkeypatch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", str(MAX_TOKENS - 2))
    monkeypatch.setenv("LETHE_GENERATOR__MAX_TOKENS", "4")
    corpus = (str(consultations(tmp_path, 4)), "--corpus", "healthcaremagic", "--quick", "--prompts", "1")
    models = ("--preset", "paper", "--gguf", str(tmp_path / "tiny.gguf"), "--encoders", OTHER_ENCODER)
    assert main(["bench", "trip-rag", *corpus, *models]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["generator"] == "llama.cpp tiny.gguf, prompt answer_question v3"
    assert {each["encoder"] for each in report["methods"]} == {ENCODER}
    assert {each["encoder"] for each in report["encoders"]} == {OTHER_ENCODER}
    assert all(each["documents_failed"] == 0 for each in report["methods"])
    assert {TRIP, "paraphrase", "redact", "origin", "lprag"} <= {each["method"] for each in report["methods"]}
    shown = report["provenance"]["settings"]
    assert DETECTOR in shown["detector"]
    assert (shown["risk model"], shown["encoder"]) == ("prior", ENCODER)
    assert (shown["tau"], shown["weights"]) == ("0.6237", "1, 0.5, 0.4, difference")
    assert (shown["policy"], shown["direct limit"]) == ("trip", "1")


def test_every_command_of_the_page_is_one_and_pulls_what_is_needed() -> None:
    found = commands("lethe")
    assert {" ".join(words[:2]) for words in found} >= {
        "models pull", "models train-risk", "bench trip-rag", "calibrate sample.jsonl",
    }  # fmt: skip
    for words in found:
        assert getattr(parser().parse_args(words), "preset", None) in (None, "paper")
    pulled = {words[2] for words in found if words[:2] == ["models", "pull"]}
    assert pulled == {DETECTOR, ENCODER, OTHER_ENCODER}
    assert pulled <= {model.id for model in MODELS if not model.embedded}


def test_the_sample_of_the_page_can_be_read_for_calibration(tmp_path: Path) -> None:
    consultations(tmp_path, 300)
    (block,) = blocks("python")
    exec(compile(block, "docs/paper.md", "exec"), {})
    items = [reading.item for reading in read_documents(["sample.jsonl"])]
    assert len(items) == 200
    assert all(isinstance(each, Document) and each.text.startswith("Patient: ") for each in items)
