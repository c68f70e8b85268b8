"""The examples of proxies before a real server, where nginx or Caddy is installed. The note is invented."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.keys import Keys
from tests.commands import ROOT
from tests.serving import ingested, served

NAME = "lethe.example"
SETTINGS = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n'
FOLDER = ROOT / "deploy" / "proxy"


def nginx(folder: Path, port: int, upstream: str) -> tuple[list[str], Mapping[str, str]]:
    """The file of the site in a configuration of this folder."""
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-days", "2")
    out = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"))
    subprocess.run(["openssl", *made, *out], check=True, capture_output=True, timeout=60)
    site = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
    for there, here in {
        f"/etc/ssl/private/{NAME}.key": str(folder / "key.pem"),
        f"/etc/ssl/certs/{NAME}.pem": str(folder / "certificate.pem"),
        "listen 443": f"listen 127.0.0.1:{port}",
        "127.0.0.1:8000": upstream,
        "/var/log/nginx/": f"{folder}/",
    }.items():
        assert there in site
        site = site.replace(there, here)
    for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        site = f"{name}_temp_path {folder}/{name};\n{site}"
    whole = f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{site}\n}}\n"
    (folder / "nginx.conf").write_text(whole, encoding="utf-8")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], {}


def caddy(folder: Path, port: int, upstream: str) -> tuple[list[str], Mapping[str, str]]:
    """The file with a certificate of Caddy's own making."""
    site = (FOLDER / "Caddyfile").read_text(encoding="utf-8")
    own = f"admin off\n\tlocal_certs\n\tskip_install_trust\n\thttps_port {port}\n\tdefault_bind 127.0.0.1"
    (folder / "Caddyfile").write_text(site.replace("admin off", own, 1), encoding="utf-8")
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return command, {"HOME": str(folder), "LETHE_NAME": NAME, "LETHE_UPSTREAM": upstream}


@contextmanager
def proxy(kind: str, folder: Path, upstream: str) -> Iterator[int]:
    """A proxy on loopback, ended with the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command, variables = {"nginx": nginx, "caddy": caddy}[kind](folder, port, upstream)
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env={**os.environ, **variables}, stdout=quiet, stderr=quiet) as process:
        try:
            for _ in range(100):
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            assert process.poll() is None
            yield port
        finally:
            process.terminate()


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_a_proxy_lets_clients_in_by_name_and_keeps_what_is_for_operators(kind: str, tmp_path: Path) -> None:
    if shutil.which(kind) is None or shutil.which("openssl") is None:
        pytest.skip(f"{kind} is not installed")
    data = ingested(tmp_path, SETTINGS, ["Invented note. The boiler of the mill is broken."])
    keys = Keys(data)
    text = keys.create("ward", frozenset(("query",)), None).text
    keys.close()
    # The certificate is of the test's own making; what is tested is what comes through.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    hosts = json.dumps([NAME])
    with (
        served(data, "-c", "notes", LETHE_SERVER__HOSTS=hosts) as server,
        proxy(kind, tmp_path, server.url.removeprefix("http://")) as port,
        httpx.Client(verify=context, trust_env=False, timeout=30) as client,
    ):
        named: dict[str, Any] = {"extensions": {"sni_hostname": NAME}}
        base, head = f"https://127.0.0.1:{port}", {"Host": NAME, "Authorization": f"Bearer {text}"}
        for path in ("/metrics", "/livez", "/readyz"):
            assert client.get(base + path, headers=head, **named).status_code == 404
        assert client.get(f"{base}/v1/models", headers={"Host": NAME}, **named).status_code == 401
        asked = {
            "model": "kb:notes",
            "stream": True,
            "messages": [{"role": "user", "content": "What is broken at the mill?"}],
        }
        url = f"{base}/v1/chat/completions"
        with client.stream("POST", url, json=asked, headers=head, **named) as answer:
            assert answer.status_code == 200
            said = answer.read().decode()
        assert "boiler" in said and said.strip().endswith("data: [DONE]")
    if kind == "nginx":
        log = (tmp_path / "lethe.log").read_text()
        assert log.count("\n") == 5 and "/v1" not in log and "mill" not in log
