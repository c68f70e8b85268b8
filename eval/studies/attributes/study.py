"""Attributes before and after protection: what attackers infer, and what stays of the texts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from eval.attacks.attribute_truths import value_of
from eval.attacks.attribute_values import countries
from eval.attacks.attributes import InValues
from eval.corpora.corpus import Corpus, Truths
from eval.experiment import Experiment, Task
from eval.measures.inferred import inferred, protection_in
from eval.measures.uncertainty import mean_of, share_of
from eval.prepared import prepared
from eval.progress import Progress, no_progress
from eval.provenance import commit_here, provenance_of
from eval.rows import Row
from eval.studies.attributes.report import ALL, AttackFigures, AttributesReport, MethodFigures
from eval.studies.marks.methods import ORIGIN, REDACT
from eval.targets import reading_once
from eval.tasks.inferred import InferredTask
from eval.tasks.rewritten import BLEU, COSINE, ROUGE, UNCHANGED, Rewritten
from ingest.deciding.policy import Policy
from ingest.protecting.authors import Author, Incognito
from ingest.protecting.by_model import ModelAdversary, ModelRewriter
from ingest.protecting.incognitext import Protected, Variant
from ingest.protecting.protocols import Adversary
from ingest.protecting.search import Search, Searched
from ingest.protecting.targets import Draw
from ingest.sanitize import Rewriter, RewritingSanitizer
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import LetheError
from models.language.asking import Asker
from retrieval.system import System

BLIND = (
    "an attacker infers no more than it was made for: what a head or a small model does not find, a larger "
    "one may"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured beside untouched texts, redact and the policy of the system.

    ``rewriters`` are further methods by name. With an ``asker`` its language model attacks too, and
    ``variants`` of IncogniText are measured, with targets from ``draw``.
    """

    seed: int = 0
    rewriters: Mapping[str, Rewriter] = field(default_factory=dict, repr=False)
    asker: Asker | None = None
    variants: Sequence[Variant] = ()
    draw: Draw | None = field(default=None, repr=False)


def same_value(attribute: str, guess: str, truth: str) -> bool:
    """Whether a guess in free words means the value that is true."""
    return guess == truth or value_of(attribute, guess) == value_of(attribute, truth)


def measure_attributes(
    system: System,
    corpus: Corpus,
    attacker: Adversary,
    options: Options,
    progress: Progress = no_progress,
    told: Callable[[str], None] = lambda plan: None,
) -> AttributesReport:
    """Every method on the texts of ``corpus`` of whose people something is known.

    ``told`` hears, before the first question, what a language model is about to be asked.

    Raises:
        LetheError: Of no text anything is known that the attacker guesses at.
        ModelUnavailable: The language model could not be reached or failed.
    """
    commit = commit_here()
    attributes = [
        name for name in attacker.attributes if any(name in each for each in corpus.attributes.values())
    ]
    documents = [
        each for each in corpus.documents if set(corpus.attributes.get(each.doc_id, ())) & {*attributes}
    ]
    if not documents:
        raise LetheError(
            f"Of none of {len(corpus.documents):,} texts anything is known that can be guessed at: name the "
            f"field with --attributes-field, which says {', '.join(attacker.attributes)}."
        )
    truths = {each.doc_id: corpus.attributes[each.doc_id] for each in documents}
    corpus = replace(corpus, documents=documents, questions=(), gold=None, people=())
    encoder = reading_once(system.encoder)
    system = replace(system, encoder=encoder, scale=system.scale or EMBEDDED_SCALE)
    attackers: list[Adversary] = [attacker]
    if options.asker is not None:
        model = ModelAdversary(options.asker, attributes)
        attackers.append(InValues(model))
        told(model.plan([each.text for each in documents]).words())
    loops = _loops(options, attributes, {each.doc_id: each.text for each in documents}, truths)
    search = Search(attacker, encoder, attributes)
    rewriters: dict[str, Rewriter] = {search.name: search, **options.rewriters, **loops}
    ready = prepared(system, corpus, progress, score_all=False)
    systems = {
        ORIGIN: ready.by(Policy("origin")),
        REDACT: ready.by(replace(system.policy, name="redact")),
        system.policy.name: ready.system,
        **{name: _rewriting(ready.system, each) for name, each in rewriters.items()},
    }
    guesses = [InferredTask(documents, each, truths) for each in attackers]
    kept = Rewritten(documents, encoder)
    tasks: list[Task] = [*guesses, kept]
    methods = []
    for done in Experiment(documents, systems, dict.fromkeys(systems, tasks)).run(None, progress):
        attacks = tuple(
            _attack(each.attack.name, done.rows[each.name], attributes, options.seed) for each in guesses
        )
        loop = search if done.system == search.name else loops.get(done.system)
        outcomes: list[Protected | Searched] = [] if loop is None else [*loop.outcomes.values()]
        methods.append(_method(done.system, attacks, done.rows[kept.name], outcomes, options.seed))
    return AttributesReport(
        provenance=provenance_of(system, {}, commit),
        command="",
        seed=options.seed,
        documents=len(documents),
        attributes=tuple(attributes),
        methods=tuple(methods),
        usage={} if options.asker is None else {k: float(v) for k, v in asdict(options.asker.usage).items()},
        blind=BLIND,
    )


