"""The bodies of requests, validated; unsupported fields of OpenAI clients are refused by name."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from app.access.keys import Scope
from eval.studies.audit.options import LEAKS, USES, Options, SuiteName
from ingest.readers import MOST, READERS_FIELD, groups_in
from models.errors import ConfigurationError

NO_EFFECT = "accepted for compatibility, without effect"
MOST_TOKENS = "word pieces of the encoder, as usage counts them, after which the answer is cut"
LONGEST_CONTENT = 100_000
LONGEST_SANITIZED = 20_000
"""Characters of one text: longer ones are documents, which a job sanitizes."""
LONGEST_DOCUMENT = 2**31
MOST_STOPS = 16
MOST_TEXTS = 2048
OTHER_PARTS = ("image_url", "input_image", "input_audio", "file", "input_file", "refusal")
"""Kinds of parts that clients may send and that are not read."""


def _joined(content: object) -> object:
    """The text of parts, joined by line ends; anything but a list is left to validation."""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        match part:
            case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                texts.append(text)
            case {"type": str(kind)} if kind in OTHER_PARTS:
                reason = f"parts of type {kind} are not read, send parts of type text"
                raise PydanticCustomError("content_part", reason)
            case _:
                raise PydanticCustomError("content_part", "send text, or parts of type text with their text")
    return "\n".join(texts)


def _one_line(words: str) -> str:
    if not words.isprintable():
        raise PydanticCustomError("words", "write words on one line, without control or invisible characters")
    return words.strip()


def _listed(stop: object) -> object:
    return [stop] if isinstance(stop, str) else stop


_TEXT = {"type": "string", "maxLength": LONGEST_CONTENT}
_PART: dict[str, Any] = {
    "type": "object",
    "required": ["type", "text"],
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
}
Content = Annotated[
    Annotated[str, Field(max_length=LONGEST_CONTENT)],
    BeforeValidator(_joined),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _PART}]}),
]
"""Text, or a list of parts of type text, which become one text."""

_STOP: dict[str, Any] = {"type": "string", "minLength": 1}
Stop = Annotated[
    Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=MOST_STOPS)] | None,
    BeforeValidator(_listed),
    WithJsonSchema(
        {"anyOf": [_STOP, {"type": "array", "items": _STOP, "maxItems": MOST_STOPS}, {"type": "null"}]}
    ),
]


Named = Annotated[str, Path(max_length=64, description="a collection's name")]


_OF_A_FORM = ConfigDict(strict=False)
"""Fields of forms are texts."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, strict=True)


_COLLECTION = Field(
    default=None, max_length=64, description="its name; may be left out where the caller has one alone"
)


class SearchBody(_Body):
    """A question to look passages up for."""

    collection: str | None = _COLLECTION
    question: str = Field(min_length=1, max_length=20_000, repr=False)
    k: int | None = Field(default=None, ge=1, le=100, description="passages; the server's setting if absent")


class ChatMessageBody(_Body):
    """One turn of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content = Field(repr=False, description="text, or parts of type text")
    name: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)


class ResponseFormatBody(_Body):
    """Answers are text."""

    type: Literal["text"]


class StreamOptionsBody(_Body):
    """Stream options of clients."""

    include_usage: bool | None = Field(default=None, description="whether a last chunk counts tokens")
    include_obfuscation: bool | None = Field(default=None, description=NO_EFFECT)


class EmbeddingsBody(_Body):
    """Texts to encode."""

    input: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=LONGEST_CONTENT)]],
        Field(min_length=1, max_length=MOST_TEXTS),
        BeforeValidator(_listed),
        WithJsonSchema(
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = Field(repr=False, description="texts, read up to the encoder's most tokens; 2000 pages take a minute")
    model: str = Field(max_length=200, description="lethe, or the name of the encoder")
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = Field(default=None, ge=1, description="those of the encoder, or left out")
    user: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)


class ChatBody(_Body):
    """A chat. The question is its last user turn; where that goes on about another, both are."""

    model: str = Field(default="lethe", max_length=200, description="kb: and a collection's name, or lethe")
    collection: str | None = _COLLECTION
    messages: list[ChatMessageBody] = Field(min_length=1, max_length=200)
    stream: bool | None = Field(default=None, description="whether the answer comes as server-sent events")
    stream_options: StreamOptionsBody | None = None
    stop: Stop = Field(default=None, repr=False, description="strings before which the answer ends")
    response_format: ResponseFormatBody | None = None
    n: int | None = Field(default=None, ge=1, le=1, description="one answer is given")
    temperature: float | None = Field(default=None, ge=0, le=2, description=NO_EFFECT)
    top_p: float | None = Field(default=None, ge=0, le=1, description=NO_EFFECT)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2, description=NO_EFFECT)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2, description=NO_EFFECT)
    max_tokens: int | None = Field(default=None, ge=1, description=MOST_TOKENS)
    max_completion_tokens: int | None = Field(default=None, ge=1, description=MOST_TOKENS)
    user: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)
    seed: int | None = Field(default=None, description=NO_EFFECT)


class ResponseMessageBody(_Body):
    """One turn of what a response is asked for."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: Content = Field(repr=False, description="text, or parts of type input_text or output_text")
    id: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)
    status: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)


