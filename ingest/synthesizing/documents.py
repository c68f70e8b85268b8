"""The type of synthetic documents."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SyntheticDocument:
    """An invented text: it is about nobody, and nothing in it need be true.

    ``method`` made it behind the control ``codes``, if there are any; ``privacy`` says what is promised of
    each document that it learned from.
    """

    doc_id: str
    text: str = field(repr=False)
    method: str
    privacy: str
    codes: tuple[str, ...] = field(default=(), repr=False)
