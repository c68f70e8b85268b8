"""The sentence encoder, with a tiny model and with the embedded one. All texts are invented."""

import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from ingest.protocols import Encoder
from models.catalog import ModelRef
from models.encoders.sentence_encoder import SentenceEncoder
from models.errors import LetheError, ModelUnavailable
from models.vectors import Vectors
from tests.batches import assert_batches_do_not_show
from tests.tiny_encoder import DIM, MAX_TOKENS, make_tiny_encoder

TEXTS = [
    "",
    " ",
    "Berta went to see the well.",
    "the doctor 😀 wrote a long letter about the well and its keeper, who had left by boat",
    "naïve café",
    "x" * 300,
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny_encoder"))


@pytest.fixture(scope="session")
def tiny(folder: Path) -> SentenceEncoder:
    return SentenceEncoder(folder)


@pytest.fixture(scope="session")
def embedded() -> SentenceEncoder:
    return SentenceEncoder(ModelRef())


@pytest.fixture(params=["tiny", "embedded"])
def encoder(request: pytest.FixtureRequest) -> SentenceEncoder:
    found: SentenceEncoder = request.getfixturevalue(request.param)
    return found


def test_makes_unit_rows_of_single_precision_that_do_not_depend_on_the_batch(
    encoder: SentenceEncoder,
) -> None:
    def assert_close(one: Vectors, other: Vectors) -> None:
        assert one == pytest.approx(other, abs=1e-5)

    shaped: Encoder = encoder
    vectors = assert_batches_do_not_show(shaped.encode, TEXTS, assert_close)
    assert vectors.shape == (len(TEXTS), shaped.dim)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_tokens_lie_in_the_text_and_reach_its_end(encoder: SentenceEncoder) -> None:
    for text in TEXTS:
        spans = encoder.token_spans(text)
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        assert spans == sorted(spans)
        covered = {at for start, end in spans for at in range(start, end)}
        assert covered == {at for at, sign in enumerate(text) if not sign.isspace()}


def test_just_max_tokens_tokens_are_read(encoder: SentenceEncoder) -> None:
    limit = encoder.max_tokens
    head = " ".join("ab"[at % 2] for at in range(limit))
    assert len(encoder.token_spans(head)) == limit
    longer, shorter = encoder.encode([f"{head} q q"])[0], encoder.encode([head[:-2]])[0]
    whole = encoder.encode([head])[0]
    assert longer == pytest.approx(whole, abs=1e-5)
    assert np.abs(shorter - whole).max() > 1e-4


def test_says_nothing_and_tells_its_sizes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    encoder = SentenceEncoder(folder)
    assert (encoder.name, encoder.dim, encoder.max_tokens) == ("tiny", DIM, MAX_TOKENS - 2)
    encoder.encode(TEXTS)
    encoder.token_spans("a " * 10_000)
    assert capfd.readouterr() == ("", "")


def test_the_embedded_encoder_is_minilm_and_its_numbers_are_pinned(embedded: SentenceEncoder) -> None:
    assert (embedded.name, embedded.dim, embedded.max_tokens) == ("all-MiniLM-L6-v2", 384, 254)
    texts = ["The well is deep.", "A deep spring of water.", "The invoice is overdue."]
    well, spring, invoice = embedded.encode(texts)
    assert float(well @ spring) > float(well @ invoice) + 0.2
    assert well[:4] == pytest.approx([-0.06499, 0.068828, 0.06601, -0.004383], abs=1e-4)


def test_a_failure_does_not_quote_the_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = SentenceEncoder(folder)

    def fail(texts: list[str], **_: object) -> None:
        raise RuntimeError(texts[0])

    monkeypatch.setattr(encoder._model, "encode", fail)
    private = "Berta Wexmor"
    with pytest.raises(LetheError, match=r"encoder tiny failed on a batch of 1 texts \(Runtime") as e:
        encoder.encode([private])
    traced = traceback.format_exception(e.value)
    assert "Berta" not in "".join(line for line in traced if "private = " not in line)


def test_without_a_model_or_the_library_the_remedy_is_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelUnavailable, match=r"could not be loaded from its folder \(.*: copy"):
        SentenceEncoder(tmp_path)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelUnavailable, match=r"needs the library sentence-transformers.*install"):
        SentenceEncoder(folder)
