"""The report of the linkage study: figures by method and attack, no word of a corpus."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from eval.attacks.claims import (
    MOST_KNOWN,
    Access,
    Choice,
    ModelAtomizer,
    ModelRewording,
    OwnWords,
    Rewording,
    RuleRewording,
)
from eval.attacks.linkage import Bm25, Dense, Linker, Rouge
from eval.corpora.corpus import Corpus, Selection, fewer_documents, under_public_ids
from eval.corpora.layouts import records_in, text_of
from eval.corpora.loaders import MEDQA, MTS_DIALOG, ChoiceQuestion, choice_questions, load
from eval.corpora.seen import held_out
from eval.corpora.sensitive import sensitive_from_gold
from eval.measures.claim_distance import ModelJudge, coherence_judge
from eval.measures.uncertainty import Estimate
from eval.prepared import Prepared
from eval.provenance import Frozen, Provenance
from eval.studies.marks.methods import FURTHER_DRAWS, LETHE, LOWEST, ORIGIN, RANDOM, REDACT, TRIP, method_of
from eval.studies.marks.methods import systems as marked_systems
from eval.tasks.choices import ModelAnswerer
from eval.tasks.linkage import (
    ATOMIZER,
    CLINICAL,
    GENERAL,
    Categorizer,
    Distances,
    Distribution,
    Linkage,
    LinkageTask,
)
from ingest.deciding.baselines.uniform import SUPPRESS
from ingest.deciding.baselines.within_rules import RULES_ALONE
from ingest.documents import Document, Entity, Identifier, Span
from ingest.labels import VAGUE
from ingest.protecting.whole_texts import BY_MODEL
from ingest.protocols import Encoder
from ingest.sanitize import DecidingSanitizer, Rewriter
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from models.language.asking import NO_PLAN, Asker, Plan
from models.language.protocol import LanguageModel
from retrieval.system import System

REMOVED = "everything removed"
METHODS = (ORIGIN, REDACT, RULES_ALONE, RANDOM, TRIP, LETHE, REMOVED)
"""In the order of the tables."""


def systems(ready: Prepared, seed: int, also: Mapping[str, Rewriter]) -> dict[str, System]:
    """Every method by name, ``also`` last. The random control draws once: each document draws for itself."""
    others = marked_systems(ready, seed)
    kept = {method_of(name): each for name, each in others.items() if name not in (*FURTHER_DRAWS, LOWEST)}
    # Nothing is left of any document: what is known without it.
    kept[REMOVED] = replace(
        ready.system,
        sanitizing=lambda each: DecidingSanitizer(WholeText(), SUPPRESS, RiskPrior(), language=each.language),
    )
    return kept | {name: ready.rewriting(each) for name, each in also.items()}


class WholeText:
    """Finds one entity, the whole text."""

    name = "whole text"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """One entity for each document that is not empty."""
        return [
            [Entity(Span(0, len(each.text)), VAGUE, Identifier.DIRECT, 1.0, self.name)] if each.text else []
            for each in documents
        ]


ROUGE, BM25, DENSE_MAJORITY = "rouge", "bm25", "dense-majority"
LINKERS: Mapping[str, Callable[[Encoder], Linker]] = {
    ROUGE: lambda _: Linker(Rouge(), "joined", "documents"),
    BM25: lambda _: Linker(Bm25(), "joined", "documents"),
    "bm25-majority": lambda _: Linker(Bm25()),
    "dense": lambda encoder: Linker(Dense(encoder), "joined", "documents"),
    DENSE_MAJORITY: lambda encoder: Linker(Dense(encoder)),
}
"""Single ones ask once, with all known claims joined, for whole documents. With majority each claim asks for
claims, and votes."""
Words = Literal["own", "reworded"]
REWORDED = RuleRewording()


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack by the names of its parts; the default is that of version 2 of the paper.

    Raises:
        ConfigurationError: The linker is unknown.
    """

    linker: str = DENSE_MAJORITY
    choice: Choice = "random"
    k: int = 3
    words: Words = "reworded"

    def __post_init__(self) -> None:
        if self.linker not in LINKERS:
            raise ConfigurationError(
                f"There is no linker {self.linker!r}: the names are {', '.join(LINKERS)}."
            )
        Access(self.k, self.choice)

    def on(self, task: LinkageTask, encoder: Encoder, reworded: Rewording = REWORDED) -> LinkageTask:
        """The task with this attack; ``reworded`` says what is known in other words."""
        return replace(
            task,
            linker=LINKERS[self.linker](encoder),
            access=replace(task.access, k=self.k, choice=self.choice),
            rewording=OwnWords() if self.words == "own" else reworded,
        )


