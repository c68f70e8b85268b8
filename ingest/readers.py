"""Who may read a document: names of groups, which stand with it and with the keys of a server."""

import re
from collections.abc import Iterable

from models.errors import ConfigurationError

READERS_FIELD = "readers..."
"""The field of records that names them, where no other is named: what has none is for all."""
MOST = 64
"""Groups that one document, or one key, may have."""
# No blank: a field with names of people, given by mistake, is refused.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
RULE = (
    "a group has 1 to 64 letters, digits, '.', '_', ':', '/' or '-', and begins with one of the first two; "
    f"up to {MOST} groups"
)


def groups_in(names: Iterable[str]) -> frozenset[str]:
    """The groups that these name; names with commas between them are several.

    Raises:
        ConfigurationError: One is no name of a group, or there are too many. The message does not quote it.
    """
    found = frozenset(part.strip() for name in names for part in name.split(","))
    if len(found) > MOST or not all(_NAME.fullmatch(each) for each in found):
        raise ConfigurationError(f"Name groups of readers by other names: {RULE}.")
    return found
