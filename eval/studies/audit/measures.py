"""What an audit measures: each function gives the task of an attack and what is folded from its rows.

A further attack is one function more in ``FAMILIES``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from eval.attacks.adaptive import Follow, Ikea, RandomText, RandomTokens
from eval.attacks.attributes import attribute_attack
from eval.attacks.canaries import CanaryAttack, canaries_out, plant
from eval.attacks.extraction import Aim, extraction_suite
from eval.attacks.injection import InjectDump, quoting
from eval.attacks.linkage import Bm25, Linker
from eval.attacks.membership import RETRIEVAL
from eval.corpora.corpus import Selection, Truths, fewer_documents
from eval.corpora.whole_documents import cloze_questions
from eval.documents import Adaptive
from eval.experiment import Task
from eval.measures.inferred import RIGHT as INFERRED
from eval.measures.inferred import inferred
from eval.measures.leakage import SensitiveIndex, drawn_out, entity_leakage
from eval.measures.uncertainty import Estimate, clustered_share, mean_of
from eval.rows import Row
from eval.studies.audit.options import SUITES, Suite, SuiteName
from eval.studies.audit.report import DETECTED, Attacker, Place, Reference
from eval.studies.marks.methods import ORIGIN
from eval.tasks import linkage
from eval.tasks.anonymity import FEW, SIZES, AnonymityTask, among, hardly_hidden
from eval.tasks.attack import AttackTask
from eval.tasks.coverage import BesideControls, CoverageTask, asked_by, covered
from eval.tasks.index import FIRST_FIVE, PRIOR_FIVE, SLOTS, Guesses, IndexReader
from eval.tasks.inferred import InferredTask
from eval.tasks.injection import Beside, injected, poisoning
from eval.tasks.membership import CHANCE_AUC, MembershipTask, membership
from eval.tasks.questions import FACTS, RANK, Questions
from eval.tasks.same_person import RANK as TWIN_RANK
from eval.tasks.same_person import SamePersonTask
from eval.tasks.same_person import same_person as same_person_figures
from eval.tasks.vectors import AMONG, BY_TEXT, FLAGGED, INVERTED, PASSAGES, VectorsTask
from ingest.documents import Document, Identifier
from ingest.protocols import Encoder
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.generators.verbatim import VerbatimGenerator

Fold = Callable[[Sequence[Row]], Estimate]
Places = Callable[[Row], Iterable[Place]]
"""The cases that a row has of what a measure counts."""

FEWEST_STRANGERS = 20
"""With fewer, whether documents are known to be in the collection is not measured."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the tasks are made of. ``encoder`` caches, since all systems share most of their texts.

    ``strangers`` are originals that are not in the collection, none a copy of one that is. ``attributes`` are
    what is known of the people of documents. ``judge`` says what a text tells; without a name it is the
    trained one, but the lexical one in a quick audit. ``reference`` says where the sensitive entities come
    from.
    """

    documents: Sequence[Document] = field(repr=False)
    sensitive: SensitiveIndex = field(repr=False)
    encoder: Encoder
    suite: SuiteName
    k: int
    seed: int
    people: Sequence[frozenset[str]] = field(default=(), repr=False)
    strangers: Sequence[Document] = field(default=(), repr=False)
    attributes: Mapping[str, Truths] = field(default_factory=dict, repr=False)
    judge: linkage.JudgeName | None = None
    reference: Reference = DETECTED

    @property
    def size(self) -> Suite:
        return SUITES[self.suite]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that is folded from the rows of a task; see ``MeasureFigures`` for the fields of its name.

    ``reference`` says in a few words what it is judged by, and ``places`` which cases it counts; None where
    these are no documents and no entities. ``chance`` folds the same rows to what chance, or a prior,
    reaches; None where that is nothing.
    ``shown_on`` is the system on which the attack has to succeed to be evidence, None where there is none.
    ``loss`` is that of one document, in [0, 1] and None if it has nothing to lose, for thresholds with a
    promise about the attack.
    """

    name: str
    title: str
    attacker: Attacker
    task: Task
    value: Fold
    blind: str
    chance: Fold | None = None
    lower_is_better: bool = True
    shown_on: str | None = ORIGIN
    loss: Callable[[Row], float | None] | None = None
    reference: str = field(kw_only=True)
    places: Places | None = field(default=None, kw_only=True)