VERSION_1, VERSION_2 = Attack(BM25, words="own"), Attack()
PRESETS: Mapping[str, Attack] = {"1": VERSION_1, "2": VERSION_2}
"""By the version of the paper."""


def variations(main: Attack) -> dict[str, list[Attack]]:
    """Attacks that differ from the main one in one part, by that part; the main one is among them.

    The number of known claims grows from the end of the document, as in the paper.
    """
    return {
        "linker": [replace(main, linker=linker) for linker in LINKERS],
        "choice": [replace(main, choice=choice) for choice in get_args(Choice)],
        "words": [replace(main, words=words) for words in get_args(Words)],
        "known": [replace(main, choice="last", k=k) for k in range(1, MOST_KNOWN + 1)],
    }


CLINICAL_CORPORA = ("mts_dialog", "aci_bench", "medqa", "healthcaremagic")
FEWEST = 5
"""The fewest documents of a class that is counted."""
SECTION = "section_header"


@dataclass(frozen=True, slots=True)
class Material:
    """``details`` are hand-annotated spans by document, as are ``exam`` and ``classes``; all may be empty."""

    corpus: Corpus = field(repr=False)
    categorizer: Categorizer
    details: Mapping[str, Sequence[Span]] = field(default_factory=dict, repr=False)
    exam: Mapping[str, ChoiceQuestion] = field(default_factory=dict, repr=False)
    classes: Mapping[str, str] = field(default_factory=dict, repr=False)


def material(
    name: str,
    path: Path,
    selection: Selection,
    public_ids: Callable[[Sequence[str]], Sequence[str]],
    held_out_by: Path | None = None,
) -> Material:
    """The material of a corpus under public ids; documents are drawn from those that are held out.

    Raises:
        LetheError: The corpus cannot be read, or nothing of it is held out.
    """
    corpus = load(name, path, replace(selection, most_documents=None, most_questions=None))
    if held_out_by is not None:
        corpus = held_out(held_out_by, corpus)
    documents = fewer_documents(corpus.documents, selection)
    ids = {each.doc_id for each in documents}
    counted = f"{len(documents):,} of {len(corpus.documents):,} documents are drawn (seed {selection.seed})."
    gold = None if corpus.gold is None else {key: rows for key, rows in corpus.gold.items() if key in ids}
    split = f"{corpus.split} {counted}"
    corpus = replace(corpus, documents=documents, questions=(), gold=gold, split=split)
    own = [each.doc_id for each in documents]
    public = dict(zip(own, public_ids(own), strict=True))
    exam = choice_questions(path) if name == MEDQA.corpus else {}
    classes = _sections(path, ids) if name == MTS_DIALOG.corpus else {}
    details = {each.doc_id: detail_spans(each, (gold or {}).get(each.doc_id, ())) for each in documents}
    return Material(
        under_public_ids(corpus, public_ids),
        CLINICAL if name in CLINICAL_CORPORA else GENERAL,
        {public[key]: spans for key, spans in details.items() if spans},
        {public[key]: replace(each, about=public[key]) for key, each in exam.items() if key in ids},
        {public[key]: each for key, each in classes.items()},
    )


def detail_spans(document: Document, rows: Sequence[Mapping[str, object]]) -> list[Span]:
    """Every place where the text of a hand-annotated entity stands as whole words.

    Raises:
        UnreadableDocument: A row of the annotation is broken.
    """
    texts = {each.text for each in sensitive_from_gold(document, rows)}
    patterns = (rf"(?<!\w){re.escape(text)}(?!\w)" for text in texts)
    return sorted({Span(*match.span()) for each in patterns for match in re.finditer(each, document.text)})


def _sections(path: Path, ids: set[str]) -> dict[str, str]:
    """The section of the note that each conversation is about, where the corpus says it."""
    said = {
        text_of(record, "id"): text_of(record, SECTION)
        for record in records_in(path, MTS_DIALOG)
        if isinstance(record.fields.get(SECTION), str)
    }
    counts = Counter(each for doc_id, each in said.items() if doc_id in ids)
    return {key: each for key, each in said.items() if key in ids and counts[each] >= FEWEST}


