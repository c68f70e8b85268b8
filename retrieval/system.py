"""The assembled system: all parts that process documents and questions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version

from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.lprag import Lprag
from ingest.deciding.baselines.uniform import INTACT, ORIGIN, REDACT, SUPPRESS
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import Policy
from ingest.deciding.trip import Trip
from ingest.documents import LanguageRule
from ingest.protocols import Encoder, EntityDetector, Method, Prepare, RiskModel, Sanitizer, Wording
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.scale import EMBEDDED_SCALE, Scale
from ingest.wording.by_model import ModelGuesser, ModelLadders
from ingest.wording.guessed import Guessed
from ingest.wording.pool import PoolGuesser
from ingest.wording.rungs import below
from ingest.wording.words import worded
from models.bits import embedded_bits
from models.language.asking import Asker
from models.language.protocol import LanguageModel
from retrieval.manifest import IndexKind, Manifest, new_table
from retrieval.passages import Seal, preparing
from retrieval.protocols import Generator
from retrieval.search import HYBRID, Search
from retrieval.store.chain import now
from retrieval.store.database import CutDocument


@dataclass(frozen=True, slots=True)
class System:
    """The parts of a system. Variants are made with ``dataclasses.replace``.

    All parts run on this machine or may read raw text: a remote language model is never one of them.
    ``scale`` is None if it is to be fitted to the first documents. ``key`` is the 32-byte secret for aliases
    and codes, None if the policy has neither. ``own_entities`` is the keyed digest of the user's lists and
    patterns, "" without any; ``settings_digest`` is that of the settings, ``numbers`` the number format of
    the embedded models. ``index`` is where new collections keep their vectors. ``score_all`` also scores what
    hard rules decide, for explanations and studies. ``sanitizing`` makes a sanitizer without a policy: a
    baseline, a control, an ablation.
    """

    encoder: Encoder
    detector: EntityDetector
    risk: RiskModel
    engine: Engine
    policy: Policy
    generator: Generator
    scale: Scale | None = None
    language_model: LanguageModel | None = None
    language: LanguageRule = "known"
    k: int = 5
    passage_tokens: int = 128
    search: Search = HYBRID
    index: IndexKind = "faiss"
    key: bytes | None = field(default=None, repr=False)
    own_entities: str = ""
    settings_digest: str = ""
    numbers: str = "float32"
    score_all: bool = False
    sanitizing: "Callable[[System], Sanitizer] | None" = field(default=None, repr=False)

    def sanitizer(self) -> Sanitizer:
        """The sanitizer of the policy, or that of ``sanitizing``."""
        return self.deciding() if self.sanitizing is None else self.sanitizing(self)

    def preparing(self, seal: Seal | None = None) -> Prepare[CutDocument]:
        """Sanitizing by the policy, cutting and encoding: all that an ingest does before it writes.

        With ``seal`` the originals are kept.
        """
        return preparing(self.sanitizer(), self.encoder, self.passage_tokens, self.search, seal)

    def deciding(self) -> DecidingSanitizer:
        """The sanitizer of the policy, which also explains decisions."""
        return DecidingSanitizer(
            self.detector, self.method(), self.risk, self.policy, self.key, self.language, self.wording()
        )

    def wording(self) -> Wording | None:
        """How the policy words generalized mentions; None for descriptors."""
        match self.policy.name:
            case "lethe":
                return partial(worded, take=below(self.policy.guess_limit))
            case "intact":
                model, limit = self.language_model, self.policy.guess_limit
                if model is not None:
                    asker = Asker(model)
                    return Guessed(ModelGuesser(asker), limit, ModelLadders(asker))
                return Guessed(PoolGuesser(self.encoder), limit)
            case _:
                return None

    def method(self) -> Method:
        """The decision method of the policy."""
        match self.policy.name:
            case "lethe":
                return Lethe(embedded_bits(), self.policy)
            case "trip":
                scale = self.scale or EMBEDDED_SCALE
                return Trip(self.engine, scale, self.policy, score_all=self.score_all)
            case "redact":
                return REDACT
            case "intact":
                return INTACT
            case "suppress":
                return SUPPRESS
            case "entity-type":
                return EntityType()
            case "lprag":
                return Lprag(self.encoder, epsilon=self.policy.epsilon)
            case "origin":
                return ORIGIN

    def manifest(self, scale: Scale, *, keeps_ids: bool) -> Manifest:
        """The manifest of a collection created with this system."""
        return Manifest(
            created=now(),
            encoder=self.encoder.name,
            dim=self.encoder.dim,
            passage_tokens=self.passage_tokens,
            search=self.search,
            detector=self.detector.name,
            risk=self.risk.name,
            policy=self.policy,
            scale=scale,
            version=version("lethe"),
            keeps_ids=keeps_ids,
            own_entities=self.own_entities,
            index=self.index,
            table="" if self.index == "faiss" else new_table(),
        )
