"""The composition root: the only place that turns settings into parts."""

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import PolicySettings, Settings
from ingest.detect import HybridDetector
from ingest.documents import Document, Identifier
from ingest.keys import secret_key
from ingest.labels import LABELS, NOT_ASKED, OWN_LABEL_RISK
from ingest.pipeline import Limits, Pipeline
from ingest.policy import Policy
from ingest.protocols import Encoder, EntityDetector, RiskModel, Sanitizer
from ingest.read.doc_ids import digested_id, kept_id
from ingest.risk_prior import RiskPrior
from ingest.sanitize import DecidingSanitizer, Method
from ingest.sanitizers.entity_type import EntityType
from ingest.sanitizers.lprag import Lprag
from ingest.sanitizers.trip import Trip
from ingest.sanitizers.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.scoring.exact import ExactEngine
from ingest.scoring.fast import FastEngine
from ingest.scoring.raw import ScoringEngine, Weights
from ingest.scoring.reference import ReferenceEngine
from ingest.scoring.scale import EMBEDDED_SCALE, Scale
from models.errors import ConfigurationError
from models.language_model import LanguageModel
from retrieval.audit_log import now
from retrieval.collection import Collection
from retrieval.errors import CollectionError
from retrieval.manifest import Manifest
from retrieval.protocols import Generator
from retrieval.retriever import DenseRetriever

if TYPE_CHECKING:
    from ingest.learned import SpanFinder

HUB_THRESHOLD = 0.5
"""From what score on a hub model's spans count, as the gliner library has it; ours have fitted ones."""

LLAMA_CONTEXT, SERVER_CONTEXT = 4096, 8192
"""Tokens for prompt and answer where the settings name none: of a GGUF file, and of a server."""

