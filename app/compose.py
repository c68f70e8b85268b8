"""The composition root: the only place that turns settings into parts.

Each part is imported by the function that builds it, so that a verb pays only for what it uses.
"""

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.data_dir import DataDir
from app.settings.load import Settings
from models.catalog import ModelRef
from models.errors import ConfigurationError
from retrieval.collection import Collection
from retrieval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingest.protocols import Encoder, EntityDetector, RiskModel, Sanitizer
    from models.encoders.numbers import Numbers
    from models.language.protocol import LanguageModel
    from models.reader.reader import Reader
    from retrieval.documents import Groups
    from retrieval.generators.extractive import ExtractiveGenerator
    from retrieval.guards.passages import PassageRules
    from retrieval.guards.questions import OneAtATime
    from retrieval.manifest import Manifest
    from retrieval.protocols import Generator, Retriever
    from retrieval.retriever import HybridRetriever
    from retrieval.search import Search
    from retrieval.system import System

HUB_THRESHOLD = 0.5
"""Score from which a GLiNER model's spans count, the gliner library's default."""

LLAMA_CONTEXT, SERVER_CONTEXT, FILES_CONTEXT = 4096, 8192, 100_000
"""Tokens for prompt and answer where the settings name none: of a GGUF file, and of a server."""


def system_of(
    settings: Settings,
    *,
    encoder: "Encoder | None" = None,
    made_with: "Manifest | None" = None,
    answers: bool = False,
    writes: bool = True,
    key: bytes | None = None,
) -> "System":
    """The system of the settings; with an ``encoder`` that one in place of theirs.

    ``made_with`` puts policy and scale of a collection in place of those of the settings. Where it
    ``answers``, it has the generator of the settings, else one that needs no language model. ``writes`` and
    ``key`` are those of ``DataDir``.

    Raises:
        ConfigurationError: The settings contradict each other, or the language model is remote, so that it
            may not read raw text, and ``answers`` or the policy intact needs it.
    """
    from app.policies import own_entities_of, policy_of
    from ingest.deciding.treatment import needs_key
    from ingest.scoring.engine import Engine
    from ingest.scoring.scale import Scale
    from models.local_files import best_device
    from retrieval.system import System

    own = own_entities_of(settings.policy)
    policy = made_with.policy if made_with else policy_of(settings, own.labels())
    data = DataDir(settings, writes=writes, key=key)
    encoder = encoder or encoder_of(settings)
    model = language_model_of(settings) if answers or policy.name == "intact" else None
    given = settings.policy.scale
    scale = None if given is None else Scale(*given, source="the settings")
    return System(
        encoder=encoder,
        detector=detector_of(settings),
        risk=risk_of(settings),
        engine=Engine(encoder, settings.retrieval.passage_tokens),
        policy=policy,
        generator=_generator(settings, model if answers else None),
        scale=made_with.scale if made_with else scale,
        language_model=model,
        language=settings.detector.language,
        k=settings.retrieval.k,
        passage_tokens=settings.retrieval.passage_tokens,
        search=search_of(settings),
        index=settings.retrieval.index,
        key=data.key if needs_key(policy) else None,
        own_entities=own.digest(data.key) if own else "",
        settings_digest=_digest(settings),
        numbers=numbers_of(settings, best_device()),
    )


def like(system: "System", settings: Settings, key: bytes) -> "System":
    """The system of settings that differ from those of another in the policy alone, with its models.

    Its lists stay: clients cannot set them. ``key`` is that of ``DataDir``. Raises as ``system_of``.
    """
    from app.policies import own_entities_of, policy_of
    from ingest.deciding.treatment import needs_key

    policy = policy_of(settings, own_entities_of(settings.policy).labels())
    model = system.language_model
    if model is None and policy.name == "intact":
        model = language_model_of(settings)
    return replace(
        system,
        policy=policy,
        language_model=model,
        key=key if needs_key(policy) else None,
        settings_digest=_digest(settings),
    )


def _digest(settings: Settings) -> str:
    from app.settings.report import settings_digest

    return settings_digest(settings)


def search_of(settings: Settings) -> "Search":
    """How passages are found."""
    from retrieval.search import DENSE, HYBRID, PLAIN

    return {"hybrid": HYBRID, "dense": DENSE, "plain": PLAIN}[settings.retrieval.search]


