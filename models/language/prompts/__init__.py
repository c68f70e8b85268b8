"""Prompts of language models: files with a version, and what an answer has to look like."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from models.language.protocol import ChatMessage

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told, what it is asked with ``$slots``, and how it answers.

    ``schema`` is the JSON schema of the answer, for models that can be held to one; None for plain text.
    ``form`` says in a few words what an answer looks like: plain text is asked for in it, and once more where
    it has another.
    """

    name: str
    version: int
    system: str = field(repr=False)
    user: str = field(repr=False)
    form: str = field(repr=False)
    max_tokens: int
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """Name and version, as results show it."""
        return f"{self.name} v{self.version}"

    def messages(self, **slots: str) -> list[ChatMessage]:
        """The prompt with its slots filled; raises KeyError for a slot without words."""
        asked = Template(self.user).substitute(slots)
        return [ChatMessage("system", self.system), ChatMessage("user", asked)]


@cache
def prompt(name: str) -> Prompt:
    """The prompt of ``name``.toml in this folder, in its present version."""
    read = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    schema = read.pop("schema", None)
    texts = {key: read.pop(key).strip() for key in ("system", "user", "form")}
    if schema is None:
        texts["system"] += f"\nThe answer is {texts['form']}"
    return Prompt(name=name, schema=schema and json.loads(schema), **texts, **read)
