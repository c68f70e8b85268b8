"""A language model behind an OpenAI-compatible server, over HTTP.

Errors name server and status and never quote a prompt or an answer. Nothing in the environment (proxies,
keys) changes where a prompt goes.
"""

import json
import ssl
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

import httpx

from models.errors import ConfigurationError, ModelUnavailable
from models.language.protocol import ChatMessage
from models.loopback import is_loopback

MAX_TRIES = 3
"""Maximum number of attempts at status 429."""
LONGEST_WAIT_S = 30.0
"""A ``Retry-After`` beyond this is not waited for."""
MAX_RESPONSE_BYTES = 16 * 2**20
NO_SCHEMA = (400, 404, 415, 422, 501)
"""Statuses with which servers refuse a request for a schema, which may be fine without one."""

REMEDIES: Mapping[int, str] = {
    400: "the prompt may be longer than the server's context: set fewer context tokens",
    401: "check the API key",
    403: "check the API key and what it may do",
    404: "check the base URL and the model's name",
    413: "the prompt is too long for the server: set fewer context tokens",
    429: "it is out of quota or busy: wait, or ask for a higher limit",
}


class ServerRefused(ModelUnavailable):
    """A server answered with an HTTP status that is no success."""

    def __init__(self, what: str, remedy: str, status: int) -> None:
        super().__init__(what, remedy)
        self.status = status


