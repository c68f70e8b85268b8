"""From parsed arguments to settings and services."""

import argparse
from pathlib import Path

from app.compose import Services
from app.presets import preset_file
from app.settings import load_policy_file, load_settings


def settings_arguments(arguments: argparse.Namespace) -> dict[str, object]:
    """What the command line says of the settings, by dotted name; None where it says nothing."""
    given: dict[str, object] = {"data_dir": arguments.data_dir}
    if (preset := getattr(arguments, "preset", None)) is not None:
        given["settings_file"] = preset_file(preset)
    policy = getattr(arguments, "policy", None)
    if policy and policy.lower().endswith(".toml"):
        # Only what the file says: the rest stays with the preset and the other places below arguments.
        given["policy"] = load_policy_file(Path(policy)).model_dump(exclude_unset=True)
    else:
        given["policy.name"] = policy
    for name in ("tau", "engine"):
        given[f"policy.{name}"] = getattr(arguments, name, None)
    given["risk.kind"] = getattr(arguments, "risk", None)
    given["ingest.keep_ids"] = getattr(arguments, "keep_ids", None)
    given["retrieval.k"] = getattr(arguments, "k", None)
    for name in ("host", "port"):
        given[f"server.{name}"] = getattr(arguments, name, None)
    if gguf := getattr(arguments, "gguf", None):
        given |= {"generator.kind": "llama_cpp", "generator.path": gguf}
    return {name: value for name, value in given.items() if value is not None}


def services_of(arguments: argparse.Namespace) -> Services:
    """The assembled system under the given arguments."""
    return Services(load_settings(settings_arguments(arguments)))
