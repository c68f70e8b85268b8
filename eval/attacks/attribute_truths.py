"""What is known of the people of texts, as values: from what a field of a record says, and from corpora.

``lethe models train-attributes`` learns from these corpora.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from eval.attacks.attributes import ATTRIBUTES, CLUES, ClueReader, Read, bands, countries, value_names, values
from eval.corpora.corpus import Truths
from eval.corpora.layouts import records_in, text_of
from eval.corpora.loaders import ACI_BENCH, MTS_DIALOG
from eval.measures.classify import class_of
from eval.measures.inferred import CLOSE, closest, similarity
from eval.measures.said import areas_in, ranges_of
from ingest.language.vocabulary import fold
from ingest.protecting.adversary import Adversary, Inference
from ingest.protocols import Encoder
from models.attributes import KnownTexts, Learned
from models.corpora.records import Row, parsed_lines
from models.errors import ConfigurationError

CERTAIN = 3
"""The least certainty, of 5, with which annotators of SPIA tell a value."""
OTHER_WORDS: Mapping[str, Mapping[str, str]] = {
    "sex": {"woman": "female", "girl": "female", "f": "female", "man": "male", "boy": "male", "m": "male"},
    "relationship": {
        **dict.fromkeys(
            ("widowed", "widow", "widower", "no relation", "unmarried", "never married"), "single"
        ),
        **dict.fromkeys(("engaged", "in relation", "partnered", "dating"), "in a relationship"),
        **dict.fromkeys(("separated",), "divorced"),
    },
}
"""Values in other words; a widow has no relation in the scheme of Staab et al. (2024)."""
FIELDS: Mapping[str, str] = {
    **{name: name for name in ATTRIBUTES},
    **{"gender": "sex", "location": "country", "city_country": "country", "residence": "country"},
    **{"birth_city_country": "nationality", "birthplace": "nationality", "place of birth": "nationality"},
    **{"relationship_status": "relationship", "marital_status": "relationship", "job": "occupation"},
    **{"marital status": "relationship", "relationship status": "relationship", "condition": "health"},
}
"""The attribute of each name that a field of a record may have, in small letters."""
_TAGS = {
    tag: FIELDS[tag.lower()]
    for tag in ("SEX", "AGE", "LOCATION", "NATIONALITY", "RELATIONSHIP", "OCCUPATION")
}
_NAME = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_PATIENT = re.compile(
    r"(?i)\b(\d{1,3})[ -]years?[ -]old\b[^.]{0,60}?\b(male|female|man|woman|boy|girl|lady|gentleman)\b"
)
_LONGEST = 4


@dataclass(frozen=True, slots=True)
class KnownText:
    """A text whose person is known in part. Private.

    ``group`` is shared by texts of one person, and ``corpus`` says where it comes from.
    """

    text: str = field(repr=False)
    truths: Truths = field(repr=False)
    group: str = field(repr=False)
    corpus: str


def value_of(attribute: str, said: str) -> str | None:
    """The value that is meant; None where none is."""
    said = said.strip()
    if not said:
        return None
    if reader := _READERS.get(attribute):
        return reader(said)
    options = value_names()[attribute]
    if attribute == "health":
        found = class_of(said, "conditions")
        return found if found in options else None
    plain = fold(said)
    if plain in OTHER_WORDS[attribute]:
        return OTHER_WORDS[attribute][plain]
    best = closest(plain, options)
    return best if similarity(plain, best) >= CLOSE else None


def _values_of(attribute: str, said: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for part in said if (each := value_of(attribute, part))))


def truths_of(fields: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The values that a record says of its person, by attribute; what is unknown is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for name, said in fields.items():
        attribute = FIELDS.get(name.strip().lower().replace("-", " "))
        if attribute is None or not isinstance(said, str | int | float):
            continue
        parts = re.split(r"[;/]", str(said)) if attribute == "health" else [str(said)]
        if meant := _values_of(attribute, parts):
            found.setdefault(attribute, meant)
    return found


def truths_in(fields: Mapping[str, Mapping[str, object]]) -> Mapping[str, Truths]:
    """The values of each record, by its id; records of which none is understood are left out.

    Raises:
        ConfigurationError: None of the records names an attribute and a value that is understood.
    """
    found = {doc_id: those for doc_id, each in fields.items() if (those := truths_of(each))}
    if not found:
        raise ConfigurationError(
            f"None of the attributes of {len(fields):,} records is understood. Name them "
            f"{', '.join(ATTRIBUTES)}, with plain values such as 41, female, Chile, nurse or married."
        )
    return found


def _band(said: str) -> str | None:
    numbers = ranges_of(said.replace(".0", ""))
    if not numbers:
        return None
    age = (numbers[0].low + numbers[-1].high) / 2
    named = zip(value_names()["age"], bands(), strict=True)
    return next((name for name, (low, high) in named if low <= age < high + 1), None)


def _country(said: str) -> str | None:
    said = fold(said).title().replace("Turkiye", "Turkey")
    known = {each.code for each in countries()}
    found = [named.area for named in areas_in(said.replace("/", ","))]
    codes = [next(iter(each.countries)) for each in found if len(each.countries) == 1]
    return next((code for code in reversed(codes) if code in known), None)


def _occupation(said: str) -> str | None:
    """The group of the longest title in it, of equal ones the last."""
    titles = {fold(name): row.name for row in values()["occupation"] for name in row.names}
    spoken = _NAME.findall(fold(said))
    for size in range(_LONGEST, 0, -1):
        for start in range(len(spoken) - size, -1, -1):
            words = " ".join(spoken[start : start + size])
            for form in (words, words.removesuffix("s")):
                if form in titles:
                    return titles[form]
    return None


_READERS = {"age": _band, "country": _country, "nationality": _country, "occupation": _occupation}


def known_texts(data: Path) -> list[KnownText]:
    """The texts of the corpora under ``data`` whose people are known in part.

    Raises:
        ConfigurationError: None of the corpora is there, or a file is not in its layout.
    """
    readers = {"spia": _posts, "aci_bench": _visits, "mts_dialog": _dialogues, "db_bio": _lives}
    found = [each for name, read in readers.items() if (data / name).is_dir() for each in read(data)]
    if not found:
        raise ConfigurationError(
            f"{data} holds no corpus that the heads could learn from: {', '.join(readers)} are read."
        )
    return found


def posts_of(data: Path) -> list[KnownText]:
    """The online posts of SPIA with what annotators infer of their authors."""
    path = data / "spia" / "panorama_subjects.jsonl"
    return list(parsed_lines(path, lambda row, _: _inferable(row, "posts")))


def _posts(data: Path) -> Iterator[KnownText]:
    yield from posts_of(data)
    cases = data / "spia" / "tab_subjects.jsonl"
    if cases.is_file():
        yield from parsed_lines(cases, lambda row, _: _inferable(row, "cases"))


def _inferable(row: Row, corpus: str) -> KnownText:
    subject = row["subjects"][0]
    told: dict[str, tuple[str, ...]] = {}
    name = ""
    for each in subject["PIIs"]:
        said = str(each["keyword"]).strip()
        if each["tag"] == "NAME":
            name = said
        attribute = _TAGS.get(each["tag"])
        if attribute and said and int(each["certainty"]) >= CERTAIN and (value := value_of(attribute, said)):
            told[attribute] = (value,)
    doc_id = str(row["metadata"]["data_id"])
    return KnownText(str(row["text"]), told, f"{corpus} {fold(name) or doc_id}", corpus)


def _visits(data: Path) -> Iterator[KnownText]:
    for number, record in enumerate(records_in(data / ACI_BENCH.corpus, ACI_BENCH)):
        about = record.fields.get("metadata")
        if isinstance(about, dict):
            known = {"sex": about.get("patient_gender"), "age": about.get("patient_age")}
            known["health"] = f"{about.get('cc') or ''};{about.get('2nd_complaints') or ''}"
            yield KnownText(text_of(record, "dialogue"), truths_of(known), f"visits {number}", "visits")


def _dialogues(data: Path) -> Iterator[KnownText]:
    for number, record in enumerate(records_in(data / MTS_DIALOG.corpus, MTS_DIALOG)):
        if told := _PATIENT.search(text_of(record, "note_section")):
            sex = told[2].replace("lady", "woman").replace("gentleman", "man")
            known = truths_of({"age": told[1], "sex": sex})
            yield KnownText(text_of(record, "dialogue"), known, f"dialogues {number}", "dialogues")


def _lives(data: Path) -> Iterator[KnownText]:
    def life(row: Row, _: int) -> KnownText:
        known = truths_of({"occupation": row["occupation"]})
        return KnownText(str(row["text"]), known, f"lives {row['id']}", "lives")

    yield from parsed_lines(data / "db_bio" / "data.jsonl", life)


WEIGHTS: Mapping[str, float] = {"posts": 1.0, "visits": 0.5, "dialogues": 0.5, "cases": 0.3, "lives": 0.3}
"""How much a text of each corpus counts: posts most, since they are of those whom nobody describes."""
NAME_WEIGHT, SENTENCE_WEIGHT = 0.1, 0.3
MOST_LIVES = 250
"""Biographies that are drawn: they are of people in few occupations."""
READ_IN: Mapping[str, Sequence[str]] = {
    "occupation": ("posts", "cases", "lives"),
    **dict.fromkeys(("age", "sex"), ("posts", "cases", "visits", "dialogues")),
    **dict.fromkeys(("country", "nationality", "relationship"), ("posts", "cases")),
    "health": ("visits",),
}
"""The corpora that each attribute is learned from."""
BY_VECTORS = ("age", "sex", "occupation", "relationship")
"""The attributes with few values, whose heads also read vectors."""


def drawn(texts: Sequence[KnownText], seed: int) -> list[KnownText]:
    """All texts that say something of their person, but of biographies only some."""
    known = [each for each in texts if each.truths]
    lives = [each for each in known if each.corpus == "lives"]
    some = {id(each) for each in random.Random(seed).sample(lives, min(MOST_LIVES, len(lives)))}
    return [each for each in known if each.corpus != "lives" or id(each) in some]


def texts_to_learn(
    texts: Sequence[KnownText], names: Sequence[tuple[str, str]], encoder: Encoder
) -> list[KnownTexts]:
    """What each attribute is learned from: the texts, ``names`` with their sex, and the values' sentences."""
    return as_numbers(texts, ClueReader(encoder).read([each.text for each in texts]), names, encoder)


