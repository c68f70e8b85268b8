"""The report of INTACT's comparison: figures by method and kind, no word of a corpus."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from operator import attrgetter
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from eval.measures.agreement import estimated, weighted_kappa
from eval.measures.classify import table
from eval.measures.preserved import Masked
from eval.measures.said import areas_in, moment_of, ranges_of
from eval.measures.uncertainty import Estimate, clustered_share
from eval.provenance import Frozen, Provenance
from ingest.language.vocabulary import fold, words
from models.corpora.records import Row, parsed_lines

_TABLES = ("jobs", "drugs", "conditions")
"""Classes of what is said of people."""
_TOWNS = frozenset(("city", "town", "village", "municipality", "suburb", "district"))
_COUNTRIES = frozenset(("country", "countries", "state"))
_GENERAL = frozenset(
    "somebody someone person people individual man woman party place location area region site country city"
    " town village date time day year month period moment past future age amount number sum quantity figure"
    " something thing matter item detail organization organisation body institution authority entity group"
    " company characteristic attribute certain some specific particular known other one".split()
)
_FUNCTION = frozenset(
    "a an the of in on at by to for from with and or his her its their my our this that these those as is was"
    " were be been".split()
)
_NOT = frozenset("no not without never none neither denies denied".split())
_SIGN = re.compile(r"\[[^\]]*\]|[A-Z]+_[0-9]+|[*_█Xx-]+")
_LETTERED = re.compile(r"[^\W\d_].*?\.? [A-Z]{1,2}")
_WORD = re.compile(r"[^\W_]+|[$£€]")
_BEHIND_NOUN = re.compile(r" (?:in|of|near|on) ")
_LOWER = re.compile(r"(?<![^\W_])[^\W\d_A-Z][^\W\d_]*")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a replacement is true of the original, and whether it says less."""

    truthful: bool
    less_specific: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """What was said, what stands in its place, and the type of what was said in TAB.

    The types are DATETIME, QUANTITY, LOC, ORG, DEM, MISC, PERSON, CODE.
    """

    original: str = field(repr=False)
    replacement: str = field(repr=False)
    kind: str


_Rule = Callable[[Pair], Judgement | None]
LESS = Judgement(truthful=True, less_specific=True)
INVENTED = Judgement(truthful=False, less_specific=False)


def judged(original: str, replacement: str, kind: str) -> Judgement:
    """The verdict of the first rule that applies.

    A proxy. The rules read both sides: dates, numbers and areas of the world by containment; names that
    nobody said are untrue; fewer words are less specific. What no rule decides counts as true and less
    specific: the likeness of sentence vectors told true from false no better. ``validated`` holds the proxy
    against what people judged.
    """
    pair = Pair(original, replacement, kind)
    return next((verdict for rule in _RULES if (verdict := rule(pair)) is not None), LESS)


def _nothing(pair: Pair) -> Judgement | None:
    """What was deleted says less, and people do not call it true."""
    said = _WORD.search(pair.replacement) or _SIGN.fullmatch(pair.replacement.strip())
    return None if said else Judgement(truthful=False, less_specific=True)


def _unchanged(pair: Pair) -> Judgement | None:
    same = _words(pair.original) == _words(pair.replacement)
    return Judgement(truthful=True, less_specific=False) if same else None


def _sign(pair: Pair) -> Judgement | None:
    """What stands for a name and says nothing: [date], ORG_3, Person A, ABC Corp."""
    if _SIGN.fullmatch(pair.replacement.strip()):
        return LESS
    if pair.kind == "ORG":
        words = (word for word in pair.replacement.split() if len(word) == 3 and word.isupper())
        return LESS if any(word in ascii_uppercase for word in words) else None
    return LESS if pair.kind == "PERSON" and _LETTERED.fullmatch(pair.replacement) else None


def _days(pair: Pair) -> Judgement | None:
    said, told = moment_of(pair.original), moment_of(pair.replacement)
    if told is None:
        return None
    if said is None:
        # "in her forties" is an age
        return None if pair.kind != "DATETIME" and ranges_of(pair.original) else INVENTED
    return Judgement(told.holds(said), told.width > said.width)


