"""What all processes that sanitize need and none changes.

Imported once by the process that they are forked from, so that they share its memory.
"""

import gc
from contextlib import suppress

import app.compose  # noqa: F401
import ingest.sanitize  # noqa: F401
import retrieval.passages  # noqa: F401
from ingest.wording.places import inhabitants
from models.encoders.minilm import released
from models.errors import LetheError
from models.language.identification import language_shares

# What is missing here is reported by the process that needs it.
with suppress(LetheError):
    released()
    language_shares("")
    inhabitants("")
# Looking for garbage would write to each object, and so copy it.
gc.freeze()
