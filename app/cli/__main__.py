"""``python -m app.cli`` is ``lethe``."""

from app.cli.main import run

run()
