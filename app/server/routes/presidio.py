"""The routes of Presidio clients, with Presidio's payloads: only the URL of such a client changes.

Entities are found by Lethe's own detector; replacing them is the work of the library ``presidio-anonymizer``.
Nothing is stored.
"""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import regex
from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse

from app.server.access import Asking
from app.server.bodies import LONGEST_CONTENT
from app.server.quotas.slots import ModelSlot
from app.server.routes.presidio_bodies import (
    FLAGS,
    AnalyzeBody,
    AnonymizeBody,
    DeanonymizeBody,
    OperatedAnswer,
    OperatedBody,
    RecognizedAnswer,
    ResultBody,
)
from ingest.detection.presidio import TYPES
from ingest.documents import ACCEPTED, Action, Decision, Document, Entity, Identifier
from ingest.labels import LABELS
from ingest.language.normalize import FixedText, fixed_text
from ingest.protocols import EntityDetector
from ingest.wording.replace import whole_words
from models.errors import LetheError

PATHS = frozenset(
    ("/analyze", "/anonymize", "/deanonymize", "/recognizers", "/supportedentities")
    + ("/anonymizers", "/deanonymizers", "/health")
)
"""Their errors have Presidio's shape."""
_WIDER = ("reference number", "place", "health insurance number")
"""Labels that hold more than Presidio's type."""
_NHS = "UK_NHS"
_OWN_TYPES = {
    **{label: name for name, label in TYPES.items() if label not in _WIDER},
    **dict.fromkeys(("place", "city name", "county", "state or province", "country"), "LOCATION"),
    **dict.fromkeys(("street address", "nearby GPS coordinate"), "LOCATION"),
    **dict.fromkeys(("date", "date of birth", "time"), "DATE_TIME"),
    **dict.fromkeys(("nationality", "religion", "demographic attribute"), "NRP"),
    "personal web link": "URL",
    "person age": "AGE",
}
_WRITTEN = 2_000_000
"""The most characters that operators may write into one text."""
_NOT_OVER_HTTP = ("custom", "surrogate_ahds")
_SECONDS = 2.0
"""How long a request's own expressions may search its texts."""
_LONGEST_PATTERN = 500
_DENIED = 100_000
"""The most characters of the deny lists of a request: an expression is made of each."""
_REPEATS = 1000
"""The most repetitions that an expression may ask for by numbers; a compiled one takes memory for each."""
_COUNT = re.compile(r"\{(?:\s*[0-9]*\s*,)?\s*([0-9]+)\s*\}")
_RECURS = re.compile(r"\(\?(?:R|[0-9]|&|P>|\()")
_DEEPEST = 20
"""The most groups that an expression may nest."""


class BadRequest(LetheError):
    """A request that Presidio would refuse as well."""


def type_of(label: str, source: str = "") -> str:
    """Presidio's name of a label that ``source`` found; of one that it lacks the label in capitals."""
    if source == "pattern:gb.nhs":
        return _NHS
    return _OWN_TYPES.get(label, label.upper().replace(" ", "_").replace("-", "_"))


def presidio_routes(detector: Callable[[], EntityDetector]) -> APIRouter:
    """Presidio's routes over a detector, which is loaded when it is first needed."""
    router = APIRouter(tags=["Presidio"])

    @router.get("/health", response_class=PlainTextResponse)
    def health() -> str:
        """The server is up."""
        return "Lethe is up"

    _add_analyzer(router, detector)
    _add_anonymizer(router)
    return router


def _add_analyzer(router: APIRouter, detector: Callable[[], EntityDetector]) -> None:
    types = sorted({_NHS, *map(type_of, LABELS)})

    @router.get("/supportedentities", response_model=list[str])
    def supported(key: Asking, language: str = "en") -> list[str]:
        """The types of entities."""
        _check(language)
        return types

    @router.get("/recognizers", response_model=list[str])
    def recognizers(key: Asking, slot: ModelSlot, language: str = "en") -> list[str]:
        """What finds entities."""
        _check(language)
        return detector().name.split("+")

    @router.post("/analyze", response_model=list[RecognizedAnswer] | list[list[RecognizedAnswer]])
    def analyze(body: AnalyzeBody, key: Asking, slot: ModelSlot) -> object:
        """The entities of a text, or of each of several."""
        _check(body.language)
        texts = [body.text] if isinstance(body.text, str) else body.text
        read = [FixedText.of(text) for text in texts]
        documents = [Document(str(number), each.text) for number, each in enumerate(read)]
        denied = [word for each in body.ad_hoc_recognizers or () for word in each.deny_list or ()]
        if sum(map(len, denied)) > _DENIED:
            raise BadRequest(f"The deny lists are too long: send up to {_DENIED} characters in all of them.")
        until = time.monotonic() + _SECONDS
        found = [
            _answers(body, text, fixed, entities, until)
            for text, fixed, entities in zip(texts, read, detector().detect(documents), strict=True)
        ]
        return found[0] if isinstance(body.text, str) else found


