"""The base errors, in the package that all others may import.

No message ever quotes a document: they carry ids, counts, places and remedies.
"""


class LetheError(Exception):
    """An error with a one-sentence message: what failed, where, and the remedy."""


class ConfigurationError(LetheError):
    """The settings contradict themselves, or name something unknown."""


class ModelUnavailable(LetheError):
    """A model or the library that runs it is not here; ``hint`` says what to install, pull or set."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"{what} {hint}")
        self.hint = hint
