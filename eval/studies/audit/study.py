"""Audit a collection: the same attacks on it, on its originals, and on fair controls made of these."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from time import perf_counter

from eval.corpora.corpus import Corpus, Selection, fewer_documents
from eval.corpora.sensitive import sensitive_in
from eval.experiment import Experiment, SanitizedCorpus, Shelf, retrievers
from eval.measures.leakage import SensitiveIndex, normalized
from eval.measures.uncertainty import Estimate
from eval.prepared import Prepared, detected, prepared
from eval.progress import Progress, no_progress
from eval.provenance import commit_here, provenance_of, reference_of, run_digest
from eval.rows import Row, RowFile
from eval.studies.audit.measures import FAMILIES, Grounds, Measure
from eval.studies.audit.options import SUITES, Options
from eval.studies.audit.report import (
    COLLECTION,
    DETECTED,
    MARKED,
    AuditReport,
    Gate,
    Leak,
    MeasureFigures,
    Place,
)
from eval.studies.marks.methods import ORIGIN, RANDOM, REDACT
from eval.targets import reading_once
from eval.tasks.index import NOT_GUESSED, IndexReader
from eval.tasks.injection import Beside
from ingest.deciding.baselines.within_rules import RULES_ALONE, Named, WithinRules, rules_alone
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Encoder
from models.errors import LetheError
from retrieval.collection import Collection
from retrieval.search import Search
from retrieval.store.database import Store
from retrieval.system import System

FIRST, PIECE = 16, 1_000
"""Documents whose encoding says how fast this machine is now, and the characters that are read of each."""
PER_ATTEMPT = 0.7
"""An attempt takes about as long as encoding so many of the audit's documents, with all that goes before it.

