"""A model hub on loopback that holds invented repositories."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from models.catalog import ModelRef

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class InventedHub:
    """A hub that holds ``repositories``: name to files; ``asked`` notes every path."""

    repositories: dict[str, dict[str, bytes]]
    commit: str = COMMIT
    announced: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers for a request of ``path``."""
        self.asked.append(path)
        for name, files in self.repositories.items():
            if path.startswith(f"/api/models/{name}/tree/"):
                return 200, json.dumps([self._entry(name, at) for at in files]).encode(), {}
            if path == f"/api/models/{name}" or path.startswith(f"/api/models/{name}/revision/"):
                siblings = [{"rfilename": at, **self._entry(name, at)} for at in files]
                about = {"id": name, "sha": self.commit, "siblings": siblings}
                return 200, json.dumps({**about, "cardData": {"license": "mit"}}).encode(), {}
            if path.startswith(f"/{name}/resolve/"):
                body = files[path.split("/", 5)[5]]
                tag = hashlib.sha256(body).hexdigest()
                return 200, body, {"ETag": f'"{tag}"', "X-Repo-Commit": self.commit}
        return 404, b"{}", {"X-Error-Code": "RepoNotFound"}

    def _entry(self, name: str, path: str) -> dict[str, object]:
        body = self.repositories[name][path]
        entry: dict[str, object] = {"type": "file", "path": path, "size": len(body), "oid": "0" * 40}
        if path.endswith((".safetensors", ".bin")):
            digest = self.announced.get(path, hashlib.sha256(body).hexdigest())
            large = {"oid": digest, "sha256": digest, "size": len(body), "pointerSize": 100}
            entry["lfs"] = large
        return entry

    def fetched(self) -> set[str]:
        """The files that were asked for."""
        return {path.split("/", 5)[5] for path in self.asked if "/resolve/" in path}


@contextmanager
def hub_on_loopback(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InventedHub]:
    """A hub on loopback, which the library takes for the real one, with ``cache`` for its cache."""
    from huggingface_hub import constants

    invented = InventedHub({})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, headers = invented.answer(urlsplit(self.path).path)
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    # The command line, run in this process by another test, has told the library to stay offline.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    try:
        yield invented
    finally:
        server.shutdown()
        server.server_close()


def hub_ref(name: str, revision: str | None = None) -> ModelRef:
    return ModelRef(source="hub", name=name, revision=revision)
