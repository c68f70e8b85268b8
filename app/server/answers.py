"""The bodies of answers, of ``app.rows`` and the routes, as the OpenAPI file describes them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.erasing import Cause, Check
from ingest.deciding.policy import Replacements

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
    title: str = Field(default="", repr=False, description="how its sanitized text begins")
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
    title: str = Field(default="", repr=False, description="how its sanitized text begins")
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
    replacements: Replacements = Field(
        description="how people are replaced; alias: the same in every document"
    )
    tau: float
    originals: int = Field(description="documents whose original is in the vault")
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
    finish_reason: Literal["stop", "length"] = Field(
        default="stop", description="length where max_tokens or max_completion_tokens cut it"
    )


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


class OutputTextAnswer(_Answer):
    """The text of a response."""

    type: Literal["output_text"] = "output_text"
    text: str = Field(repr=False)
    annotations: list[Any] = Field(default=[], repr=False)


class OutputMessageAnswer(_Answer):
    """The one message of a response."""

    type: Literal["message"] = "message"
    id: str
    status: Literal["completed", "incomplete"] = "completed"
    role: Literal["assistant"] = "assistant"
    content: list[OutputTextAnswer]


class IncompleteAnswer(_Answer):
    """Why a response was cut."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class ResponseUsageAnswer(_Answer):
    """Tokens of the encoder, which cuts all texts."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


class ResponseAnswer(_Answer):
    """An OpenAI response, extended by citations, engine and warnings. None is stored."""

    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="seconds since 1970")
    model: str
    status: Literal["completed", "incomplete"]
    error: None = None
    incomplete_details: IncompleteAnswer | None
    output: list[OutputMessageAnswer]
    usage: ResponseUsageAnswer
    citations: list[CitationAnswer]
    engine: str = Field(description="the engine that wrote the answer")
    question_sent: str | None = Field(
        repr=False,
        description="the sanitized question, where a remote model read it in place of the question",
    )
    warnings: list[str] = Field(default=[], description=WARNINGS)
    store: Literal[False] = False
    tools: list[Any] = Field(default=[], repr=False)
    tool_choice: Literal["none"] = "none"
    parallel_tool_calls: Literal[False] = False


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


class UnreadAnswer(_Answer):
    """Parts of a source that were not read, or that were and of which readers should know."""

    kind: str
    count: int
    reason: str
    read: bool = False
    documents: int | None = None


class DetectedRiskAnswer(_Answer):
    """The risk of found entities, in [0, 1]."""

    of: Literal["what was found"]
    before: float
    after: float
    engine: str | None = None


class DocumentAnswer(_Answer):
    """A document of a collection; ids are digests unless the collection keeps ids."""

    doc_id: str
    title: str = Field(repr=False, description="how its sanitized text begins")
    also_known_as: list[str] = Field(repr=False)
    readers: list[str] = Field(repr=False, description="groups that may read it; none for all")
    kept_at: str
    reviewed: str | None = Field(description="when a person looked through it")
    characters: int
    passages: int
    detected_risk: DetectedRiskAnswer
    doubts: list[str]
    not_read: list[UnreadAnswer]


class DocumentsAnswer(_Answer):
    """Documents in the order of their ids; ask again with the last id for more."""

    documents: list[DocumentAnswer]


class StoredDecisionAnswer(_Answer):
    """A decision about something in a stored document; its place is in the sanitized text."""

    start: int
    end: int
    label: str
    identifier: Literal["direct", "quasi", "attribute"]
    action: Literal["keep", "generalize", "surrogate", "suppress"]
    reason: str
    risk: float | None
    priority: float | None = Field(
        description="under the policy lethe, the bits that all kept facts then say"
    )


class DocumentTextAnswer(_Answer):
    """A document as it stands in the collection: sanitized."""

    doc_id: str
    title: str = Field(repr=False, description="how its text begins")
    text: str = Field(repr=False)
    warnings: list[str] = Field(repr=False, description=WARNINGS)
    decisions: list[StoredDecisionAnswer] | None = Field(
        default=None, repr=False, description="for keys with the scope ingest; null for others"
    )


class ReviewAnswer(_Answer):
    """Documents that nobody has looked through, the most urgent first."""

    left: int = Field(description="how many there are in all")
    documents: list[DocumentAnswer]


class ReviewedAnswer(_Answer):
    """What a review changed."""

    doc_id: str
    places: int = Field(description="places that were masked, in all documents")
    documents: int = Field(description="documents that were changed")


class FailureAnswer(_Answer):
    """A document that was not stored: the number of its file, from 1, with a line or record, and why."""

    place: str
    reason: str


class JobAnswer(_Answer):
    """Work that the server was given. Times are in UTC."""

    job_id: str
    kind: Literal["ingest", "resanitize", "audit"]
    collection: str
    dry_run: bool
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    ahead: int | None = Field(
        description="while it waits: the jobs that run, or whose turn comes before; jobs of keys take turns"
    )
    created: str
    started: str | None
    ended: str | None
    progress: dict[str, int] = Field(description="bytes and documents by now")
    failures: list[FailureAnswer]
    summary: dict[str, Any] | None = Field(repr=False, description="the run in numbers, once it is done")
    error: str | None = Field(description="why it failed")


class JobsAnswer(_Answer):
    """Jobs, the newest first."""

    jobs: list[JobAnswer]


class ErasureAnswer(_Answer):
    """An erased document, and the search of every file of the collection for traces of it."""

    doc_id: str
    also_known_as: list[str] = Field(repr=False)
    passages: int
    ledger_rows: int
    bytes_searched: int
    traces_found: int
    resumed: bool = Field(description="whether the erasure was begun before and cut short")


class AskedAnswer(_Answer):
    """Searches with the words of the erased passages."""

    passages: int
    found: int = Field(description="for which the document was among the results")
    members: int = Field(description="that an attacker who sees similarities only takes for stored")


class ProofAnswer(_Answer):
    """The same searches before and after: before, they must succeed to mean something."""

    before: AskedAnswer
    after: AskedAnswer
    read_back: int = Field(description="erased ids that the collection still knows")


class NotProvedAnswer(_Answer):
    """Checks that say nothing about some of the erased documents."""

    cause: Cause
    checks: list[Check] = Field(
        description="search by the passages' words, membership by similarity, files for text and vectors"
    )
    reason: str = Field(description="the cause in words")
    documents: int
    passages: int = Field(description="of these documents, as far as the cause is about them")


class ReceiptAnswer(_Answer):
    """What was erased. It is complete if nothing was found afterwards of all that could be looked for."""

    collection: str
    complete: Literal[True]
    proved: bool = Field(
        description="whether every check would have shown what is left, so that not_proved is empty"
    )
    not_proved: list[NotProvedAnswer] = Field(description="what the receipt leaves open, and why")
    erasures: list[ErasureAnswer]
    not_found: list[str] = Field(repr=False)
    proof: ProofAnswer


class DeletedAnswer(_Answer):
    """A collection that is gone."""

    deleted: str


class ScoresAnswer(_Answer):
    """The three scores, the priority made of them, and the bits of a fact; null where not measured."""

    risk: float | None
    divergence: float | None
    relevance: float | None
    priority: float | None
    bits: float | None


class DecisionAnswer(_Answer):
    """A mention and what was done with it; offsets count code points of ``read``."""

    start: int
    end: int
    label: str
    identifier: str
    confidence: float
    scores: ScoresAnswer | None
    action: str
    replacement: str = Field(repr=False)
    reason: str
    link: int
    source: str


class SanitizedAnswer(_Answer):
    """A sanitized text with every decision."""

    text: str = Field(repr=False)
    read: str = Field(repr=False, description="the text as it was read: in NFC, without invisible characters")
    decisions: list[DecisionAnswer] = Field(repr=False)
    places: list[tuple[int, int]] = Field(description="where each decision is in the sanitized text")
    detected_risk: DetectedRiskAnswer
    doubts: list[str]
    policy: str
    tau: float | None = Field(
        description="the threshold, where the policy has one: a priority under trip, bits under lethe"
    )
    policy_toml: str = Field(repr=False, description="the policy as a file for --policy")


class PolicyAnswer(_Answer):
    """A policy by name."""

    name: str
    description: str
    has_threshold: bool


class PoliciesAnswer(_Answer):
    """The policies that a collection may have."""

    policies: list[PolicyAnswer]


class KeyAnswer(_Answer):
    """A key without its secret; ``collections`` is null for all."""

    key_id: str
    name: str
    scopes: list[str]
    collections: list[str] | None
    groups: list[str] = Field(repr=False, description="groups whose documents it reads, beside those for all")
    created: str
    revoked: str | None


class NewKeyAnswer(KeyAnswer):
    """A key with its secret text, which is shown once."""

    key: str = Field(repr=False)


class KeysAnswer(_Answer):
    """All keys, the oldest first."""

    keys: list[KeyAnswer]


class TrailEntryAnswer(_Answer):
    """What somebody did. One that was altered may hold nothing but number, time and digest."""

    entry: int
    at: str
    key_id: str | None = Field(default=None, description="everybody for no key, console for the command line")
    action: str | None = Field(default=None, description="method and path, or the command")
    scopes: list[str] = Field(default=[], description="what the action needs")
    outcome: int | str | None = Field(default=None, description="an HTTP status, or begun, done or failed")
    collection: str | None = None
    about: str | None = Field(default=None, description="ids of documents, a key or a job")
    counts: dict[str, int] = {}
    digest: str


class TrailHeadAnswer(_Answer):
    """The last entry; of an empty trail 0 and no digest."""

    entry: int
    digest: str


class TrailAnswer(_Answer):
    """Entries of the trail; for more, ask for those behind the last number, or before it."""

    entries: list[TrailEntryAnswer]
    head: TrailHeadAnswer = Field(
        description="kept elsewhere, it shows later whether the end of the trail was cut off"
    )
    whole: bool = Field(description="whether every entry of the trail fits the one before it")
    first_broken: int | None = Field(
        description="the number of the first entry that was altered, removed, slipped in or cut off"
    )


class RevealedPlace(_Answer):
    """A decision: its half-open span in the original, and that of its replacement in the sanitized text."""

    start: int
    end: int
    label: str
    action: str
    sanitized: tuple[int, int]


class OriginalAnswer(_Answer):
    """The original of a document; spans count code points."""

    doc_id: str
    sealed_as: str = Field(description="the id when it was ingested; a text may have lost one of several")
    text: str = Field(repr=False)
    places: list[RevealedPlace]


class ErrorDetail(_Answer):
    """What went wrong; ``message`` never repeats what was sent."""

    message: str
    type: Literal["invalid_request_error", "server_error"]
    param: str | None = Field(description="the field that is wrong, where it is one")
    code: str | None


class ErrorAnswer(_Answer):
    """An error in the shape that OpenAI clients read."""

    error: ErrorDetail


class ProblemAnswer(_Answer):
    """An error of Lethe's own routes, after RFC 9457; ``detail`` never repeats what was sent."""

    type: str = Field(description="urn:lethe: and the code, or about:blank")
    title: str
    status: int
    detail: str
    code: str | None = None
    param: str | None = Field(default=None, description="the field that is wrong, where it is one")
