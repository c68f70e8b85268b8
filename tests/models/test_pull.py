"""Pulling models from a hub on loopback. All names and files here are invented."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.catalog import ModelRef, folder_of, list_models
from models.errors import ConfigurationError, ModelUnavailable
from models.pull import Offer, pull
from tests.invented_hub import COMMIT, InventedHub, hub_on_loopback, hub_ref

OTHER_COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
ENCODER = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights" * 10,
    "pytorch_model.bin": b"the same again",
    "onnx/model.onnx": b"and again",
    "README.md": b"words",
}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InventedHub]:
    with hub_on_loopback(tmp_path / "cache", monkeypatch) as invented:
        yield invented


def agree(_: Offer) -> bool:
    return True


def test_pulls_what_was_offered_and_finds_it_afterwards(hub: InventedHub) -> None:
    hub.repositories["invented/encoder"] = ENCODER
    offers: list[Offer] = []

    def confirm(offer: Offer) -> bool:
        assert hub.fetched() == set()
        offers.append(offer)
        return True

    pulled = pull(hub_ref("invented/encoder"), confirm)
    assert pulled == hub_ref("invented/encoder", COMMIT)
    assert offers == [Offer("invented/encoder", COMMIT, "mit", size=2 + 2 + 70)]
    assert hub.fetched() == {"config.json", "tokenizer.json", "model.safetensors"}

    hub.asked.clear()
    for ref in (pulled, hub_ref("invented/encoder")):
        folder = folder_of(ref, "encoder")
        assert (folder / "model.safetensors").read_bytes() == ENCODER["model.safetensors"]
    assert list_models([pulled])[-1].here
    assert hub.asked == []


def test_a_pinned_commit_is_the_one_that_is_asked_for_and_a_declined_offer_fetches_nothing(
    hub: InventedHub,
) -> None:
    hub.repositories["invented/encoder"] = ENCODER
    assert pull(hub_ref("invented/encoder"), lambda _: False) is None
    assert hub.fetched() == set()
    pull(hub_ref("invented/encoder", COMMIT), agree)
    assert f"/api/models/invented/encoder/revision/{COMMIT}" in hub.asked
    assert all(f"/resolve/{COMMIT}/" in path for path in hub.asked if "/resolve/" in path)
    with pytest.raises(ModelUnavailable, match=f"{OTHER_COMMIT}.* is not in the local cache"):
        folder_of(hub_ref("invented/encoder", OTHER_COMMIT), "encoder")


def test_pickled_weights_come_only_where_there_are_no_others(hub: InventedHub) -> None:
    hub.repositories["invented/old"] = {"config.json": b"{}", "pytorch_model.bin": b"weights"}
    assert pull(hub_ref("invented/old"), agree) is not None
    assert hub.fetched() == {"config.json", "pytorch_model.bin"}
    assert (folder_of(hub_ref("invented/old"), "risk") / "pytorch_model.bin").is_file()


def test_a_detector_brings_the_settings_of_its_backbone(hub: InventedHub) -> None:
    config = json.dumps({"model_name": "invented/backbone"}).encode()
    hub.repositories["invented/gliner"] = {"gliner_config.json": config, "model.safetensors": b"weights"}
    hub.repositories["invented/backbone"] = ENCODER
    offers: list[tuple[str, int]] = []

    def confirm(offer: Offer) -> bool:
        offers.append((offer.name, offer.size))
        return True

    assert pull(hub_ref("invented/gliner"), confirm) is not None
    assert offers == [("invented/gliner", len(config) + 7), ("invented/backbone", 4)]
    assert hub.fetched() == {"gliner_config.json", "model.safetensors", "config.json", "tokenizer.json"}


def test_a_detector_that_stands_alone_brings_nothing_else(hub: InventedHub) -> None:
    config = {"model_name": "invented/backbone", "encoder_config": {"model_type": "bert"}}
    hub.repositories["invented/gliner"] = {
        "gliner_config.json": json.dumps(config).encode(),
        "tokenizer_config.json": b"{}",
        "model.safetensors": b"weights",
    }
    assert pull(hub_ref("invented/gliner"), agree) == hub_ref("invented/gliner", COMMIT)
    assert not [path for path in hub.asked if "backbone" in path]


def test_what_is_not_announced_has_no_weights_or_is_absent_is_refused(hub: InventedHub) -> None:
    hub.repositories |= {"invented/encoder": ENCODER, "invented/empty": {"config.json": b"{}"}}
    hub.announced["model.safetensors"] = "0" * 64
    for name, message in {
        "encoder": "model.safetensors of the model invented/encoder is",
        "empty": "invented/empty has no weights in a known format: ",
        "absent": r"could not be fetched .* \(RepositoryNotFound",
    }.items():
        with pytest.raises(ModelUnavailable, match=message):
            pull(hub_ref(f"invented/{name}"), agree)


def test_without_a_hub_the_remedy_is_to_copy_the_folder(
    hub: InventedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable) as caught:
        pull(hub_ref("invented/encoder"), agree)
    assert str(caught.value) == (
        "The model invented/encoder could not be fetched from the hub (ConnectError): check the "
        "name, its terms of use and the network; or download it on another machine, copy its "
        "folder here and give that path."
    )
    assert hub.asked == []


def test_only_hub_models_are_pulled_and_a_missing_library_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigurationError, match="The model default is embedded and needs no down"):
        pull(ModelRef(), agree)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelUnavailable, match="Pulling needs the library huggingface-hub.*install"):
        pull(hub_ref("invented/encoder"), agree)
