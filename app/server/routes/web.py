"""The web page: static files under rules that let the browser load nothing else, and run nothing inline."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from eval.reports.render import style

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # Kept by the browser, and asked about each time.
    "cache-control": "no-cache",
}
_FOLDER = Path(__file__).parents[2] / "web"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes = field(repr=False)
    kind: str
    etag: str


def web_routes() -> APIRouter:
    """The page at ``/``, and its files below ``/web``."""
    router = APIRouter(include_in_schema=False)
    files = _files()

    @router.api_route("/", methods=["GET", "HEAD"])
    def page(request: Request) -> Response:
        return _answer(files["index.html"], request)

    @router.api_route("/web/{name}", methods=["GET", "HEAD"])
    def file(name: str, request: Request) -> Response:
        if name not in files:
            raise HTTPException(404)
        return _answer(files[name], request)

    return router


def _files() -> Mapping[str, _File]:
    """Every file by name, read once. Reports look in the page as they look alone."""
    found = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _KINDS}
    found["report.css"] = style().encode()
    return {
        name: _File(content, _KINDS[Path(name).suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
        for name, content in found.items()
    }


def _answer(file: _File, request: Request) -> Response:
    headers = {**HEADERS, "etag": file.etag}
    known = request.headers.get("if-none-match", "").split(",")
    if file.etag in [each.strip().removeprefix("W/") for each in known]:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)
