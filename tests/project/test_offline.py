"""The main job asks nothing of any network. The documents are invented."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands import command, environment, write_records

NOTES = [
    "Invented note. Mr Tobias Keller, aged 61, keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. Mr Keller was told to take lisinopril 10 mg daily. Write to t.keller@example.org.",
]
GUARD = '''
"""Refuse and note whatever would leave this machine; Python tells of it before it happens."""
import ipaddress, os, sys

def loopback(host):
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

def guard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        inside = not isinstance(address, tuple) or loopback(address[0])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        inside = loopback(arguments[0])
    else:
        return
    if not inside:
        with open(os.environ["TRIED"], "a") as file:
            file.write(f"{event}\\n")
        raise PermissionError("no network here")

open(os.environ["TRIED"], "a").close()
sys.addaudithook(guard)
'''
ALONE = ("unshare", "--map-root-user", "--net")
"""A network of its own, without routes: it also holds for what is not written in Python."""


def run(folder: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """A process under the guard; what it tried is noted in ``folder/tried``."""
    (folder / "guard").mkdir(parents=True, exist_ok=True)
    (folder / "guard" / "sitecustomize.py").write_text(GUARD)
    variables = environment(folder / "data")
    online = {name for name in variables if name.startswith(("HF_", "TRANSFORMERS_"))}
    variables = {name: value for name, value in variables.items() if name not in online}
    return subprocess.run(
        arguments,
        env={
            **variables,
            "PYTHONPATH": os.pathsep.join([str(folder / "guard"), variables["PYTHONPATH"]]),
            "TRIED": str(folder / "tried"),
            "LETHE_THREADS": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def verbs(folder: Path) -> list[list[str]]:
    notes = str(write_records(folder / "notes.jsonl", NOTES))
    return [
        command("ingest", notes, "-c", "notes"),
        command("search", "what is wrong with the boiler?", "-c", "notes"),
        command("ask", "What is broken at the mill?", "-c", "notes"),
        command("attack", "extraction", notes, "-c", "notes", "-n", "2", "--report", str(folder / "report")),
        command("sanitize", notes),
    ]


def do_the_main_job(folder: Path, before: Sequence[str] = ()) -> None:
    for arguments in verbs(folder):
        ran = run(folder, [*before, *arguments])
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout.splitlines()[-1])
    assert (folder / "tried").read_text() == ""


@pytest.mark.slow
def test_the_main_job_tries_nothing(tmp_path: Path) -> None:
    do_the_main_job(tmp_path)


@pytest.mark.slow
def test_the_main_job_without_any_network(tmp_path: Path) -> None:
    if (
        not shutil.which(ALONE[0])
        or subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("a network namespace is not permitted here")
    do_the_main_job(tmp_path, ALONE)


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 80), timeout=1)",
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "socket.getaddrinfo('model.example', 443)",
        "urllib.request.urlopen('http://192.0.2.1/')",
    ],
)
def test_the_guard_notes_and_refuses(tmp_path: Path, attempt: str) -> None:
    ran = run(tmp_path, [sys.executable, "-c", f"import socket, urllib.request\n{attempt}"])
    assert ran.returncode == 1
    assert "no network here" in ran.stderr
    assert (tmp_path / "tried").read_text().startswith("socket.")


def test_the_guard_lets_this_machine_through(tmp_path: Path) -> None:
    talk = (
        "import socket\ns = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(s.getsockname())"
    )
    ran = run(tmp_path, [sys.executable, "-W", "ignore", "-c", talk])
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "tried").read_text() == ""
