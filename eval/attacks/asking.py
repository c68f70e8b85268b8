"""One question to a target, answered or not."""

from eval.documents import AttackPrompt, Attempt
from eval.protocols import Target
from models.errors import LetheError
from retrieval.documents import Answer


class AttemptFailed(LetheError):
    """The target did not answer; ``kind`` is the type name of what it raised, never its message."""

    def __init__(self, number: int, kind: str) -> None:
        super().__init__(
            f"attempt {number} was not measured: the target failed ({kind}); look in its own log"
        )
        self.kind = kind


def attempt(target: Target, prompt: AttackPrompt) -> Attempt:
    """Ask once. A target that raises makes an attempt without an answer, and the attack goes on."""
    try:
        return Attempt(prompt, _answer(target, prompt))
    except AttemptFailed as failed:
        return Attempt(prompt, None, failed.kind)


def _answer(target: Target, prompt: AttackPrompt) -> Answer:
    try:
        return target.ask(prompt.text)
    except Exception as error:
        # A target is anything, so anything can be raised, and its message may quote what it holds.
        raise AttemptFailed(prompt.number, type(error).__name__) from None
