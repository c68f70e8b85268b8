"""Privacy-risk models over transformers of one's own, with tiny ones made here. All texts are invented."""

import json
import random
import re
import shutil
import string
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from ingest.documents import Document
from ingest.read.sources import read_documents
from ingest.sanitize import annotate
from models.catalog import ModelRef, describe, reference
from models.corpora.rubric import Snippet, held_out, shipped_snippets
from models.errors import ConfigurationError, ModelUnavailable
from models.local_files import quiet
from models.risk import LabeledText, Reader, TransformerRisk, load_transformer_risk, read_encoder
from models.training import commands, transformer_risk
from models.training.commands import make_transformer_risk, split, write_transformer_risk
from models.training.optimizing import Progress
from models.training.transformer_risk import (
    Agreement,
    ScoredText,
    TransformerRecipe,
    agreement,
    fine_tune,
    hazard_loss,
    new_head,
)
from tests.batches import assert_batches_do_not_show, assert_near
from tests.commands import write_records
from tests.small_models import FILLER, NAMES, byte_tokenizer, marked, one_thread

if TYPE_CHECKING:
    from torch import Tensor

PERSON, DRUG = "person full name", "medication"
STAND_INS = {PERSON: "somebody", DRUG: "a medication"}
DEBERTA = "microsoft/deberta-v3-base"
POSITIONS = 64
MARKS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
SIZES: dict[str, Any] = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, initializer_range=0.2
)
QUICK = TransformerRecipe(
    seed=3, epochs=8, patience=9, tokens=128, layer_rate=1e-3, head_rate=5e-3, masked=0.2
)


def deberta(vocabulary: int) -> Any:
    """A network built as DeBERTa-v3 is, only smaller."""
    import torch
    from transformers import DebertaV2Config, DebertaV2Model

    torch.manual_seed(0)
    own: dict[str, Any] = dict(
        position_biased_input=False, type_vocab_size=0, norm_rel_ebd="layer_norm", relative_attention=True
    )
    own |= dict(position_buckets=16, share_att_key=True, pos_att_type="p2c|c2p", vocab_size=vocabulary)
    return DebertaV2Model(DebertaV2Config(max_position_embeddings=POSITIONS, **own, **SIZES))


def make_deberta(folder: Path) -> Path:
    """A tiny DeBERTa whose words are the filler and the names, and which spells the rest."""
    with quiet():
        from transformers import DebertaV2Tokenizer

        signs = string.ascii_letters + string.digits + string.punctuation
        pieces = [(mark, 0.0) for mark in MARKS]
        pieces += [(f"▁{word}", -2.0) for word in (*FILLER, *NAMES)]
        pieces += [("▁", -4.0), *((sign, -5.0) for sign in signs)]
        DebertaV2Tokenizer(vocab=pieces, unk_id=3).save_pretrained(folder)
        deberta(len(pieces)).save_pretrained(folder)
    return folder


def make_roberta(folder: Path) -> Path:
    """A tiny RoBERTa that reads bytes, and whose positions begin behind the padding's number."""
    with quiet():
        import torch
        from transformers import RobertaConfig, RobertaModel

        torch.manual_seed(0)
        tokenizer = byte_tokenizer()
        tokenizer.model_max_length = POSITIONS
        tokenizer.save_pretrained(folder)
        config = RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=POSITIONS + 2, pad_token_id=1, **SIZES
        )
        RobertaModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_deberta(tmp_path_factory.mktemp("models") / "tiny-deberta")