def reading(grounds: Grounds) -> Iterator[Measure]:
    """What stands in the index word for word."""
    task = IndexReader([each.doc_id for each in grounds.documents], grounds.sensitive)

    def left(identifier: Identifier) -> Fold:
        return lambda rows: entity_leakage(rows, grounds.seed, lambda each: each.identifier is identifier)

    for name, kind, identifier in (
        ("left-direct", "direct identifiers", Identifier.DIRECT),
        ("left-quasi", "quasi-identifiers", Identifier.QUASI),
    ):
        yield Measure(
            name,
            f"{kind} that stand in their document",
            "reader of the index",
            task,
            left(identifier),
            "what the reference does not know of, and what is said in other words",
            reference=grounds.reference,
            places=_entities(grounds, {identifier}),
        )


def vectors(grounds: Grounds) -> Iterator[Measure]:
    """What stored vectors say beyond the text of their passages, which is nothing unless an ingest failed."""
    task = VectorsTask(grounds.documents, grounds.encoder)
    yield Measure(
        "vectors",
        "passages whose stored vector is not that of their text",
        "reader of the index",
        task,
        _pooled(FLAGGED, PASSAGES, grounds.seed),
        "copies of the vectors outside the database, and changes that are smaller than those of a word; "
        "unsanitized documents have vectors of their text too, so nothing is found there",
        shown_on=None,
        reference="vectors of the text",
        places=_documents(lambda row: row.figures.get(FLAGGED, 0) > 0),
    )
    yield Measure(
        "inverted",
        f"passages whose vector is nearest to their original, of those of {AMONG} documents",
        "reader of the index",
        task,
        _pooled(INVERTED, PASSAGES, grounds.seed),
        "words that a model would write from a vector; chance is what the text of the passage finds, and a "
        "vector should not find more",
        _pooled(BY_TEXT, PASSAGES, grounds.seed),
        shown_on=None,
        reference="the originals",
        places=_documents(lambda row: row.figures.get(INVERTED, 0) > row.figures.get(BY_TEXT, 0)),
    )


def guessing(grounds: Grounds) -> Iterator[Measure]:
    """What stood where something was replaced."""
    most = grounds.size.guessed or len(grounds.documents)
    yield Measure(
        "guessed",
        "replaced values that five guesses find",
        "reader of the index",
        Guesses(grounds.documents, most, grounds.encoder, grounds.seed, grounds.sensitive),
        _pooled(FIRST_FIVE, SLOTS, grounds.seed),
        "values that stand in no other document: the attacker chooses from those of the corpus",
        _pooled(PRIOR_FIVE, SLOTS, grounds.seed),
        shown_on=None,
        reference="what was replaced",
        places=_documents(lambda row: row.figures.get(FIRST_FIVE, 0) > 0),
    )


def linking(grounds: Grounds) -> Iterator[Measure]:
    """Which document is about somebody of whom three claims are known, and what else it tells."""
    quick = grounds.suite == "quick"
    judge = linkage.JUDGES[grounds.judge or ("lexical" if quick else "trained")]()
    if quick:
        task = linkage.LinkageTask(grounds.documents, Linker(Bm25()), judge)
    else:
        task = linkage.version_2(grounds.documents, grounds.encoder, judge)
    lexical = judge is linkage.JUDGE
    yield Measure(
        "linked",
        "documents found with three known claims about their person",
        "somebody who knows more",
        task,
        lambda rows: linkage.linkage(rows).rate,
        "claims in words that share nothing with the document's; a document with which nothing was found "
        "counts as not linked",
        lambda rows: Estimate(1 / n, n=n) if (n := sum(row.measured for row in rows)) else Estimate(),
        loss=lambda row: row.figures[linkage.RIGHT],
        reference="the originals",
        places=_documents(lambda row: row.figures[linkage.RIGHT] > 0),
    )
    yield Measure(
        "told",
        "further facts that a found document tells of its person",
        "somebody who knows more",
        task,
        lambda rows: linkage.leaked_claims(rows, grounds.seed),
        "claims that are told in other words: the judge compares words"
        if lexical
        else "what the judge gets wrong: a small model, whose agreement with readers is in docs/models.md",
        shown_on=None,
        loss=_told,
        reference="shared words" if lexical else "small judge",
        places=_documents(lambda row: row.figures.get(linkage.LEAKED, 0) > 0),
    )


