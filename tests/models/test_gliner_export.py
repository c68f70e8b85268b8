"""Our detector and the gliner library's model over the same weights. All texts here are invented."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import main
from models.detectors.gliner_export import export_detector
from models.detectors.gliner_model import GlinerModel
from models.detectors.network import WIDEST, label_vectors, span_logits
from models.detectors.words import LONGEST_WORD, pieces_of, words_of
from models.encoders.bert import CLS, SEP, UNK, WIDTH, embed, padded, run_layers
from models.encoders.minilm import MiniLM, released
from models.errors import ConfigurationError
from models.local_files import quiet
from models.trained import Trained, write_trained
from tests.small_models import random_detector

if TYPE_CHECKING:
    from torch import Tensor

LABELS = ("person full name", "city name", "date", "zorblax")
TEXTS = (
    "Quorin Talvik of Varde was born on 3 May 1961; her e-mail is q.talvik@example.org.",
    "Jorvik.",
    "Nothing to see here, move along to Ostrun-Nord (no. 12/34) and the un_known café.",
    "zilpah " * 40,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported detector, in a folder that was named from where the process stood."""
    parent = tmp_path_factory.mktemp("export")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(parent)
        export_detector(Trained("random", random_detector(), {}), Path("detector"))
    return parent / "detector"


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    """The model as the library loads it from the folder."""
    with quiet():
        from gliner import GLiNER

        return GLiNER.from_pretrained(str(folder), local_files_only=True).eval()


def our_logits(texts: Sequence[str]) -> "tuple[Tensor, list[int]]":
    """What ``span_logits`` gives for each text, and how many words each has."""
    import torch

    weights = {**released().weights, **random_detector()}
    rows, firsts = [], []
    for text in texts:
        ids, begins = [CLS], []
        for piece in pieces_of(released().tokenizer, [text[a:b] for a, b in words_of(text)]):
            begins.append(len(ids))
            ids += piece
        rows.append([*ids, SEP])
        firsts.append(begins)
    with torch.inference_mode():
        ids, real = padded(rows)
        states = run_layers(weights, embed(weights, ids), real)
        of_words = torch.gather(states, 1, padded(firsts)[0][:, :, None].expand(-1, -1, WIDTH))
        vectors = label_vectors(weights, MiniLM().means(LABELS))
        return span_logits(weights, of_words, vectors), [len(begins) for begins in firsts]


def test_every_span_of_every_label_scores_as_in_the_library(library: Any) -> None:
    prepared = library.prepare_batch(list(TEXTS), list(LABELS))
    batch = library.collate_batch(prepared["input_x"], prepared["entity_types"])
    theirs = library.run_batch(batch).logits.float()
    ours, counts = our_logits(TEXTS)
    assert theirs.shape == ours.shape == (len(TEXTS), max(counts), WIDEST, len(LABELS))
    compared = 0
    for row, words in enumerate(counts):
        for more in range(min(WIDEST, words)):
            mine, other = ours[row, : words - more, more], theirs[row, : words - more, more]
            assert float((mine - other).abs().max()) < 1e-4
            compared += mine.numel()
    assert compared > 3_000
    # Otherwise equal scores would say little.
    assert float(ours[0, 0, 0].std()) > 1e-2
    assert float(ours[0, :4, 0].std()) > 1e-2


def flat_spans(text: str, label: int, limit: float) -> list[tuple[int, int, float]]:
    """The spans of a short text that reach the limit, the best first and none over another."""
    scores, _ = our_logits([text])
    words = words_of(text)
    found: list[tuple[int, int, float]] = []
    for place in scores[0, :, :, label].sigmoid().flatten().argsort(descending=True).tolist():
        first, more = divmod(place, WIDEST)
        score = float(scores[0, first, more, label].sigmoid())
        if score < limit or first + more >= len(words):
            continue
        start, end = words[first][0], words[first + more][1]
        if all(end <= other[0] or other[1] <= start for other in found):
            found.append((start, end, score))
    return sorted(found)


