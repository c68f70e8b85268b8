"""From errors to answers: one table, a shape for each family of routes, and never a part of the request."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.access.keys import UnknownKey
from app.access.trail import TrailNotWritten
from app.access.vault import NoOriginal, OriginalNotOpened
from app.erasing import NotErased
from app.jobs.audits import NoReport
from app.jobs.table import UnknownJob
from app.rows import error_text
from app.sanitizing import NotSanitized
from app.server.access import NotAllowed, NotAuthenticated
from app.server.answers import ErrorAnswer, ErrorDetail, ProblemAnswer
from app.server.routes.presidio import PATHS, BadRequest
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from models.language.protocol import PromptTooLong
from retrieval.collection import UnknownDocument
from retrieval.errors import CollectionBusy, CollectionError
from retrieval.guards.questions import QuestionNotSent

OF_HTTP: Mapping[int, tuple[str, str]] = {
    400: ("The body could not be read; send one JSON object in UTF-8.", "invalid_json"),
    404: ("There is no such path; GET /openapi.json lists all paths.", "not_found"),
}
"""Our wording for what the framework refuses."""

OPENAI = ("/v1/chat/", "/v1/responses", "/v1/models", "/v1/embeddings")
"""Beginnings of paths whose errors have OpenAI's shape; those of Presidio's are ``presidio.PATHS``."""
PROBLEM = "application/problem+json"
SHOWN_PROBLEMS = 10
"""How many problems of one body are reported."""


class UnknownModel(LetheError):
    """A client asked for an unknown model; ``there`` are those that its key may use."""

    def __init__(self, there: Sequence[str], why: str = "There is no such model") -> None:
        known = f"the models are {' and '.join(there)}" if there else "there are no collections yet"
        super().__init__(f"{why}; {known}.")


class UnknownCollection(LetheError):
    """A client asked for an unknown collection; ``there`` are those that its key may use."""

    def __init__(self, there: Sequence[str]) -> None:
        known = f"the collections are {' and '.join(there)}" if there else "there are none yet"
        super().__init__(f"There is no such collection; {known}.")


class TooLarge(LetheError):
    """A body of more bytes than are taken."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes; send less.")


STATUS: Mapping[type[LetheError], tuple[int, str]] = {
    UnknownKey: (404, "key_not_found"),
    ConfigurationError: (400, "invalid_value"),
    BadRequest: (422, "invalid_value"),
    NotAllowed: (403, "insufficient_scope"),
    UnknownCollection: (404, "collection_not_found"),
    UnknownDocument: (404, "document_not_found"),
    NotSanitized: (422, "not_sanitized"),
    NotErased: (500, "erasure_incomplete"),
    UnknownJob: (404, "job_not_found"),
    NoReport: (404, "no_report"),
    TooLarge: (413, "request_too_large"),
    QuestionNotSent: (400, "question_not_sent"),
    PromptTooLong: (413, "context_length_exceeded"),
    CollectionError: (409, "collection_error"),
    ModelUnavailable: (503, "model_unavailable"),
    TrailNotWritten: (503, "trail_unavailable"),
    NoOriginal: (404, "original_not_kept"),
    OriginalNotOpened: (409, "original_not_opened"),
    LetheError: (500, "internal_error"),
}
"""HTTP status and code of each kind of error; the first that fits, in this order."""


def add_error_handlers(app: FastAPI) -> None:
    """Let ``app`` answer every error with ``answer_for``."""
    app.add_exception_handler(LetheError, _of_lethe)
    app.add_exception_handler(UnknownModel, _unknown_model)
    app.add_exception_handler(NotAuthenticated, _not_authenticated)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(HTTPException, _of_http)


def answer_for(
    path: str,
    status: int,
    message: str,
    code: str | None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error in the shape that clients of a path read: OpenAI's, Presidio's, or RFC 9457."""
    if path in PATHS:
        return JSONResponse({"error": message}, status_code=status, headers=headers)
    if path.startswith(OPENAI):
        blame = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
        detail = {"message": message, "type": blame, "param": param, "code": code}
        answer = ErrorAnswer(error=ErrorDetail.model_validate(detail))
        return JSONResponse(answer.model_dump(), status_code=status, headers=headers)
    problem = ProblemAnswer(
        type=f"urn:lethe:{code}" if code else "about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=message,
        code=code,
        param=param,
    )
    return JSONResponse(problem.model_dump(), status_code=status, headers=headers, media_type=PROBLEM)


def told(app: FastAPI, error: Exception) -> str:
    """The text of an error of ours as an answer may have it, without paths of this machine."""
    assert isinstance(error, LetheError)
    if isinstance(error, CollectionBusy):
        return "Something else is being written to this collection. Send this again later."
    return error_text(error, getattr(app.state, "places", ()))


def in_openai_shape(error: LetheError, places: Sequence[str] = ()) -> str:
    """An error that ends an answer which has begun, as JSON; ``places`` are those of ``error_text``."""
    status, code = next(row for kind, row in STATUS.items() if isinstance(error, kind))
    return bytes(answer_for(OPENAI[0], status, error_text(error, places), code).body).decode()


def _of_lethe(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, LetheError)
    status, code = next(row for kind, row in STATUS.items() if isinstance(error, kind))
    message = told(request.app, error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"{message} The request id is {request.state.request_id}."
    return answer_for(request.url.path, status, message, code)


def _unknown_model(request: Request, error: Exception) -> JSONResponse:
    return answer_for(request.url.path, 404, told(request.app, error), "model_not_found", "model")


def _not_authenticated(request: Request, error: Exception) -> JSONResponse:
    return answer_for(
        request.url.path,
        401,
        told(request.app, error),
        "invalid_api_key",
        headers={"www-authenticate": "Bearer"},
    )


def _refused(request: Request, error: Exception) -> JSONResponse:
    """The problems of a body by field, never with values."""
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    if not problems or problems[0]["type"] == "json_invalid":
        return answer_for(request.url.path, 400, *OF_HTTP[400])
    reported = [_problem(each) for each in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        reported.append(f"and {len(problems) - SHOWN_PROBLEMS} more")
    code = "unsupported_parameter" if problems[0]["type"] == "extra_forbidden" else "invalid_value"
    return answer_for(request.url.path, 400, f"{'; '.join(reported)}.", code, _field(problems[0]))


def _problem(problem: Mapping[str, Any]) -> str:
    name = _field(problem)
    match problem["type"], name:
        case "extra_forbidden", _:
            return f"{name}: this field is not supported, leave it out"
        case _, "n":
            return "n: one answer is given, leave it out or send 1"
        case _, None:
            return f"the body: {problem['msg']}, send one JSON object as application/json"
        case _:
            return f"{name}: {problem['msg']}"


def _field(problem: Mapping[str, Any]) -> str | None:
    # A stranger's field name is a stranger's text: only what looks like a name is repeated.
    parts = [str(part) for part in problem["loc"][1:]]
    named = [part if part.isidentifier() or part.isdigit() else "(a field)" for part in parts]
    return ".".join(part[:64] for part in named) or None


def _of_http(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = (error.headers if isinstance(error, HTTPException) else None) or {}
    message, code = OF_HTTP.get(status, (f"{HTTPStatus(status).phrase}.", None))
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = headers.get("Allow", "another").replace(", ", " or ")
        message, code = f"Method not allowed; use {allowed}.", "method_not_allowed"
    return answer_for(request.url.path, status, message, code, headers=headers)