def reckoned(
    model: LanguageModel, material: Material, attacks: Sequence[Attack], methods: Sequence[str], judging: bool
) -> str:
    """In one sentence, rather too much than too little: kept answers and repetitions are not taken off.

    The originals stand in for what methods make of them, and claims by rule for those of the model. The main
    attack, the first, stands in for all. One method leaves nothing to ask about.
    """
    asker, texts = Asker(model), [each.text for each in material.corpus.documents]
    claims, read = ATOMIZER.claims(texts), len(methods) - 1
    known = [_known(claims, attack) for attack in attacks]
    reworded = [each for attack, each in zip(attacks, known, strict=True) if attack.words != "own"]
    examined = [each for each in material.corpus.documents if each.doc_id in material.exam]
    questions = [material.exam[each.doc_id] for each in examined]
    parts: list[Plan] = [
        ModelAtomizer(asker).plan(texts).times(read),
        ModelRewording(asker).plan(list(dict.fromkeys(chain(*chain(*reworded))))),
        coherence_judge(asker).plan([(text, text) for text in texts]).times(read),
        *(BY_MODEL[name](asker).plan(texts) for name in methods if name in BY_MODEL),
        ModelAnswerer(asker).plan([each.text for each in examined], questions).times(len(methods)),
    ]
    if judging:
        judge = ModelJudge(asker)
        of_text = judge.plan(list(zip(claims, texts, strict=True))).times(read)
        of_known = judge.plan(list(zip(claims, map("\n".join, known[0]), strict=True)))
        parts += [of_text, (of_text + of_known).times(len(attacks))]
    return sum(parts, NO_PLAN).reckoned("the originals, with claims cut by rule")


def _known(claims: Sequence[Sequence[str]], attack: Attack) -> list[list[str]]:
    access = Access(attack.k, attack.choice)
    return [[each[one] for one in access.known(len(each), number)] for number, each in enumerate(claims)]


class Outcome(Frozen):
    """What one attack found under one method.

    ``overlap`` is the distance of the claims that are left from those that are known, without any document:
    what the attacker can say without a link. ``wording`` is the share of the bigrams of the known claims that
    the original has.
    """

    method: str
    linkage: Linkage
    distance: Distances
    lexical: Distances
    leaked: Estimate
    overlap: Estimate
    wording: Estimate


class AttackFigures(Frozen):
    """One attack under all methods; ``part`` is the part in which it differs from the main one."""

    part: str
    attack: Attack
    outcomes: tuple[Outcome, ...]


class MethodFigures(Frozen):
    """A method under the main attack, and what it leaves of use.

    ``rate_minus_redact`` and ``facts_over_redact`` are paired by document. ``mauve`` is smoothed.
    ``accuracy`` is the share of exam questions answered right, ``classes`` the utility of label counts, None
    where the corpus has none. ``coherence`` is what a language model gives, from 1 to 5, but for
    ``not_judged`` texts, empty ones or without a readable answer; None where none was asked.
    """

    method: str
    failed: int
    main: Outcome
    rate_minus_redact: Estimate
    embedding: Distances
    hidden: Distances
    categories: dict[str, Estimate]
    distribution: Distribution
    ratings_missing: int
    ratings_invalid: int
    facts: Estimate
    facts_by_chance: Estimate
    facts_over_redact: Estimate
    claims: Estimate
    claims_partly: Estimate
    accuracy: Estimate | None
    unanswered: int
    classes: float | None
    classed_right: Estimate | None
    mauve: float | None
    coherence: Estimate | None = None
    not_judged: int = 0


class LinkageReport(Frozen):
    """All methods on the same documents, and the main attack with those that differ from it in one part.

    ``usage`` is what was asked of a language model, empty without one.
    """

    provenance: Provenance
    command: str
    seed: int
    corpus: str
    source: str
    split: str
    documents: int
    claims: Estimate
    main: Attack
    engines: dict[str, str]
    answerer: str
    chance_answer: float | None
    warning: str
    methods: tuple[MethodFigures, ...]
    attacks: tuple[AttackFigures, ...]
    usage: dict[str, float] = {}

    @property
    def chance(self) -> float:
        """The correct linkage rate of blind drawing."""
        return 1 / self.documents
