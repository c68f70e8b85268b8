"""The reader: decoding held to a slow version, words and pieces, and what the embedded one finds."""

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ingest.detection.reading import ASKED, LABELS_OF
from ingest.labels import LABELS
from models.catalog import READER, ModelRef
from models.corpora.passages import KINDS
from models.encoders.bert import mean_state, padded
from models.encoders.e5 import WordVectors, packed, unpacked
from models.encoders.words import GAPS, gap_before, shape_of, words_of
from models.errors import ModelUnavailable
from models.reader.linking import DOUBT, MOST, NEAR, REACH, comparable, features_of, name_words
from models.reader.network import first_states, hazards, read, read_reader, write_reader
from models.reader.reader import Reader, best_items
from models.risk import LabeledText
from models.trained import in_8_bits, whole
from tests.small_models import shipped_reader

NOTE = (
    "HANDOVER Ward 4, 12/03/24\n\nBed 3 Orla Whitcombe (81F), hosp no K447120. Bair Hugger off.\n"
    "Call bell in reach; sats target 88-92. Seen by Orla's son Tevin."
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(read_reader(ModelRef(name=READER)), ASKED)


def slowly(tags: NDArray[np.float32], gaps: Sequence[int]) -> list[tuple[int, int, int]]:
    """The best of all sequences of tags, by trying them all."""

    def allowed(sequence: Sequence[int]) -> bool:
        return all(
            not tag or tag % 2 or (n and gaps[n] < GAPS.index("wide") and sequence[n - 1] in (tag - 1, tag))
            for n, tag in enumerate(sequence)
        )

    sequences = filter(allowed, itertools.product(range(tags.shape[1]), repeat=len(tags)))
    best = max(sequences, key=lambda sequence: sum(float(tags[n, tag]) for n, tag in enumerate(sequence)))
    starts = [n for n, tag in enumerate(best) if tag % 2]
    ends = [
        next((n for n in range(start + 1, len(best)) if not best[n] or best[n] % 2), len(best))
        for start in starts
    ]
    return [(start, end, (best[start] - 1) // 2) for start, end in zip(starts, ends, strict=True)]


def test_a_name_takes_the_words_beside_it_that_have_to_go(reader: Reader) -> None:
    read = replace(reader.told(["Ask Orla Whitcombe about it."])[0])
    tags = np.full_like(read.tags, -9.0)
    tags[:, 0] = -0.1
    tags[1, 1 + 2 * KINDS.index("PERSON")] = 0.0
    musts = np.tile(np.array([0.9, 0.0, 0.0, 0.1], dtype=np.float32), (len(tags), 1))
    for expected in ((1, 2), (1, 3)):
        items = replace(read, tags=tags, musts=musts.copy()).items()
        assert [(each.first, each.last) for each in items] == [expected]
        musts[1:3] = [0.2, 0.0, 0.1, 0.7]


def test_the_likeliest_items_are_found() -> None:
    chance = np.random.default_rng(3)
    for _ in range(150):
        words = int(chance.integers(1, 6))
        tags = np.log(chance.dirichlet(np.full(5, 0.4), size=words) + 1e-9).astype(np.float32)
        gaps = chance.integers(0, len(GAPS), size=words).tolist()
        assert best_items(tags, gaps) == slowly(tags, gaps)


def test_words_gaps_and_shapes() -> None:
    for text, words in (
        ("Dr K.Osei-Bonsu", "Dr|K|.|Osei|-|Bonsu"),
        ("MRN00417 a_b", "MRN|00417|a|_|b"),
        *(("größe\t€5", "größe|€|5"), ("", "")),
    ):
        assert "|".join(text[start:end] for start, end in words_of(text)) == words
    text = "One\ntwo  THREE four\n\nFiVe6"
    places = words_of(text)
    ends = [0, *(end for _, end in places)]
    gaps = [GAPS[gap_before(text, end, start)] for end, (start, _) in zip(ends, places, strict=False)]
    assert gaps == ["blank line", "line", "wide", "space", "blank line", "none"]
    assert [shape_of(text[start:end]) for start, end in places] == [2, 1, 3, 1, 5, 6]


def test_names_have_something_in_common_whichever_comes_first() -> None:
    chance = random.Random(5)
    names = ["Orla Whitcombe", "Ms Whitcombe", "O. W.", "orla", "Tevin", "OW", "", "Whitcombe, Orla"]
    for one, other in itertools.product(names, repeat=2):
        apart = chance.randrange(400)
        found = features_of(name_words(one), name_words(other), apart)
        assert found == features_of(name_words(other), name_words(one), apart)
        assert all(0 <= each <= 1 for each in found)


def test_vectors_are_those_of_the_whole_matrix() -> None:
    generator = torch.Generator().manual_seed(1)
    codes = torch.randint(0, 256, (7, 32), generator=generator, dtype=torch.uint8)
    scales = torch.rand(7, 2, generator=generator).half()
    ids = torch.tensor([[3, 3], [0, 6]])
    for row, of_row in zip(ids.tolist(), WordVectors(codes, scales).of(ids), strict=True):
        for piece, vector in zip(row, of_row, strict=True):
            for block in (0, 1):
                held = codes[piece, 16 * block : 16 * block + 16]
                wanted = [int(byte) & 15 for byte in held] + [int(byte) >> 4 for byte in held]
                numbers = (torch.tensor(wanted) - 8) * scales[piece, block].float()
                assert torch.equal(vector[32 * block : 32 * block + 32], numbers)
    assert unpacked(packed(["ä", 1])) == ["ä", 1]


def test_8_bits_keep_the_weights() -> None:
    generator = torch.Generator().manual_seed(2)
    layer, bias = torch.randn(5, 8, generator=generator), torch.randn(4, generator=generator)
    weights = {"encoder.layer.0.x.weight": layer, "tell.bias": bias}
    for name, weight in whole(in_8_bits(weights)).items():
        assert (weight - weights[name]).abs().max() <= weights[name].abs().max() / 127


def test_the_embedded_reader_reads_a_note(reader: Reader) -> None:
    (told,) = reader.told([NOTE])
    found = {NOTE[item.start : item.end]: item for item in told.items()}
    assert found["Orla Whitcombe"].kind == "PERSON"
    assert found["Tevin"].identifier == "DIRECT"
    assert found["K447120"].kind == "CODE"
    assert found["12/03/24"].need.should > 0.5
    assert not any("Hugger" in words or "bell" in words for words in found)
    for item in told.items():
        assert 0 <= item.need.must <= item.need.should <= item.need.tells <= 1
        assert "\n" not in NOTE[item.start : item.end]
    assert told.at(len(NOTE), len(NOTE)).must == 0.0


def test_a_text_is_read_alike_alone_and_among_others(reader: Reader) -> None:
    long = "\n".join([NOTE] * 12)
    (alone,), (_, among, _) = reader.told([long]), reader.told([NOTE, long, "x"])
    assert len(alone.words.places) > 380
    assert np.allclose(alone.musts, among.musts, atol=1e-4)
    assert [(item.start, item.end) for item in alone.items()] == [(i.start, i.end) for i in among.items()]
    assert reader.told([""])[0].items() == []


def test_every_kind_has_labels_of_the_table() -> None:
    assert set(LABELS_OF) == set(KINDS)
    assert {label for labels in LABELS_OF.values() for label in labels} <= set(LABELS) & set(ASKED)


def test_a_reader_is_written_and_read_again_and_a_broken_one_says_what_it_needs(tmp_path: Path) -> None:
    stored, own = read_reader(ModelRef(name=READER)), ModelRef(source="path", name=str(tmp_path))
    write_reader(tmp_path, stored.encoder, stored.weights, {"name": "own", "layers": stored.layers})
    again = read_reader(own)
    assert again.name == "own"
    for name, weight in stored.weights.items():
        assert torch.allclose(again.weights[name], weight, atol=2e-3)
    assert json.loads((tmp_path / "reader.json").read_text()) == {"layers": stored.layers, "name": "own"}
    (tmp_path / "reader.json").write_text("{}")
    needs = r"needs encoder\.safetensors, reader\.safetensors and reader\.json"
    with pytest.raises(ModelUnavailable, match=needs):
        read_reader(own)


def test_hazards_are_those_of_the_network() -> None:
    reader = shipped_reader()
    text, places = "Ada Lind of Varde, 61, keeps bees.", ((0, 8), (12, 17), (19, 21))
    (found,) = reader.hazards([LabeledText(text, places, ("",) * 3)])
    (job,) = reader._jobs([text], reader._splitter.words([text]))
    ids, real = padded([job.ids])
    with torch.inference_mode():
        first = reader._vectors.of(ids), torch.tensor([job.gaps]), torch.tensor([job.shapes])
        states = read(reader._weights, first_states(reader._weights, *first), real, reader._layers)
        words = states[0, job.firsts]
        mentions = torch.stack([words[0:2].mean(0), words[3], words[5]])
        expected = hazards(reader._weights, mentions, mean_state(states, real).expand(3, -1))
    assert found == pytest.approx(expected.tolist(), abs=0.01)


def test_few_pairs_of_mentions_are_compared_and_none_that_its_words_show() -> None:
    """Among them is always the latest mention of the same name, and pairs grow in step with mentions."""
    chance = random.Random(5)
    drawn = [(f"{letter}o{n}x", "keller") for n in range(200) for letter in "ab"] + [("keller",)]
    names = [chance.choice(drawn) for _ in range(1_500)]
    pairs = list(comparable(names, range(0, 30 * len(names), 30)))
    assert len(pairs) <= (2 + len(names[0])) * MOST * len(names)
    assert len({(later, earlier) for later, earlier, _, _ in pairs}) == len(pairs)
    found = {(later, earlier) for later, earlier, _, _ in pairs}
    for later, name in enumerate(names):
        if name in names[:later]:
            assert (later, max(n for n in range(later) if names[n] == name)) in found


def test_names_without_a_common_word_are_compared_nearby_and_with_more_doubt() -> None:
    names = [("margarete", "brandl"), ("gretl",), ("m", "b")]

    def compared(*firsts: int) -> dict[tuple[int, int], float]:
        return {(one, other): least for one, other, _, least in comparable(names, firsts)}

    assert compared(0, 10, 20) == {(1, 0): DOUBT, (2, 0): 0.0, (2, 1): DOUBT}
    assert compared(0, NEAR, 2 * NEAR) == {(2, 0): 0.0}
    assert compared(0, REACH, 2 * REACH) == {}