class TextFormatBody(_Body):
    """Answers are text."""

    format: ResponseFormatBody | None = None
    verbosity: Literal["low", "medium", "high"] | None = Field(default=None, description=NO_EFFECT)


def _turn(given: object) -> object:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


class ResponsesBody(_Body):
    """What a response is asked for, in OpenAI's newer form. Nothing is stored: send all turns each time."""

    model: str = Field(default="lethe", max_length=200, description="kb: and a collection's name, or lethe")
    collection: str | None = _COLLECTION
    input: Annotated[
        list[ResponseMessageBody],
        Field(min_length=1, max_length=200),
        BeforeValidator(_turn),
        WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": {"type": "object"}}]}),
    ]
    stream: bool | None = Field(default=None, description="whether the answer comes as server-sent events")
    max_output_tokens: int | None = Field(default=None, ge=1, description=MOST_TOKENS)
    text: TextFormatBody | None = None
    instructions: Content | None = Field(default=None, repr=False, description=NO_EFFECT)
    temperature: float | None = Field(default=None, ge=0, le=2, description=NO_EFFECT)
    top_p: float | None = Field(default=None, ge=0, le=1, description=NO_EFFECT)
    store: bool | None = Field(default=None, description="without effect: no response is stored")
    metadata: dict[str, str] | None = Field(default=None, repr=False, description=NO_EFFECT)
    user: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)


Readers = Annotated[
    list[str],
    Field(max_length=MOST, repr=False, description="groups that may read documents that name none"),
    BeforeValidator(_listed),
]


class OrderBody(_Body):
    """How documents are to be read and sanitized."""

    model_config = _OF_A_FORM

    policy: dict[str, Any] = Field(
        default={},
        repr=False,
        description="settings of the policy, as in settings.toml, for a collection that is not there yet",
    )
    dry_run: bool = Field(default=False, description="whether nothing is stored and decisions are counted")
    text_field: str = Field(default="text", min_length=1, max_length=1000, repr=False)
    id_field: str = Field(default="id", min_length=1, max_length=1000, repr=False)
    readers_field: str = Field(default=READERS_FIELD, min_length=1, max_length=1000, repr=False)
    readers: Readers = []


class DocumentBody(_Body):
    """A document; an id that names somebody is stored as a digest."""

    id: str = Field(min_length=1, max_length=1000, repr=False)
    text: str = Field(min_length=1, repr=False)
    readers: list[str] = Field(
        default=[], max_length=MOST, repr=False, description="groups that may read it, in place of the others"
    )


class DocumentsBody(_Body):
    """Documents for a collection."""

    documents: list[DocumentBody] = Field(min_length=1, max_length=10_000)
    policy: dict[str, Any] = Field(default={}, repr=False)
    dry_run: bool = False
    readers: Readers = []

    def order(self) -> OrderBody:
        """How they are read."""
        for each in self.documents:
            groups_in(each.readers)
        return OrderBody(policy=self.policy, dry_run=self.dry_run, readers=self.readers)

    def lines(self) -> bytes:
        """The documents as JSON lines."""
        return b"\n".join(each.model_dump_json().encode() for each in self.documents)


FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
        "policy": {"type": "string", "description": "a JSON object, as policy in the JSON body"},
        "dry_run": {"type": "boolean"},
        "text_field": {"type": "string"},
        "id_field": {"type": "string"},
        "readers_field": {"type": "string", "description": "the field of records with groups that may read"},
        "readers": {"type": "string", "description": "groups that may read what names none, with commas"},
    },
}
"""Files for a collection, as a form."""


class EraseBody(_Body):
    """Documents to erase: by id, and all about somebody where the policy has keyed aliases."""

    ids: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(
        default=[], max_length=1000, repr=False, description="as they were given, or as they are listed"
    )
    people: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default=[], max_length=20, repr=False, description="full names, which are not stored"
    )


class MaskBody(_Body):
    """A place of a sanitized text, half-open in code points, and what is to stand there."""

    start: int = Field(ge=0, le=LONGEST_DOCUMENT)
    end: int = Field(ge=1, le=LONGEST_DOCUMENT)
    instead: Annotated[str, AfterValidator(_one_line)] = Field(
        default="",
        max_length=200,
        repr=False,
        description="milder words; its kind in brackets if there are none",
    )


class ReviewBody(_Body):
    """What a person who looked through a document wants masked; nothing, if all may stay."""

    masks: list[MaskBody] = Field(default=[], max_length=1000, repr=False)
    everywhere: bool = Field(
        default=False, description="whether the same words go wherever else they stand in the collection"
    )


class SanitizeBody(_Body):
    """A text to sanitize; nothing of it is stored."""

    text: str = Field(min_length=1, max_length=LONGEST_SANITIZED, repr=False)
    collection: str | None = Field(
        default=None, max_length=64, description="the collection whose policy and scale are taken"
    )
    policy: dict[str, Any] = Field(
        default={}, repr=False, description="settings of the policy, as in settings.toml"
    )


class ResanitizeBody(_Body):
    """Another collection from the originals of one."""

    into: str = Field(max_length=64, description="a collection that is not there yet")
    policy: dict[str, Any] = Field(default={}, repr=False)


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class AuditBody(_Body):
    """How a collection is to be audited with the originals of its vault."""

    suite: SuiteName = "standard"
    seed: int = Field(default=0, ge=0, le=2**31)
    at_most: dict[str, Share] = Field(
        default={},
        repr=False,
        description="gates: the most of a leak, by the name of a measure, such as linked",
    )
    at_least: dict[str, Share] = Field(
        default={}, repr=False, description="gates: the least of what is useful, such as found-first"
    )

    def options(self) -> dict[str, Any]:
        """The options of an audit; raises ConfigurationError for a gate of no measure."""
        for place, limits, names in (("at_most", self.at_most, LEAKS), ("at_least", self.at_least, USES)):
            for number, name in enumerate(limits, 1):
                # Options would tell the name, which is a stranger's text here.
                if name not in names:
                    told = f"{place}: name {number} in it is not that of a measure"
                    raise ConfigurationError(f"{told}. Those are: {', '.join(names)}.")
        return asdict(Options(self.suite, self.seed, self.at_most, self.at_least))


class AuditFormBody(AuditBody):
    """The same, and how the files that are sent are to be read."""

    model_config = _OF_A_FORM

    text_field: str = Field(default="text", min_length=1, max_length=1000, repr=False)
    id_field: str = Field(default="id", min_length=1, max_length=1000, repr=False)


AUDIT_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
        "suite": {"enum": ["quick", "standard", "full"]},
        "seed": {"type": "integer"},
        "at_most": {"type": "string", "description": "a JSON object, as in the JSON body"},
        "at_least": {"type": "string", "description": "a JSON object, as in the JSON body"},
        "text_field": {"type": "string"},
        "id_field": {"type": "string"},
    },
}
"""Originals for an audit, as a form."""


class KeyBody(_Body):
    """A key to make."""

    name: str = Field(max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=10)
    collections: list[str] | None = Field(default=None, max_length=1000, description="none for all")
    groups: list[str] = Field(
        default=[],
        max_length=MOST,
        repr=False,
        description="groups whose documents it may read, beside those for all",
    )
