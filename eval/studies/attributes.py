"""Attributes before and after protection: what attackers infer, and what stays of the texts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from eval.attacks.attribute_truths import InValues, value_of
from eval.attacks.attributes import AttributeAttack, countries
from eval.corpora.corpus import Corpus, Truths
from eval.experiment import Experiment, Task
from eval.measures.claim_distance import coherence_judge, utility_judge
from eval.measures.inferred import Inferred, Protection, inferred, protection_in
from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.prepared import prepared
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, commit_here, provenance_of
from eval.rows import Row
from eval.studies.marks.methods import ORIGIN, REDACT
from eval.targets import reading_once
from eval.tasks.inferred import InferredTask
from eval.tasks.judged import BLEU, COSINE, MISSING, ROUGE, UNCHANGED, Judged, Rewritten
from ingest.deciding.baselines.als_like import ALS_LIKE
from ingest.deciding.policy import Policy
from ingest.protecting.adversary import Adversary, ModelAdversary
from ingest.protecting.incognitext import ROUNDS, Incognito, Pair, Protected, Variant
from ingest.protecting.search import Search, Searched
from ingest.protecting.targets import Draw
from ingest.protecting.whole_texts import BY_MODEL
from ingest.sanitize import Rewriter
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import LetheError
from models.language.asking import Asker
from models.language.prompts import prompt
from retrieval.system import System

ALL = "all"


class AttackFigures(Frozen):
    """What one attacker infers: ``by_attribute``, all of them under ``ALL``, and what is protected."""

    attacker: str
    by_attribute: dict[str, Inferred]
    protection: Protection


class MethodFigures(Frozen):
    """A method under each attacker, what it keeps of texts, and how its loop ended.

    ``rouge``, ``bleu`` and ``cosine`` are means over documents, ``unchanged`` is a share. ``stops`` counts,
    by attribute, why loops ended, and ``rounds`` texts by the number of rewritings of an attribute, or of
    edits by the search: both empty for methods without a loop. ``truthful`` is false for a method that
    wrote false values or may have. ``judged`` has the mean scores of a language model by name, empty without
    one, and ``not_judged`` counts where it gave none: an answer could not be read, or a text was empty.
    """

    method: str
    truthful: bool
    attacks: tuple[AttackFigures, ...]
    rouge: Estimate
    bleu: Estimate
    cosine: Estimate
    unchanged: Estimate
    stops: dict[str, dict[str, int]]
    rounds: dict[int, int]
    failed: int
    judged: dict[str, Estimate] = {}
    not_judged: int = 0


class AttributesReport(Frozen):
    """All methods on the same texts. ``usage`` is what was asked of a language model, empty without one.

    ``judges`` and ``engines`` are names, with the prompts: of those who judge, and of further methods.
    """

    provenance: Provenance
    command: str
    seed: int
    documents: int
    attributes: tuple[str, ...]
    methods: tuple[MethodFigures, ...]
    usage: dict[str, float]
    blind: str
    judges: tuple[str, ...] = ()
    engines: dict[str, str] = {}


BLIND = (
    "an attacker infers no more than it was made for: what a head or a small model does not find, a larger "
    "one may"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured beside untouched texts, redact and the policy of the system.

    ``rewriters`` are further methods by name; but for ALS-like, nothing holds them to what is true. With an
    ``asker`` its language model attacks too, and ``variants`` of IncogniText are measured, with targets from
    ``draw``.
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
    attacker: AttributeAttack,
    options: Options,
    progress: Progress = no_progress,
    told: Callable[[str], None] = lambda plan: None,
) -> tuple[AttributesReport, list[Pair]]:
    """Every method on the texts of ``corpus`` of whose people something is known; and pairs of IncogniText.

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
    judges: list[Judged] = []
    if options.asker is not None:
        model = ModelAdversary(options.asker, attributes)
        attackers.append(InValues(model))
        judges = [Judged(documents, each(options.asker)) for each in (coherence_judge, utility_judge)]
        told(model.plan([each.text for each in documents]).words())
    loops = _loops(options, attributes, {each.doc_id: each.text for each in documents}, truths)
    search = Search(attacker, encoder, attributes)
    own: dict[str, Search | Incognito] = {search.name: search, **loops}
    rewriters: dict[str, Rewriter] = {search.name: search, **options.rewriters, **loops}
    ready = prepared(system, corpus, progress, score_all=False)
    systems = {
        ORIGIN: ready.by(Policy("origin")),
        REDACT: ready.by(replace(system.policy, name="redact")),
        system.policy.name: ready.system,
        **{name: ready.rewriting(each) for name, each in rewriters.items()},
    }
    guesses = [InferredTask(documents, each, truths) for each in attackers]
    kept = Rewritten(documents, encoder)
    tasks: list[Task] = [*guesses, kept, *judges]
    if options.asker is not None:
        told(_reckoned(options, attributes, [each.text for each in documents], len(systems)))
    methods = []
    sets = {**{name: (name,) for name in attributes}, ALL: tuple(attributes)}
    for done in Experiment(documents, systems, dict.fromkeys(systems, tasks)).run(None, progress):
        loop = own.get(done.system)
        held = done.system == ALS_LIKE or done.system not in options.rewriters
        methods.append(
            MethodFigures(
                method=done.system,
                truthful=held if loop is None else loop.truthful,
                attacks=tuple(
                    AttackFigures(
                        attacker=each.attack.name,
                        by_attribute={
                            name: inferred(done.rows[each.name], those, options.seed)
                            for name, those in sets.items()
                        },
                        protection=protection_in(done.rows[each.name], attributes, options.seed),
                    )
                    for each in guesses
                ),
                **_kept(done.rows[kept.name], options.seed),
                **_ended([] if loop is None else list(loop.outcomes.values())),
                **_judged([done.rows[each.name] for each in judges], options.seed),
            )
        )
    report = AttributesReport(
        provenance=provenance_of(system, {}, commit),
        command="",
        seed=options.seed,
        documents=len(documents),
        attributes=tuple(attributes),
        methods=tuple(methods),
        usage={} if options.asker is None else {k: float(v) for k, v in asdict(options.asker.usage).items()},
        blind=BLIND,
        judges=tuple(each.judge.name for each in judges),
        engines={name: each.name for name, each in options.rewriters.items()},
    )
    return report, [pair for each in loops.values() for one in each.outcomes.values() for pair in one.pairs]


