"""Images of text to text, by the program tesseract if it is there.

Images and text go through pipes only: neither is ever written to the disk.
"""

import os
import shutil
import subprocess
import sys
from functools import cache

_MOST_LANGUAGES = 4


def find_tesseract() -> str | None:
    """The path of the program, or None."""
    return shutil.which("tesseract")


def recognized(png: bytes, program: str, seconds: float) -> str | None:
    """The text in an image; None if the program fails or takes longer than ``seconds``."""
    try:
        command = [program, "stdin", "stdout", *_languages(program)]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        ) as running:
            _lift_limits(running.pid)
            try:
                text, _ = running.communicate(png, timeout=seconds)
            finally:
                running.kill()
    except (OSError, subprocess.SubprocessError):
        return None
    return text.decode("utf-8", "replace") if running.returncode == 0 else None


@cache
def _languages(program: str) -> list[str]:
    """English if it is installed, and others that are; each more takes as much time again."""
    asked = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=10)
    installed = [line for line in asked.stdout.splitlines() if line.replace("_", "").isalpha()]
    ordered = sorted(set(installed) - {"osd"}, key=lambda name: (name != "eng", name))
    return ["-l", "+".join(ordered[:_MOST_LANGUAGES])] if ordered else []


def _lift_limits(pid: int) -> None:
    """Let a child use what this process may use at most, and not what it has set for itself."""
    if sys.platform == "linux":
        import resource

        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            highest = resource.getrlimit(limit)[1]
            resource.prlimit(pid, limit, (highest, highest))