def encoder_of(settings: Settings, threads: int | None = None) -> "Encoder":
    """The text encoder; ``threads`` is how many the models get where the settings do not say."""
    if wanted := settings.threads or threads:
        import torch

        torch.set_num_threads(wanted)
    encoder = _encoder(settings)
    asked = settings.retrieval.passage_tokens
    if asked > encoder.max_tokens:
        raise ConfigurationError(
            f"retrieval.passage_tokens is {asked}, and {encoder.name} reads {encoder.max_tokens} tokens: "
            f"the rest of a passage would not be found. Set it to {encoder.max_tokens} or less."
        )
    return encoder


def _encoder(settings: Settings) -> "Encoder":
    if settings.encoder.source == "embedded":
        from models.catalog import E5, embedded_model
        from models.encoders.e5 import E5Small
        from models.encoders.minilm import MiniLM
        from models.local_files import best_device

        chosen = embedded_model(settings.encoder.name, "encoder").id
        device = best_device()
        return (E5Small if chosen == E5 else MiniLM)(device, numbers_of(settings, device))
    from models.encoders.sentence_encoder import SentenceEncoder

    return SentenceEncoder(settings.encoder)


def numbers_of(settings: Settings, device: str) -> "Numbers":
    """The number format of the embedded models on a device."""
    from models.encoders.numbers import fastest

    return fastest(device) if settings.numbers == "auto" else settings.numbers


def detector_of(settings: Settings) -> "EntityDetector":
    """Patterns, a model unless the settings leave it out, and the user's own lists."""
    from app.policies import own_entities_of
    from ingest.detection.hybrid import HybridDetector
    from ingest.detection.own.detector import OwnDetector

    own = own_entities_of(settings.policy)
    detector = HybridDetector(_finding(settings), fields=settings.detector.fields)
    return OwnDetector(detector, own) if own else detector


def _finding(settings: Settings) -> "EntityDetector | None":
    from ingest.detection.learned import LearnedDetector
    from ingest.detection.reading import ASKED, ReadingDetector

    chosen = settings.detector
    if not chosen.learned:
        if chosen.labels:
            raise ConfigurationError(
                "detector.labels asks a model for labels, and detector.learned is false: leave one of "
                "them out."
            )
        return None
    labels = tuple(dict.fromkeys((*ASKED, *chosen.labels)))
    if is_reader(chosen.model):
        return ReadingDetector(reader_of(settings, chosen.model, labels))
    from models.gliner_model import GlinerModel

    return LearnedDetector(GlinerModel(chosen.model, labels, chosen.threshold or HUB_THRESHOLD))


def is_reader(model: ModelRef) -> bool:
    """Whether a detector is a reader, and not a GLiNER model."""
    from models.reader.network import READER

    return model.source == "embedded" or (Path(model.name) / READER).is_file()


def reader_of(settings: Settings, model: ModelRef, labels: "Sequence[str]") -> "Reader":
    """A reader; the same one for all who ask for the same model and labels."""
    from models.local_files import best_device

    device = best_device()
    return _reader(model, tuple(labels), numbers_of(settings, device), device)


@cache
def _reader(model: ModelRef, labels: tuple[str, ...], numbers: "Numbers", device: str) -> "Reader":
    from models.reader.network import read_reader
    from models.reader.reader import Reader

    return Reader(read_reader(model), labels, numbers, device)


def risk_of(settings: Settings) -> "RiskModel":
    """The privacy-risk model: the reader that detects, where it is the embedded one."""
    from ingest.detection.reading import ASKED
    from ingest.scoring.learned_risk import LearnedRisk
    from ingest.scoring.prior import RiskPrior

    chosen = settings.risk
    if chosen.kind == "prior":
        return RiskPrior()
    if chosen.model.source != "embedded":
        from models.risk import load_transformer_risk

        return LearnedRisk(load_transformer_risk(chosen.model))
    detector = settings.detector
    shared = detector.learned and is_reader(detector.model)
    labels = dict.fromkeys((*ASKED, *detector.labels)) if shared else ()
    return LearnedRisk(reader_of(settings, detector.model if shared else ModelRef(), tuple(labels)))


def check_raw_text(settings: Settings) -> None:
    """Refuse settings under which raw documents would leave this machine.

    Raises:
        ConfigurationError: The generator is remote.
    """
    if settings.generator.trust == "remote":
        raise ConfigurationError(
            'generator.trust is "remote", and this would send raw documents to the model. Set it to '
            '"local" (LETHE_GENERATOR__TRUST=local) if that server is yours, or use a model on this machine.'
        )