def _add_anonymizer(router: APIRouter) -> None:
    @router.get("/anonymizers", response_model=list[str])
    def anonymizers(key: Asking) -> list[str]:
        """The operators of ``/anonymize``."""
        from presidio_anonymizer import AnonymizerEngine

        return [name for name in AnonymizerEngine().get_anonymizers() if name not in _NOT_OVER_HTTP]

    @router.get("/deanonymizers", response_model=list[str])
    def deanonymizers(key: Asking) -> list[str]:
        """The operators of ``/deanonymize``."""
        from presidio_anonymizer import DeanonymizeEngine

        return list(DeanonymizeEngine().get_deanonymizers())

    @router.post("/anonymize", response_model=OperatedAnswer)
    def anonymize(body: AnonymizeBody, key: Asking) -> JSONResponse:
        """The text with its entities replaced, masked, hashed, encrypted, redacted or kept."""
        from presidio_anonymizer import AnonymizerEngine
        from presidio_anonymizer.services.app_entities_convertor import AppEntitiesConvertor as Convertor

        def run() -> str:
            _check_operators(body.anonymizers or {})
            operators = Convertor.operators_config_from_json(body.anonymizers)
            values = [str(value) for each in (body.anonymizers or {}).values() for value in each.values()]
            if len(body.analyzer_results) * max(map(len, values), default=0) > _WRITTEN:
                raise BadRequest("Too much would be written: send fewer results or shorter values.")
            rows = [each.model_dump() for each in body.analyzer_results]
            results = Convertor.analyzer_results_from_json(rows)
            return str(AnonymizerEngine().anonymize(body.text, results, operators).to_json())

        return _operated(run, body)

    @router.post("/deanonymize", response_model=OperatedAnswer)
    def deanonymize(body: DeanonymizeBody, key: Asking) -> JSONResponse:
        """The text with what was encrypted."""
        from presidio_anonymizer import DeanonymizeEngine
        from presidio_anonymizer.services.app_entities_convertor import AppEntitiesConvertor as Convertor

        def run() -> str:
            operators = Convertor.operators_config_from_json(body.deanonymizers)
            items = Convertor.deanonymize_entities_from_json(body.model_dump())
            return str(DeanonymizeEngine().deanonymize(body.text, items, operators).to_json())

        return _operated(run, body)


def _check(language: str) -> None:
    if language not in ACCEPTED:
        raise BadRequest(
            "No matching recognizers were found to serve the request: the language is one of "
            f"{', '.join(ACCEPTED)}."
        )


def _check_operators(operators: Mapping[str, Mapping[str, Any]]) -> None:
    for number, each in enumerate(operators.values(), 1):
        if each.get("type") in _NOT_OVER_HTTP:
            raise BadRequest("Operators custom and surrogate_ahds are not taken over HTTP.")
        most = each.get("chars_to_mask", 0)
        # Below 0 the library masks nothing.
        if isinstance(most, int) and not 0 <= most <= LONGEST_CONTENT:
            raise BadRequest(
                f"Invalid input: chars_to_mask of operator {number}. Send 0 to {LONGEST_CONTENT}."
            )


def _operated(run: Callable[[], str], body: AnonymizeBody | DeanonymizeBody) -> JSONResponse:
    """What the library made, or its refusal, which may quote the request and is not repeated."""
    # The library takes their types out.
    sent = body.model_copy(deep=True)
    try:
        return JSONResponse(json.loads(run()))
    except _refusals():
        raise BadRequest(
            f"Invalid input: {_wrong(sent)}. GET /anonymizers lists the operators; keys have 128, 192 or 256 "
            "bits, and places end in the text."
        ) from None


def _refusals() -> tuple[type[Exception], ...]:
    from presidio_anonymizer.entities import InvalidParamError

    return InvalidParamError, ValueError, TypeError, AttributeError, KeyError