def as_numbers(
    texts: Sequence[KnownText], read: Read, names: Sequence[tuple[str, str]], encoder: Encoder
) -> list[KnownTexts]:
    """The same of texts that were read; attributes of which nothing is known are left out."""
    found = []
    for attribute in ATTRIBUTES:
        options = value_names()[attribute]
        corpora = READ_IN[attribute]
        rows = [n for n, each in enumerate(texts) if attribute in each.truths and each.corpus in corpora]
        if not rows:
            continue
        those = [texts[row] for row in rows]
        learned = Learned(
            read.vectors[rows],
            read.clues[attribute][rows],
            np.array([options.index(each.truths[attribute][0]) for each in those], np.int64),
            np.array([WEIGHTS[each.corpus] for each in those]),
        )
        further = []
        if attribute in BY_VECTORS:
            said = [(one, place) for place, each in enumerate(values()[attribute]) for one in each.sentences]
            further.append(_bare(said, len(options), SENTENCE_WEIGHT, encoder, named=False))
        if attribute == "sex" and names:
            of_sex = [(name, options.index(sex)) for name, sex in names]
            further.append(_bare(of_sex, len(options), NAME_WEIGHT, encoder, named=True))
        groups, names_of = tuple(each.group for each in those), tuple(each.corpus for each in those)
        by_vectors = attribute in BY_VECTORS
        found.append(KnownTexts(attribute, options, learned, groups, names_of, further, by_vectors))
    return found


def _bare(
    said: Sequence[tuple[str, int]], n_values: int, weight: float, encoder: Encoder, *, named: bool
) -> Learned:
    """Texts by their vectors alone, as the whole text, and as the name in it if they are ``named``."""
    whole = encoder.encode([text for text, _ in said]).astype(np.float64)
    vectors = np.concatenate([whole, whole if named else np.zeros_like(whole)], axis=1)
    truths = np.array([place for _, place in said], np.int64)
    clues = np.zeros((len(said), n_values, len(CLUES)))
    return Learned(vectors, clues, truths, np.full(len(said), weight))


@dataclass(frozen=True, slots=True)
class InValues:
    """An adversary whose guesses are free words, with each of them brought to a value of its attribute.

    Guesses that mean no value are left out, and attributes without another guess.
    """

    adversary: Adversary

    @property
    def name(self) -> str:
        return self.adversary.name

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        return [
            {
                name: replace(each, guesses=meant)
                for name, each in told.items()
                if (meant := _values_of(name, each.guesses))
            }
            for told in self.adversary.infer(texts)
        ]
