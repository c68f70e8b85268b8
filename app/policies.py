"""From policy settings to the policy and lists of the ingest room."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from app.settings.load import PolicySettings, Settings
from ingest.deciding.policy import METHODS, Policy, Treatment
from ingest.detection.own.lists import OwnEntities, check_entries
from ingest.labels import LABELS, VAGUE
from ingest.private_files import write_private
from ingest.scoring.scale import Weights
from models.errors import ConfigurationError, LetheError

_SAME = (*("k", "people", "tau", "direct_limit"), *("epsilon", "guess_limit", "sensitive", "replacements"))
"""Settings that the policy holds under the same name."""
FOR_CLIENTS = ("name", *_SAME, "alpha", "beta", "gamma", "marginal", "operators", "words")
"""Settings of a policy that clients of the server may give."""


def policy_of(settings: Settings, labels: Iterable[str] = ()) -> Policy:
    """The policy of the settings. ``labels`` are those of the user's own lists and patterns.

    Raises:
        ConfigurationError: Operators or words are given for a label that nothing finds.
    """
    chosen = settings.policy
    known = {*LABELS, *settings.detector.labels, *labels}
    for place, table in (("operators", chosen.operators), ("words", chosen.words)):
        for label in table:
            if label not in known:
                close = get_close_matches(label, sorted(known), n=1)
                remedy = "name it with --label or in detector.labels"
                remedy = f"the nearest is {close[0]}" if close else remedy
                raise ConfigurationError(f"policy.{place}: {label} is not a label; {remedy}.")
    return Policy(
        name=chosen.name,
        weights=Weights(chosen.alpha, chosen.beta, chosen.gamma, chosen.marginal),
        treatment=Treatment(chosen.operators, chosen.words),
        **{name: getattr(chosen, name) for name in _SAME},
    )


def like_policy(settings: Settings, policy: Policy) -> Settings:
    """The settings with a collection's policy; lists, files and patterns stay their own."""
    weights, treatment = policy.weights, policy.treatment
    named = {name: getattr(policy, name) for name in (*_SAME, "name")}
    chosen = settings.policy.model_copy(
        update={
            **named,
            **{"alpha": weights.alpha, "beta": weights.beta, "gamma": weights.gamma},
            "marginal": weights.marginal,
            "operators": dict(treatment.operators),
            "words": dict(treatment.words),
        }
    )
    return settings.model_copy(update={"policy": chosen})


def with_policy(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with what a client gives of a policy.

    Raises:
        ConfigurationError: It names what only the operator may set, such as files and expressions, or a value
            is not allowed.
    """
    if others := sorted(given.keys() - FOR_CLIENTS):
        # A stranger's field name is a stranger's text.
        named = [each if each in PolicySettings.model_fields else "(a field)" for each in others]
        raise ConfigurationError(
            f"policy: {', '.join(dict.fromkeys(named))} cannot be set here; {', '.join(FOR_CLIENTS)} can."
        )
    if given.get("name") == "origin":
        raise ConfigurationError(
            "policy.name: origin changes nothing, and raw text is never kept. Take another."
        )
    names = [name for name in METHODS if name != "origin"]
    if given.get("name", names[0]) not in names:
        raise ConfigurationError(f"policy.name: there is no such policy. Those are {', '.join(names)}.")
    for place in ("operators", "words"):
        if not isinstance(table := given.get(place), Mapping):
            continue
        known = {*LABELS, *settings.detector.labels, *own_entities_of(settings.policy).labels()}
        for number, label in enumerate(table, 1):
            if label not in known:
                # Which of a stranger's words is told, and none of them.
                close = get_close_matches(label, sorted(known), n=1)
                remedy = f"The nearest is {close[0]}" if close else "Name one that is found here"
                raise ConfigurationError(f"policy.{place}: name {number} in it is not a label. {remedy}.")
    try:
        chosen = PolicySettings.model_validate({**settings.policy.model_dump(), **given})
    except ValidationError as error:
        problems = (
            f"{'.'.join(('policy', *map(str, loc[:1])))}: {said.removeprefix('Value error, ').rstrip('.')}"
            for loc, said in ((each["loc"], each["msg"]) for each in error.errors())
        )
        raise ConfigurationError(f"{'; '.join(dict.fromkeys(problems))}.") from None
    return settings.model_copy(update={"policy": chosen})


def own_entities_of(chosen: PolicySettings) -> OwnEntities:
    """The lists and patterns of a policy, those of its files among them.

    Raises:
        ConfigurationError: A file cannot be read, or holds a line that cannot be looked for.
    """
    own = chosen.own_entities()
    denied = [*own.deny.get(VAGUE, ()), *_lines(chosen.deny_file)]
    return replace(
        own,
        allow=[*own.allow, *_lines(chosen.allow_file)],
        deny={**own.deny, VAGUE: denied} if denied else own.deny,
    )


def _lines(path: Path | None) -> list[str]:
    """The entries of a file, one a line, without blank lines."""
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(f"{path}: could not be read ({reason}); check the path.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: is not UTF-8; save it as UTF-8.") from None
    entries = [line.strip() for line in lines if line.strip()]
    check_entries(str(path), entries)
    return entries


def check_writable(path: Path) -> None:
    """Check before long work that the file can be written; leaves an existing file as it is.

    Raises:
        ConfigurationError: The name does not end in .toml.
        LetheError: The file cannot be written.
    """
    if path.suffix.lower() != ".toml":
        raise ConfigurationError(
            f"{path}: a policy file must end in .toml, else --policy reads it as a policy's name."
        )
    try:
        there = path.exists()
        path.open("a", encoding="utf-8").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise _unwritten(path, error) from None


def write_policy(path: Path, chosen: PolicySettings, fitted: Mapping[str, object], by: str) -> None:
    """Write the policy of the settings with fitted values; a first line says how they were fitted.

    It holds the user's own lists, so only its owner may read it.

    Raises:
        LetheError: The file cannot be written.
    """
    text = policy_text({**chosen.model_dump(exclude_none=True), **fitted})
    try:
        write_private(path, f"# fitted by {by}\n{text}")
    except OSError as error:
        raise _unwritten(path, error) from None


def policy_text(values: Mapping[str, object]) -> str:
    """Settings of a policy as the file has them, a line each; empty lists and tables are left out."""
    return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items() if value not in ((), {}))


def _toml(value: object) -> str:
    match value:
        case SecretStr():
            return _toml(value.get_secret_value())
        case Path():
            return _toml(str(value.absolute()))
        case Mapping():
            return f"{{{', '.join(f'{_toml(name)} = {_toml(each)}' for name, each in value.items())}}}"
        case tuple() | list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _unwritten(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path}: the policy could not be written ({reason}). Name another file.")
