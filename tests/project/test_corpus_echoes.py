"""Nothing of the public corpora stands in the project: no name, no docket number, no phrase of eight words.

Names count where the people are private: in court cases, mail, posts, prompts and clinical records, not in
encyclopedias and novels. A name that a list from a public source holds, or that is known to everybody, is no
echo. A phrase that a corpus repeats more than fifty times is a formula of its genre. Messages quote nothing.
"""

import gzip
import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.language.vocabulary import entries, fold, words
from tests.commands import ROOT, public_data

WORD = re.compile(r"[^\W_]+")
MARKUP = re.compile(r"[<>=]")
PHRASE = 8
FORMULA = 50
NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{4,6}/\d{2}(?!\d)(?!/)|\d{7,})(?![\w/-])")
WELL_KNOWN = frozenset(("1234567", "12345678", "123456789", "1234567890", "4111111111111111"))
_CAPITAL = r"[^\W\d_a-z][^\W\d_]+"
NAME = re.compile(rf"(?=(?<![^\W_])([^\W\d_a-z][^\W\d_]*)(?:\.? |-)({_CAPITAL})(?![^\W_]))")
RARE, FEWEST = 4, 5
"""How often the corpora say a single name, and how long it is, to be told from a chance likeness."""
PRIVATE = frozenset(
    ("aeslc", "chatdoctor_genmedgpt5k", "ewt_email", "intact_manual_eval", "meddocan_es", "mts_dialog")
    + ("aci_bench", "presidio_synth", "privacylens", "pupa", "spia", "tab", "tab_train_sample", "uner_ewt")
)
SISTERS = {"spia": "tab", "tab_train_sample": "tab", "intact_manual_eval": "tab", "ewt_email": "aeslc"}
"""Corpora with texts of another one."""
KNOWN_TO_ALL = frozenset(
    ("charles schwab", "eli lilly", "frida kahlo", "jane roe", "henry hub", "arthur conan", "conan doyle")
    + ("antonio machado", "alexander hamilton", "santa lucía", "van der", "general practitioner")
)
MENTIONS = (
    ("entities", "span_text", "entity_type"),
    ("mentions", "text", "type"),
    ("spans", "text", "label"),
)
PEOPLE_AND_PLACES = re.compile(r"PERSON|PER$|NOMBRE|LOC")
LEFT_OUT = re.compile(r"(?:LICENSE|NOTICE)$|\.(?:safetensors|svg|json|gz|png|db|faiss)$|^docs/results")


def project() -> dict[str, str]:
    """What is under version control, by path; weights, figures and results left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    paths = [path for path in listed.stdout.splitlines() if not LEFT_OUT.search(path)]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if (ROOT / path).is_file()}


def records(path: Path) -> Iterator[Any]:
    """The records of a corpus file, one after the other."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file) if ".jsonl" in path.name else (json.load(file),)


