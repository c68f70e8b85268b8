"""Single texts, sanitized by a system that is built once and varied by policy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

from app.data_dir import DataDir
from app.policies import FOR_CLIENTS, own_entities_of, policy_of, policy_text, with_policy
from app.rows import sanitized_row
from ingest.deciding.policy import Policy
from ingest.deciding.treatment import needs_key
from ingest.documents import Document, SanitizedDocument
from ingest.errors import ForeignDocument, SanitizationError
from ingest.language.normalize import fixed_text
from ingest.wording.aliases import alias_in
from models.errors import ConfigurationError, LetheError
from retrieval.collection import Collection
from retrieval.system import System


class NotSanitized(LetheError):
    """A text that could not be sanitized: why."""


class Sanitizing:
    """Sanitizes texts by the policy of the settings, of a collection, or one that is given.

    ``system`` loads the models with the first text. Threads sanitize one after the other.
    """

    def __init__(self, data: DataDir, system: Callable[[], System]) -> None:
        self._data, self._system = data, system
        self._one_at_a_time = Lock()

    def row(self, text: str, collection: str | None, policy: Mapping[str, Any]) -> Mapping[str, object]:
        """The sanitized text with every decision, and the policy that decided.

        ``read`` is the text as it was read, whose code points the offsets count. ``places`` has where each
        decision is in the sanitized text.

        Raises:
            NotSanitized: The text could not be sanitized.
            ConfigurationError: The policy cannot be used.
            CollectionError: The collection cannot be read.
        """
        data = self._data
        chosen = data.settings_for(collection, policy) if collection else with_policy(data.settings, policy)
        read = fixed_text(text)
        made = policy_of(chosen, own_entities_of(chosen.policy).labels())
        outcome = self._sanitized(read, made, collection)
        values = chosen.policy.model_dump(include=set(FOR_CLIENTS))
        return {
            **{
                name: value
                for name, value in sanitized_row(outcome).items()
                if name not in ("doc_id", "not_read")
            },
            "read": read,
            "places": [list(place) for place in outcome.places],
            "tau": made.threshold if made.has_threshold else None,
            "policy_toml": policy_text(values),
        }

    def aliases(self, name: str, collection: str) -> list[str]:
        """What stands for a person in the documents of a collection with keyed aliases.

        Raises:
            ConfigurationError: The collection has none, or the text is no name.
            CollectionError: The collection cannot be read.
        """
        made = Collection.manifest_in(self._data.folder(collection)).policy
        if made.replacements != "alias":
            raise ConfigurationError(
                "people: this collection has no keyed aliases, so nothing says which documents are about the "
                "same person. Name the documents by ids."
            )
        outcome = self._sanitized(fixed_text(name), made, collection)
        found = [alias for each in outcome.decisions if (alias := alias_in(each.replacement))]
        if not found:
            raise ConfigurationError(
                "people: a name was not recognized. Give it in full, as in the documents."
            )
        return found

    def _sanitized(self, text: str, policy: Policy, collection: str | None) -> SanitizedDocument:
        data = self._data
        with self._one_at_a_time:
            key = data.key if needs_key(policy) else None
            # For explanations: what hard rules decide is scored too.
            system = replace(self._system(), policy=policy, key=key, score_all=True)
            if collection:
                system = replace(system, scale=Collection.manifest_in(data.folder(collection)).scale)
            (outcome,) = system.sanitizer().sanitize([Document("text", text)])
        if isinstance(outcome, SanitizationError):
            raise NotSanitized(_why(outcome))
        return outcome


def _why(error: SanitizationError) -> str:
    if isinstance(error, ForeignDocument):
        return (
            f"The text is {error.why}. Send one of these, or let the operator set detector.language to "
            '"any"; results then carry a warning.'
        )
    return f"The text was not sanitized: {error.what}."