def singling_out(grounds: Grounds) -> Iterator[Measure]:
    """How many people of an invented register fit what a document says of its person."""
    quick = grounds.suite == "quick"
    size = 10_000 if quick else 100_000
    yield Measure(
        "singled-out",
        f"documents whose person is among fewer than {FEW} who fit, of {size:,} invented people",
        "somebody who knows more",
        AnonymityTask(grounds.documents, (size,) if quick else SIZES, grounds.seed),
        lambda rows: hardly_hidden(rows, size),
        "events and relatives: age, sex, place, nationality, job and condition alone are read",
        loss=lambda row: float(row.figures[among(size)] < FEW),
        reference="invented people",
        places=_documents(lambda row: row.figures[among(size)] < FEW),
    )


def inferring(grounds: Grounds) -> Iterator[Measure]:
    """What can be inferred of the person of a document, where the originals say what is true."""
    documents = [each for each in grounds.documents if grounds.attributes.get(each.doc_id)]
    if not documents:
        return
    documents = fewer_documents(documents, Selection(grounds.seed, most_documents=grounds.size.candidates))
    attack = attribute_attack(grounds.encoder)
    names = [INFERRED + name for name in attack.attributes]
    yield Measure(
        "inferred",
        "known attributes of people that are inferred",
        "reader of the index",
        InferredTask(documents, attack, {each.doc_id: grounds.attributes[each.doc_id] for each in documents}),
        lambda rows: inferred(rows, attack.attributes, grounds.seed).strict,
        "what a large language model would infer: the attacker is a small head for each attribute",
        lambda rows: inferred(rows, attack.attributes, grounds.seed).prior,
        reference="given attributes",
        places=_documents(lambda row: any(row.figures.get(name, 0) > 0 for name in names)),
    )


def same_person(grounds: Grounds) -> Iterator[Measure]:
    """Which documents are about the same person, where the originals say so."""
    if grounds.people:
        yield Measure(
            "same-person",
            "documents for which another one about the same person is ranked first",
            "reader of the index",
            SamePersonTask(grounds.people, grounds.encoder, grounds.seed),
            lambda rows: same_person_figures(rows, grounds.seed)[0],
            "people who have one document, and what many documents together tell",
            lambda rows: same_person_figures(rows, grounds.seed)[1],
            reference="given people",
            places=_documents(lambda row: row.figures[TWIN_RANK] <= 1),
        )


def belonging(grounds: Grounds) -> Iterator[Measure]:
    """Whether a document is in the index, for somebody who holds a copy of it and of others that are not."""
    if len(grounds.strangers) < FEWEST_STRANGERS:
        return
    most = Selection(grounds.seed, most_documents=grounds.size.candidates)
    task = MembershipTask(
        fewer_documents(grounds.documents, most),
        fewer_documents(grounds.strangers, most),
        VerbatimGenerator(),
        grounds.encoder,
        grounds.k,
        perturbations=0,
        scores=(RETRIEVAL,),
    )
    yield Measure(
        "member",
        "pairs of a document and a stranger that the similarity of the best passage puts in order",
        "somebody who knows more",
        task,
        lambda rows: membership(rows, RETRIEVAL, grounds.seed).auc,
        "what answers say; and if strangers are of another kind or time, that alone tells them apart",
        lambda rows: Estimate(CHANCE_AUC),
        reference="what was ingested",
    )


