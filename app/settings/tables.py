"""The tables of the settings: one frozen class for each part of the system, with its defaults.

The defaults are the safe end: no network, the loopback address, nothing that quotes a document.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ingest.documents import LanguageRule
from ingest.labels import FREE, KINDS, NONE, is_short_line
from models.catalog import ModelRef
from models.loopback import is_loopback

# infinity is a number to TOML, and as tau it would keep everything
STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)


def _short_line(words: str) -> str:
    if not is_short_line(words):
        raise ValueError("should be 1 to 60 printable characters in one line, without blanks around them")
    return words


ShortLine = Annotated[str, AfterValidator(_short_line)]


def _kind_of_field(kind: str) -> str:
    if kind not in KINDS and kind not in (FREE, NONE):
        raise ValueError(f"should be one of {', '.join((*KINDS, FREE, NONE))}")
    return kind


FieldKind = Annotated[str, AfterValidator(_kind_of_field)]


class DetectorSettings(BaseModel):
    """The detector."""

    model_config = STRICT

    learned: bool = Field(default=True, description="whether a model finds entities too, or only patterns")
    model: ModelRef = Field(
        default=ModelRef(),
        description="model that finds entities: the embedded reader or one in a folder, or a GLiNER model in "
        "a folder or by its hub id",
    )
    threshold: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="confidence from which an entity counts that a GLiNER model found; none for 0.5",
    )
    labels: tuple[ShortLine, ...] = Field(
        default=(), description="labels to look for besides the built-in ones"
    )
    fields: dict[str, FieldKind] = Field(
        default={},
        repr=False,
        description="what stands in fields and columns, by their names, where it is not what a dry run says: "
        'town = "city", note = "free text", code = "none"',
    )
    language: LanguageRule = Field(
        default="known",
        description="known refuses documents in other languages than the seven that the reader learned; any "
        "reads them with a warning in every result",
    )


class RiskSettings(BaseModel):
    """What estimates how strongly an entity exposes a person."""

    model_config = STRICT

    kind: Literal["learned", "prior"] = Field(
        default="learned",
        description="learned: a model that reads entities in context; prior: the rubric's number by label",
    )
    model: ModelRef = Field(
        default=ModelRef(), description="learned privacy-risk model: the embedded one, or a folder"
    )


Trust = Literal["local", "remote"]
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


def _trust_by_address(given: dict[str, Any]) -> Trust:
    """The trust that ``kind`` and ``base_url``, both valid, imply."""
    if given["kind"] != "openai_compatible" or given["base_url"] is None:
        return "local"
    return "local" if is_loopback(urlsplit(given["base_url"]).hostname or "") else "remote"


class GeneratorSettings(BaseModel):
    """The generator."""

    model_config = STRICT

    kind: Literal["extractive", "llama_cpp", "openai_compatible", "files"] = Field(
        default="extractive",
        description="quotes of the best sentences, a GGUF file, an OpenAI-compatible server, or for studies "
        "files of requests and answers",
    )
    path: Path | None = Field(
        default=None, description="GGUF file of llama_cpp, or folder of requests and answers of files"
    )
    base_url: str | None = Field(
        default=None, description="address of the OpenAI-compatible server, up to and with /v1"
    )
    trust: Trust = Field(
        default_factory=_trust_by_address,
        description="local: the model is yours and may read raw text; remote: it reads only sanitized text, "
        "questions included; by default only a loopback address is local",
    )
    model: str | None = Field(default=None, description="model to ask that server for")
    api_key: SecretStr | None = Field(
        default=None, min_length=1, description="key for that server; never shown"
    )
    max_tokens: int = Field(default=512, ge=1, description="longest answer, in tokens")
    context_tokens: int | None = Field(
        default=None,
        ge=2,
        description="context window for prompt and answer, in tokens; none means 4096 for a GGUF file "
        "and 8192 for a server",
    )
    at_once: int = Field(
        default=4,
        ge=1,
        le=64,
        description="questions that a server gets at the same time in studies, and "
        "passages of a question to condense",
    )
    gpu_layers: int = Field(
        default=0, ge=-1, description="layers of a GGUF file that run on the GPU; -1 for all"
    )
    allow_insecure: bool = Field(default=False, description="whether plain http may leave this machine")
    restore: bool = Field(
        default=False,
        description="whether an answer gives the asker's own names in place of the aliases of a collection "
        "that has them",
    )
    quote_words: int | None = Field(
        default=None,
        ge=1,
        description="longest run of words that an answer may quote from a passage; none for any length",
    )
    canaries: Path | None = Field(
        default=None,
        description="text file of strings that no answer may hold, one in each line, however they are spaced",
    )
    refuse_commands: bool = Field(
        default=False,
        description="whether a question is not answered whose words ask to copy out what was found, or to "
        "ignore instructions",
    )
    condense: bool = Field(
        default=False,
        description="whether the language model condenses each passage to what bears on the question before "
        "it answers from these; one more question to the model for each passage",
    )

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
        if self.condense and self.kind == "extractive":
            raise ValueError(
                "condense needs a language model: set generator.kind to llama_cpp or openai_compatible, or "
                "leave generator.condense out"
            )
        if self.kind == "llama_cpp" and self.path is None:
            raise ValueError("llama_cpp needs generator.path, a GGUF file, or --gguf")
        if self.kind == "files" and self.path is None:
            raise ValueError("files needs generator.path, a folder, or --requests")
        if self.kind == "openai_compatible":
            needed = {"generator.base_url": self.base_url, "generator.model": self.model}
            missing = [name for name, value in needed.items() if value is None]
            if missing:
                raise ValueError(f"openai_compatible needs {' and '.join(missing)}")
        return self


class RetrievalSettings(BaseModel):
    """Retrieval for a question."""

    model_config = STRICT

    k: int = Field(default=5, ge=1, le=100, description="passages for a question")
    passage_tokens: int = Field(
        default=128, ge=16, le=512, description="longest passage, in tokens of the encoder"
    )
    search: Literal["hybrid", "dense", "plain"] = Field(
        default="hybrid",
        description="by vectors and words, by vectors alone, or by vectors of bare passages as in the papers",
    )
    least_similarity: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="similarity to the question from which a passage may be found; none for any",
    )
    hide_copies: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="significance level, such as 0.05, at which a question of 200 characters or more counts "
        "as a copy of a document, of which then nothing is found; none hides none",
    )
    reranker: Path | None = Field(
        default=None,
        description="folder of a cross-encoder that orders the best passages anew; none for no other order",
    )
    rewrite_questions: bool = Field(
        default=False,
        description="whether the generator's model, which has to be local, says a question in other words "
        "before the search; one that it cannot reword finds nothing",
    )
    index: Literal["faiss", "milvus", "pgvector"] = Field(
        default="faiss",
        description="where new collections keep their vectors: a file in their folder, Milvus, or PostgreSQL "
        "with pgvector",
    )
    index_address: SecretStr | None = Field(
        default=None,
        min_length=1,
        description="address of Milvus (http://host:19530, or the path of an embedded file) or of PostgreSQL "
        "(postgresql://user:password@host/database); never shown",
    )

    @field_validator("index_address")
    @classmethod
    def _of_one_kind(cls, address: SecretStr | None, given: ValidationInfo) -> SecretStr | None:
        if address is None:
            return None
        scheme = address.get_secret_value().partition("://")[0]
        if given.data.get("index") == "pgvector" and scheme not in ("postgresql", "postgres"):
            raise ValueError("should be postgresql://user:password@host:5432/database for pgvector")
        return address

    @model_validator(mode="after")
    def _has_address(self) -> "RetrievalSettings":
        if self.index != "faiss" and self.index_address is None:
            raise ValueError(f"{self.index} needs retrieval.index_address, where its database is")
        return self


class IngestSettings(BaseModel):
    """Limits for reading a document, and the size of batches."""

    model_config = STRICT

    document_seconds: int = Field(
        default=60, ge=1, description="longest time that reading one document may take, in seconds"
    )
    document_megabytes: int = Field(
        default=1024, ge=64, description="most memory that reading one document may take, in MB"
    )
    document_characters: int = Field(
        default=5_000_000, ge=1_000, description="most characters of the text of one document"
    )
    sanitize_seconds: int = Field(
        default=120,
        ge=1,
        description="longest time that sanitizing one document may take in a process of its own, in seconds, "
        "beyond a second for every 200 characters",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        description="processes that sanitize; none takes one for each core and GB of memory, and one for "
        "small input, with a GPU, or with a model that is not embedded",
    )
    ray: str | None = Field(
        default=None,
        min_length=1,
        description="Ray cluster that reads and sanitizes: host:port, auto for that of this machine, or "
        "local for one that ends with the command; none does all in processes of this machine",
    )
    batch_documents: int = Field(default=32, ge=1, description="most documents of one batch")
    batch_characters: int = Field(
        default=20_000, ge=1, description="characters from which a batch takes no more documents"
    )
    follow_links: bool = Field(
        default=False, description="whether links that lead out of a folder are followed when it is read"
    )
    asides: bool = Field(
        default=True,
        description="whether comments, speaker notes and hidden rows of office files and notes in PDFs are "
        "read as text of their document",
    )
    keep_ids: bool = Field(
        default=False,
        description="whether ids that look opaque and name nobody are kept; all others are digested",
    )


class ServerSettings(BaseModel):
    """The address of the server."""

    model_config = STRICT

    host: str = Field(
        default="127.0.0.1", min_length=1, description="address to listen on; any but loopback needs keys"
    )
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    hosts: tuple[str, ...] = Field(
        default=(),
        description="names besides loopback that requests may call this server by, such as that of a proxy",
    )
    log: Literal["none", "requests"] = Field(
        default="none",
        description="requests writes a line of JSON about each request on standard error, without anything "
        "that was sent",
    )
    upload_megabytes: int = Field(
        default=64, ge=1, description="largest upload of documents, all files of a request together"
    )
    connections: int = Field(
        default=512,
        ge=4,
        description="connections that may wait for their clients at once, without a whole request or idle; "
        "beyond it, or beyond half of it for an address while server.hosts names no proxy, the one that "
        "waits the longest is closed",
    )
    request_seconds: float = Field(
        default=10.0,
        gt=0,
        description="how long the head of a request may take to come, and its body may pause or lag behind "
        "64 kbit/s; then the connection is closed",
    )
    requests_per_minute: int | None = Field(
        default=None,
        ge=1,
        description="requests that a key may send in a minute, or an address without a valid key; none means "
        "600 where others can reach the server, and no limit on loopback",
    )
    answers_at_once: int = Field(
        default=4,
        ge=1,
        le=32,
        description="chats that are answered at once; four times as many wait, others are told to come back",
    )
    alike_questions: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="questions that mean about the same which a key may ask of a collection within "
        "budget_hours; none for any number",
    )
    documents_percent: float | None = Field(
        default=None,
        gt=0,
        le=100,
        description="share of the documents of a collection that a key may be shown within budget_hours, in "
        "percent; none for all",
    )
    budget_hours: float = Field(
        default=24.0, gt=0, le=720, description="hours for which questions and shown documents count"
    )
    drain_seconds: int = Field(
        default=0,
        ge=0,
        description="how long the server goes on after SIGTERM while /readyz says that it stops",
    )
    finish_seconds: int = Field(
        default=2, ge=0, description="how long running requests may then take to finish"
    )

    @field_validator("hosts")
    @classmethod
    def _names_only(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_HOST_NAME.fullmatch(each) for each in hosts):
            raise ValueError("should be names alone such as lethe.example, without scheme, port or star")
        return hosts

    @property
    def alone(self) -> bool:
        """Whether nobody but this machine can reach the server: on loopback, and named by no proxy."""
        return is_loopback(self.host) and not self.hosts


class VaultSettings(BaseModel):
    """The vault of originals."""

    model_config = STRICT

    enabled: bool = Field(
        default=False,
        description="whether an ingest keeps the originals, sealed, for reveal and for sanitizing them again",
    )
    key_file: Path | None = Field(
        default=None,
        description="file outside the data folder with the key that seals originals, 32 bytes in base64",
    )
    key: SecretStr | None = Field(
        default=None,
        min_length=1,
        description="that key itself, in place of a file; never shown, and refused in a settings file",
    )
    old_key_files: tuple[Path, ...] = Field(
        default=(), description="files of earlier keys, which still open what was sealed under them"
    )