def strings(value: Any) -> Iterator[str]:
    """Every string of a record but its ids."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (
            text for key, each in value.items() if key not in ("id", "doc_id") for text in strings(each)
        )
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each))


class Phrases:
    """Hashes of all runs of eight words, with how often the corpora have them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: dict[str, int] = {}
        self._powers = np.array([pow(1_000_003, at, 2**64) for at in range(PHRASE)], dtype=np.uint64)
        for text in texts:
            for word in WORD.findall(text):
                self._words.setdefault(word.lower(), len(self._words) + 1)
        runs = [self.of(self.words(text))[0] for text in texts]
        self._known = np.unique(np.concatenate(runs)) if runs else np.empty(0, np.uint64)
        self._times = np.zeros(len(self._known), np.int64)

    def words(self, text: str) -> list[int]:
        """The numbers of the words of a text, 0 for those the project does not use."""
        return [self._words.get(word.lower(), 0) for word in WORD.findall(text)]

    def of(self, words: Sequence[int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The hash of each run of known words, and the place of its first one."""
        numbers = np.array(words, dtype=np.uint64) * np.uint64(2_654_435_761)
        count = len(numbers) - PHRASE + 1
        if count < 1:
            return np.empty(0, np.uint64), np.empty(0, np.int64)
        windows = np.lib.stride_tricks.sliding_window_view(numbers, PHRASE)
        hashes = (windows * self._powers).sum(axis=1, dtype=np.uint64)
        places = np.flatnonzero(windows.all(axis=1))
        return hashes[places], places

    def count(self, text: str) -> None:
        """Count the runs of a corpus's text that the project has too."""
        hashes, _ = self.of(self.words(text))
        at = np.searchsorted(self._known, hashes)
        met = at[(at < len(self._known)) & (self._known[np.minimum(at, len(self._known) - 1)] == hashes)]
        np.add.at(self._times, met, 1)

    def echoes(self, text: str) -> Iterator[int]:
        """Where a text of the project has a run of words that a corpus has, and that is no formula."""
        places = [match.span() for match in WORD.finditer(text)]
        hashes, starts = self.of(self.words(text))
        times = self._times[np.searchsorted(self._known, hashes)]
        for start in starts[(times > 0) & (times <= FORMULA)]:
            first, end = places[start][0], places[start + PHRASE - 1][1]
            if not MARKUP.search(text, first, end):
                yield first


class Names:
    """Names of private people and their places that the project has too, as the corpora say them."""

    def __init__(self, texts: Iterable[str]) -> None:
        given = entries("given_names") + entries("given_names_ambiguous")
        public = ("surnames", "cities", "countries", "not_names", "medications")
        self._public = frozenset(
            (*given, *(word for name in public for word in WORD.findall(" ".join(entries(name)))))
        )
        self._given = frozenset(given)
        kinds = ("common_words", "place_words", "street_words", "organization_cues", "jobs", "weekday_months")
        self._ordinary = words(*kinds)
        self._wanted = {found.groups() for text in texts for found in NAME.finditer(text)}
        self._pairs: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._marked: dict[str, Counter[str]] = defaultdict(Counter)
        self._sources: dict[str, set[str]] = {word: set() for text in texts for word in WORD.findall(text)}

    def count(self, corpus: str, record: Any, texts: Iterable[str]) -> None:
        """Take up the names of one record, and the words without a capital letter."""
        source = SISTERS.get(corpus, corpus)
        for text in texts:
            for word in self._sources.keys() & set(WORD.findall(text)):
                self._sources[word].add(source)
            for found in NAME.finditer(text):
                if found.groups() in self._wanted:
                    self._pairs[found.groups()][source] += 1
        for key, said, kind in MENTIONS if corpus in PRIVATE and isinstance(record, dict) else ():
            for mention in record.get(key) or ():
                if PEOPLE_AND_PLACES.search(str(mention.get(kind))):
                    self._marked[source].update(fold(word) for word in WORD.findall(mention[said]))

    def full(self) -> set[tuple[str, ...]]:
        """Given name or initial with surname, said more than once and in one private source alone."""
        return {
            pair
            for pair, sources in self._pairs.items()
            if len(sources) == 1 and sources.total() > 1 and PRIVATE.issuperset(sources)
            if fold(pair[1]) not in self._ordinary
            if fold(pair[0]) in self._given or (len(pair[0]) == 1 and fold(pair[1]) not in self._public)
            if " ".join(pair).casefold() not in KNOWN_TO_ALL
        }

    def single(self) -> set[str]:
        """Marked names, folded, of one private source alone that are no word and in no public list."""
        sources: dict[str, set[str]] = defaultdict(set)
        for word, where in self._sources.items():
            sources[fold(word)] |= where | ({"small letters"} if word.islower() and where else set())
        return {
            name
            for marked in self._marked.values()
            for name, times in marked.items()
            if times >= RARE and len(name) >= FEWEST and len(sources[name]) < 2
            if name not in self._public and not name.isdigit()
        }


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


@pytest.fixture(scope="module")
def echoes() -> dict[str, list[str]]:
    """By kind, the places of the project, as file and line, that repeat a corpus."""
    folder, texts = public_data(), project()
    phrases, names = Phrases(texts.values()), Names(texts.values())
    numbers: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.name.endswith((".json", ".jsonl", ".jsonl.gz")):
            for record in records(path):
                said = list(strings(record))
                phrases.count("\n".join(said))
                names.count(path.parent.name, record, said)
                numbers.update(found for text in said for found in NUMBER.findall(text))
    full, single = names.full(), names.single()
    found: dict[str, list[str]] = {"phrase": [], "number": [], "name": []}
    for name, text in texts.items():
        places = {
            "phrase": phrases.echoes(text),
            "number": (m.start() for m in NUMBER.finditer(text) if m[0] in numbers - WELL_KNOWN),
            "name": [
                *(m.start() for m in NAME.finditer(text) if m.groups() in full),
                *(m.start() for m in WORD.finditer(text) if _is_name(m[0], name) and fold(m[0]) in single),
            ],
        }
        for kind, starts in places.items():
            found[kind] += [f"{name}:{line}" for line in sorted({line_of(text, start) for start in starts})]
    return found


def _is_name(word: str, path: str) -> bool:
    """Whether it is written as a name: with a capital letter, or in a list in small letters."""
    return word[0].isupper() or path.startswith("ingest/language/vocabulary/")


@pytest.mark.parametrize("kind", ["phrase", "number", "name"])
def test_the_project_repeats_no_corpus(echoes: dict[str, list[str]], kind: str) -> None:
    assert echoes[kind] == []


def test_an_echo_is_found() -> None:
    said = "the ferry left Quellby at nine with two crates of salted plums"
    phrases = Phrases([said])
    assert list(phrases.echoes(said)) == []
    phrases.count("They say the ferry left Quellby at nine with two crates.")
    assert [said[start:].split()[0] for start in phrases.echoes(said)] == ["the", "ferry"]
    names = Names(["Seen by T. Quorvik in Anna Quorvik's room"])
    mention = {"span_text": "T. Quorvik", "entity_type": "PERSON"}
    for _ in range(RARE):
        names.count("tab", {"entities": [mention]}, ["T. Quorvik of Quellby"])
    assert names.full() == {("T", "Quorvik")}
    assert names.single() == {"quorvik"}
    assert NUMBER.findall("no. 48213/07, 120/80, 12/34 and 4173926") == ["48213/07", "4173926"]
