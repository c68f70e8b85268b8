"""Check the files of this folder without a container engine: python -m deploy.check files | image.

``files`` hands them to linters that bring their own schemas, installed into an environment of their own,
and to programs of Debian where they are installed. ``image`` does what the Dockerfile says, step
by step, in a clean Debian, and starts the result (see ``deploy.image``).
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from deploy.image import check_image

DEPLOY = Path(__file__).resolve().parent
WORK = Path.home() / ".cache" / "lethe-deploy-check"


def main() -> int:
    """Run what was asked for; the first thing wrong ends it."""
    parser = argparse.ArgumentParser(description="Check the files of deploy/ without a container engine.")
    parser.add_argument("what", choices=("files", "image"))
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    if arguments.what == "files":
        check_files()
    else:
        check_image(DEPLOY.parent, WORK, dict(each.split("=", 1) for each in arguments.build_arg))
    say("nothing is wrong")
    return 0


def check_files() -> None:
    """Every file before the program that reads it, or a linter with its schema."""
    tools, monitoring = _tools(), DEPLOY / "monitoring"
    _run(tools / "hadolint", "--config", DEPLOY / "hadolint.yaml", DEPLOY / "Dockerfile")
    _run(tools / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    manifests = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    _run(tools / "kubernetes-validate", "--strict", *manifests)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unit = _unit(folder)
        _run_installed("systemd-analyze", "verify", unit)
        _run_installed("systemd-analyze", "security", "--offline=yes", "--threshold=15", "--no-pager", unit)
        _run_installed("promtool", "check", "rules", monitoring / "alerts.yaml")
        shutil.copy(monitoring / "alerts.yaml", folder)
        scrape = shutil.copy(monitoring / "prometheus.yaml", folder)
        (folder / "key").write_text("lethe_00000000_invented")
        _run_installed("promtool", "check", "config", scrape)
        _run_installed("promtool", "test", "rules", monitoring / "alerts_test.yaml")
        _run_installed("nginx", "-t", "-q", "-p", folder, "-c", _nginx(folder))
        caddy = ("validate", "--adapter", "caddyfile", "--config", DEPLOY / "proxy" / "Caddyfile")
        _run_installed("caddy", *caddy)


def say(words: str) -> None:
    """A line of progress."""
    sys.stderr.write(f"check: {words}\n")


def _tools() -> Path:
    """The programs of check-tools.txt, in an environment of their own."""
    wanted, folder = DEPLOY / "check-tools.txt", WORK / "tools"
    done = folder / "installed.txt"
    if not done.is_file() or done.read_bytes() != wanted.read_bytes():
        say("installing the linters")
        venv.create(folder, with_pip=True, clear=True)
        _run(folder / "bin" / "pip", "install", "--quiet", "--requirement", wanted)
        done.write_bytes(wanted.read_bytes())
    return folder / "bin"


def _unit(folder: Path) -> Path:
    """The unit with a program that is there."""
    unit = (DEPLOY / "lethe.service").read_text(encoding="utf-8")
    path = folder / "lethe.service"
    path.write_text(unit.replace("/opt/lethe/bin/lethe", "/bin/true"), encoding="utf-8")
    return path


def _nginx(folder: Path) -> Path:
    """The site inside a whole configuration, with a certificate that is there."""
    site = (DEPLOY / "proxy" / "nginx.conf").read_text(encoding="utf-8")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=lethe.example", "-days", "2")
    _run("openssl", *made, "-keyout", key, "-out", certificate, quiet=True)
    site = site.replace("/etc/ssl/private/lethe.example.key", str(key))
    site = site.replace("/etc/ssl/certs/lethe.example.pem", str(certificate))
    path = folder / "nginx.conf"
    path.write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{site}\n}}\n", encoding="utf-8"
    )
    return path


def _run_installed(program: str, *words: str | Path) -> None:
    if shutil.which(program) is None:
        say(f"{program} is not installed, so what it checks is not checked")
    else:
        _run(program, *words)


def _run(*words: str | Path, quiet: bool = False) -> None:
    out = subprocess.DEVNULL if quiet else sys.stderr
    done = subprocess.run(words, check=False, stdout=out, stderr=out)
    if done.returncode:
        raise SystemExit(f"check: {' '.join(map(str, words))} ended with {done.returncode}")


if __name__ == "__main__":
    raise SystemExit(main())