class OpenAICompatibleModel:
    """``POST /chat/completions``; each call opens and closes its own connection.

    ``base_url`` is as for the OpenAI clients, ``http://127.0.0.1:8080/v1``; ``/v1`` is added without a path.
    ``api_key`` is sent as a bearer token and shown nowhere, ``timeout_s`` is for one try, from connecting to
    the last byte, and ``context_tokens`` the room for prompt and answer. ``allow_insecure`` permits plain
    HTTP to another machine, where the network can read prompts. Raises ConfigurationError where URL or key
    cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        *,
        context_tokens: int = 8192,
        allow_insecure: bool = False,
    ) -> None:
        self._url = _completions_url(base_url, allow_insecure=allow_insecure)
        self._host, self._model = self._url.netloc.decode("ascii"), model
        self.name = f"{model} at {self._host}"
        self.context_tokens = context_tokens
        self._headers = {"content-type": "application/json", **_authorization(api_key)}
        self._timeout_s = timeout_s
        self._knows_schemas = True
        # Python's own context: unlike httpx's it knows the certificates of the machine's owner.
        self._tls = ssl.create_default_context()

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """An estimate, since the tokenizer is elsewhere: three bytes a token, and eight a turn."""
        return sum(len(m.content.encode("utf-8", "replace")) // 3 + 9 for m in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """The server's answer; ModelUnavailable names host and HTTP status where no usable one came."""
        body = self._body(messages, max_tokens, temperature, seed)
        return self._text(b"".join(self._posted(body)))

    def complete_as(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """The server's answer, as JSON of this schema; without one if it refuses requests for one."""
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        if self._knows_schemas:
            body = self._body(messages, max_tokens, temperature, seed, response_format=form)
            try:
                return self._text(b"".join(self._posted(body)))
            except ServerRefused as error:
                if error.status not in NO_SCHEMA:
                    raise
                self._knows_schemas = False
        return self.complete(messages, max_tokens=max_tokens, temperature=temperature, seed=seed)

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Generator[str]:
        """The answer as the server sends it; whole from a server that does not stream."""
        body, read = self._body(messages, max_tokens, temperature, seed, stream=True), b""
        events = False
        with closing(self._posted(body)) as pieces:
            for piece in chain(pieces, [b"\n"]):
                read += piece
                # One that does not stream sends an object, whose lines are no events.
                while b"\n" in read and not read.lstrip().startswith(b"{"):
                    line, _, read = read.partition(b"\n")
                    events |= line.startswith(b"data:")
                    if line.startswith(b"data:") and line[5:].strip() != b"[DONE]":
                        yield self._text(line[5:], piece=True)
        if read or not events:
            yield self._text(read)

    def _body(
        self, messages: Sequence[ChatMessage], max_tokens: int, temperature: float, seed: int, **more: Any
    ) -> bytes:
        # Without lone surrogates, which many servers' JSON parsers refuse.
        said = [(m.role, m.content.encode("utf-8", "replace").decode("utf-8")) for m in messages]
        payload = {
            "model": self._model,
            "messages": [{"role": role, "content": content} for role, content in said],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "stream": False,
            **more,
        }
        return json.dumps(payload).encode("ascii")

    def _posted(self, body: bytes) -> Generator[bytes]:
        """The body of the response as it comes; asked again a few times while the server is busy."""
        for tries_left in reversed(range(MAX_TRIES)):
            deadline = time.monotonic() + self._timeout_s
            with self._exchange(body) as response:
                status = response.status_code
                if status == httpx.codes.OK:
                    yield from self._read(response, deadline)
                    return
                wait = _seconds(response.headers.get("retry-after", ""))
            if status != httpx.codes.TOO_MANY_REQUESTS or not tries_left or wait > LONGEST_WAIT_S:
                raise self._refused(status)
            time.sleep(wait)

    def _read(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > MAX_RESPONSE_BYTES:
                raise self._unusable("its answer is too large")
            if time.monotonic() > deadline:
                raise self._too_slow()
            yield piece

    @contextmanager
    def _exchange(self, body: bytes) -> Iterator[httpx.Response]:
        try:
            with (
                httpx.Client(verify=self._tls, timeout=self._timeout_s, trust_env=False) as client,
                client.stream("POST", self._url, content=body, headers=self._headers) as response,
            ):
                yield response
        except httpx.TimeoutException:
            raise self._too_slow() from None
        except httpx.ConnectError:
            raise ModelUnavailable(
                f"the language model at {self._host} cannot be reached;", "start it, or correct its base URL"
            ) from None
        except httpx.HTTPError as error:
            raise ModelUnavailable(
                f"the exchange with the language model at {self._host} broke off ({type(error).__name__});",
                "see that server's log, and try again",
            ) from None

    def _text(self, answer: bytes, *, piece: bool = False) -> str:
        """The text of a whole answer, or of the ``piece`` of one that an event has."""
        try:
            choices = json.loads(answer)["choices"]
            # The last event may have counts and no choice.
            if piece:
                text = (choices[0]["delta"].get("content") or "") if choices else ""
            else:
                text = choices[0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise self._unusable("its answer is not a chat completion") from None
        if not isinstance(text, str):
            raise self._unusable("its answer holds no text")
        return text

    def _too_slow(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"the language model at {self._host} did not answer within {self._timeout_s:g} s;",
            "allow more time, or choose a smaller model",
        )

    def _refused(self, status: int) -> ServerRefused:
        server_side = status >= httpx.codes.INTERNAL_SERVER_ERROR
        remedy = "see that server's log, and try again" if server_side else "check the base URL"
        what = f"the language model at {self._host} answered with HTTP status {status};"
        return ServerRefused(what, REMEDIES.get(status, remedy), status)

    def _unusable(self, reason: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"the language model at {self._host} cannot be used: {reason};",
            "check that the base URL is that of an OpenAI-compatible server",
        )


def _completions_url(base_url: str, *, allow_insecure: bool) -> httpx.URL:
    # The messages do not repeat the URL: people paste keys into them.
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError):
        raise ConfigurationError(
            "the language model's base URL is not a URL; give one such as http://127.0.0.1:8080/v1"
        ) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(
            "the language model's base URL must begin with http:// or https:// and name a host"
        )
    if url.userinfo or url.query or url.fragment:
        raise ConfigurationError(
            "the language model's base URL must hold no user, query or fragment; give a key as the API key"
        )
    if url.scheme == "http" and not allow_insecure and not is_loopback(url.host):
        raise ConfigurationError(
            f"plain http to {url.host} would let the network read every prompt; "
            "use https, or allow insecure connections if the network is yours"
        )
    path = url.path.rstrip("/") or "/v1"
    return url.copy_with(path=f"{path}/chat/completions")


def _authorization(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()
    if not key:
        return {}
    # A header library that meets a bad character quotes the whole key in its error.
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigurationError(
            "the language model's API key holds a space or a character outside printable ASCII; "
            "set the key alone"
        )
    return {"authorization": f"Bearer {key}"}


def _seconds(retry_after: str) -> float:
    """The wait that ``Retry-After`` asks for (RFC 9110, 10.2.3); 1 second where it asks none."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return 1.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