def _reckoned(options: Options, attributes: Sequence[str], texts: Sequence[str], systems: int) -> str:
    """What all methods take, rather too much than too little; the texts stand in for what becomes of them."""
    assert options.asker is not None
    # As if each had changed: a text that is its original is not judged.
    asker, pairs = Asker(options.asker.model), [(text, f"{text} ") for text in texts]
    inferring = ModelAdversary(asker, attributes).plan(texts)
    slots = [{"attribute": "", "target": "", "knowledge": "", "text": text} for text in texts]
    rewriting = asker.plan(prompt("rewrite_toward"), slots)
    rounds = ROUNDS * len(attributes) * len(options.variants)
    judging = coherence_judge(asker).plan(pairs) + utility_judge(asker).plan(pairs)
    whole = [BY_MODEL[name](asker).plan(texts) for name in options.rewriters if name in BY_MODEL]
    loops = (inferring + rewriting).times(rounds)
    return sum(whole, (inferring + judging).times(systems) + loops).reckoned("the texts as they are")


def _kept(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    figures = [row.figures for row in rows if row.measured]
    means = {"rouge": ROUGE, "bleu": BLEU, "cosine": COSINE}
    return {
        **{name: mean_of([each[part] for each in figures], seed) for name, part in means.items()},
        "unchanged": share_of(sum(each[UNCHANGED] == 1 for each in figures), len(figures)),
        "failed": len(rows) - len(figures),
    }


def _ended(outcomes: Sequence[Protected | Searched]) -> dict[str, Any]:
    stops: dict[str, Counter[str]] = {}
    for each in outcomes:
        for attribute, stop in each.stops.items():
            stops.setdefault(attribute, Counter())[stop] += 1
    rounds = Counter(n for each in outcomes for n in each.rounds.values())
    return {"stops": stops, "rounds": dict(sorted(rounds.items()))}


def _judged(rows: Sequence[Sequence[Row]], seed: int) -> dict[str, Any]:
    figures = [row.figures for each in rows for row in each if row.measured]
    names = dict.fromkeys(name for each in figures for name in each if name != MISSING)
    means = {name: mean_of([each[name] for each in figures if name in each], seed) for name in names}
    return {"judged": means, "not_judged": sum(MISSING in each for each in figures)}


def _loops(
    options: Options, attributes: Sequence[str], texts: Mapping[str, str], truths: Mapping[str, Truths]
) -> dict[str, Incognito]:
    asker, draw = options.asker, options.draw
    if asker is None or draw is None:
        return {}
    names = {each.code: each.name for each in countries()}

    def spoken(known: Truths) -> dict[str, str]:
        said = {name: those[0] for name, those in known.items() if name in attributes}
        return said | {
            name: names.get(said[name], said[name]) for name in ("country", "nationality") if name in said
        }

    authors = {texts[doc_id]: (doc_id, spoken(known)) for doc_id, known in truths.items()}
    variants = options.variants
    return {each.name: Incognito(each, asker, attributes, authors, same_value, draw) for each in variants}
