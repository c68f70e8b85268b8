"""Users' own entities: allow and deny lists, and patterns."""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from ingest.labels import LONGEST_NAME, is_short_line
from ingest.language.phrases import LONGEST, words_of
from models.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A user-defined pattern.

    The group ``id`` of ``regex``, else the whole match, is the identifier. ``check`` validates it: "luhn",
    "mod97", "stdnum.<module>" of python-stdnum, or "module:function" of a user's function from str to bool.
    "" checks nothing. ``rigid`` means that a match is always replaced.
    """

    name: str
    regex: str = field(repr=False)
    label: str
    check: str = ""
    rigid: bool = True


@dataclass(frozen=True, slots=True)
class OwnEntities:
    """A user's lists and patterns. Private: the repr shows no entry.

    ``allow`` are strings that are no entities: mentions inside them are dropped, except rigid matches of
    built-in or own patterns. A longer mention that contains such a string is not affected. ``deny`` are
    strings that are always replaced, by label. Both are matched word by word, ignoring case and accents.

    Raises:
        ConfigurationError: An entry has no letter or digit, or is longer than 200 characters; a label or
            name is invalid. Messages give an entry's number and do not quote it.
    """

    allow: Sequence[str] = field(default=(), repr=False)
    deny: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    patterns: Sequence[OwnPattern] = ()

    def __post_init__(self) -> None:
        check_entries("allow", self.allow)
        for label, entries in self.deny.items():
            check_entries("deny", entries)
            _check_line("A label of deny", label)
        for pattern in self.patterns:
            _check_line("The label of a pattern", pattern.label)
            _check_line("The name of a pattern", pattern.name)

    def __bool__(self) -> bool:
        """Whether there is any entry or pattern."""
        return bool(self.allow or any(self.deny.values()) or self.patterns)

    def labels(self) -> frozenset[str]:
        """The labels of denied strings and of patterns."""
        return frozenset((*self.deny, *(each.label for each in self.patterns)))

    def digest(self, key: bytes) -> str:
        """A keyed digest of the lists, 32 hexadecimal digits; "" if there are none.

        It does not depend on the order of entries.
        """
        if not self:
            return ""
        denied = sorted((label, sorted(entries)) for label, entries in self.deny.items() if entries)
        patterns = sorted(json.dumps(asdict(each)) for each in self.patterns)
        said = json.dumps(["lethe own entities", sorted(self.allow), denied, patterns])
        return hmac.digest(key, said.encode(), "sha256")[:16].hex()


def check_entries(place: str, entries: Sequence[str]) -> None:
    """Raises ConfigurationError for an entry that cannot be matched, with its number from 1."""
    for number, entry in enumerate(entries, start=1):
        if len(entry) > LONGEST or not words_of(entry).folded:
            raise ConfigurationError(
                f"{place}, entry {number}: give a string with a letter or digit, and of up to {LONGEST} "
                "characters."
            )


def _check_line(what: str, words: str) -> None:
    if not is_short_line(words):
        raise ConfigurationError(
            f"{what} has 1 to {LONGEST_NAME} printable characters in one line, without blanks around them."
        )