def _numbers(pair: Pair) -> Judgement | None:
    said, told = ranges_of(pair.original), ranges_of(pair.replacement)
    counted = pair.kind in ("QUANTITY", "DATETIME")
    if not told:
        new = set(re.findall("[0-9]+", pair.replacement)) - set(re.findall("[0-9]+", pair.original))
        return INVENTED if new else LESS if said and counted else None
    truthful = all(any(one.holds(each) for each in said) for one in told)
    wider = len(told) < len(said) or any(one.openness > each.openness for one in told for each in said)
    return Judgement(truthful, wider) if wider or not truthful or counted else None


def _areas(pair: Pair) -> Judgement | None:
    """New areas have to lie around the original; around what is not known, only a phrase may name some."""
    told = list(areas_in(pair.replacement))
    if not told:
        return None
    said = [each.area for each in areas_in(pair.original)]
    # of Paris, Texas, the last area is meant
    place = said[0] if said and said[-1].holds(said[0]) else said[-1] if said else None
    common = set(_words(pair.original))
    new = [each.area for each in told if not set(each.words) <= common]
    bare = not _LOWER.search(pair.replacement)
    if not all(area.holds(place) for area in new) if place else new and bare:
        return INVENTED
    return LESS if pair.kind == "LOC" or (new and not bare) else None


def _kind_of_place(pair: Pair) -> Judgement | None:
    """A town is no country."""
    named = next(areas_in(pair.original), None) if pair.kind == "LOC" else None
    if named is None or set(_words(pair.original)) - _FUNCTION > set(named.words):
        return None
    noun = set(_words(_BEHIND_NOUN.split(pair.replacement)[0])[-1:])
    other = _COUNTRIES if named.area.point else frozenset() if named.area.region else _TOWNS
    return INVENTED if noun & other else None


def _dropped(pair: Pair) -> Judgement | None:
    """Words of the original alone, or all of them and more."""
    said, told = (set(_words(each)) - _FUNCTION for each in (pair.original, pair.replacement))
    if not told or not (told < said or said < told):
        return None
    return Judgement(bool(said & _NOT) == bool(told & _NOT), told < said)


def _general(pair: Pair) -> Judgement | None:
    """Only words that are true of everything of the kind."""
    return LESS if set(_words(_without_letter(pair.replacement))) - _FUNCTION <= _GENERAL else None


def _class(pair: Pair) -> Judgement | None:
    """A class of which the original is or is not; in a single word, another member of its class."""
    told = [each for each in _words(_without_letter(pair.replacement)) if each not in _FUNCTION]
    for name in ("organizations",) if pair.kind == "ORG" else _TABLES:
        said = {kind for word in _words(pair.original) for kind in _classes(word, name)}
        if said and " ".join(told) in map(fold, table(name)):
            return Judgement(" ".join(told) in map(fold, said), less_specific=True)
        nouns = {fold(word) for kind in table(name) for word in kind.split()}
        if said and len(told) == 1 and told[0] not in nouns and _classes(told[0], name):
            return INVENTED
    return None


def _without_letter(said: str) -> str:
    said = said.removesuffix("'s")
    return said.rpartition(" ")[0] if _LETTERED.fullmatch(said) else said


@cache
def _classes(word: str, name: str) -> tuple[str, ...]:
    return tuple(
        kind for kind, cues in table(name).items() if any(fnmatch(word, cue.lstrip("$")) for cue in cues)
    )


def _invented(pair: Pair) -> Judgement | None:
    """A name that nobody said: capital letters, but for those of a sentence or of "Bank A"."""
    if pair.kind == "DEM":
        return None
    found = _WORD.findall(pair.replacement)
    first = len(found) > 1 and found[0][1:].islower() and not found[1][0].isupper()
    last = len(_WORD.findall(_without_letter(pair.replacement)))
    known = _nouns().union(_words(pair.original), *(each.words for each in areas_in(pair.replacement)))
    invented = any(each[0].isupper() and fold(each) not in known for each in found[first:last])
    return INVENTED if invented else None