def _loops(
    options: Options, attributes: Sequence[str], texts: Mapping[str, str], truths: Mapping[str, Truths]
) -> dict[str, Incognito]:
    asker, draw = options.asker, options.draw
    if asker is None or draw is None:
        return {}
    authors = {
        texts[doc_id]: Author(
            doc_id, {name: spoken(name, those[0]) for name, those in known.items() if name in attributes}
        )
        for doc_id, known in truths.items()
    }

    def adversary(shown: Mapping[str, str]) -> Adversary:
        return ModelAdversary(asker, attributes, shown)

    def loop(variant: Variant) -> Incognito:
        return Incognito(variant, adversary, ModelRewriter(asker), authors, same_value, draw)

    return {each.name: loop(each) for each in options.variants}


def spoken(attribute: str, value: str) -> str:
    """A value in words: countries are values by their codes."""
    if attribute in ("country", "nationality"):
        return next((each.name for each in countries() if each.code == value), value)
    return value


def _rewriting(system: System, rewriter: Rewriter) -> System:
    return replace(system, sanitizing=lambda each: RewritingSanitizer(each.detector, rewriter, each.risk))


def _attack(attacker: str, rows: Sequence[Row], attributes: Sequence[str], seed: int) -> AttackFigures:
    sets = {**{name: (name,) for name in attributes}, ALL: tuple(attributes)}
    return AttackFigures(
        attacker=attacker,
        by_attribute={name: inferred(rows, those, seed) for name, those in sets.items()},
        protection=protection_in(rows, attributes, seed),
    )


def _method(
    name: str,
    attacks: tuple[AttackFigures, ...],
    rows: Sequence[Row],
    outcomes: Sequence[Protected | Searched],
    seed: int,
) -> MethodFigures:
    figures = [row.figures for row in rows if row.measured]
    rouge, bleu, cosine = (mean_of([each[part] for each in figures], seed) for part in (ROUGE, BLEU, COSINE))
    stops: dict[str, Counter[str]] = {}
    for each in outcomes:
        for attribute, stop in each.stops.items():
            stops.setdefault(attribute, Counter())[stop] += 1
    return MethodFigures(
        method=name,
        truthful=all(each.truthful for each in outcomes),
        attacks=attacks,
        rouge=rouge,
        bleu=bleu,
        cosine=cosine,
        unchanged=share_of(sum(each[UNCHANGED] == 1 for each in figures), len(figures)),
        stops={attribute: dict(counts) for attribute, counts in stops.items()},
        rounds=dict(sorted(Counter(n for each in outcomes for n in each.rounds.values()).items())),
        failed=sum(not row.measured for row in rows),
    )
