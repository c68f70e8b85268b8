"""What is known of a request when it is over: figures, and names that are ours."""

import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that is over. Nothing of what was sent is in it.

    ``method`` is one of HTTP's, or "other"; ``route`` is the template of a path, or "other" where no route
    fits; ``status`` is None where no answer could begin; ``error`` is the name of an exception's type.
    """

    request_id: str
    method: str
    route: str
    status: int | None
    seconds: float
    bytes_in: int
    bytes_out: int
    key_id: str | None
    error: str | None


def write_line(answered: Answered) -> None:
    """Write a request as one line of JSON on standard error."""
    row = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request_id": answered.request_id,
        "method": answered.method,
        "route": answered.route,
        "status": answered.status,
        "ms": round(answered.seconds * 1000, 1),
        "key_id": answered.key_id,
        "bytes_in": answered.bytes_in,
        "bytes_out": answered.bytes_out,
        "error": answered.error,
    }
    # Who reads the log may have gone; requests are answered all the same.
    with suppress(OSError, ValueError):
        sys.stderr.write(json.dumps(row) + "\n")
        sys.stderr.flush()
