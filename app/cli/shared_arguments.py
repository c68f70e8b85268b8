"""Arguments that several verbs have, and what they are read as. Only argparse is imported here."""

import argparse


def paths(verb: argparse.ArgumentParser) -> None:
    """What is read."""
    verb.add_argument("paths", nargs="+", metavar="PATH", help="files, folders, globs; - is standard input")
    verb.add_argument(
        "--text-field", default="text", metavar="FIELD", help="field of records with the text (default text)"
    )
    verb.add_argument(
        "--id-field", default="id", metavar="FIELD", help="field of records with the id (default id)"
    )


def policy(verb: argparse.ArgumentParser) -> None:
    """How entities are treated."""
    verb.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="trip, redact, suppress, entity-type, lprag, origin, or a TOML file",
    )
    verb.add_argument("--tau", type=float, help="generalize from this priority on; lower is stricter")
    verb.add_argument(
        "--engine", choices=("reference", "exact", "fast"), help="scoring engine (default exact)"
    )
    verb.add_argument("--risk", choices=("learned", "prior"), help="privacy-risk model (default learned)")


def preset(verb: argparse.ArgumentParser) -> None:
    """Settings that come with Lethe."""
    verb.add_argument(
        "--preset", metavar="NAME", help="shipped settings instead of settings.toml: paper, see docs/paper.md"
    )


def collection(verb: argparse.ArgumentParser) -> None:
    """Which collection."""
    verb.add_argument("-c", "--collection", required=True, metavar="NAME", help="the collection")


def how_many(verb: argparse.ArgumentParser) -> None:
    """How many passages."""
    verb.add_argument("-k", type=positive, help="passages to retrieve (default 5)")


def words(text: str) -> str:
    """Text that can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8; set the terminal to UTF-8") from None
    return text


def share(text: str) -> float:
    """A share above 0 and below 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("must be a number above 0 and below 1")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("must be numbers with commas between them") from None


def positive(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)
