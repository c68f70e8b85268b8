"""Files that are sent as a form, read into memory: nothing of them is on the disk in clear."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.jobs.uploads import Upload
from app.server.quotas.later import TryLater
from models.errors import ConfigurationError

JSON, MULTIPART = "application/json", "multipart/form-data"
MOST_FILES, MOST_FIELDS = 1000, 10
READING = 300.0
"""Seconds in which an upload must have come: who sends slowly keeps others waiting."""
_AGAIN_S = 5


class _InMemory(MultiPartParser):
    """Keeps files in memory: by itself it writes larger ones to the disk in clear."""

    spool_max_size = 0


def content_type(request: Request) -> str:
    """The media type of a request's body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


@asynccontextmanager
async def arriving() -> AsyncIterator[None]:
    """While a body is read and understood.

    Raises:
        RequestValidationError: A field is wrong.
        TryLater: It has not come in time.
    """
    try:
        async with asyncio.timeout(READING):
            yield
    except TimeoutError:
        message = f"The upload has not come within {READING:g} s. Send less at once."
        raise TryLater(408, "upload_too_slow", message, _AGAIN_S) from None
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        ) from None


async def form_of(request: Request, of_json: Mapping[str, str]) -> tuple[dict[str, Any], list[Upload]]:
    """The fields of a form, and its files; the fields ``of_json`` hold JSON objects, such as theirs.

    Raises:
        ConfigurationError: It is no form, has no files, or such a field is no object.
    """
    if content_type(request) != MULTIPART:
        raise ConfigurationError(f"Send files as {MULTIPART}, or documents as {JSON}.")
    try:
        parser = _InMemory(request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS)
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError):
        raise ConfigurationError(
            f"The form could not be read: its parts are not as {MULTIPART} has them. Send up to {MOST_FILES} "
            f"files in parts named files, as `curl -F files=@notes.txt` does, and up to {MOST_FIELDS} other "
            "fields with short names, and let the client write the boundary."
        ) from None
    files = [
        Upload(each.filename or "", await each.read())
        for each in form.getlist("files")
        if isinstance(each, UploadFile)
    ]
    if not files or len(files) < len(form.getlist("files")):
        raise ConfigurationError(
            "files: send one file or more, each in a part of this name with a file name."
        )
    others = [(name, part) for name, part in form.multi_items() if name != "files"]
    fields: dict[str, Any] = dict(others)
    if len(fields) < len(others):
        raise ConfigurationError("The form names a field twice, other than files. Send each field once.")
    for name in fields.keys() & of_json.keys():
        try:
            fields[name] = json.loads(fields[name])
        except (TypeError, ValueError, RecursionError):
            raise ConfigurationError(f"{name}: send one JSON object, such as {of_json[name]}.") from None
    return fields, files
