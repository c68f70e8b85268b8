"""From policy settings to the policy and lists of the ingest room."""

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from app.settings.load import PolicySettings, Settings
from ingest.deciding.policy import Policy, Treatment
from ingest.detection.own.lists import OwnEntities, check_entries
from ingest.labels import LABELS, VAGUE
from ingest.scoring.scale import Weights
from models.errors import ConfigurationError


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
                raise ConfigurationError(f"policy.{place}: {label} is not a label{_nearest(label, known)}.")
    return Policy(
        name=chosen.name,
        tau=chosen.tau,
        residual_limit=chosen.residual_limit,
        weights=Weights(chosen.alpha, chosen.beta, chosen.gamma, chosen.marginal),
        replacements=chosen.replacements,
        direct_limit=chosen.direct_limit,
        must_limit=chosen.must_limit,
        stay_limit=chosen.stay_limit,
        quasi_limit=chosen.quasi_limit,
        epsilon=chosen.epsilon,
        guess_limit=chosen.guess_limit,
        sensitive=chosen.sensitive,
        treatment=Treatment(chosen.operators, chosen.words),
    )


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


def _nearest(label: str, known: Iterable[str]) -> str:
    close = get_close_matches(label, sorted(known), n=1)
    return f"; the nearest is {close[0]}" if close else "; name it with --label or in detector.labels"