It was 0.5 to 1.0 in standard audits of 60, 250 and 999 dialogues of 700 to 900 characters: the more
documents, the less. An attempt that is a question takes more time than one on a document.
"""


def pace(encoder: Encoder, documents: Sequence[Document]) -> float:
    """The seconds that encoding a document of the mean length takes now."""
    first = [each.text[:PIECE] for each in documents[:FIRST]]
    # The first call loads the weights.
    encoder.encode(first[:1])
    begun = perf_counter()
    encoder.encode(first)
    a_character = (perf_counter() - begun) / sum(map(len, first))
    return a_character * sum(len(each.text) for each in documents) / len(documents)


def planned(measures: Sequence[Measure], systems: Sequence[str], file: RowFile, seconds: float) -> str:
    """The attempts by measure and about how long they take, ``seconds`` being the pace; less those done."""
    names: dict[str, list[str]] = {}
    for each in measures:
        names.setdefault(each.task.name, []).append(each.name)
    cases = {each.task.name: each.task.cases for each in measures}
    listed = ", ".join(f"{' and '.join(names[task])} {len(own):,}" for task, own in cases.items())
    whole = sum(map(len, cases.values())) * len(systems)
    done = sum(len(file.cases(system, task)) for system in systems for task in cases)
    before = f", of which {done:,} were made before" if done else ""
    minutes = PER_ATTEMPT * seconds * (whole - done) / 60
    about = f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"
    return (
        f"Attempts on each of {len(systems)} systems: {listed}. In all {whole:,}{before}: "
        f"about {'a minute' if minutes < 1.5 else about}."
    )


NOT_STORED = "not in the collection"


@dataclass(frozen=True, slots=True)
class Stored:
    """A collection, and how many documents the system writes otherwise now: their slots are not known."""

    corpus: SanitizedCorpus
    differing: int


def stored_texts(store: Store, doc_ids: Sequence[str]) -> dict[str, str]:
    """The whole stored text of each of these documents that is there, by the id that was given."""
    found = {doc_id: "".join(each.text for each in store.passages_of(doc_id)) for doc_id in doc_ids}
    return {doc_id: text for doc_id, text in found.items() if text or store.documents_called([doc_id])}


def vectors_digest(store: Store, doc_ids: Sequence[str]) -> str:
    """A digest of the stored vectors of these documents."""
    digest = blake2b(digest_size=16)
    for doc_id in doc_ids:
        _, vectors = store.vectors_of([each.passage_id for each in store.passages_of(doc_id)])
        digest.update(vectors.tobytes())
    return digest.hexdigest()


def as_stored(
    name: str,
    shelf: Shelf,
    texts: Mapping[str, str],
    sanitized: Sequence[SanitizedDocument | SanitizationError],
    search: Search,
) -> Stored:
    """The corpus of what is on a shelf, given its ``texts`` and its originals as they are sanitized now.

    The store keeps no places in originals, so decisions are those made now where the text is the same.
    ``search`` may be otherwise than the vectors were made for.
    """
    documents: list[SanitizedDocument] = []
    failed: dict[str, str] = {}
    differing = 0
    for each in sanitized:
        if each.doc_id not in texts:
            failed[each.doc_id] = NOT_STORED
        elif isinstance(each, SanitizationError):
            failed[each.doc_id] = each.what
        elif each.text == texts[each.doc_id]:
            documents.append(each)
        else:
            differing += 1
            documents.append(replace(each, text=texts[each.doc_id], decisions=(), places=()))
    searched = retrievers(lambda encoder: replace(shelf, search=search))
    count, actions = shelf.store.count_documents(), shelf.store.entities_by_action()
    corpus = SanitizedCorpus(name, count, failed, actions, searched, documents, lambda encoder: shelf)
    return Stored(corpus, differing)


CONTROLS = (ORIGIN, REDACT, RULES_ALONE, RANDOM)
MOST_WORST = 3
MOST_PLACES = 10
"""Of a gate: the message has to be read."""
_AT_ONCE = 64


def audit(
    system: System,
    collection: Collection,
    corpus: Corpus,
    options: Options,
    progress: Progress = no_progress,
    *,
    folder: Path | None = None,
    made_with: str = "",
    told: Callable[[str], None] = lambda plan: None,
) -> AuditReport:
    """Audit the documents of a collection of which ``corpus`` has the originals.

    ``system`` is that of the collection: its policy and scale decide what the controls have in common with
    it. Rows are written to ``folder`` one by one, and an interrupted audit resumes there; ``made_with`` is a
    digest of settings and models. ``told`` hears what is about to be done before the attacks begin.

    Raises:
        LetheError: None of the originals is in the collection, they hold nothing sensitive, or the folder has
            rows of another run.
    """
    commit = commit_here()
    chosen, absent, strangers = _chosen(collection, corpus, options)
    ids, made = [each.doc_id for each in chosen.documents], collection.manifest
    # Cut and encoded as the collection, and searched as the settings say now.
    search = replace(made.search, words=system.search.words)
    system = replace(system, passage_tokens=made.passage_tokens, search=search)
    # The controls have these documents alone, so that whoever searches has an index of their size.
    shelf = Shelf(collection.store.copied(ids), made.passage_tokens, made.search)
    texts, whole = stored_texts(shelf.store, ids), collection.store.count_documents()
    known = (
        sorted(texts.items()),
        [(each.doc_id, each.text) for each in strangers],
        sorted(chosen.attributes.items()),
        sorted(sorted(each) for each in chosen.people),
        vectors_digest(shelf.store, ids),
    )
    state = blake2b(repr(known).encode(), digest_size=16).hexdigest()
    run = run_digest(chosen, f"{made_with} {state}", (options.suite, options.seed), [system.encoder.name])
    with closing(shelf.store), RowFile(run, folder) as file:
        system = replace(system, detector=detected(system, chosen.documents, progress))
        grounds = Grounds(
            chosen.documents,
            sensitive_in(chosen, system.detector, progress),
            reading_once(system.encoder),
            options.suite,
            system.k,
            options.seed,
            chosen.people,
            strangers,
            chosen.attributes,
            reference=DETECTED if chosen.gold is None else MARKED,
        )
        measures = [measure for family in FAMILIES for measure in family(grounds)]
        tasks = list({measure.task.name: measure.task for measure in measures}.values())
        if lacking := {*options.at_most, *options.at_least} - {each.name for each in measures}:
            told(
                f"Not measured in this audit: {', '.join(sorted(lacking))}. A gate on it cannot hold: the "
                "suite leaves it out, or it needs what the originals do not say."
            )
        told(planned(measures, (COLLECTION, *CONTROLS), file, pace(system.encoder, chosen.documents)))
        further = [each for task in tasks if isinstance(task, Beside) for each in task.documents]
        ready = prepared(system, chosen, progress, further=further, score_all=False)
        stored = as_stored(COLLECTION, shelf, texts, _sanitized(ready, system, progress), system.search)
        systems = {COLLECTION: ready.system, **controls(ready, options.seed)}
        documents, asked = ready.corpus.documents, dict.fromkeys(systems, tasks)
        experiment = Experiment(documents, systems, asked, {COLLECTION: stored.corpus})
        rows = {done.system: done.rows for done in experiment.run(file, progress)}
    figures = tuple(figures_of(measure, rows) for measure in measures)
    measured = {each.name: each for each in figures}
    counted = {each.name: places_of(each, rows[COLLECTION][each.task.name]) for each in measures}
    gates = tuple(
        gate_of(name, limit, measured.get(name), counted.get(name, ()))
        for name, limit in {**options.at_most, **options.at_least}.items()
    )
    reference = reference_of(chosen, ready.system.detector)
    return AuditReport(
        collection=collection.folder.name,
        suite=options.suite,
        seed=options.seed,
        provenance=provenance_of(system, {"k": str(system.k)}, commit),
        systems=(COLLECTION, *CONTROLS),
        reference=reference,
        documents=len(stored.corpus.documents),
        stored=whole,
        absent=len(absent),
        differing=stored.differing,
        measures=figures,
        gates=gates,
        worst=worst_of(rows[COLLECTION][IndexReader.name], grounds.sensitive),
        verdict=verdict_of(figures, gates, len(stored.corpus.documents), whole),
        problems=tuple(problems_of(figures, stored, len(absent), corpus.unread, reference, whole)),
        rows=tuple(row for by_task in rows.values() for each in by_task.values() for row in each),
    )


def _chosen(
    collection: Collection, corpus: Corpus, options: Options
) -> tuple[Corpus, list[Document], list[Document]]:
    """The originals to audit, a sample where the suite takes fewer, those that are not there, and strangers.

    These are the absent ones, each text once; a copy of a document that is there is no stranger.
    """
    there: list[Document] = []
    absent: list[Document] = []
    for each in corpus.documents:
        (there if collection.store.documents_called([each.doc_id]) else absent).append(each)
    if not there:
        raise LetheError(
            f"None of the {len(corpus.documents)} originals is in the collection "
            f"{collection.folder.name}: name the files that were ingested into it."
        )
    most = SUITES[options.suite].documents
    documents = fewer_documents(there, Selection(options.seed, most_documents=most))
    gold = corpus.gold and {each.doc_id: corpus.gold[each.doc_id] for each in documents}
    ids = frozenset(each.doc_id for each in documents)
    people = [both for person in corpus.people if len(both := person & ids) > 1]
    chosen = replace(corpus, documents=documents, questions=(), gold=gold, people=people)
    known = {normalized(each.text) for each in there}
    strangers = dict[str, Document]()
    for each in absent:
        strangers.setdefault(normalized(each.text), each)
    return chosen, absent, [each for text, each in strangers.items() if text not in known]


def _sanitized(
    ready: Prepared, system: System, progress: Progress
) -> list[SanitizedDocument | SanitizationError]:
    """The originals as the system writes them now, with what was detected and scored already."""
    known = ready.system
    now = replace(system, detector=known.detector, risk=known.risk, engine=known.engine, scale=known.scale)
    sanitizer, documents = now.sanitizer(), ready.corpus.documents
    found: list[SanitizedDocument | SanitizationError] = []
    for first in range(0, len(documents), _AT_ONCE):
        progress("sanitizing the originals", first, len(documents))
        found += sanitizer.sanitize(documents[first : first + _AT_ONCE])
    progress("sanitizing the originals", len(documents), len(documents))
    return found


def controls(ready: Prepared, seed: int) -> dict[str, System]:
    """What the collection is compared with: the same texts by other methods, by name.

    Rules alone and the random draw have the hard rules of the collection's policy and its words.
    """
    policy = ready.system.policy

    def rules() -> Named:
        return Named(ready.by(rules_alone(policy)).method(), RULES_ALONE)

    return {
        ORIGIN: ready.by(replace(policy, name="origin")),
        REDACT: ready.by(replace(policy, name="redact")),
        RULES_ALONE: ready.carrying_out(rules),
        RANDOM: ready.carrying_out(lambda: WithinRules(ready.system.method(), rules(), "random", seed)),
    }


def figures_of(measure: Measure, rows: Mapping[str, Mapping[str, Sequence[Row]]]) -> MeasureFigures:
    """A measure folded from the rows of all systems."""
    own = {system: by_task[measure.task.name] for system, by_task in rows.items()}
    figures = {system: measure.value(each) for system, each in own.items()}
    chances = {} if measure.chance is None else {system: measure.chance(each) for system, each in own.items()}
    shown = None
    if measure.shown_on is not None and measure.lower_is_better:
        figure, chance = figures[measure.shown_on], chances.get(measure.shown_on, Estimate(0.0))
        low = figure.value if figure.low is None else figure.low
        high = chance.value if chance.high is None else chance.high
        shown = low is not None and high is not None and low > high
    engines = dict.fromkeys(row.engine for each in own.values() for row in each if row.engine)
    return MeasureFigures(
        name=measure.name,
        title=measure.title,
        attacker=measure.attacker,
        engine=", ".join([measure.task.name, *engines]),
        lower_is_better=measure.lower_is_better,
        figures=figures,
        chances=chances,
        shown=shown,
        blind=measure.blind,
        reference=measure.reference,
        failures=dict(Counter(row.failure for row in own[COLLECTION] if not row.measured)),
    )


def places_of(measure: Measure, rows: Sequence[Row]) -> list[Place]:
    """The different cases that a measure counts, in the order of the rows."""
    places = measure.places or (lambda row: ())
    return list(dict.fromkeys(place for row in rows if row.measured for place in places(row)))


def gate_of(name: str, limit: float, measure: MeasureFigures | None, counted: Sequence[Place] = ()) -> Gate:
    """Whether the collection's figure is within a limit.

    None holds that was not measured, as a whole or in some cases, and none whose attack is no evidence.
    """
    unknown = Gate(measure=name, limit=limit, value=None, outcome="not measured")
    if measure is None or (figure := measure.figures[COLLECTION]).value is None:
        return unknown
    within = figure.value <= limit if measure.lower_is_better else figure.value >= limit
    crashed = measure.failures.keys() - {NOT_GUESSED}
    if within and (crashed or measure.shown is False):
        return unknown
    shown = () if within else counted
    return Gate(
        measure=name,
        limit=limit,
        value=figure.value,
        outcome="held" if within else "exceeded",
        figure=figure,
        reference=measure.reference,
        lower_is_better=measure.lower_is_better,
        found=len(shown),
        places=tuple(shown[:MOST_PLACES]),
    )


def worst_of(rows: Sequence[Row], sensitive: SensitiveIndex) -> tuple[Leak, ...]:
    """The documents of which a reader of the index finds most, direct identifiers first."""
    leaking = [row for row in rows if row.leaked]
    leaking.sort(
        key=lambda row: (-sum(each.entity.identifier == "direct" for each in row.leaked), -len(row.leaked))
    )
    return tuple(
        Leak(
            doc_id=row.case,
            labels=dict(Counter(each.entity.label for each in row.leaked).most_common()),
            exposed=tuple(sensitive.text_of(each.entity) for each in row.leaked),
        )
        for row in leaking[:MOST_WORST]
    )


def verdict_of(measures: Sequence[MeasureFigures], gates: Sequence[Gate], documents: int, stored: int) -> str:
    """What the gates say, or without gates the leak that is furthest above its chance; and of how many."""
    exceeded = [gate for gate in gates if gate.outcome == "exceeded"]
    missing = [gate.measure for gate in gates if gate.outcome == "not measured"]
    few = [f"{gate.measure}, n = {gate.figure.n:g}" for gate in gates if gate.figure.too_few]
    if exceeded:
        over = "; ".join(
            f"{gate.measure} is {gate.value:.3f}, and its limit {gate.limit:g}" for gate in exceeded
        )
        said = f"Not to be released: {len(exceeded)} of {len(gates)} gates are exceeded ({over})."
    elif missing:
        said = f"No verdict: {len(missing)} of {len(gates)} gates were not measured ({', '.join(missing)})."
    elif gates:
        said = f"All {len(gates)} gates hold." if len(gates) > 1 else "The gate holds."
        said += f" These figures are of too few cases to rely on: {'; '.join(few)}." if few else ""
    else:
        said = f"No gate was set. {_furthest(measures)}"
    return said if documents == stored else f"{said} Attacked were {documents:,} of {stored:,} documents."


def _furthest(measures: Sequence[MeasureFigures]) -> str:
    leaks = [each for each in measures if each.lower_is_better]
    known = [(value, each) for each in leaks if (value := each.figures[COLLECTION].value) is not None]
    above = [
        (value - (chance or 0.0), value, chance, each)
        for value, each in known
        if each.shown is not False and not each.figures[COLLECTION].too_few
        for chance in [each.chances[COLLECTION].value if each.chances else None]
    ]
    if not above:
        return "There are too few cases for a figure." if known else "No attack was measured."
    _, value, chance, worst = max(above, key=lambda each: each[0])
    beside = "" if chance is None else f"; chance succeeds in {100 * chance:.0f}"
    return f"The strongest attack succeeds in {100 * value:.0f} of 100 cases{beside}: {worst.title}."


def problems_of(
    measures: Sequence[MeasureFigures], stored: Stored, absent: int, unread: int, reference: str, whole: int
) -> Iterator[str]:
    """A sentence for each limit; none if the figures are conclusive. ``whole`` is how many are stored."""
    if absent:
        yield f"{absent:,} originals are not in the collection and were not attacked."
    if (attacked := len(stored.corpus.documents)) < whole:
        yield (
            f"Searches read the {attacked:,} attacked documents alone, as the controls do. Among all "
            f"{whole:,} of the collection questions find and tell less: found-first and facts are too high."
        )
    if unread:
        yield (
            f"{unread:,} originals could not be read, or have the id of another one, and were not attacked. "
            "`lethe ingest --dry-run` of the same paths lists each with its remedy."
        )
    if failed := len(stored.corpus.failed):
        yield (
            f"{failed:,} documents could not be sanitized again and were not attacked; they are not safe, "
            "and the controls have them: compare the figures with care."
        )
    if stored.differing:
        yield (
            f"{stored.differing:,} documents are stored otherwise than the system writes them now: their "
            "replaced values were not guessed."
        )
    if reference != "gold annotations":
        yield (
            "What counts as sensitive was found by Lethe's own detector: what it overlooks is in no figure "
            "of what is left or extracted. Name marks of people with --gold-field."
        )
    yield from _unmeasured(measures)


def _unmeasured(measures: Sequence[MeasureFigures]) -> Iterator[str]:
    for each in measures:
        if each.shown is False:
            yield (
                f"{each.name}: the attack does not beat chance on the unsanitized documents, so it is no "
                "evidence."
            )
    for each in measures:
        if each.failures.keys() - {NOT_GUESSED}:
            reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(each.failures.items()))
            yield f"{each.name}: {sum(each.failures.values()):,} cases were not measured ({reasons})."
