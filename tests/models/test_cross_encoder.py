"""A cross-encoder from a folder, with random seeded weights. All invented."""

import string
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from models.encoders.sentence_encoder import CrossEncoder
from models.errors import LetheError, ModelUnavailable
from models.local_files import quiet
from tests.tiny_encoder import make_tiny_cross_encoder, save_bert

TEXTS = ["the heron stood", "a weir", "heron " * 60, ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_cross_encoder(tmp_path_factory.mktemp("crossing") / "tiny")


def test_scores_are_those_of_the_library(folder: Path) -> None:
    with quiet():
        from sentence_transformers import CrossEncoder as Theirs

        theirs = Theirs(str(folder), device="cpu", local_files_only=True)
        expected = theirs.predict([("heron?", text) for text in TEXTS], show_progress_bar=False)
    model = CrossEncoder(folder)
    assert model.name == "tiny"
    scores = model.scores("heron?", TEXTS)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert len({*scores.round(4)}) > 1 and scores.min() > 0 and scores.max() < 1


def test_a_score_does_not_depend_on_the_other_texts(folder: Path) -> None:
    model = CrossEncoder(folder)
    many = model.scores("heron?", TEXTS * 10)
    np.testing.assert_allclose(many, np.tile(model.scores("heron?", TEXTS), 10), atol=1e-6)
    assert model.scores("heron?", []).shape == (0,)
    # Question and text change places.
    assert model.scores("weir", ["heron"])[0] != pytest.approx(model.scores("heron", ["weir"])[0], abs=1e-6)


def test_an_error_does_not_quote(folder: Path) -> None:
    model = CrossEncoder(folder)
    model._network = None
    with pytest.raises(LetheError, match="^The reranker tiny failed on a question and 2 passages") as caught:
        model.scores("the heron", ["the weir", "a barge"])
    assert not any(word in repr(caught.value) for word in ("heron", "weir", "barge"))


def test_what_is_no_cross_encoder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="^The model nowhere could not be loaded from its folder"):
        CrossEncoder(tmp_path / "nowhere")
    # A BERT without an output: the library itself would make one up.
    sizes = {"hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 64}
    with quiet():
        plain = save_bert(tmp_path / "plain", string.ascii_lowercase, (), **sizes)
    with pytest.raises(ModelUnavailable, match="^The model plain could not be loaded from its folder"):
        CrossEncoder(plain)
    two = make_tiny_cross_encoder(tmp_path / "two", outputs=2)
    with pytest.raises(ModelUnavailable, match="^The reranker two has 2 outputs: choose a cross-encoder"):
        CrossEncoder(two)
    # Other formats of weights can hold code.
    pickled = copytree(folder, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="^The model pickled could not be loaded"):
        CrossEncoder(pickled)