@cache
def _nouns() -> frozenset[str]:
    lists = words("organization_cues", "place_words", "jobs", "jobs_weak", "common_words")
    return lists | {fold(word) for each in table("organizations") for word in each.split()}


def _words(said: str) -> list[str]:
    return [fold(each) for each in _WORD.findall(said)]


_RULES: Sequence[_Rule] = (
    *(_nothing, _unchanged, _sign, _days, _numbers),
    *(_kind_of_place, _areas, _dropped, _general, _class, _invented),
)


Half = Literal["chosen on", "reported"]
Question = Literal["truthful", "less specific"]
QUESTIONS: tuple[Question, ...] = ("truthful", "less specific")


@dataclass(frozen=True, slots=True)
class JudgedReplacement:
    """A replacement of one system, with what a person said of it."""

    doc_id: str
    system: str
    kind: str
    people: Judgement
    original: str = field(repr=False)
    replacement: str = field(repr=False)


class AgreementFigure(Frozen):
    """How often the proxy answers a question as people do, for all replacements, a type or a system.

    ``majority`` is the agreement of always giving the answer that people give more often in this part.
    """

    question: Question
    part: str
    documents: int
    agreement: Estimate
    kappa: Estimate
    majority: float
    both_yes: int
    only_proxy_yes: int
    only_people_yes: int
    both_no: int


class Validation(Frozen):
    """The proxy against people on one half of the documents."""

    half: Half
    replacements: int
    documents: int
    figures: tuple[AgreementFigure, ...]

    def figure(self, question: Question, part: str = "all") -> AgreementFigure:
        """The figure of one question for one part; raises KeyError where there is none."""
        found = [each for each in self.figures if (each.question, each.part) == (question, part)]
        if not found:
            raise KeyError(f"{question}, {part}")
        return found[0]


def half_of(doc_id: str) -> Half:
    """The half in which a document lies."""
    odd = int(hashlib.sha256(doc_id.encode()).hexdigest(), 16) % 2
    return "reported" if odd else "chosen on"


def read_judgements(path: Path, half: Half = "reported") -> list[JudgedReplacement]:
    """The judgements about the documents of one half; what was deleted has an empty replacement.

    Raises:
        ConfigurationError: The file is missing or is not in the layout of the judgements.
    """

    def parsed(row: Row, number: int) -> JudgedReplacement:
        people = Judgement(bool(row["truthful"]), bool(row["less_specific"]))
        said, told = row["span_text"], row["replacement"] or ""
        return JudgedReplacement(row["doc_id"], row["system"], row["entity_type"], people, said, told)

    return [each for each in parsed_lines(path, parsed) if half_of(each.doc_id) == half]


def validated(replacements: Sequence[JudgedReplacement]) -> Validation:
    """Agreement of the proxy with people: over all replacements, by type and by system.

    The documents are split in two by a digest of their ids. The rules of the proxy were chosen on one half
    alone; the other is the one to report. One person judged each replacement, so nobody knows what agreement
    two people would reach.

    Raises:
        ValueError: There are no replacements.
    """
    if not replacements:
        raise ValueError("there are no judgements to hold the proxy against")
    answered = [(each, judged(each.original, each.replacement, each.kind)) for each in replacements]
    parts = {"all": answered}
    for part in sorted({each.kind for each in replacements}):
        parts[part] = [pair for pair in answered if pair[0].kind == part]
    for part in sorted({each.system for each in replacements}):
        parts[part] = [pair for pair in answered if pair[0].system == part]
    return Validation(
        half="reported",
        replacements=len(replacements),
        documents=len({each.doc_id for each in replacements}),
        figures=tuple(_figure(question, part, parts[part]) for question in QUESTIONS for part in parts),
    )


