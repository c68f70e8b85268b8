"""The report of the linkage study: figures by method and attack, no word of a corpus."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.attacks.claims import Access, ModelAtomizer, ModelRewording
from eval.corpora.corpus import Corpus, Selection, fewer_documents, under_public_ids
from eval.corpora.dialogues import MTS_DIALOG
from eval.corpora.exams import MEDQA, ChoiceQuestion, choice_questions
from eval.corpora.layouts import records_in, text_of
from eval.corpora.loaders import load
from eval.corpora.seen import held_out
from eval.corpora.sensitive import sensitive_from_gold
from eval.measures.claim_categories import CLINICAL, GENERAL, Categorizer
from eval.measures.claim_distance import Asked
from eval.measures.linked import Distances, Distribution, Linkage
from eval.measures.model_judges import ModelJudge, coherence_judge
from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance
from eval.studies.linkage.attacks import Attack
from eval.tasks.choices import ModelAnswerer
from eval.tasks.linkage import ATOMIZER
from ingest.documents import Document, Span
from ingest.protecting.whole_texts import BY_MODEL
from models.language.asking import NO_PLAN, Asker, Plan
from models.language.protocol import LanguageModel

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
    public = dict(zip([each.doc_id for each in documents], public_ids([*ids_of(documents)]), strict=True))
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


def ids_of(documents: Sequence[Document]) -> list[str]:
    """The ids of documents."""
    return [each.doc_id for each in documents]


def detail_spans(document: Document, rows: Sequence[Mapping[str, object]]) -> list[Span]:
    """Every place where the text of a hand-annotated entity stands as whole words.

    Raises:
        UnreadableDocument: A row of the annotation is broken.
    """
    texts = {each.text for each in sensitive_from_gold(document, rows)}
    found = {
        Span(*match.span())
        for text in texts
        for match in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", document.text)
    }
    return sorted(found)


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
    parts: list[Plan] = [
        ModelAtomizer(asker).plan(texts).times(read),
        ModelRewording(asker).plan(
            list(dict.fromkeys(one for each in reworded for those in each for one in those))
        ),
        coherence_judge(asker).plan([(text, text) for text in texts]).times(read),
        *(BY_MODEL[name](asker).plan(texts) for name in methods if name in BY_MODEL),
        ModelAnswerer(asker).plan(*_examined(material)).times(len(methods)),
    ]
    if judging:
        judge = ModelJudge(asker)
        by_known: list[Asked] = [
            (each, "\n".join(those)) for each, those in zip(claims, known[0], strict=True)
        ]
        of_text = judge.plan(list(zip(claims, texts, strict=True))).times(read)
        parts += [of_text, (of_text + judge.plan(by_known)).times(len(attacks))]
    return sum(parts, NO_PLAN).reckoned("the originals, with claims cut by rule")


def _examined(material: Material) -> tuple[list[str], list[ChoiceQuestion]]:
    """Texts and the questions about them."""
    asked = [each for each in material.corpus.documents if each.doc_id in material.exam]
    return [each.text for each in asked], [material.exam[each.doc_id] for each in asked]


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
    ``not_judged`` texts, empty ones and those of which no answer could be read; None where none was asked.
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
