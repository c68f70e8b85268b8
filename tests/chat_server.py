"""A real HTTP server on the loopback address that speaks the OpenAI protocol; all it says is invented."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """One response; ``seconds`` is how long each of its bytes takes, ``cut`` ends it before its end."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: bool = False


def says(text: str) -> Reply:
    """A good answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Reply(json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


def streams(*pieces: str, seconds: float = 0.0, cut: bool = False) -> Reply:
    """A good answer as server-sent events, one for each piece; ``seconds`` for each byte."""
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
    events = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    events += [json.dumps({"choices": [], "usage": {"total_tokens": 1}}), "[DONE]"]
    body = ": a comment\n\n" + "".join(f"data: {event}\n\n" for event in events)
    return Reply(body.encode(), headers={"Content-Type": "text/event-stream"}, seconds=seconds, cut=cut)


@dataclass(slots=True)
class ChatServer:
    """Gives ``replies`` in turn, the last one for ever, or what ``answer`` makes of a request; keeps all."""

    replies: list[Reply]
    answer: Callable[[dict[str, Any]], Reply] | None = None
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def reply_to(self, request: dict[str, Any]) -> Reply:
        """The reply to a request, which is kept."""
        self.requests.append(request)
        if self.answer:
            return self.answer(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


@contextmanager
def chat_server(
    *replies: Reply, answer: Callable[[dict[str, Any]], Reply] | None = None
) -> Iterator[ChatServer]:
    """A server on a free port, ended with the block."""
    chat = ChatServer(list(replies), answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            chat.paths.append(self.path)
            chat.keys.append(self.headers["Authorization"])
            reply = chat.reply_to(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(reply.status)
            headers = {"Content-Type": "application/json", **reply.headers}
            for name, value in {"Content-Length": str(len(reply.body) + reply.cut), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            step = 1 if reply.seconds else len(reply.body) or 1
            try:
                for start in range(0, len(reply.body), step):
                    if reply.seconds:
                        time.sleep(reply.seconds)
                    self.wfile.write(reply.body[start : start + step])
            except OSError:
                return  # the client had enough

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