@pytest.fixture(scope="module", params=[make_deberta, make_roberta], ids=["deberta", "roberta"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TransformerRisk:
    return untrained(read(request.param(tmp_path_factory.mktemp("each") / "tiny")))


def ref(folder: Path) -> ModelRef:
    return ModelRef(source="path", name=str(folder))


def read(folder: Path) -> Reader:
    return read_encoder(ref(folder), folder.name)


def head_of(reader: Reader) -> "Mapping[str, Tensor]":
    """An untrained head whose hazards differ by more than rounding."""
    import torch

    torch.manual_seed(1)
    return {name: weight.detach() * 3 for name, weight in new_head(reader).items()}


def untrained(reader: Reader) -> TransformerRisk:
    return TransformerRisk("untrained", reader, head_of(reader))


TEXTS = [
    marked("Mrs Keldra takes Norvexa for her knee.", ("Keldra", PERSON), ("Norvexa", DRUG)),
    marked("", ("x", PERSON)),
    marked("Nothing is marked here."),
    marked("Zilpah Ostrun", ("Zilpah Ostrun", PERSON), ("Ostrun", PERSON), ("Zilpah", "zorblax")),
    marked("Norvexa, Norvexa and 😀 שלום Norvexa " * 20, ("Norvexa", DRUG), ("😀", "mood"), ("and", "")),
]


# What is read


def test_every_mention_has_a_hazard_that_no_batch_or_order_changes(model: TransformerRisk) -> None:
    found = assert_batches_do_not_show(model.hazards, TEXTS, assert_near)
    assert [len(hazards) for hazards in found] == [len(text.places) for text in TEXTS]
    assert all(hazard > 0 for hazards in found for hazard in hazards)
    assert model.hazards([]) == []
    assert "Quorin" not in repr(model)


def test_word_label_and_context_all_tell(model: TransformerRisk) -> None:
    here, valley = "Keldra was here.", "The Keldra valley is green."
    given = [(here, "Keldra", PERSON), (here, "Keldra", DRUG), (valley, "Keldra", PERSON)]
    texts = [marked(text, (word, label)) for text, word, label in [*given, (here, "here", PERSON)]]
    assert len({round(hazard, 3) for (hazard,) in model.hazards(texts)}) == 4


def test_a_mention_of_a_long_text_is_judged_as_in_its_window_alone(folder: Path) -> None:
    reader = read(folder)
    limits = reader.limits
    assert (limits.tokens, limits.overlap) == (62, 15)
    assert "Quorin" not in repr(reader)
    for at in (0, 30, 46, 47, 61, 62, 93, 150, 299):
        words = [random.Random(at + place).choice(FILLER) for place in range(300)]
        words[at] = "Quorin"
        # A word is a token here, and the windows that see it begin every 47 of them.
        begins = [begin for begin in range(0, 300 - limits.overlap, 47) if 0 <= at - begin < 62]
        begin = max(begins, key=lambda first: min(at - first, min(first + 62, 300) - at - 1))
        if 15 < at < 285:
            assert min(at - begin, begin + 62 - at - 1) >= 7
        texts = [marked(" ".join(part), ("Quorin", PERSON)) for part in (words, words[begin : begin + 62])]
        (whole,), (window,) = untrained(reader).hazards(texts)
        assert whole == pytest.approx(window, abs=1e-4), at


# Training


def snippet(seed: int) -> ScoredText:
    """Filler with a name, which exposes somebody, and a harmless word; the labels tell nothing."""
    chance = random.Random(seed)
    words = [chance.choice(FILLER[:-4]) for _ in range(chance.randint(6, 14))]
    first, second = chance.sample(range(len(words)), 2)
    words[first], words[second] = chance.choice(NAMES), chance.choice(FILLER[-4:])
    starts = [sum(len(word) + 1 for word in words[:at]) for at in (first, second)]
    places = tuple((start, start + len(words[at])) for start, at in zip(starts, (first, second), strict=True))
    return ScoredText(" ".join(words), places, ("thing", "thing"), (0.9, 0.05))


TRAINING = [snippet(seed) for seed in range(60)]
DEVELOPMENT = [snippet(seed) for seed in range(60, 70)]


def learned(
    reader: Reader, recipe: TransformerRecipe = QUICK
) -> "tuple[Mapping[str, Tensor], list[Progress]]":
    reports: list[Progress] = []
    with one_thread():
        return fine_tune(reader, TRAINING, DEVELOPMENT, STAND_INS, recipe, reports.append), reports


def test_training_lowers_the_loss_and_tells_two_kinds_apart(folder: Path) -> None:
    reader = read(folder)
    before = {name: weight.clone() for name, weight in reader.network.state_dict().items()}
    head, reports = learned(reader)
    assert reports[-1].loss < 0.5 * reports[0].loss
    assert reports[-1].step == reports[-1].steps
    model = TransformerRisk("small", reader, head)
    unseen = [snippet(seed) for seed in range(100, 130)]
    found = model.hazards([LabeledText(text.text, text.places, text.labels) for text in unseen])
    assert min(name for name, _ in found) > 2 * max(word for _, word in found)
    agreed = agreement(model, unseen)
    assert agreed.mentions == 60
    assert agreed.spearman == pytest.approx(0.87, abs=0.03)
    assert agreed.mean_error < 0.15
    # The whole transformer learns, its lowest part too.
    after = reader.network.state_dict()
    parts = {name.split(".")[0] for name in before if float((after[name] - before[name]).abs().max()) > 1e-4}
    assert parts == {"embeddings", "encoder"}


def test_a_seed_fixes_the_weights(folder: Path) -> None:
    recipe = TransformerRecipe(seed=5, epochs=1, tokens=2_048)
    readers = [read(folder) for _ in range(3)]
    one, again = (learned(reader, recipe)[0] for reader in readers[:2])
    other, _ = learned(readers[2], TransformerRecipe(seed=6, epochs=1, tokens=2_048))
    assert all(float((one[name] - again[name]).abs().max()) < 1e-5 for name in one)
    assert any(float((one[name] - other[name]).abs().max()) > 1e-3 for name in one)


def test_it_ends_when_development_gets_no_better_and_the_best_epoch_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = read(folder)
    seen: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    losses = iter([3.0, 1.0, 2.0, 1.5, 0.5])

    def scripted(model: TransformerRisk, texts: object) -> Agreement:
        assert texts is DEVELOPMENT
        assert not reader.network.training
        network = {name: weight.clone() for name, weight in reader.network.state_dict().items()}
        seen.append((network, {name: weight.detach().clone() for name, weight in model._head.items()}))
        return Agreement(1, next(losses), 0.0, None)

    monkeypatch.setattr(transformer_risk, "agreement", scripted)
    head, _ = learned(reader, TransformerRecipe(seed=3, epochs=9, patience=2, tokens=2_048))
    assert len(seen) == 4
    network, best = seen[1]
    assert all(bool((reader.network.state_dict()[name] == network[name]).all()) for name in network)
    assert all(bool((head[name] == best[name]).all()) for name in best)
    assert any(bool((seen[3][1][name] != best[name]).any()) for name in best)


def test_the_loss_is_least_at_the_scores_and_counts_texts_by_their_weight() -> None:
    import torch

    # A score of 0.525 is learned as 0.5, since what the rubric calls general is no hazard.
    losses = [float(hazard_loss(torch.tensor([hazard]), [0.525], [1.0])) for hazard in (0.5, 0.6931, 0.9)]
    assert losses[1] == pytest.approx(0.6931, abs=1e-4)
    assert losses[1] < min(losses[0], losses[2])
    hazards = torch.tensor([1.0, 2.0])
    one, other = (float(hazard_loss(hazards[at : at + 1], [0.0], [1.0])) for at in (0, 1))
    assert float(hazard_loss(hazards, [0.0, 0.0], [3.0, 1.0])) == pytest.approx((3 * one + other) / 4)


class Scripted(TransformerRisk):
    def __init__(self, hazards: list[float]) -> None:
        self._hazards = iter(hazards)

    def hazards(self, texts: Any) -> list[list[float]]:
        return [[next(self._hazards) for _ in text.places] for text in texts]


def test_agreement_is_of_ranks_and_of_scores() -> None:
    texts = [
        ScoredText("a b", ((0, 1), (2, 3)), ("x", "x"), (0.1, 0.5)),
        ScoredText("c d", ((0, 1), (2, 3)), ("x", "x"), (0.5, 0.9)),
    ]
    # By hand: ranks 1, 2, 3, 4 against 1, 2.5, 2.5, 4.
    found = agreement(Scripted([0.0, 0.1, 0.2, 3.0]), texts)
    assert found.spearman == pytest.approx(0.948683, abs=1e-6)
    scores = zip([0.0, 0.095163, 0.181269, 0.950213], (0.1, 0.5, 0.5, 0.9), strict=True)
    assert found.mean_error == pytest.approx(sum(abs(one - other) for one, other in scores) / 4, abs=1e-5)
    assert agreement(Scripted([0.3] * 4), texts).spearman is None


# The command


def test_every_tenth_block_of_neighbors_and_its_records_are_kept_apart() -> None:
    def one(number: int, record: str = "") -> Snippet:
        return Snippet(f"s{number}", "clinical", "Keldra", ((0, 6),), (PERSON,), ((0.7,),), record)

    snippets = [one(number, "r/1" if number in (2, 47) else "") for number in range(110)]
    texts, development = split(snippets)
    assert [s.id for s in development] == [f"s{number}" for number in (*range(45, 50), *range(95, 100))]
    kept = [number for number in range(110) if number not in (2, *range(45, 50), *range(95, 100))]
    assert [s.id for s in texts] == [f"s{number}" for number in kept]


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that the command made, of the shipped snippets' first part and two of a user's own."""
    made = tmp_path_factory.mktemp("trained")
    rows = [{"marked": f"[[Keldra|{PERSON}]] of [[Varde|city name]]", "scores": [0.7, 0.2]}] * 2
    (made / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    words = ["--encoder", str(folder), "--labels", str(made / "own.jsonl"), "--output", str(made / "risk")]
    with pytest.MonkeyPatch.context() as patched, one_thread():
        patched.setattr(commands, "shipped_snippets", first_snippets)
        patched.setattr(transformer_risk, "TransformerRecipe", partial(TransformerRecipe, epochs=2))
        assert main(["models", "train-risk", *words, "--seed", "7"]) == 0
    return made / "risk"


def first_snippets(data: Path | None) -> list[Snippet]:
    """So many that a part is held out and a part is left for development."""
    return shipped_snippets(data)[:80]


def test_the_command_writes_a_model_with_its_card(trained: Path) -> None:
    names = {path.name for path in trained.iterdir()}
    assert names >= {"risk.safetensors", "risk.json", "model.safetensors", "config.json", "tokenizer.json"}
    assert {path.suffix for path in trained.iterdir()} == {".safetensors", ".json"}
    card = json.loads((trained / "risk.json").read_text(encoding="utf-8"))
    assert card["name"] == "tiny-deberta-risk+own"
    assert (card["encoder"], card["revision"]) == ("tiny-deberta", None)
    assert (card["recipe"]["seed"], card["recipe"]["epochs"]) == (7, 2)
    snippets, measured = held_out(first_snippets(None))
    assert card["snippets"]["own"] == 2
    assert card["held_out"]["mentions"] == sum(len(each.places) for each in measured) > 0
    assert card["development"]["mentions"] == sum(len(each.places) for each in snippets[45:50])
    assert str(trained.parents[1]) not in "".join(path.read_text() for path in trained.glob("*.json"))


def test_what_is_saved_says_the_same_when_it_is_loaded(folder: Path, tmp_path: Path) -> None:
    reader = read(folder)
    head = head_of(reader)
    card = {"name": "invented", "encoder": "tiny"}
    write_transformer_risk(tmp_path / "made", reader, head, card)
    loaded = load_transformer_risk(ref(tmp_path / "made"))
    assert isinstance(loaded, TransformerRisk)
    assert loaded.name == "invented"
    found = loaded.hazards(TEXTS)
    # Sixteen bits keep three digits, and what they keep they keep.
    for one, other in zip(found, TransformerRisk("", reader, head).hazards(TEXTS), strict=True):
        assert one == pytest.approx(other, rel=0.02)
    write_transformer_risk(tmp_path / "again", read(tmp_path / "made"), loaded._head, card)
    for one, other in zip(found, load_transformer_risk(ref(tmp_path / "again")).hazards(TEXTS), strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def test_a_collection_is_made_with_it(trained: Path, tmp_path: Path) -> None:
    chosen = {"detector.learned": False, "risk.model": {"source": "path", "name": str(trained)}}
    data = DataDir(load_settings({"data_dir": tmp_path / "data", **chosen}))
    system = system_of(data.settings)
    texts = [f"Invented. Mr {name} Keldra came on {n + 1} May 2021." for n, name in enumerate(NAMES)]
    notes = write_records(tmp_path / "notes.jsonl", texts)
    tally = ingest(system, data, "notes", read_documents([str(notes)]))
    assert (tally.kept, tally.failed) == (len(NAMES), 0)
    assert data.open("notes").manifest.risk == "tiny-deberta-risk+own"
    (hazards,) = system.risk.hazards(annotate(system.detector, [Document("d", texts[0])]))
    assert hazards.total > 0


# What does not do


def test_debertas_own_repository_is_read_as_it_is(cache: Path, tmp_path: Path) -> None:
    """It holds a SentencePiece file instead of a tokenizer.json, and half precision in torch's own format."""
    import torch
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    known = describe(DEBERTA)
    assert known is not None and known.revision is not None
    pulled = cache / f"models--{DEBERTA.replace('/', '--')}" / "snapshots" / known.revision
    pulled.mkdir(parents=True)
    lines = [" ".join(random.Random(n).choices([*FILLER, *NAMES], k=12)) for n in range(300)]
    (tmp_path / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    asked: dict[str, Any] = {"input": str(tmp_path / "lines.txt"), "model_prefix": str(pulled / "spm")}
    for number, (name, mark) in enumerate(zip(("pad", "bos", "eos", "unk"), MARKS, strict=False)):
        asked |= {f"{name}_id": number, f"{name}_piece": mark}
    SentencePieceTrainer.train(vocab_size=50, minloglevel=2, **asked)
    (pulled / "tokenizer_config.json").write_text('{"do_lower_case": false, "vocab_type": "spm"}')
    network = deberta(64).half()
    network.config.to_json_file(pulled / "config.json")
    torch.save({f"deberta.{n}": w for n, w in network.state_dict().items()}, pulled / "pytorch_model.bin")

    reader = read_encoder(reference(DEBERTA), DEBERTA)
    assert reader.network.dtype == torch.float32
    assert all(
        bool((weight == network.state_dict()[name].float()).all())
        for name, weight in reader.network.state_dict().items()
    )
    assert reader.marks == ((1,), (2,))
    pieces = SentencePieceProcessor(model_file=str(pulled / "spm.model"))
    for text in ("the river Quorin", "  a lamp\nand Zilpah.", "", "xyz 😀"):
        read_as = reader.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
        assert read_as.ids == pieces.encode(text)
    write_transformer_risk(tmp_path / "made", reader, head_of(reader), {"name": "x", "encoder": DEBERTA})
    assert [len(found) for found in load_transformer_risk(ref(tmp_path / "made")).hazards(TEXTS)] == [
        len(text.places) for text in TEXTS
    ]


def test_a_transformer_that_was_not_pulled_is_named_with_the_command(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = describe(DEBERTA)
    assert known is not None
    output = tmp_path / "made"
    assert main(["models", "train-risk", "--encoder", DEBERTA, "--output", str(output)]) == 1
    assert capsys.readouterr().err.strip() == (
        f"lethe: The risk model {DEBERTA} ({known.revision}) is not in the local cache: "
        f"run 'lethe models pull {DEBERTA}', or copy its folder here and give that path."
    )
    assert not output.exists()


def test_what_is_no_transformer_is_told(folder: Path, tmp_path: Path) -> None:
    def spoiled(*absent: str, **written: bytes) -> str:
        shutil.rmtree(tmp_path / "spoiled", ignore_errors=True)
        shutil.copytree(folder, tmp_path / "spoiled")
        for name in absent:
            (tmp_path / "spoiled" / name).unlink()
        for name, content in written.items():
            (tmp_path / "spoiled" / name).write_bytes(content)
        with pytest.raises(ModelUnavailable) as caught:
            read(tmp_path / "spoiled")
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        return str(caught.value)

    told = (
        "The transformer spoiled could not be loaded from its folder ({}): it needs config.json, weights "
        "and a tokenizer; copy or pull its files again."
    )
    blind = (
        "The transformer spoiled has no tokenizer that gives the offsets of its tokens: "
        "choose a model with a tokenizer.json."
    )
    assert spoiled("model.safetensors") == told.format("OSError")
    assert spoiled(**{"model.safetensors": b"x" * 99}) == told.format("SafetensorError")
    assert re.fullmatch(re.escape(told).replace(r"\{\}", r"\w+"), spoiled("config.json"))
    assert spoiled("tokenizer.json") == blind
    canine = b'{"tokenizer_class": "CanineTokenizer"}'
    assert spoiled("tokenizer.json", **{"tokenizer_config.json": canine}) == blind


def test_a_head_that_does_not_fit_is_told(folder: Path, tmp_path: Path) -> None:
    reader = read(folder)
    head = head_of(reader)
    for part in ("risk.label.weight", "risk.out.bias"):
        without = {name: weight for name, weight in head.items() if name != part}
        for spoiled in (without | {part: head[part][..., :0]}, without):
            write_transformer_risk(tmp_path, reader, spoiled, {"name": "invented", "encoder": "tiny"})
            with pytest.raises(ModelUnavailable) as caught:
                load_transformer_risk(ref(tmp_path))
            assert str(caught.value) == (
                f"The risk model invented has no weights named {part} that fit its transformer: "
                "train it again with 'lethe models train-risk --encoder'."
            )


def test_too_little_to_learn_from_and_the_transformer_s_own_folder_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    none = [ScoredText("nobody here", (), (), ())]
    said = "No mention is scored to learn from or to tell when to stop: give more scored snippets."
    for texts, development in ((none, TRAINING), (TRAINING, none)):
        with pytest.raises(ConfigurationError, match=f"^{said}$"):
            fine_tune(read(folder), texts, development, {}, QUICK, lambda _: None)
    own, made = tmp_path / "own.jsonl", tmp_path / "made"
    own.write_text('{"marked": "[[Keldra|a]]", "scores": [0.7]}\n', encoding="utf-8")
    for labels, output, message in (
        (None, folder, "holds the transformer itself: write the model into another"),
        (own, made, r"own\.jsonl holds 1 snippets: give at least 2\.$"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            make_transformer_risk(ref(folder), None, labels, output, {}, QUICK, lambda _: None)
    assert not made.exists()
