"""A language model from a GGUF file, run in this process by llama-cpp-python."""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from models.errors import ModelUnavailable
from models.language.protocol import ChatMessage, PromptTooLong

if TYPE_CHECKING:
    from llama_cpp import Llama

GGUF_MAGIC = b"GGUF"

PLAIN_STOP = ["\n\nQuestion:"]
"""Without turns to end, a model goes on to invent the next question."""

Render = Callable[[list[dict[str, str]]], str]


class LlamaCppModel:
    """One loaded GGUF file with one context, shared by threads behind a lock.

    ``context_tokens`` is the room for prompt and answer, never more than the model was trained for;
    ``threads`` are of the processor, None takes half of the cores; ``gpu_layers`` are -1 for all, and need a
    GPU build.

    Raises:
        ModelUnavailable: the library is not installed, or the file is missing, damaged or unsupported.
    """

    def __init__(
        self, path: Path, context_tokens: int = 4096, *, threads: int | None = None, gpu_layers: int = 0
    ) -> None:
        self._llama = _load(path, context_tokens, threads, gpu_layers)
        import llama_cpp

        self.name = f"llama.cpp {path.name}"
        self._lock = Lock()
        trained: int = llama_cpp.llama_model_n_ctx_train(self._llama.model)
        self.context_tokens = min(context_tokens, trained)
        vocab = llama_cpp.llama_model_get_vocab(self._llama.model)
        self._bos = self._llama.token_bos() if llama_cpp.llama_vocab_get_add_bos(vocab) else None
        self._control = _control_marks(self._llama)
        self._render, self._stop = _renderer(self._llama)

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the prompt, chat template included; exact."""
        return len(self._tokens(messages))

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """The model's answer, one at a time; raises PromptTooLong, or ModelUnavailable if it failed."""
        return "".join(self._written(messages, max_tokens, temperature, seed))

    def complete_as(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """The model's answer, held to a JSON schema by a grammar; the rest as ``complete``."""
        return "".join(self._written(messages, max_tokens, temperature, seed, schema))

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Generator[str]:
        """The answer as it is written; the others wait until it is, or until it is closed."""
        return self._written(messages, max_tokens, temperature, seed)

    def _written(
        self,
        messages: Sequence[ChatMessage],
        max_tokens: int,
        temperature: float,
        seed: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Generator[str]:
        if max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
        tokens = self._tokens(messages)
        room = self.context_tokens - max_tokens
        if len(tokens) > room:
            raise PromptTooLong(self.name, len(tokens), room)
        from llama_cpp import LlamaGrammar

        grammar = LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False) if schema else None
        with self._lock:
            # What an earlier prompt left in the cache changes the rounding of the next answer.
            self._llama.reset()
            try:
                pieces: Any = self._llama.create_completion(
                    tokens,
                    max_tokens=max_tokens,
                    temperature=temperature,
                    seed=seed,
                    stop=self._stop,
                    stream=True,
                    grammar=grammar,
                )
                for piece in pieces:
                    yield str(piece["choices"][0]["text"])
            except (RuntimeError, ValueError):
                raise self._failed("answering") from None

    def _tokens(self, messages: Sequence[ChatMessage]) -> list[int]:
        turns = [{"role": m.role, "content": self._without_control(m.content)} for m in messages]
        try:
            prompt = self._render(turns).encode("utf-8", "replace")
            tokens = self._llama.tokenize(prompt, add_bos=False, special=True)
        except Exception:  # a template is a program of strangers; a tokenizer's error quotes the text
            raise self._failed("preparing the prompt") from None
        return tokens if self._bos is None or tokens[:1] == [self._bos] else [self._bos, *tokens]

    def _without_control(self, content: str) -> str:
        """Break marks such as ``<|im_end|>``: text must not end its turn and open another."""
        return self._control.sub(lambda mark: f"{mark[0][:1]} {mark[0][1:]}", content)

    def _failed(self, doing: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self.name} failed while {doing};", "try again, and if it fails again choose another GGUF file"
        )


def _load(path: Path, context_tokens: int, threads: int | None, gpu_layers: int) -> "Llama":
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError):
        raise ModelUnavailable(
            "llama-cpp-python, which runs GGUF files, cannot be imported;",
            "install it with: pip install 'lethe[llama]' (it builds in about six minutes)",
        ) from None
    _check_is_gguf(path)
    try:
        # verbose=False: llama.cpp would print to the process's standard error.
        return llama_cpp.Llama(
            model_path=str(path),
            n_ctx=context_tokens,
            n_threads=threads,
            n_gpu_layers=gpu_layers,
            verbose=False,
        )
    except Exception:  # besides its own errors, whatever reading the chat template raises
        raise ModelUnavailable(
            f"llama.cpp cannot load {path};",
            "the file may be cut short, of a newer format or too large for the memory: "
            "compare its size and checksum with its source, or choose another",
        ) from None


def _check_is_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelUnavailable(
            f"the language model {path} cannot be read ({type(error).__name__});",
            "give the path of a GGUF file that this user may read",
        ) from None
    if magic != GGUF_MAGIC:
        raise ModelUnavailable(
            f"{path} is not a GGUF file;", "give the path of a model in llama.cpp's GGUF format"
        )


def _control_marks(llama: "Llama") -> re.Pattern[str]:
    """A pattern for the written form of the vocabulary's control tokens."""
    import llama_cpp

    vocab, control = llama_cpp.llama_model_get_vocab(llama.model), llama_cpp.LLAMA_TOKEN_ATTR_CONTROL
    tokens = [n for n in range(llama.n_vocab()) if llama_cpp.llama_vocab_get_attr(vocab, n) & control]
    marks = [_written_form(llama, token) for token in tokens]
    longest_first = sorted((mark for mark in marks if len(mark) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _written_form(llama: "Llama", token: int) -> str:
    import llama_cpp

    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    return str(llama_cpp.llama_vocab_get_text(vocab, token).decode("utf-8", "replace"))


def _renderer(llama: "Llama") -> tuple[Render, list[str]]:
    """The prompt renderer and the stop strings.

    The file's own chat template if it works. Where it refuses the system message (as Gemma's does) or drops
    it, that message is folded into the first question. Plain text if there is no working template.
    """
    template = llama.metadata.get("tokenizer.chat_template")
    if template:
        render = _templated(llama, template)
        for way in (render, lambda turns: render(_folded(turns))):
            if _works(way):
                return way, []
    return lambda turns: "\n\n".join([*(turn["content"] for turn in turns), "Answer:"]), PLAIN_STOP


def _works(render: Render) -> bool:
    """Whether a template renders a system message and a question, and neither gets lost."""
    import jinja2

    trial = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    try:
        prompt = render(trial)
    except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return all(turn["content"] in prompt for turn in trial)


def _templated(llama: "Llama", template: str) -> Render:
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    ends = (llama.token_bos(), llama.token_eos())
    bos, eos = (_written_form(llama, token) if token >= 0 else "" for token in ends)
    formatter: Any = Jinja2ChatFormatter(template=template, bos_token=bos, eos_token=eos)
    return lambda turns: str(formatter(messages=turns).prompt)


def _folded(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    if len(turns) < 2 or turns[0]["role"] != "system":
        return turns
    first = {**turns[1], "content": f"{turns[0]['content']}\n\n{turns[1]['content']}"}
    return [first, *turns[2:]]
