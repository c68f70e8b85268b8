"""The tables of the settings: one frozen class for each part of the system, with its defaults.

The defaults are the safe end: no network, the loopback address, nothing that quotes a document.
"""

from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from ingest.policy import PolicyName
from models.catalog import ModelRef

# infinity is a number to TOML, and as tau it would keep everything
STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)


_Percentiles = tuple[float, float, float, float]


class DetectorSettings(BaseModel):
    """What finds entities."""

    model_config = STRICT

    learned: bool = Field(
        default=True, description="whether a model finds entities as well, or patterns and rules alone"
    )
    model: ModelRef = Field(
        default=ModelRef(),
        description="GLiNER model that finds entities: the embedded one, a folder, or a hub id",
    )
    profile: Literal["balanced", "recall"] = Field(
        default="balanced",
        description="fitted thresholds of the embedded model: the best balance, or fewer misses for more "
        "false alarms",
    )
    threshold: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="confidence from which a found entity counts, for all labels; none for the profile's",
    )
    labels: tuple[str, ...] = Field(default=(), description="labels to look for besides the built-in ones")


class RiskSettings(BaseModel):
    """What says how strongly an entity exposes a person."""

    model_config = STRICT

    kind: Literal["learned", "prior"] = Field(
        default="learned",
        description="a model that reads entities in their context, or the rubric's number for each label",
    )
    model: ModelRef = Field(
        default=ModelRef(), description="learned privacy-risk model: the embedded one, or a folder"
    )


class PolicySettings(BaseModel):
    """What is done with the entities that were found."""

    model_config = STRICT

    name: PolicyName = Field(
        default="trip",
        description="trip decides by score, redact generalizes all, suppress removes all, entity-type puts "
        "types with numbers, lprag other values by local differential privacy, origin changes nothing",
    )
    tau: float = Field(
        default=0.5,
        description="priority from which an entity is generalized; lower is stricter",
    )
    alpha: float = Field(default=1.0, ge=0, description="weight of the marginal privacy risk")
    beta: float = Field(default=1.0, ge=0, description="weight of the knowledge divergence")
    gamma: float = Field(default=1.0, ge=0, description="weight of the topical relevance")
    marginal: Literal["hazard", "difference"] = Field(
        default="hazard",
        description="marginal risk from the difference of hazards, or of absolute risks",
    )
    residual_limit: float = Field(
        default=0.7, gt=0, le=1, description="highest absolute risk that a passage may keep"
    )
    direct_limit: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="marginal risk from which names and other direct identifiers are generalized whatever "
        "their priority; 0 takes them all, 1 leaves them to the priority",
    )
    quasi_limit: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description="risk from which places, dates, ages and other quasi-identifiers are generalized "
        "whatever their priority; 0 takes them all, 1 leaves them to the priority",
    )
    epsilon: float = Field(
        default=5.0, gt=0, description="privacy budget that lprag spends on each document; lower is stricter"
    )
    replacements: Literal["descriptor", "alias"] = Field(
        default="descriptor",
        description="what stands for people and organizations: words for their kind, or the same alias of "
        "each in every document, which links the documents",
    )
    scale: _Percentiles | None = Field(
        default=None,
        description="5th and 95th percentile of the knowledge divergence, then of the distance to the topic, "
        "that become 0 and 1; none fits them to the first documents of a collection",
    )
    engine: Literal["reference", "exact", "fast"] = Field(
        default="exact",
        description="scoring one entity at a time, the same scores in batches, or estimates that are made "
        "exact where the threshold depends on them; fast needs the embedded encoder",
    )

    @field_validator("scale")
    @classmethod
    def _rising(
        cls, scale: tuple[float, float, float, float] | None
    ) -> tuple[float, float, float, float] | None:
        if scale is not None and not (scale[0] <= scale[1] and scale[2] <= scale[3]):
            raise ValueError("should be two pairs of a lower and a higher percentile")
        return scale


class GeneratorSettings(BaseModel):
    """What writes answers."""

    model_config = STRICT

    kind: Literal["extractive", "llama_cpp", "openai_compatible"] = Field(
        default="extractive",
        description="quotes of the best sentences, a GGUF file, or an OpenAI-compatible server",
    )
    path: Path | None = Field(default=None, description="GGUF file of llama_cpp")
    base_url: str | None = Field(
        default=None, description="address of the OpenAI-compatible server, up to and with /v1"
    )
    model: str | None = Field(default=None, description="model to ask that server for")
    api_key: SecretStr | None = Field(
        default=None, min_length=1, description="key for that server; never shown"
    )
    max_tokens: int = Field(default=512, ge=1, description="longest answer, in tokens")
    context_tokens: int | None = Field(
        default=None,
        ge=2,
        description="room for prompt and answer together, in tokens; none takes 4096 of a GGUF "
        "file and 8192 of a server",
    )
    gpu_layers: int = Field(
        default=0, ge=-1, description="layers of a GGUF file that a graphics card computes; -1 for all"
    )
    allow_insecure: bool = Field(default=False, description="whether plain http may leave this machine")

    @field_validator("base_url")
    @classmethod
    def _address_only(cls, url: str | None) -> str | None:
        if url is None:
            return None
        # urlsplit may quote what it refuses
        try:
            parts = urlsplit(url)
        except ValueError:
            raise ValueError("should be an address such as http://127.0.0.1:8080/v1") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be an address such as http://127.0.0.1:8080/v1")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("should be scheme, host and path alone, with any key in generator.api_key")
        return url

    @model_validator(mode="after")
    def _complete(self) -> "GeneratorSettings":
        if self.kind == "llama_cpp" and self.path is None:
            raise ValueError("llama_cpp needs generator.path, a GGUF file, or --gguf")
        if self.kind == "openai_compatible":
            needed = {"generator.base_url": self.base_url, "generator.model": self.model}
            missing = [name for name, value in needed.items() if value is None]
            if missing:
                raise ValueError(f"openai_compatible needs {' and '.join(missing)}")
        return self


class RetrievalSettings(BaseModel):
    """What is looked up for a question."""

    model_config = STRICT

    k: int = Field(default=5, ge=1, le=100, description="passages for a question")
    passage_tokens: int = Field(
        default=128, ge=16, le=512, description="longest passage, in tokens of the encoder"
    )


class IngestSettings(BaseModel):
    """How much is sanitized and committed at once."""

    model_config = STRICT

    batch_documents: int = Field(default=32, ge=1, description="most documents of one batch")
    batch_characters: int = Field(
        default=20_000, ge=1, description="characters from which a batch takes no more documents"
    )
    keep_ids: bool = Field(
        default=False,
        description="whether ids that look opaque and name nobody are kept; all others are digested",
    )


class ServerSettings(BaseModel):
    """Where the server listens."""

    model_config = STRICT

    host: str = Field(default="127.0.0.1", description="loopback address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")

    @field_validator("host")
    @classmethod
    def _loopback_only(cls, host: str) -> str:
        try:
            loopback = host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise ValueError(
                "this version listens on loopback only: set 127.0.0.1 and put a proxy that "
                "authenticates before it"
            )
        return host
