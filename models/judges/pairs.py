"""Claims with texts and how far these tell them: what the claim-support model learns from."""

from dataclasses import dataclass, field

SAME, PARTLY, UNSUPPORTED = LEVELS = (1, 2, 3)
"""The text says the same, something like it, or nothing of it."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim and a text. ``low`` and ``high`` bound its level: rules cannot always tell it.

    ``kind`` says how it was made, ``group`` what document it is from. Private.
    """

    claim: str = field(repr=False)
    text: str = field(repr=False)
    low: int
    high: int
    kind: str
    group: str
