"""The base errors, in the package that all others may import.

No message ever quotes a document: they carry ids, counts, places and remedies.
"""


class LetheError(Exception):
    """An error with a one-sentence message: what failed, where, and the remedy."""

    def __reduce__(self) -> tuple[object, ...]:
        # An error goes from one process to another as it is, whatever its constructor takes.
        return _as_it_was, (type(self), self.args, self.__dict__)


class ConfigurationError(LetheError):
    """The settings contradict themselves, or name something unknown."""


def _as_it_was(kind: type[LetheError], args: tuple[object, ...], found: dict[str, object]) -> LetheError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(found)
    return error


class ModelUnavailable(LetheError):
    """A model or the library that runs it is not here; ``hint`` says what to install, pull or set."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"{what} {hint}")
        self.hint = hint