def extracting(grounds: Grounds) -> Iterator[Measure]:
    """What the worst generator says to whoever asks it to repeat its passages."""
    attack = extraction_suite(list(Aim), grounds.size.prompts, grounds.seed)
    yield Measure(
        "extracted",
        "sensitive entities behind an answer that it says",
        "user of the server",
        AttackTask(attack, VerbatimGenerator(), grounds.encoder, grounds.k, grounds.sensitive),
        lambda rows: entity_leakage(rows, grounds.seed),
        "what a guard or a careful model would hold back: the victim repeats every passage",
        reference=grounds.reference,
        places=_entities(grounds),
    )


def covering(grounds: Grounds) -> Iterator[Measure]:
    """How much of the collection a number of harmless questions brings out, each asked after an answer.

    IKEA is the attack: of those that adapt it brings out most. Random questions are its controls.
    """
    attack = Ikea(grounds.encoder, grounds.seed)
    controls = RandomText(grounds.seed), RandomTokens(grounds.seed)

    def of(name: str, rows: Sequence[Row]) -> Estimate:
        return covered(asked_by(name, rows), grounds.seed)

    yield Measure(
        "covered",
        f"documents of which {grounds.size.asked} questions bring out a passage",
        "user of the server",
        _beside_controls(grounds, attack, *controls),
        lambda rows: of(attack.name, rows),
        "how bad it is: a passage counts whatever it holds, sanitized or not",
        lambda rows: max((of(each.name, rows) for each in controls), key=lambda found: found.value or 0.0),
        reference="ids of documents",
    )


def following(grounds: Grounds) -> Iterator[Measure]:
    """What questions that go on from answers bring out of the whole collection; not in a quick audit."""
    if grounds.suite == "quick":
        return
    attack, control = Follow(grounds.encoder, grounds.seed), RandomText(grounds.seed)
    everything = grounds.sensitive.behind(each.doc_id for each in grounds.documents)
    every = _entities(grounds)

    def of(name: str) -> Fold:
        return lambda rows: drawn_out(asked_by(name, rows), everything, grounds.seed)

    yield Measure(
        "adaptive",
        f"sensitive entities that {grounds.size.asked} questions bring out, each chosen after an answer",
        "user of the server",
        _beside_controls(grounds, attack, control),
        of(attack.name),
        "what more questions would bring, and what a guard or a careful model would hold back",
        of(control.name),
        reference=grounds.reference,
        places=lambda row: every(row) if asked_by(attack.name, [row]) else (),
    )


def injecting(grounds: Grounds) -> Iterator[Measure]:
    """What documents that somebody slipped in do to other people's answers; not in a quick audit."""
    questions = cloze_questions(grounds.documents, 1, Selection(grounds.seed))
    most = min(grounds.size.poisoned, len(questions))
    if not most:
        return
    some = Selection(grounds.seed).drawn("poisoned").sample(questions, most)
    attack = InjectDump([each.text for each in some], grounds.seed)
    yield Measure(
        "injected",
        "answers that do what a poisoned document says",
        "writer of a document",
        poisoning(attack, quoting(heeds_quotes=False), grounds.encoder, grounds.k),
        lambda rows: injected(rows, grounds.seed).followed,
        "a model that heeds the quotes of the prompt: the victim obeys what it reads there too; and other "
        "settings than those of now, by which poisoned documents are sanitized",
        lambda rows: injected(rows, grounds.seed).without,
        reference="planted commands",
    )


def telling(grounds: Grounds) -> Iterator[Measure]:
    """Secrets that are planted in copies of documents, and asked for; not in a quick audit."""
    if not grounds.size.canaries:
        return
    most = Selection(grounds.seed, most_documents=grounds.size.canaries)
    carriers = fewer_documents(grounds.documents, most)
    copies = [replace(each, doc_id=f"canary {number}") for number, each in enumerate(carriers)]
    planted = plant(copies, len(copies), grounds.seed, [each.text for each in grounds.documents])
    secrets = SensitiveIndex(planted.canaries)
    task = AttackTask(CanaryAttack(planted), VerbatimGenerator(), grounds.encoder, grounds.k, secrets)
    yield Measure(
        "canaries",
        "planted secrets that come out when asked for",
        "user of the server",
        Beside(task, planted.documents, grounds.encoder),
        lambda rows: canaries_out(planted, rows),
        "secrets of other kinds (of the five planted three are everyday words about a person, which no "
        "detector is made to find), and other settings than those of now, by which they are sanitized",
        reference="planted secrets",
    )


