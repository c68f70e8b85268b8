"""From parsed arguments to settings, the data folder, and what the paths hold."""

import argparse
import random
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import options_of
from app.cli.console import message
from app.data_dir import DataDir
from app.settings.load import Settings, load_policy_file, load_settings
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from ingest.deciding.baselines.dp_bart import DpBart
    from ingest.deciding.policy import Policy
    from ingest.documents import Document
    from ingest.read.paths import Walk
    from ingest.read.reading import Fields, Reading


def settings_arguments(arguments: argparse.Namespace) -> dict[str, object]:
    """The settings that the command line gives, by dotted name."""
    given: dict[str, object] = {"data_dir": arguments.data_dir}
    if (preset := getattr(arguments, "preset", None)) is not None:
        from app.presets import preset_file

        given["settings_file"] = preset_file(preset)
    policy = getattr(arguments, "policy", None)
    if policy and policy.lower().endswith(".toml"):
        # Only what the file says: the rest stays with the preset and the other places below arguments.
        given["policy"] = load_policy_file(Path(policy)).model_dump(exclude_unset=True)
    else:
        given["policy.name"] = policy
    given["policy.k"] = getattr(arguments, "fit", None)
    given["policy.tau"] = getattr(arguments, "tau", None)
    given["detector.language"] = getattr(arguments, "language", None)
    given["detector.labels"] = getattr(arguments, "label", None)
    given["detector.fields"] = _fields_given(getattr(arguments, "field", None))
    given["risk.kind"] = getattr(arguments, "risk", None)
    given["ingest.keep_ids"] = getattr(arguments, "keep_ids", None)
    for name in ("workers", "ray", "follow_links"):
        given[f"ingest.{name}"] = getattr(arguments, name, None)
    given["retrieval.k"] = getattr(arguments, "k", None)
    given["retrieval.search"] = getattr(arguments, "dense", None)
    for name in ("host", "port"):
        given[f"server.{name}"] = getattr(arguments, name, None)
    if gguf := getattr(arguments, "gguf", None):
        given |= {"generator.kind": "llama_cpp", "generator.path": gguf}
    if requests := getattr(arguments, "requests", None):
        given |= {"generator.kind": "files", "generator.path": requests}
    return {name: value for name, value in given.items() if value is not None}


