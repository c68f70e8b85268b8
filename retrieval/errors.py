"""What can go wrong with a collection."""

from models.errors import LetheError


class CollectionError(LetheError):
    """A collection that is not there, is in use, does not match, or cannot be written."""
