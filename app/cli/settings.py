"""``lethe settings``."""

import argparse
from dataclasses import asdict

from app.cli.console import result
from app.cli.given import settings_arguments
from app.settings.load import load_settings
from app.settings.report import settings_rows


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per setting, secrets as stars."""
    given = settings_arguments(arguments)
    for row in settings_rows(load_settings(given), given):
        result(asdict(row))
    return 0
