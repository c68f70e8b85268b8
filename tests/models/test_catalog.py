"""The catalog of models and verifying their files. All names and files here are invented."""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from models.catalog import (
    MODELS,
    EmbeddedFile,
    ModelDescription,
    ModelRef,
    check_embedded,
    describe,
    embedded_model,
    embedded_path,
    folder_of,
    list_models,
    reference,
    verify,
)
from models.errors import ModelUnavailable
from tests.invented_hub import InventedHub, hub_on_loopback, hub_ref


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InventedHub]:
    with hub_on_loopback(tmp_path / "cache", monkeypatch) as invented:
        yield invented


def test_a_reference_is_frozen_and_a_folder_is_a_path_and_other_text_a_hub_id(tmp_path: Path) -> None:
    assert reference(ModelRef()) == ModelRef(source="embedded", name="default", revision=None)
    assert reference(tmp_path) == reference(str(tmp_path)) == ModelRef(source="path", name=str(tmp_path))
    assert reference("invented/model") == hub_ref("invented/model")
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        ModelRef.model_validate({"source": "path", "folder": "x"})
    with pytest.raises(ValidationError, match="Instance is frozen"):
        ModelRef().name = "other"  # type: ignore[misc]  # what is tested


def test_every_model_is_described_once_and_says_its_licence() -> None:
    assert len({model.id for model in MODELS}) == len(MODELS) == 15
    for model in MODELS:
        assert describe(model.id) is model
        assert model.licence
        assert model.revision is None or len(model.revision) == 40
        assert model.embedded or "/" in model.id
    assert describe("invented/model") is None


def test_the_embedded_encoder_is_here_and_an_unknown_model_says_what_to_do() -> None:
    folder = folder_of(ModelRef(), "encoder")
    assert folder == folder_of(ModelRef(name="all-MiniLM-L6-v2"), "encoder")
    assert (folder / "model.safetensors").stat().st_size == 90_868_376
    assert embedded_model("default", "encoder").dim == 384
    with pytest.raises(ModelUnavailable, match="No embedded language is called 'default': run"):
        folder_of(ModelRef(), "language")
    with pytest.raises(ModelUnavailable, match="No embedded encoder is called 'other': run"):
        folder_of(ModelRef(name="other"), "encoder")


EMBEDDED = [
    *(f"lethe-{name}" for name in ("reader", "judge", "attributes", "fields", "bits", "wording", "answers")),
    *("all-MiniLM-L6-v2", "multilingual-e5-small"),
]


def test_the_list_says_what_is_here(hub: InventedHub, tmp_path: Path) -> None:
    own, gone = (ModelRef(source="path", name=str(each)) for each in (tmp_path, tmp_path / "gone"))
    rows = list_models([own, gone, ModelRef(), own])
    assert [row.ref.name for row in rows] == [model.id for model in MODELS] + [own.name, gone.name]
    assert [row.ref.name for row in rows if row.here] == [*EMBEDDED, own.name]
    assert hub.asked == []


def test_a_model_that_is_not_cached_says_how_to_get_it(
    hub: InventedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        folder_of(hub_ref("invented/model"), "encoder")
    assert str(caught.value) == (
        "The encoder model invented/model (newest revision) is not in the local cache: run 'lethe "
        "models pull invented/model', or copy its folder here and give that path."
    )
    # A name that no hub has.
    with pytest.raises(ModelUnavailable, match=r"a/b/c .* is not in the local cache"):
        folder_of(hub_ref("a/b/c"), "encoder")
    assert hub.asked == []
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelUnavailable, match=r"huggingface-hub is not here: install hugg"):
        folder_of(hub_ref("invented/encoder"), "encoder")


@pytest.fixture
def invented_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An importable package with one file in it."""
    package = tmp_path / "an_invented_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('looking must not import')")
    (package / "weights.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    return package


def with_file(sha256: str, package: str = "an_invented_package") -> ModelDescription:
    file = EmbeddedFile(package, "weights.bin", sha256)
    return ModelDescription("invented", "encoder", "mit", files=(file,))


def test_the_embedded_files_are_the_released_ones() -> None:
    assert {(row.model, row.state) for row in verify()} == {(name, "ok") for name in EMBEDDED}


def test_changed_and_absent_files_are_told_apart(invented_package: Path) -> None:
    right = hashlib.sha256(b"weights").hexdigest()
    rows = verify([with_file(right), with_file("0" * 64), with_file(right, "no_such_package")])
    assert [row.state for row in rows] == ["ok", "mismatch", "absent"]
    assert [row.sha256 for row in rows] == [right, right, None]
    (invented_package / "weights.bin").unlink()
    assert embedded_path(with_file(right).files[0]) is None


def test_a_changed_file_is_not_loaded(invented_package: Path) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        check_embedded(with_file("0" * 64))
    assert str(caught.value) == (
        "The embedded model invented is not as released: weights.bin of the package "
        "an-invented-package is changed; install an-invented-package again."
    )
    (invented_package / "weights.bin").unlink()
    with pytest.raises(ModelUnavailable, match=r"weights.bin .* is absent; install an-invented"):
        check_embedded(with_file("0" * 64))
