"""``lethe``: reads the arguments, runs one verb, turns errors into one line and an exit code.

Exit codes: 0 done, 1 failed in part or whole, 2 misused. Nothing heavy is imported before a verb runs.
"""

import argparse
import gc
import importlib
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from app.cli.arguments import parser
from app.cli.console import message
from ingest.on_ray.disks import MEMORY
from ingest.temporary import sweep
from models.errors import ConfigurationError, LetheError

DONE, FAILED, MISUSED = 0, 1, 2


def run() -> None:
    """The entry point of the ``lethe`` command."""
    # Whatever is made, by us or a library, is for its owner alone.
    os.umask(0o077)
    for folder in (Path(tempfile.gettempdir()), MEMORY):
        sweep(folder)
    # Tables and models are many objects and no garbage: looking for it took a fifth of a short command.
    gc.set_threshold(50_000)
    code = main(sys.argv[1:])
    # What is left lives as long as the process: the interpreter need not look through it at its end.
    gc.freeze()
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    """Run one verb; its exit code."""
    arguments = parser(argv[0] if argv else "").parse_args(argv)
    # Results are UTF-8 whatever the terminal is set to; a message may lose a character, a result may not.
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    if arguments.function != "pull":
        # Libraries that could ask a hub for updates are kept from it before any of them is imported.
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false")
    # Threads that wait for each other by spinning make a small model twenty times slower on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        return _run(arguments)
    except ConfigurationError as error:
        message(str(error))
        return MISUSED
    except LetheError as error:
        message(str(error))
        return FAILED
    except KeyboardInterrupt:
        message("stopped. What was finished is kept; run the same command again to go on.")
        return FAILED
    except BrokenPipeError:
        # The reader of our output went away. Python would complain once more while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        # Neither its message nor its traceback's values are shown: both may hold text of a document.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        message(f"internal error {type(error).__name__} at {where}. Nothing half-done was kept.")
        return FAILED


def _run(arguments: argparse.Namespace) -> int:
    verb = importlib.import_module(f"app.cli.{arguments.module}")
    return int(getattr(verb, arguments.function)(arguments))
