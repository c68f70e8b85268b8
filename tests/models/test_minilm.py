from pathlib import Path

import numpy as np
import pytest

from models.catalog import MINILM_WEIGHTS, embedded_path
from models.encoders import minilm
from models.encoders.minilm import MiniLM, released
from models.errors import ModelUnavailable

TEXTS = [
    "An invented sentence about a lighthouse.",
    "",
    "😀 café naïve",
    "Blood pressure was 140/90 and the dose was raised to 10 mg. " * 12,
    "short",
]


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return MiniLM()


def test_unit_rows_are_the_same_alone_and_in_a_batch_and_those_of_the_library(encoder: MiniLM) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert encoder.encode([]).shape == (0, 384)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert np.abs(vectors - alone).max() < 1e-6
    assert np.array_equal(vectors, encoder.encode(TEXTS))
    (hello,) = encoder.encode(["hello world"])
    assert hello[:4] == pytest.approx([-0.0345, 0.0310, 0.0067, 0.0261], abs=1e-4)
    library = pytest.importorskip("sentence_transformers")
    path = embedded_path(MINILM_WEIGHTS)
    assert path is not None
    reference = library.SentenceTransformer(str(path.parent)).encode(TEXTS, normalize_embeddings=True)
    assert np.abs(vectors - reference).max() < 1e-5


def test_marks_at_the_ends_are_outside_of_every_mention(encoder: MiniLM) -> None:
    ((places, states),) = encoder.states(["Anna Keller kept the lighthouse."])
    assert places[0] == places[-1] == (0, 0)
    assert states.shape == (len(places), encoder.dim)
    mean = states.mean(axis=0)
    (vector,) = encoder.encode(["Anna Keller kept the lighthouse."])
    assert mean / np.linalg.norm(mean) == pytest.approx(vector, abs=1e-6)


def test_states_do_not_depend_on_the_batch(encoder: MiniLM) -> None:
    texts = ["short", "An invented sentence about a lighthouse. " * 9, "", "😀 café"]
    together = encoder.states(texts)
    for text, (places, states) in zip(texts, together, strict=True):
        ((alone_places, alone),) = encoder.states([text])
        assert places == alone_places
        assert states == pytest.approx(alone, abs=1e-5)


def test_token_spans_lie_in_the_text_and_miss_no_word(encoder: MiniLM) -> None:
    for text in TEXTS:
        spans = encoder.token_spans(text)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert "".join(text[start:end] for start, end in spans) == text.replace(" ", "")


def test_the_weights_are_read_once_and_changed_by_nobody(encoder: MiniLM) -> None:
    shared = released()
    before = {name: weight.clone() for name, weight in shared.weights.items()}
    encoder.encode(TEXTS)
    MiniLM().encode(TEXTS)
    assert released() is shared
    assert released().weights is shared.weights
    assert all(weight.equal(before[name]) for name, weight in shared.weights.items())


def test_the_tokenizer_neither_cuts_nor_pads() -> None:
    tokenizer = released().tokenizer
    long, short = tokenizer.encode_batch(["lamp " * 2_000, "lamp"], add_special_tokens=False)
    assert (len(long.ids), len(short.ids)) == (2_000, 1)


def test_altered_or_absent_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # They are read from their files, whatever was read before.
    monkeypatch.setattr(minilm, "released", released.__wrapped__)
    altered = tmp_path / "model.safetensors"
    altered.write_bytes(b"something else")
    refusals = ((altered, "is not as released: its sha256 differs"), (None, "is missing. Run: pip install"))
    for path, message in refusals:
        monkeypatch.setattr(minilm, "embedded_path", lambda file, path=path: path)
        with pytest.raises(ModelUnavailable, match=message):
            MiniLM()
