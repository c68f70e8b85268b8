"""Arguments that several verbs share, with their types. Nothing heavy is imported here."""

import argparse

from ingest.protecting.targets import SAME_SET, VALUES

_PATH = (
    "files, folders and globs; - is standard input, JSON lines or one text. Read are .txt .md .log .hl7 "
    ".html .htm .pdf .docx .xlsx .xlsm .pptx .rtf .eml .mbox .csv .tsv .json .jsonl .ndjson, the last five "
    "also with .gz"
)


def paths(verb: argparse.ArgumentParser, option: str = "") -> None:
    """Input paths, behind an option where one is named, and the fields of records."""
    if option:
        verb.add_argument(option, dest="paths", nargs="+", required=True, metavar="PATH", help=_PATH)
    else:
        verb.add_argument("paths", nargs="+", metavar="PATH", help=_PATH)
    verb.add_argument(
        "--text-field",
        default="text",
        metavar="FIELD",
        help="field of records with the text (default text): a.b within another, a[0] or a[*].b in a list, "
        "a... all values below, ... the whole record, a+b several",
    )
    verb.add_argument(
        "--id-field", default="id", metavar="FIELD", help="field of records with the id (default id)"
    )
    verb.add_argument(
        "--follow-links",
        action="store_true",
        default=None,
        help="follow links that lead out of a named folder; without it they are skipped and reported",
    )


def policy(verb: argparse.ArgumentParser) -> None:
    """Policy, threshold and risk model."""
    verb.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="lethe, trip, intact, redact, suppress, entity-type, lprag, origin, or a TOML file (default "
        "lethe, which keeps what enough people fit; redact generalizes all, suppress removes all)",
    )
    verb.add_argument(
        "--fit",
        type=float,
        metavar="PEOPLE",
        help="so many of policy.people must fit, under lethe (default 50 of 100)",
    )
    verb.add_argument("--tau", type=float, help="generalize from this priority on, under trip (default 0.5)")
    language(verb, "documents")
    verb.add_argument("--risk", choices=("learned", "prior"), help="privacy-risk model (default learned)")


def as_json(verb: argparse.ArgumentParser) -> None:
    """The figures beside the table, also on a terminal."""
    verb.add_argument(
        "--json",
        action="store_true",
        help="print the figures as JSON on a terminal too; without it a terminal shows the table alone, and "
        "files and pipes get the JSON",
    )


def language(verb: argparse.ArgumentParser, read: str) -> None:
    """Languages that are accepted."""
    verb.add_argument(
        "--language",
        choices=("known", "any"),
        help=f"known refuses {read} in other languages than the seven that the reader learned, any reads "
        "them with a warning (default known)",
    )


def labels(verb: argparse.ArgumentParser) -> None:
    """Labels besides the built-in ones."""
    verb.add_argument(
        "--label",
        action="append",
        metavar="LABEL",
        help="also look for this label, such as 'political party'; may be repeated (default none)",
    )


def field_kinds(verb: argparse.ArgumentParser) -> None:
    """What stands in some fields."""
    verb.add_argument(
        "--field",
        action="append",
        metavar="NAME=KIND",
        help="what stands in the field or column NAME, such as town=city or code=none, where it is not "
        "what a dry run says; may be repeated (default what its name and cells say)",
    )


def preset(verb: argparse.ArgumentParser) -> None:
    """Settings that come with Lethe."""
    verb.add_argument(
        "--preset",
        metavar="NAME",
        help="shipped settings instead of settings.toml: paper, see docs/paper.md (default none)",
    )


def keep_ids(verb: argparse.ArgumentParser) -> None:
    """Whether opaque ids are kept."""
    verb.add_argument(
        "--keep-ids",
        action="store_true",
        default=None,
        help="keep ids that look opaque and name nobody; without it all ids are digested",
    )


def collection(verb: argparse.ArgumentParser) -> None:
    """Which collection."""
    verb.add_argument("-c", "--collection", required=True, metavar="NAME", help="the collection")


def of_collection(verb: argparse.ArgumentParser, help_text: str) -> None:
    """A collection that may be left out."""
    verb.add_argument("-c", "--collection", metavar="NAME", help=help_text)


def model_file(verb: argparse.ArgumentParser, help_text: str) -> None:
    """A language model that llama.cpp runs."""
    verb.add_argument("--gguf", metavar="FILE", help=help_text)


def output(
    verb: argparse.ArgumentParser, help_text: str, *, required: bool = False, default: str | None = None
) -> None:
    """The folder of the results."""
    verb.add_argument("--output", required=required, default=default, metavar="DIR", help=help_text)


def how_many(verb: argparse.ArgumentParser) -> None:
    """How many passages, and how they are found."""
    verb.add_argument("-k", type=positive, help="passages to retrieve (default 5)")
    verb.add_argument(
        "--dense",
        action="store_const",
        const="dense",
        help="search by vectors alone (default by vectors and words)",
    )


def words(text: str) -> str:
    """Text that can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8; set the terminal to UTF-8") from None
    return text


def filled(text: str) -> str:
    """A text that is not empty, as a variable of a shell may be that was not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty")
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


def limit(text: str) -> tuple[str, float]:
    """A measure and its limit, as ``linked=0.05``."""
    name, _, value = text.partition("=")
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be a measure and a number from 0 to 1, such as linked=0.05")
    return name, share


def target(text: str) -> tuple[str, str]:
    """An attribute and its value, as ``occupation=chef``."""
    name, _, value = (part.strip() for part in text.partition("="))
    known = (*VALUES, *SAME_SET)
    if name not in known or not value:
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(known)} and a value, such as occupation=chef"
        )
    return name, value


def numbers(text: str) -> tuple[float, ...]:
    """Comma-separated numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("must be comma-separated numbers") from None


def budget(text: str) -> float:
    """An epsilon: above 0, infinity too."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError("must be a number above 0, or inf")
    return value


def positive(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)
