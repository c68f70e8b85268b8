"""The bodies of answers, of ``app.rows`` and the routes, as the OpenAPI file describes them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

WARNINGS = "why entities may have been missed in a document or the question"


class _Answer(BaseModel):
    # A field that is not declared here never leaves the server.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class HealthAnswer(_Answer):
    """The server is up and its models are loaded."""

    status: Literal["ok"]


class PassageAnswer(_Answer):
    """A sanitized passage."""

    passage_id: int
    doc_id: str
    score: float = Field(description="what passages are ranked by: similarity, and words of the question")
    similarity: float = Field(description="of the vectors of question and passage, in [-1, 1]")
    text: str = Field(repr=False)
    warnings: list[str] = Field(default=[], description=WARNINGS)


class SearchAnswer(_Answer):
    """Passages, best first."""

    passages: list[PassageAnswer]


class CitationAnswer(_Answer):
    """The passage that a mark such as [1] in the answer's text stands for."""

    mark: int
    doc_id: str
    passage_id: int


class CollectionsAnswer(_Answer):
    """The collections that the caller may use."""

    collections: list["CollectionAnswer"]


class CollectionAnswer(_Answer):
    """A collection: its size, and the settings that it was made with."""

    collection: str
    documents: int
    passages: int
    entities: dict[str, int] = Field(description="linked entities by what was done with them")
    policy: str
    tau: float
    encoder: str
    detector: str
    risk: str
    index: str
    table: str | None = Field(default=None, description="of a vector database")
    recall_at_10: float | None = Field(default=None, description="where passages are grouped into lists")
    created: str = Field(repr=False)
    files_failed: int
    interrupted: bool = Field(description="whether the last ingest did not finish")
    audit_log: str


class ModelAnswer(_Answer):
    """A name that a chat may ask for."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["lethe"] = "lethe"


class ModelsAnswer(_Answer):
    """All names that a chat may ask for."""

    object: Literal["list"] = "list"
    data: list[ModelAnswer]


class ChatMessageAnswer(_Answer):
    """The answer's text."""

    role: Literal["assistant"] = "assistant"
    content: str = Field(repr=False)


class ChoiceAnswer(_Answer):
    """The one answer."""

    index: Literal[0] = 0
    message: ChatMessageAnswer
    finish_reason: Literal["stop"] = "stop"


class UsageAnswer(_Answer):
    """Tokens of the encoder, which cuts all texts."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatAnswer(_Answer):
    """An OpenAI chat completion, extended by citations, engine and warnings."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="seconds since 1970")
    model: str
    choices: list[ChoiceAnswer]
    usage: UsageAnswer
    citations: list[CitationAnswer]
    engine: str = Field(description="the engine that wrote the answer")
    question_sent: str | None = Field(
        repr=False,
        description="the sanitized question, where a remote model read it in place of the question",
    )
    warnings: list[str] = Field(default=[], description=WARNINGS)


class EmbeddingAnswer(_Answer):
    """The vector of a text."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str = Field(repr=False, description="numbers, or base64 of 32-bit floats")


class EmbeddingUsageAnswer(_Answer):
    """Tokens of the encoder."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(_Answer):
    """A vector for each text, in order."""

    object: Literal["list"] = "list"
    data: list[EmbeddingAnswer]
    model: str
    usage: EmbeddingUsageAnswer


class ErrorDetail(_Answer):
    """What went wrong; ``message`` never repeats what was sent."""

    message: str
    type: Literal["invalid_request_error", "server_error"]
    param: str | None = Field(description="the field that is wrong, where it is one")
    code: str | None


class ErrorAnswer(_Answer):
    """Every error of every route, in the shape that OpenAI clients read."""

    error: ErrorDetail