def _wrong(body: AnonymizeBody | DeanonymizeBody) -> str:
    """Which operator or result of a request is refused, by its number."""
    from presidio_anonymizer.operators import OperatorsFactory, OperatorType

    kind, operators = OperatorType.Deanonymize, getattr(body, "deanonymizers", {})
    results: Sequence[ResultBody | OperatedBody] = getattr(body, "anonymizer_results", ())
    if isinstance(body, AnonymizeBody):
        kind, operators, results = OperatorType.Anonymize, body.anonymizers or {}, body.analyzer_results
        operators = {**operators, "DEFAULT": operators.get("DEFAULT", {"type": "replace"})}
    at = ""
    try:
        for number, each in enumerate(operators.values(), 1):
            at = f"operator {number}, or one of its parameters"
            made = OperatorsFactory().create_operator_class(each["type"], kind)
            made.validate({**each})
        for number, result in enumerate(results, 1):
            at = f"the place of result {number}, or its operator"
            chosen = operators.get(result.entity_type) or operators["DEFAULT"]
            made = OperatorsFactory().create_operator_class(chosen["type"], kind)
            if not 0 <= result.start <= result.end <= len(body.text):
                return at
            made.operate(body.text[result.start : result.end], {**chosen, "entity_type": result.entity_type})
    except _refusals():
        return at
    return "an operator, or the place of a result"


def _answers(
    body: AnalyzeBody, text: str, fixed: FixedText, entities: Sequence[Entity], until: float
) -> list[Mapping[str, object]]:
    """The results of one text, by place in it as it was sent, each place and type once."""
    best: dict[tuple[int, int, str], tuple[float, str]] = {}
    for start, end, name, score, source in (*_found(body, fixed, entities), *_by_caller(body, text, until)):
        place = (start, end, name)
        allowed = body.allow_list and _is_allowed(fixed_text(text[start:end]), body, until)
        if score >= (body.score_threshold or 0) and not allowed:
            best[place] = max(best.get(place, (-1.0, "")), (round(score, 4), source))
    return [
        {
            "entity_type": name,
            "start": start,
            "end": end,
            "score": score,
            "analysis_explanation": {"recognizer": source, "original_score": score, "score": score}
            if body.return_decision_process
            else None,
        }
        for (start, end, name), (score, source) in sorted(best.items())
    ]


_Found = tuple[int, int, str, float, str]


def _found(body: AnalyzeBody, fixed: FixedText, entities: Sequence[Entity]) -> Iterator[_Found]:
    """The types asked for, in whole words; without them what identifies alone or with other facts."""
    replaced = [Decision(each, None, Action.GENERALIZE, "") for each in entities]
    for each in (decision.entity for decision in whole_words(fixed.text, replaced)):
        name = type_of(each.label, each.source)
        asked = name in body.entities if body.entities else each.identifier is not Identifier.ATTRIBUTE
        if asked:
            yield *fixed.original(each.span.start, each.span.end), name, each.confidence, each.source


def _by_caller(body: AnalyzeBody, text: str, until: float) -> Iterator[_Found]:
    for recognizer in body.ad_hoc_recognizers or ():
        name = recognizer.supported_entity
        if body.entities and name not in body.entities:
            continue
        patterns = [(each.regex, each.score) for each in recognizer.patterns or ()]
        for pattern, score in patterns:
            for start, end in _matches(pattern, text, until):
                yield start, end, name, score, "ad hoc"
        for start, end in _spans(recognizer.denied, text, until) if recognizer.denied else ():
            yield start, end, name, recognizer.deny_list_score, "ad hoc"


def _matches(pattern: str, text: str, until: float) -> list[tuple[int, int]]:
    """Where a caller's expression matches; refused where compiling it could take the server's memory."""
    if len(pattern) > _LONGEST_PATTERN:
        raise BadRequest(f"A regular expression of the request is longer than {_LONGEST_PATTERN} characters.")
    # A count of zero must not hide the others.
    repeats = math.prod(max(1, int(count)) for count in _COUNT.findall(pattern))
    depth = max(accumulate((char == "(") - (char == ")") for char in pattern))
    if repeats > _REPEATS or depth > _DEEPEST or _RECURS.search(pattern):
        raise BadRequest("A regular expression of the request repeats, nests or recurs too much.")
    return _spans(pattern, text, until)


def _spans(pattern: str | regex.Pattern[str], text: str, until: float) -> list[tuple[int, int]]:
    try:
        # Not kept: it may hold private words.
        compiled = regex.compile(pattern, FLAGS, cache_pattern=False) if isinstance(pattern, str) else pattern
        left = max(0.001, until - time.monotonic())
        spans = [each.span() for each in compiled.finditer(text, timeout=left)]
        return [(start, end) for start, end in spans if end > start]
    except (regex.error, ValueError, TimeoutError, RecursionError, MemoryError) as error:
        wrong = "takes too long" if isinstance(error, TimeoutError) else "is not one that can be read"
    raise BadRequest(f"A regular expression of the request {wrong}.")


def _is_allowed(said: str, body: AnalyzeBody, until: float) -> bool:
    if body.allow_list_match == "exact":
        return said in map(fixed_text, body.allow_list or ())
    return any(_matches(each, said, until) for each in body.allow_list or () if each)
