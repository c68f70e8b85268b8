"""``lethe settings``."""

import argparse
from dataclasses import asdict

from app.cli.console import result
from app.cli.given import settings_arguments
from app.cli.people import for_people, show_rows
from app.settings.load import load_settings
from app.settings.report import settings_rows


def run(arguments: argparse.Namespace) -> int:
    """A row of a table or, for programs, a JSON line per setting, secrets as stars."""
    given = settings_arguments(arguments)
    rows = map(asdict, settings_rows(load_settings(given), given))
    if for_people(arguments):
        show_rows(rows, ("name", "value", "origin", "description"))
        return 0
    for row in rows:
        result(row)
    return 0
