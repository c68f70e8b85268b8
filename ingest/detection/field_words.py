"""What the head of fields reads: words and letters of a name, and shapes and words of its cells."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby

from ingest.detection.patterns.words import MONTHS
from ingest.language.vocabulary import WORD, fold, words
from models.fields import Feature

NOTHING = frozenset(
    ("", "n/a", "na", "n.a.", "none", "null", "nil", "unknown", "nan", "undefined", "tbd", "tbc", "empty")
    + ("not known", "not given", "not applicable", "unbekannt", "keine", "inconnu", "aucun", "desconocido")
    + ("ninguno", "sconosciuto", "nessuno", "onbekend", "geen", "desconhecido", "nenhum", "k.a.", "s/n")
    + ("true", "false", "yes", "no", "anonymous", "system", "root", "admin", "guest", "default")
)
"""What stands in a cell, folded, that has no value of its kind."""
SAMPLE = 24
"""Cells of a field that are read."""

_PARTS = re.compile(r"[A-ZÀ-Þ]{2,}(?![a-zß-ÿ])|[A-ZÀ-Þ]?[^\W\d_A-ZÀ-Þ]+|[A-ZÀ-Þ]|[0-9]+")
_LONGEST = 60
_NUMERIC_DATE = r"(?:[0-9]{1,2}([./-])[0-9]{1,2}\1(?:[0-9]{2}){1,2}|[0-9]{4}([./-])[0-9]{1,2}\2[0-9]{1,2})"
_TYPES = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("flag", r"(?i)true|false|yes|no|null|ja|nein|oui|non|[01yn]"),
        ("email", r"[^\s@]{1,80}@[^\s@]{1,80}\.[a-z]{2,12}"),
        ("link", r"(?:[a-z]{2,8}://|www\.)\S+"),
        ("file", r"(?:\S*[/\\])?[\w.-]*\.[a-z][a-z0-9]{1,3}|\S*[/\\]\S*[a-z]\S*"),
        ("address of machine", r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}"),
        ("day in figures", r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01])"),
        ("day", rf"(?i){_NUMERIC_DATE}|(?:[0-9]{{1,2}}\.? )?(?:{MONTHS})\.? [0-9, ]{{1,8}}"),
        ("moment", rf"{_NUMERIC_DATE}[T ][0-9:.+Z -]{{4,20}}|[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9.]+)?"),
        ("year", r"(?:19|20)[0-9]{2}"),
        ("one figure", r"[0-9]"),
        ("few figures", r"[0-9]{2,3}"),
        ("some figures", r"[0-9]{4,6}"),
        ("many figures", r"[0-9]{7,10}"),
        ("more figures", r"[0-9]{11,}"),
        (
            "part",
            r"[+-]?(?:[0-9]*[.,][0-9]+|[0-9]{1,3}(?:[.,'’ \xa0\u202f][0-9]{3})+[.,][0-9]{1,2}"
            r"|[0-9]{1,3}(?:,[0-9]{3}){2,}) ?%?|-[0-9]+|[0-9]+ ?%",
        ),
        ("sum", r"[$€£] ?[0-9.,]+|[0-9.,]+ ?(?:[$€£]|EUR|USD|GBP)"),
        ("measure", r"[<>~]?[0-9.,]+ ?[A-Za-zµ°/%]{1,6}|[0-9]{2,3}/[0-9]{2,3}"),
        ("grouped figures", r"[+(]?[0-9][0-9 ()/.-]{6,22}"),
        ("figures with signs", r"[0-9][0-9 ./-]*"),
        ("version", r"v?[0-9]+(?:\.[0-9]+){1,3}(?:-\w+)?"),
        ("code", r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9./_-]+"),
        ("joined", r"[^\W\d]+(?:[._-][^\W\d]+)+"),
        ("letter", r"[^\W\d_]\.?"),
        ("short capitals", r"[A-Z]{2,4}"),
        ("capitals", r"[A-ZÀ-Þ'’-]{5,}"),
        ("small word", r"[^\W\d_A-Z][^\W\d_]*"),
        ("word", r"[A-ZÀ-Þ][^\W\d_]*(?:['’-][^\W\d_]+)*"),
        (
            "words",
            r"(?:[^\W\d_]['’])?[A-ZÀ-Þ][\w'’-]*\.?"
            r"(?:,? (?:(?:de|del|della|di|da|do|dos|van|von|der|den|la|le|y|e|the|of) ){0,2}"
            r"[A-ZÀ-Þ][\w'’-]*\.?){1,4}",
        ),
        ("place of street", r"[0-9]{1,5}[A-Za-z]?,? [^\W\d_].*|[^\W\d_].{2,50} [0-9]{1,4}[A-Za-z]?(?:,.*)?"),
        ("few small words", r"[^\W\d_]+(?: [^\W\d_A-ZÀ-Þ]+){1,3}"),
        ("words with a name", r"[^\W\d_]+(?: [^\W\d_]+){1,3}"),
    )
)
_LISTS = ("given_names", "given_names_ambiguous", "surnames", "cities", "countries", "states", "jobs") + (
    "common_words",
    "organization_cues",
    "street_words",
    "genders",
    "weekday_months",
    "titles",
    "diseases",
    "demonyms",
)
_MOST = 0.5


def parts_of(name: str) -> list[str]:
    """The folded words of a field's name: dateOfBirth, date_of_birth."""
    return [fold(part) for part in _PARTS.findall(name[:_LONGEST])]