def test_the_adapter_finds_the_flat_spans_of_our_scores(folder: Path) -> None:
    texts = ["Quorin of Varde was born on 3 May 1961.", "Jorvik", "ask Zilpah, Ostrun-Nord 12"]
    label = LABELS.index("zorblax")
    scores = sorted(score for text in texts for _, _, score in flat_spans(text, label, 0.02))
    limit = scores[len(scores) // 3] - 1e-3
    ours = [flat_spans(text, label, limit) for text in texts]
    assert sum(map(len, ours)) > 3
    for mine, theirs in zip(ours, GlinerModel(folder, ["zorblax"], limit).find(texts), strict=True):
        assert [place[:2] for place in mine] == [(span.start, span.end) for span in theirs]
        assert [span.score for span in theirs] == pytest.approx([place[2] for place in mine], abs=1e-4)
    assert GlinerModel(folder, ["zorblax"], limit).find([""]) == [[]]


def test_the_folder_holds_all_that_loading_needs_and_no_code(folder: Path) -> None:
    settings = json.loads((folder / "gliner_config.json").read_text(encoding="utf-8"))
    assert settings["model_name"] == settings["labels_encoder"] == str(folder / "backbone")
    assert Path(settings["model_name"]).is_absolute()
    assert settings["span_mode"] == "markerV0"
    assert "auto_map" not in settings
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    assert {"model.safetensors", "tokenizer.json", "config.json"} <= files
    assert not [name for name in files if re.search(r"\.(bin|pt|pth|pkl|py)$", name)]


def test_a_folder_that_moved_loads_once_its_two_lines_are_changed(folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.move(folder, tmp_path / "moved"))
    try:
        path = moved / "gliner_config.json"
        settings = path.read_text(encoding="utf-8")
        path.write_text(settings.replace(str(folder), str(moved)), encoding="utf-8")
        assert GlinerModel(moved, ["zorblax"], 0.001).find(["Jorvik"])[0]
        path.write_text(settings, encoding="utf-8")
    finally:
        shutil.move(moved, folder)


@given(st.text(max_size=300) | st.text(alphabet="ab-_ .é\t東\u200d1'", max_size=60))
def test_words_are_those_of_the_library(text: str) -> None:
    splitter = pytest.importorskip("gliner.data_processing").WordsSplitter("whitespace")
    theirs = [(start, end) for _, start, end in splitter(text)]
    if all(end - start <= LONGEST_WORD for start, end in theirs):
        assert words_of(text) == theirs


@given(st.text(max_size=300) | st.text(alphabet="a_ -", min_size=60, max_size=400))
def test_every_character_that_is_no_space_is_in_just_one_word(text: str) -> None:
    covered = [at for start, end in words_of(text) for at in range(start, end)]
    assert covered == [at for at, character in enumerate(text) if not character.isspace()]
    assert all(0 < end - start <= LONGEST_WORD for start, end in words_of(text))


def test_a_long_run_is_read_in_pieces_of_its_own() -> None:
    assert words_of("x" * 150 + " y") == [(0, 64), (64, 128), (128, 150), (151, 152)]


@given(st.lists(st.text(min_size=1, max_size=12), max_size=12))
def test_every_word_has_pieces_even_one_that_is_nothing(words: list[str]) -> None:
    tokenizer = released().tokenizer
    pieces = pieces_of(tokenizer, words)
    assert len(pieces) == len(words)
    for word, ids in zip(words, pieces, strict=True):
        assert ids == (tokenizer.encode(word, add_special_tokens=False).ids or [UNK])


def test_a_word_without_pieces_is_unknown() -> None:
    assert pieces_of(released().tokenizer, ["\u200d", "lamp", "\u200d"])[::2] == [[UNK], [UNK]]


def test_the_command_writes_the_detector_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, made = tmp_path / "own", tmp_path / "made"
    write_trained(own, "detector", random_detector(), {"name": "of the house"})
    assert main(["models", "export-detector", "--model", str(own), "--output", str(made)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"model": "of the house", "folder": str(made)}
    assert f'GLiNER.from_pretrained("{made}")' in captured.err
    assert (made / "model.safetensors").is_file()


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    trained = Trained("x", random_detector(), {})
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"file is a file: name a folder that the detector can be"):
        export_detector(trained, file)
    with pytest.raises(ConfigurationError, match=r"holds other files: name an empty folder, or a new one\.$"):
        export_detector(trained, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text(encoding="utf-8") == "mine"
