"""The bodies of Presidio's routes, with the names that its clients send and read."""

from functools import cached_property
from typing import Annotated, Any, Literal

import regex
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.server.bodies import LONGEST_CONTENT, MOST_TEXTS

MOST_RESULTS = 10_000
FLAGS = regex.DOTALL | regex.MULTILINE | regex.IGNORECASE


class _Body(BaseModel):
    # Presidio ignores fields that it does not know.
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class PatternBody(_Body):
    """An expression of the caller."""

    name: str | None = Field(default=None, repr=False)
    regex: str = Field(min_length=1, max_length=500, repr=False)
    score: float = Field(ge=0, le=1)


class RecognizerBody(_Body):
    """A recognizer of the caller, for one request."""

    name: str | None = Field(default=None, repr=False)
    supported_language: str = Field(default="en", repr=False)
    supported_entity: str = Field(min_length=1, max_length=100, repr=False)
    patterns: list[PatternBody] | None = Field(default=None, max_length=20)
    deny_list: list[str] | None = Field(default=None, max_length=1000, repr=False)
    deny_list_score: float = Field(default=1.0, ge=0, le=1)

    @cached_property
    def denied(self) -> regex.Pattern[str] | None:
        """The deny list in whole words, made once for all texts; it goes with the request."""
        words = "|".join(regex.escape(each) for each in self.deny_list or () if each)
        denied = rf"(?<![^\W_])(?:{words})(?![^\W_])"
        return regex.compile(denied, FLAGS, cache_pattern=False) if words else None


def _texts(given: object) -> object:
    listed = given if isinstance(given, list) and len(given) <= MOST_TEXTS else [given]
    if all(isinstance(each, str) and len(each) <= LONGEST_CONTENT for each in listed):
        return given
    wanted = f"send a text or a list of up to {MOST_TEXTS}, each of up to {LONGEST_CONTENT} characters"
    # Of a union it would be said what each of its types lacks.
    raise PydanticCustomError("texts", wanted)


Text = Annotated[str, Field(max_length=LONGEST_CONTENT)]


class AnalyzeBody(_Body):
    """Texts to find entities in."""

    text: Annotated[Text | Annotated[list[Text], Field(max_length=MOST_TEXTS)], BeforeValidator(_texts)] = (
        Field(repr=False)
    )
    language: str = Field(max_length=10, repr=False)
    entities: list[str] | None = Field(default=None, repr=False, description="types of entities")
    score_threshold: float | None = Field(default=None, ge=0, le=1)
    return_decision_process: bool | None = False
    ad_hoc_recognizers: list[RecognizerBody] | None = Field(default=None, max_length=20)
    allow_list: list[str] | None = Field(default=None, max_length=1000, repr=False)
    allow_list_match: Literal["exact", "regex"] = "exact"


class ExplanationAnswer(BaseModel):
    """What found an entity."""

    recognizer: str = Field(repr=False)
    original_score: float
    score: float


class RecognizedAnswer(BaseModel):
    """An entity; offsets are code points, half-open."""

    entity_type: str = Field(repr=False)
    start: int
    end: int
    score: float
    analysis_explanation: ExplanationAnswer | None = None


class ResultBody(_Body):
    """A result of ``/analyze``."""

    start: int
    end: int
    score: float
    entity_type: str = Field(repr=False)


class AnonymizeBody(_Body):
    """A text with its entities, and what becomes of each type."""

    text: Text = Field(min_length=1, repr=False)
    analyzer_results: list[ResultBody] = Field(max_length=MOST_RESULTS, repr=False)
    anonymizers: dict[str, dict[str, Any]] | None = Field(default=None, repr=False)


class OperatedBody(_Body):
    """An item of the answer of ``/anonymize``."""

    start: int
    end: int
    entity_type: str = Field(repr=False)
    text: str | None = Field(default=None, repr=False)
    operator: str | None = Field(default=None, repr=False)


class DeanonymizeBody(_Body):
    """An encrypted text with its items, and the keys."""

    text: Text = Field(min_length=1, repr=False)
    anonymizer_results: list[OperatedBody] = Field(max_length=MOST_RESULTS, repr=False)
    deanonymizers: dict[str, dict[str, Any]] = Field(repr=False)


class ItemAnswer(BaseModel):
    """What stands in place of an entity; offsets in the answer's text."""

    start: int
    end: int
    entity_type: str = Field(repr=False)
    text: str = Field(repr=False)
    operator: str = Field(repr=False)
    score: float | None = None


class OperatedAnswer(BaseModel):
    """The changed text, and its items, the last first."""

    text: str = Field(repr=False)
    items: list[ItemAnswer]


class RefusedAnswer(BaseModel):
    """An error in the shape that Presidio's clients read."""

    error: str = Field(repr=False)