_COLLECTION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Services:
    """The assembled system. The server, the command line and the tests all hold one of these.

    A part is built when it is first asked for, so that a verb pays only for what it uses.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def encoder(self) -> Encoder:
        """The text encoder."""
        encoder = self._encoder()
        asked = self.settings.retrieval.passage_tokens
        if asked > encoder.max_tokens:
            raise ConfigurationError(
                f"retrieval.passage_tokens is {asked}, and {encoder.name} reads {encoder.max_tokens} tokens: "
                f"the rest of a passage would not be found. Set it to {encoder.max_tokens} or less."
            )
        return encoder

    def _encoder(self) -> Encoder:
        ref = self.settings.encoder
        if self.settings.threads:
            import torch

            torch.set_num_threads(self.settings.threads)
        if ref.source == "embedded":
            from models.local_files import best_device
            from models.minilm import MiniLM

            return MiniLM(best_device())
        from models.sentence_encoder import SentenceEncoder

        return SentenceEncoder(ref)

    @cached_property
    def detector(self) -> EntityDetector:
        """Patterns and rules, and what a model finds unless the settings say otherwise."""
        chosen = self.settings.detector
        if not chosen.learned:
            return HybridDetector()
        from ingest.learned import LearnedDetector

        return HybridDetector(LearnedDetector(self._finder()))

    def _finder(self) -> "SpanFinder":
        from models.trained import is_trained

        chosen = self.settings.detector
        labels = tuple(dict.fromkeys((*(name for name in LABELS if name not in NOT_ASKED), *chosen.labels)))
        if chosen.model.source == "embedded" or is_trained(Path(chosen.model.name), "detector"):
            from models.new_labels import load_finder

            # A mention is treated by its label: a user's must not take a riskier one's place.
            fixed = [name for name, label in LABELS.items() if label.risk > OWN_LABEL_RISK]
            return load_finder(chosen.model, labels, chosen.profile, chosen.threshold, fixed)
        from models.gliner_model import GlinerModel

        return GlinerModel(chosen.model, labels, chosen.threshold or HUB_THRESHOLD)

    @cached_property
    def risk(self) -> RiskModel:
        """The privacy-risk model."""
        chosen = self.settings.risk
        if chosen.kind == "prior":
            return RiskPrior()
        from ingest.learned_risk import LearnedRisk
        from models.risk_model import load_risk

        return LearnedRisk(load_risk(chosen.model))

    @cached_property
    def engine(self) -> ScoringEngine:
        """The scoring engine that the policy names."""
        tokens = self.settings.retrieval.passage_tokens
        match self.settings.policy.engine:
            case "reference":
                return ReferenceEngine(self.encoder, tokens)
            case "exact":
                return ExactEngine(self.encoder, tokens)
            case "fast":
                return FastEngine(self.encoder, tokens)

    @cached_property
    def exact(self) -> ScoringEngine | None:
        """What measures again where an engine only estimates; None where the engine itself is exact."""
        if self.settings.policy.engine != "fast":
            return None
        return ExactEngine(self.encoder, self.settings.retrieval.passage_tokens)

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The language model of the settings; None where answers are extracted without one."""
        chosen = self.settings.generator
        if chosen.kind == "extractive":
            return None
        if chosen.kind == "llama_cpp":
            from models.llama_cpp_model import LlamaCppModel

            assert chosen.path is not None
            return LlamaCppModel(
                chosen.path, chosen.context_tokens or LLAMA_CONTEXT, gpu_layers=chosen.gpu_layers
            )
        from models.openai_compatible import OpenAICompatibleModel

        key = chosen.api_key.get_secret_value() if chosen.api_key else None
        return OpenAICompatibleModel(
            chosen.base_url or "",
            chosen.model or "",
            api_key=key,
            context_tokens=chosen.context_tokens or SERVER_CONTEXT,
            allow_insecure=chosen.allow_insecure,
        )

    @cached_property
    def generator(self) -> Generator:
        """What writes answers."""
        if self.language_model is None:
            from retrieval.generators.extractive import ExtractiveGenerator

            return ExtractiveGenerator(self.encoder)
        from retrieval.generators.language_model import LanguageModelGenerator

        return LanguageModelGenerator(self.language_model, max_tokens=self.settings.generator.max_tokens)

    @cached_property
    def policy(self) -> Policy:
        """The policy of the settings, as the ingest room has it."""
        return policy_of(self.settings.policy)

    @cached_property
    def given_scale(self) -> Scale | None:
        """The scale of the settings, None where it is to be fitted."""
        chosen = self.settings.policy.scale
        return None if chosen is None else Scale(*chosen, source="the settings")

    @cached_property
    def scale(self) -> Scale:
        """The scale for documents outside of a collection."""
        return self.given_scale or EMBEDDED_SCALE

    def sanitizer(
        self,
        scale: Scale | None = None,
        engine: ScoringEngine | None = None,
        policy: Policy | None = None,
    ) -> DecidingSanitizer:
        """A sanitizer for a policy and scale; what is None is that of the settings."""
        chosen = policy or self.policy
        method = self.method(chosen, scale or self.scale, engine)
        return DecidingSanitizer(self.detector, method, self.risk, self.alias_key(chosen))

    def alias_key(self, policy: Policy) -> bytes | None:
        """The secret for aliases where a policy asks for them."""
        return self.key if policy.replacements == "alias" else None

    def method(self, policy: Policy, scale: Scale, engine: ScoringEngine | None = None) -> Method:
        """How a policy decides; ``engine`` None means the one of the settings."""
        match policy.name:
            case "trip":
                return Trip(engine or self.engine, self.risk, scale, policy, self.exact)
            case "redact":
                return REDACT
            case "suppress":
                return SUPPRESS
            case "entity-type":
                return EntityType()
            case "lprag":
                return Lprag(self.encoder, epsilon=policy.epsilon)
            case "origin":
                return ORIGIN

    def pipeline(self, sanitizer: Sanitizer) -> Pipeline:
        """The bulk pipeline around a sanitizer."""
        limits = self.settings.ingest
        return Pipeline(
            sanitizer, self.public_ids, self.key, Limits(limits.batch_documents, limits.batch_characters)
        )

    @cached_property
    def key(self) -> bytes:
        """The secret under which ids and texts are digested."""
        return secret_key(self.settings.key_file or self.settings.data_dir / "secret.key")

    def public_ids(self, source_ids: Sequence[str], keep: bool | None = None) -> list[str]:
        """Ids under which documents are kept.

        All are digested; with ``keep`` (None means what the settings say) those stay that look opaque and
        name nobody. An id that is such a digest already stays, so both forms find a document again.
        """
        if not (self.settings.ingest.keep_ids if keep is None else keep):
            return [digested_id(source_id, self.key) for source_id in source_ids]
        detector = HybridDetector()

        def names_somebody(text: str) -> bool:
            found = detector.detect([Document("id", text)])[0]
            return any(entity.identifier is Identifier.DIRECT for entity in found)

        return [kept_id(source_id, names_somebody, self.key) for source_id in source_ids]

    # -- collections -----------------------------------------------------------------------------------

    def folder(self, name: str) -> Path:
        """Where a collection of this name lies, whether it is there or not."""
        if not _COLLECTION_NAME.fullmatch(name):
            raise ConfigurationError(
                "A collection's name has 1 to 64 letters, digits, '.', '_' or '-', and begins with one of "
                "the first two."
            )
        return self.settings.data_dir / "collections" / name

    def collections(self) -> list[str]:
        """The names of the collections that are there."""
        folder = self.settings.data_dir / "collections"
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return [path.name for path in found if Collection.exists(path)]

    def open(self, name: str) -> Collection:
        """A collection; raises CollectionError with the names that there are."""
        folder = self.folder(name)
        if not Collection.exists(folder):
            there = ", ".join(self.collections()) or "none yet; `lethe ingest` makes one"
            raise CollectionError(f"There is no collection {name} in {folder.parent}. There: {there}.")
        return Collection.open(folder)

    def retriever(self, collection: Collection) -> DenseRetriever:
        """Search in a collection, refused where its vectors were made by another encoder."""
        manifest, encoder = collection.manifest, self.encoder
        if (manifest.encoder, manifest.dim) != (encoder.name, encoder.dim):
            raise CollectionError(
                f"{collection.folder}: its vectors were made by {manifest.encoder} with {manifest.dim} "
                f"dimensions, and the encoder in the settings is {encoder.name} with {encoder.dim}. Set "
                "the encoder that it was made with, or ingest into a new collection."
            )
        return DenseRetriever(encoder, collection.load_index(), collection.store)

    def manifest(self, scale: Scale) -> Manifest:
        """What a collection made now would be made with."""
        return Manifest(
            created=now(),
            encoder=self.encoder.name,
            dim=self.encoder.dim,
            passage_tokens=self.settings.retrieval.passage_tokens,
            detector=self.detector.name,
            risk=self.risk.name,
            engine=self.settings.policy.engine,
            policy=self.policy,
            scale=scale,
            version=version("lethe"),
            keeps_ids=self.settings.ingest.keep_ids,
        )


def policy_of(chosen: PolicySettings) -> Policy:
    """The policy as the ingest room has it."""
    weights = Weights(chosen.alpha, chosen.beta, chosen.gamma, chosen.marginal)
    return Policy(
        name=chosen.name,
        tau=chosen.tau,
        residual_limit=chosen.residual_limit,
        weights=weights,
        replacements=chosen.replacements,
        direct_limit=chosen.direct_limit,
        quasi_limit=chosen.quasi_limit,
        epsilon=chosen.epsilon,
    )