def _fields_given(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """The kinds of fields that the command line names: town=city."""
    if pairs is None:
        return None
    wrong = [pair for pair in pairs if not all(pair.rpartition("=")[::2])]
    if wrong:
        raise ConfigurationError("--field takes NAME=KIND, such as town=city.")
    return {name: kind for name, _, kind in (pair.rpartition("=") for pair in pairs)}


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings with the given arguments.

    Raises:
        ConfigurationError: A threshold is given that the policy does not have.
    """
    settings = load_settings(settings_arguments(arguments))
    for option, policy, other in (("fit", "lethe", "--tau"), ("tau", "trip", "--fit")):
        if getattr(arguments, option, None) is not None and settings.policy.name != policy:
            raise ConfigurationError(
                f"--{option} is the threshold of the policy {policy}, and this is {settings.policy.name}: "
                f"give --policy {policy}, or {other} for the other one."
            )
    return settings


def data_of(arguments: argparse.Namespace) -> DataDir:
    """The data folder with the settings of the given arguments."""
    return DataDir(settings_of(arguments), writes=not getattr(arguments, "dry_run", False))


def check_trip(policy: "Policy", why: str) -> None:
    """Refuse a policy without scores.

    Raises:
        ConfigurationError: The policy is another than trip; the message begins with ``why``.
    """
    if not policy.has_threshold:
        raise ConfigurationError(
            f"{why}, and this is {policy.name}: leave out --policy, or name a file of a trip policy."
        )


def dp_barts_of(arguments: argparse.Namespace) -> "list[DpBart]":
    """DP-BART at each budget, by default those of IncogniText's table; none without --dp-bart.

    Raises:
        ModelUnavailable: The folder holds no BART.
        ConfigurationError: A budget is none.
    """
    if not arguments.dp_bart:
        return []
    from ingest.deciding.baselines.dp_bart import DpBart
    from models.language.bart import Bart

    bart = Bart(Path(arguments.dp_bart))
    # A generator for each: a budget gives the same texts whichever others there are.
    return [
        DpBart(bart, bart.pruned(), budget, rng=random.Random(f"{arguments.seed} {budget:g}"))
        for budget in arguments.budgets or (1000.0, 2500.0)
    ]


def command_of(arguments: argparse.Namespace) -> str:
    """The arguments after the verb that reproduce a report, without local paths, defaults and outputs."""
    words: list[str] = []
    for option in options_of(f"{arguments.verb} {arguments.bench}"):
        *_, name = str(option["name"]).split()
        value = getattr(arguments, option.get("dest", name.lstrip("-").replace("-", "_")))
        if not name.startswith("-"):
            words.append(option["metavar"])
        if (
            not name.startswith("-")
            or name in ("--output", "--json")
            or value in (None, option.get("default", False))
        ):
            continue
        for each in dict.fromkeys(value) if option.get("action") == "append" else [value]:
            words += [name] if each is True else [name, _without_folder(each, option.get("metavar", ""))]
    return shlex.join(words)


def _without_folder(value: object, metavar: str) -> str:
    """A value as it is written; a path loses the folder that it is in."""
    if isinstance(value, tuple):
        return ("=" if "=" in metavar else ",").join(
            f"{each:g}" if isinstance(each, float) else each for each in value
        )
    if metavar == "DATA":
        return metavar
    if "FILE" in metavar or metavar in ("DIR", "FOLDER"):
        return Path(str(value)).name
    parts = map(str.strip, str(value).split(",")) if metavar == "NAME,NAME" else [str(value)]
    return ",".join(Path(each).name if Path(each).is_dir() else each for each in parts)


def numbered(doc_ids: Sequence[str]) -> list[str]:
    """Ids by place: nothing is kept, and the same files draw the same everywhere."""
    return [str(number) for number, _ in enumerate(doc_ids, start=1)]


def corpora_in(arguments: argparse.Namespace) -> Path:
    """The folder of corpora that the arguments name; raises ConfigurationError if it is none."""
    data = Path(arguments.data)
    if not data.is_dir():
        raise ConfigurationError(f"{data} is not a folder: name the one with a subfolder for each corpus.")
    return data


def check_compared(policy: "Policy") -> None:
    """Raise ConfigurationError for a policy that a benchmark of lethe and its controls cannot take."""
    if not policy.has_threshold:
        raise ConfigurationError(
            f"The benchmark compares lethe with its controls, and the settings say {policy.name}: set "
            "policy.name to lethe."
        )


def fields_of(arguments: argparse.Namespace) -> "Fields":
    """The fields of records that the arguments name."""
    from ingest.read.reading import Fields

    return Fields(arguments.text_field, arguments.id_field, getattr(arguments, "readers_field", ""))


def readings_of(
    arguments: argparse.Namespace, settings: Settings, walk: "Walk | None" = None
) -> "Iterator[Reading]":
    """The documents of the given paths, read within the limits of the settings and as these walk folders."""
    from app.ingesting import read_limits_of, walk_of
    from ingest.read.sources import read_documents

    return read_documents(
        arguments.paths,
        fields=fields_of(arguments),
        stdin=sys.stdin.buffer,
        limits=read_limits_of(settings),
        walk=walk or walk_of(settings),
    )


def reported_readings_of(arguments: argparse.Namespace, settings: Settings) -> "Iterator[Reading]":
    """As ``readings_of``; what cannot be read or was skipped is also reported on standard error."""
    from ingest.errors import UnreadableDocument

    for reading in readings_of(arguments, settings):
        if isinstance(reading.item, UnreadableDocument):
            message(str(reading.item))
        yield reading


def documents_of(
    arguments: argparse.Namespace, settings: Settings, unread: list[str]
) -> "Iterator[Document]":
    """The documents of the given paths. What cannot be read is reported, its place goes to ``unread``.

    A file that links lead to again is reported and left out: its documents are there already.
    """
    from ingest.errors import UnreadableDocument
    from ingest.read.paths import canonical

    reached: dict[str, str] = {}
    left_out: set[str] = set()
    for reading in reported_readings_of(arguments, settings):
        item = reading.item
        if isinstance(item, UnreadableDocument):
            unread.append(item.place)
            continue
        first = reached.setdefault(canonical(item.source), item.source) if item.source else ""
        if first == item.source:
            yield item
        elif item.source not in left_out:
            left_out.add(item.source)
            message(f"{item.source}: is the same file as {first}, and is read once")


def under_public_ids(data: DataDir, documents: "Sequence[Document]") -> "list[Document]":
    """Documents under the ids that may be shown."""
    ids = data.public_ids([document.doc_id for document in documents])
    return [replace(document, doc_id=doc_id) for document, doc_id in zip(documents, ids, strict=True)]