def language_model_of(settings: Settings) -> "LanguageModel | None":
    """The language model of the settings, which may read raw text; None if answers are extracted.

    Raises:
        ConfigurationError: It is remote, and may not read raw text.
    """
    check_raw_text(settings)
    return generating_model_of(settings)


def generating_model_of(settings: Settings) -> "LanguageModel | None":
    """The language model of the settings, which may be remote; None if answers are extracted."""
    chosen = settings.generator
    if chosen.kind == "extractive":
        return None
    if chosen.kind == "llama_cpp":
        from models.language.llama_cpp import LlamaCppModel

        assert chosen.path is not None
        return LlamaCppModel(
            chosen.path, chosen.context_tokens or LLAMA_CONTEXT, gpu_layers=chosen.gpu_layers
        )
    if chosen.kind == "files":
        from models.language.batch_files import BatchFiles

        assert chosen.path is not None
        context = chosen.context_tokens or FILES_CONTEXT
        return BatchFiles(chosen.path, chosen.model or "a language model", context)
    from models.language.openai_compatible import OpenAICompatibleModel

    key = chosen.api_key.get_secret_value() if chosen.api_key else None
    return OpenAICompatibleModel(
        chosen.base_url or "",
        chosen.model or "",
        api_key=key,
        context_tokens=chosen.context_tokens or SERVER_CONTEXT,
        allow_insecure=chosen.allow_insecure,
    )


def quoting(settings: Settings) -> "ExtractiveGenerator":
    """The generator without a language model."""
    from models.answers import embedded_answers
    from models.local_files import best_device
    from retrieval.generators.extractive import ExtractiveGenerator

    device = best_device()
    return ExtractiveGenerator(partial(embedded_answers, device, numbers_of(settings, device)))


def _generator(settings: Settings, model: "LanguageModel | None") -> "Generator":
    if model is None:
        return quoting(settings)
    from retrieval.generators.language_model import LanguageModelGenerator

    chosen = settings.generator
    if chosen.kind == "files":
        raise ConfigurationError(
            'generator.kind "files" is for studies with --ask-model: nobody who asks waits for files. Set it '
            "to llama_cpp or openai_compatible, or leave it out."
        )
    generator = LanguageModelGenerator(model, max_tokens=chosen.max_tokens)
    if not chosen.condense:
        return generator
    from models.language.asking import Asker
    from retrieval.generators.language_model import CondensedPassages

    at_once = chosen.at_once if chosen.kind == "openai_compatible" else 1
    return CondensedPassages(generator, Asker(model, at_once=at_once))


def sanitizer_of(
    settings: Settings,
    collection: Collection,
    encoder: "Encoder",
    shared: "Callable[[], System] | None" = None,
) -> "OneAtATime":
    """The sanitizer of a collection's policy, for questions and answers; loaded when it is first needed.

    ``shared`` loads a system of these settings whose models it takes.
    """
    from retrieval.guards.questions import OneAtATime

    def made() -> "Sanitizer":
        manifest = collection.manifest
        # Only this policy needs a language model, which a system for another one does not have.
        if shared is None or manifest.policy.name == "intact":
            return system_of(settings, encoder=encoder, made_with=manifest).sanitizer()
        return with_policy_of(shared(), manifest, DataDir(settings)).sanitizer()

    return OneAtATime(made)


def with_policy_of(system: "System", manifest: "Manifest", data: DataDir) -> "System":
    """The system with the policy and the scale of a collection."""
    from ingest.deciding.treatment import needs_key

    policy = manifest.policy
    return replace(system, policy=policy, scale=manifest.scale, key=data.key if needs_key(policy) else None)


def answering(
    settings: Settings,
    collection: Collection,
    encoder: "Encoder",
    model: "LanguageModel | None",
    sanitizer: "OneAtATime",
) -> "Generator":
    """The generator for a collection, behind the output guard and what else the settings put before it.

    A remote ``model`` gets questions sanitized by the collection's policy.
    """
    generator = _guarded(settings, collection, encoder, model, sanitizer)
    if not settings.generator.refuse_commands:
        return generator
    from retrieval.guards.questions import RefusedCommands

    # Outermost: no generator reads a question that is refused.
    return RefusedCommands(generator)