def features(path: Sequence[str], beside: Sequence[str], cells: Sequence[str]) -> Iterator[Feature]:
    """The features of a field: its path, its own name last, the names beside it, and some of its cells."""
    own = parts_of(path[-1]) if path else []
    whole = "".join(own)
    yield f"whole {whole}", 2.0
    yield from ((f"part {part}", 1.0) for part in own)
    if own:
        yield f"last {own[-1]}", 0.7
    grams = [
        whole_and_edges[at : at + size]
        for whole_and_edges in [f"^{whole}$"]
        for size in (3, 4, 5)
        for at in range(len(whole_and_edges) - size + 1)
    ]
    yield from ((f"gram {gram}", 1.5 / len(grams) ** 0.5) for gram in grams)
    yield from ((f"above {part}", 0.5) for step in path[:-1] for part in parts_of(step))
    around = sorted({part for name in beside for part in parts_of(name)})
    yield from ((f"beside {part}", 1 / len(around) ** 0.5) for part in around)
    said = [cell.strip() for cell in cells if fold(cell.strip()) not in NOTHING][:SAMPLE]
    kinds = Counter(type_of(cell) for cell in said)
    about = {f"type {kind}": count / len(said) for kind, count in kinds.items()}
    about |= {f"list {name}": share for name, share in _shares(said).items()}
    about |= {f"shape {shape}": 1 / len(said) for shape in {_shape(cell) for cell in said}}
    yield from about.items()
    for sign, share in about.items():
        if share > _MOST and not sign.startswith("shape"):
            yield from ((f"{sign}, part {part}", share) for part in own)
            yield f"{sign}, whole {whole}", share
    if said:
        yield f"figures {round(sum(map(_n_digits, said)) / len(said))}", 0.5
        yield f"alike {len(set(said)) * 4 // len(said)}", 0.2
    else:
        yield "no cells", 1.0


def type_of(cell: str) -> str:
    """What a cell looks like."""
    short = cell[: _LONGEST + 1]
    if len(short) > _LONGEST:
        return "text"
    return next((name for name, pattern in _TYPES if pattern.fullmatch(short)), "text")


def _shares(cells: Sequence[str]) -> Mapping[str, float]:
    """In what share of the cells a word of each list stands, and in what share no listed word does."""
    counts: Counter[str] = Counter()
    for cell in cells:
        said = {fold(word) for word in WORD.findall(cell[:_LONGEST])}
        among = [name for name in _LISTS if not said.isdisjoint(_list(name))]
        counts.update(among or ["none"])
        if said and all(word in _list("given_names") | _list("surnames") for word in said):
            counts["names alone"] += 1
    return {name: count / len(cells) for name, count in counts.items()}


@cache
def _list(name: str) -> frozenset[str]:
    return words(name)


def _n_digits(cell: str) -> int:
    return min(30, sum(char.isdigit() for char in cell))


def _shape(cell: str) -> str:
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in cell[:24])
    return "".join(sign for sign, _ in groupby(signs))