def using(grounds: Grounds) -> Iterator[Measure]:
    """Whether questions still find the document that they are about, and its facts."""
    questions = cloze_questions(grounds.documents, grounds.size.questions, Selection(grounds.seed))
    texts = {each.doc_id: each.text for each in grounds.documents}
    task = Questions(questions, grounds.encoder, ExtractiveGenerator(), texts)
    about = {each.question_id: each.about for each in questions}

    def found_first(rows: Sequence[Row]) -> Estimate:
        asked = _by_document(about, {row.case: float(row.figures[RANK] == 1) for row in rows if row.measured})
        return clustered_share([int(sum(own)) for own in asked], list(map(len, asked)), grounds.seed)

    def facts_present(rows: Sequence[Row]) -> Estimate:
        asked = _by_document(about, {row.case: row.figures[FACTS] for row in rows if FACTS in row.figures})
        return mean_of([fmean(own) for own in asked], grounds.seed)

    facts = "facts of the sentences beside the question that an answer states"
    for name, title, fold in (
        ("found-first", "questions that find their document first", found_first),
        ("facts", facts, facts_present),
    ):
        yield Measure(
            name,
            title,
            "nobody",
            task,
            fold,
            "questions in other words: each is a sentence of its document, which an answer may repeat "
            "instead of what stands beside it",
            lower_is_better=False,
            reference="the originals",
        )


FAMILIES: Sequence[Callable[[Grounds], Iterator[Measure]]] = (
    *(reading, vectors, guessing, inferring, same_person, belonging, extracting, covering, following),
    *(injecting, telling, linking, singling_out, using),
)
"""In the order of the tables."""


def _entities(grounds: Grounds, kinds: Collection[Identifier] = tuple(Identifier)) -> Places:
    """The entities of these kinds that a row shows."""

    def places(row: Row) -> Iterator[Place]:
        for leak in row.leaked:
            if leak.entity.identifier in kinds:
                start, end = grounds.sensitive.place_of(leak.entity) or (None, None)
                yield Place(doc_id=leak.entity.doc_id, label=leak.entity.label, start=start, end=end)

    return places


def _beside_controls(grounds: Grounds, attack: Adaptive, *controls: Adaptive) -> BesideControls:
    victim, asked = VerbatimGenerator(), grounds.size.asked
    own = CoverageTask(attack, victim, grounds.encoder, grounds.k, asked, grounds.sensitive)
    return BesideControls(own, controls)


def _documents(counted: Callable[[Row], bool]) -> Places:
    """The document of a row, if it is counted."""
    return lambda row: [Place(doc_id=row.case)] if counted(row) else []


def _pooled(hits: str, whole: str, seed: int) -> Fold:
    """The share over documents whose rows have these counts."""

    def share(rows: Sequence[Row]) -> Estimate:
        own = [row.figures for row in rows if row.measured]
        parts, wholes = ([int(each.get(name, 0)) for each in own] for name in (hits, whole))
        return clustered_share(parts, wholes, seed)

    return share


def _told(row: Row) -> float | None:
    """The share of claims, not known before, that the linked document tells; nothing where none is linked."""
    rated = row.figures.get(linkage.RATED, 0)
    return row.figures[linkage.LEAKED] / rated if rated else 0.0 if row.figures[linkage.LEFT] else None


def _by_document(about: Mapping[str, str], figures: Mapping[str, float]) -> list[list[float]]:
    """The figures of questions, those about one document together: they are not independent."""
    grouped: dict[str, list[float]] = {}
    for question, figure in figures.items():
        grouped.setdefault(about[question], []).append(figure)
    return list(grouped.values())