def _guarded(
    settings: Settings,
    collection: Collection,
    encoder: "Encoder",
    model: "LanguageModel | None",
    sanitizer: "OneAtATime",
) -> "Generator":
    from retrieval.guards.answers import AnswerRules, Canaries, GuardedAnswers, canaries_in
    from retrieval.guards.questions import AnswerByAlias, MaybeSomebodyElse

    chosen = settings.generator
    canaries = canaries_in(chosen.canaries) if chosen.canaries else Canaries()
    generator = GuardedAnswers(
        MaybeSomebodyElse(_generator(settings, model)),
        AnswerRules(sanitizer if model else None, canaries, chosen.quote_words),
    )
    if model is not None and chosen.trust == "remote":
        from retrieval.guards.questions import SanitizedQuestion

        sanitizer.load()
        return SanitizedQuestion(generator, sanitizer, restore=chosen.restore)
    if collection.manifest.policy.replacements == "alias":
        return AnswerByAlias(generator, sanitizer, restore=chosen.restore)
    return generator


def passage_rules(settings: Settings) -> "PassageRules":
    """Which passages are not shown for some questions."""
    from retrieval.guards.passages import PassageRules

    return PassageRules(settings.retrieval.least_similarity, settings.retrieval.hide_copies)


def defending(
    settings: Settings, model: "LanguageModel | None"
) -> "Callable[[Retriever, Callable[[], int]], Retriever]":
    """What the settings put around the retriever of any collection; its models are loaded here.

    It is given a retriever and what counts the documents. ``model`` is the generator's, None if answers are
    extracted.

    Raises:
        ConfigurationError: Questions are to be rewritten, and there is no model, or it is remote and may not
            read them.
    """
    from models.encoders.sentence_encoder import CrossEncoder
    from models.language.asking import Asker
    from retrieval.guards.passages import GuardedPassages
    from retrieval.guards.questions import RewordedQuestions
    from retrieval.retriever import Reranked

    chosen = settings.retrieval
    rules = passage_rules(settings)
    reranker = CrossEncoder(chosen.reranker) if chosen.reranker else None
    asker = Asker(_rewriting(settings, model)) if chosen.rewrite_questions else None

    def around(retriever: "Retriever", documents: "Callable[[], int]") -> "Retriever":
        if asker is not None:
            retriever = RewordedQuestions(retriever, asker)
        # The rules see the question as it was asked: reworded, a copy is short.
        if rules:
            retriever = GuardedPassages(retriever, rules, documents)
        return retriever if reranker is None else Reranked(retriever, reranker)

    return around


def _rewriting(settings: Settings, model: "LanguageModel | None") -> "LanguageModel":
    if model is None:
        raise ConfigurationError(
            "retrieval.rewrite_questions needs a language model: set generator.kind to llama_cpp or "
            "openai_compatible, or set retrieval.rewrite_questions to false."
        )
    if settings.generator.trust == "remote":
        raise ConfigurationError(
            'generator.trust is "remote", and retrieval.rewrite_questions would send it questions as they '
            'are. Set the first to "local" if that server is yours, or the second to false.'
        )
    return model


def searching(
    collection: Collection,
    retriever: "HybridRetriever",
    sanitizer: "OneAtATime",
    around: "Callable[[Retriever, Callable[[], int]], Retriever]",
    groups: "Groups" = None,
) -> "Retriever":
    """The retriever for questions, which searches for aliases where the collection has them for names.

    ``around`` is that of ``defending``, and ``groups`` are those of who asks.
    """
    from retrieval.retriever import ReadBy

    count = partial(collection.store.count_documents, groups)
    found = around(ReadBy(retriever, groups), count)
    if collection.manifest.policy.replacements != "alias":
        return found
    from retrieval.guards.questions import SearchByAlias

    # Outside: what reads a question besides the encoder gets aliases too.
    return SearchByAlias(found, sanitizer)


def retriever_of(collection: Collection, encoder: "Encoder", search: "Search") -> "HybridRetriever":
    """The retriever of a collection; refused if another encoder made its vectors."""
    from retrieval.retriever import HybridRetriever

    manifest = collection.manifest
    if (manifest.encoder, manifest.dim) != (encoder.name, encoder.dim):
        raise CollectionError(
            f"{collection.folder}: its vectors were made by {manifest.encoder} with {manifest.dim} "
            f"dimensions, and the encoder in the settings is {encoder.name} with {encoder.dim}. Set "
            f"the encoder that it was made with, or run: lethe collections reindex {collection.folder.name}"
        )
    return HybridRetriever(encoder, collection.load_index(), collection.store, search)