def _figure(
    question: Question, part: str, answered: Sequence[tuple[JudgedReplacement, Judgement]]
) -> AgreementFigure:
    """``answered`` are replacements, with what the proxy says of each."""
    answer = attrgetter(question.replace(" ", "_"))
    answers = defaultdict[str, list[tuple[bool, bool]]](list)
    for each, verdict in answered:
        answers[each.doc_id].append((answer(verdict), answer(each.people)))
    pairs = [pair for of_document in answers.values() for pair in of_document]
    yes = sum(people for _, people in pairs)
    return AgreementFigure(
        question=question,
        part=part,
        documents=len(answers),
        agreement=clustered_share(
            [sum(proxy == people for proxy, people in each) for each in answers.values()],
            [len(each) for each in answers.values()],
        ),
        # With two answers, weights do not matter: this is Cohen's kappa.
        kappa=estimated(
            weighted_kappa, [([p for p, _ in each], [q for _, q in each]) for each in answers.values()]
        ),
        majority=max(yes, len(pairs) - yes) / len(pairs),
        both_yes=pairs.count((True, True)),
        only_proxy_yes=pairs.count((True, False)),
        only_people_yes=pairs.count((False, True)),
        both_no=pairs.count((False, False)),
    )


class GuessFigures(Frozen):
    """Shares of the spans of a kind that a pool attacker ranks first, and among the first five.

    ``prior_five`` ranks by frequency alone, ``chance_five`` is that of blind drawing.
    """

    n: int
    first: Estimate
    five: Estimate
    prior_five: Estimate
    chance_five: float | None


class KindFigures(Frozen):
    """What a method does to the spans of a kind of the annotators.

    ``rungs`` counts spans by the number of the candidate that was taken, from 1, the most specific; those
    without a ladder are not counted. ``fallback`` is the share with words that name the kind alone,
    ``truthful`` and the others are shares by the automatic check, of cases that its rules were not chosen on.
    ``similarity`` is the mean cosine of changed words with what replaced them.
    """

    n: int
    rungs: dict[int, int] = {}
    fallback: Estimate
    truthful: Estimate
    less_specific: Estimate
    both: Estimate
    guesses: GuessFigures
    similarity: Estimate | None = None


class ClusterFigures(Frozen):
    """NMI with the clusters of the originals: mean and standard deviation over pairs of runs on ``n`` texts.

    ``ceiling`` is that of the originals with themselves, ``chance`` that of shuffled labels.
    """

    n: int
    kept: tuple[float, float]
    ceiling: tuple[float, float]
    chance: tuple[float, float]


class TextFigures(Frozen):
    """What a method keeps of texts; ``trir_minus_suppression`` is paired by document, ``nmi`` by engine."""

    method: str
    failed: int
    tps: Estimate
    tpi: Estimate
    nmi: dict[str, ClusterFigures] = {}
    trir: Estimate | None
    trir_minus_suppression: Estimate | None


class MethodFigures(TextFigures):
    """A method's figures; ``kinds`` are by the annotators' types, with all but persons and codes as ``all``.

    ``similarity`` is the mean cosine of the originals with what replaced them.
    """

    similarity: Estimate
    kinds: dict[str, KindFigures]


class OrderFact(Frozen):
    """A published order of two methods, and the difference here, higher minus lower.

    Intervals are over cases, those of NMI over pairs of runs.
    """

    measure: str
    lower: str
    higher: str
    difference: Estimate


class BenchmarkRow(TextFigures):
    """A method of the benchmark's table; ``spans`` says where it takes its spans from."""

    spans: str
    masked: Masked


class BenchmarkFigures(Frozen):
    """The table: texts of ``compared`` cases, and what was masked in ``marked`` ones."""

    compared: int
    marked: int
    individuals: int
    engines: dict[str, str]
    rows: tuple[BenchmarkRow, ...]


class IntactReport(Frozen):
    """All methods on the same cases; ``absent`` says why others were not measured.

    ``order`` compares with the published order of methods. ``benchmark`` is the table with detection, on
    other cases; None where no case is known to be held out.

    ``individuals`` is how many backgrounds the re-identification attack chooses from. ``validation`` compares
    the check of truth with people; None without their judgements.
    """

    provenance: Provenance
    command: str
    seed: int
    limit: float
    cases: int
    individuals: int
    engines: dict[str, str]
    methods: tuple[MethodFigures, ...]
    order: tuple[OrderFact, ...] = ()
    benchmark: BenchmarkFigures | None = None
    validation: Validation | None
    absent: dict[str, str]
