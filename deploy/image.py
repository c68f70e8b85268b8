"""The steps of the Dockerfile in a clean Debian, and what they made, started as an engine would.

Debootstrap makes the Debian. The start is as the image's user without capabilities, on a read-only root with
an empty /tmp and a data folder, and in a network of its own without a way out. Root, debootstrap, curl and
util-linux are needed. What an engine does beyond this (layers, digests of bases) is not checked.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUITES = {"debian:12": "bookworm", "debian:13": "trixie"}
"""The Debian that debootstrap makes for the version of a base."""
STARTS_S = 120
ENDS_S = 15
KNOWN = frozenset(
    "ARG FROM RUN COPY ENV USER WORKDIR VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split()
)

NOTE = "Invented note. Mr Tobias Keller keeps the mill. The boiler of the mill is broken."


@dataclass(slots=True)
class Image:
    """A root folder and what the Dockerfile says of it so far."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    args: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    port: int = 0


def instructions(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Each instruction with what follows it, continued lines joined; comments are left out."""
    joined = ""
    for line in dockerfile.splitlines():
        if line.lstrip().startswith("#") or not (joined or line.strip()):
            continue
        joined += line.removesuffix("\\")
        if not line.endswith("\\"):
            name, _, rest = joined.strip().partition(" ")
            if name not in KNOWN:
                raise SystemExit(f"check: this check does not know {name}")
            yield name, rest.strip()
            joined = ""


def ignored(path: str, rules: Sequence[str]) -> bool:
    """Whether a .dockerignore leaves a path out of the context; the last rule that matches it decides."""
    above = [path, *map(str, Path(path).parents)][:-1]
    out = False
    for rule in rules:
        pattern = re.compile(_pattern(rule.removeprefix("!").strip("/")))
        if any(pattern.fullmatch(each) for each in above):
            out = not rule.startswith("!")
    return out


def _pattern(rule: str) -> str:
    """A rule as a regular expression: ``**/`` is any folders or none, ``*`` anything in one name."""
    parts = re.split(r"(\*\*/|\*)", rule)
    return "".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


def check_image(project: Path, work: Path, given: Mapping[str, str]) -> None:
    """Build, start, ask, stop; ends the process with a sentence if anything is not as it should be."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise SystemExit(
            "check: root and debootstrap are needed for this; run it in a Debian you can throw away"
        )
    began = time.monotonic()
    context = _context(project, work / "context")
    image = build((project / "deploy" / "Dockerfile").read_text(encoding="utf-8"), context, work, given)
    _say(f"built in {time.monotonic() - began:.0f} s, {_megabytes(image.root)} MB")
    try_out(image, work)


def build(dockerfile: str, context: Path, work: Path, given: Mapping[str, str]) -> Image:
    """Do the steps; the image of the last stage."""
    stages: dict[str, Image] = {}
    outer: dict[str, str] = {}
    image = Image(work)
    for name, rest in instructions(dockerfile):
        known = {**outer, **image.args, **image.env}
        match name:
            case "ARG":
                key, _, value = rest.partition("=")
                (image.args if stages else outer)[key] = given.get(key, outer.get(key, value))
            case "FROM":
                base, stage = (*_expanded(rest, known).split(" AS "), "last")[:2]
                image = stages[stage] = Image(_fresh_root(base, work, stage))
            case "RUN":
                _say(f"RUN {rest[:90]}")
                _run_step(image, rest, work)
            case "COPY":
                _copy(image, _expanded(rest, known), context, stages)
            case _:
                _note(image, name, _expanded(rest, known))
    return image


def _note(image: Image, name: str, rest: str) -> None:
    """Keep what an instruction says about the processes to come."""
    match name:
        case "ENV":
            image.env |= dict(each.split("=", 1) for each in shlex.split(rest))
        case "WORKDIR":
            image.folder = rest
            (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "USER":
            image.user = rest
        case "VOLUME":
            image.volumes = json.loads(rest)
        case "EXPOSE":
            image.port = int(rest)
        case "ENTRYPOINT":
            image.entrypoint = json.loads(rest)
        case "CMD":
            image.command = json.loads(rest)
        case "HEALTHCHECK":
            image.health = json.loads(rest.split("CMD", 1)[1])


def try_out(image: Image, work: Path) -> None:
    """Start the image, with and without a key; ingest, ask, look at its health, stop it."""
    if image.user.split(":")[0] in ("0", "root"):
        raise SystemExit("check: the image runs as root")
    data = work / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    os.chown(data, *map(int, image.user.split(":")))
    refused = _in_container(image, data, "serve")
    _expect("a server without a key does not start", refused.returncode == 2, refused.stderr)
    made = _in_container(image, data, "keys", "create", "check", "--scope", "query,ingest")
    _expect("a key is made", made.returncode == 0, made.stderr)
    key = json.loads(made.stdout)["key"]
    with _started(image, data) as (process, inside):
        _wait_until_ready(inside, image.port, process)
        _expect("a file is ingested and found", *_ingest_and_ask(inside, image.port, key))
        healthy = _call(["nsenter", *inside, *_as(image), *image.health])
        _expect("the health check is content", healthy.returncode == 0, healthy.stderr)
        outside = _call(["nsenter", *inside, *_as(image), "sh", "-c", "echo > /opt/lethe/bin/lethe"])
        _expect("the program cannot be changed", outside.returncode != 0, "")
        began = time.monotonic()
        os.kill(int(inside[1]), signal.SIGTERM)
        code = process.wait(ENDS_S)
        _expect(f"it ends when told, in {time.monotonic() - began:.1f} s", code == 0, f"exit code {code}")


def _ingest_and_ask(inside: Sequence[str], port: int, key: str) -> tuple[bool, str]:
    """Whether an ingested note is found, without what must not be in it, and what was said."""
    url = f"http://127.0.0.1:{port}/v1"
    net = ["nsenter", *inside[:2], "--net", "curl", "-sS", "-m", "120", "-H", f"Authorization: Bearer {key}"]
    sent = _call([*net, "-F", "files=@-;filename=note.txt", f"{url}/collections/notes/documents"], NOTE)
    job = json.loads(sent.stdout)
    if "job_id" not in job:
        return False, sent.stdout
    for _ in range(STARTS_S):
        job = json.loads(_call([*net, f"{url}/jobs/{job['job_id']}"]).stdout)
        if job["state"] not in ("waiting", "running"):
            break
        time.sleep(1)
    question = {"model": "kb:notes", "messages": [{"role": "user", "content": "What is broken at the mill?"}]}
    body = ["-H", "Content-Type: application/json", "-d", json.dumps(question)]
    answer = _call([*net, *body, f"{url}/chat/completions"]).stdout
    return job["state"] == "done" and "boiler" in answer and "Keller" not in answer, f"{job} {answer}"


@contextmanager
def _started(image: Image, data: Path) -> Iterator[tuple["subprocess.Popen[bytes]", list[str]]]:
    """The running image, and how to enter it: the options of nsenter, its process first."""
    words = _container(image, data, image.command)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=sys.stderr) as process:
        time.sleep(1)
        (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        try:
            yield process, ["--target", first, "--mount", "--net", "--pid", "--root", "--wd"]
        finally:
            # Its signal at the end of unshare is lost where the process changes its user.
            with suppress(ProcessLookupError):
                os.kill(int(first), signal.SIGKILL)
            process.kill()


def _wait_until_ready(inside: Sequence[str], port: int, process: "subprocess.Popen[bytes]") -> None:
    began = time.monotonic()
    asked = ["nsenter", *inside[:2], "--net", "curl", "-sf", "-m", "5", f"http://127.0.0.1:{port}/readyz"]
    while _call(asked).returncode != 0:
        if process.poll() is not None or time.monotonic() - began > STARTS_S:
            raise SystemExit("check: the image is not ready")
        time.sleep(0.5)
    _say(f"ready after {time.monotonic() - began:.1f} s")


def _in_container(image: Image, data: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return _call(_container(image, data, words))


def _container(image: Image, data: Path, words: Sequence[str]) -> list[str]:
    """The command of a container with its own mounts, processes and network.

    Nothing can be written but the data folder and /tmp.
    """
    (volume,) = image.volumes
    mounts = (
        f"ip link set lo up; mount --bind {image.root} {image.root}; cd {image.root};"
        f"mount -t proc proc proc; mount --rbind /dev dev; mount -o remount,bind,ro {image.root};"
        f"mount -t tmpfs tmpfs tmp; mount --bind {data} .{volume};"
    )
    variables = [f"{name}={value}" for name, value in image.env.items()]
    inner = ["env", "-i", *variables, *_as(image), *image.entrypoint, *words]
    entered = shlex.join(["chroot", str(image.root), *inner])
    return [
        "unshare",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-ec",
        f"{mounts} exec {entered}",
    ]


def _as(image: Image) -> list[str]:
    """As the image's user, without capabilities and with no way to get any."""
    user, group = image.user.split(":")
    who = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs"]
    return [*who, "--inh-caps=-all", "--bounding-set=-all", "env", "-C", image.folder]


def _run_step(image: Image, rest: str, work: Path) -> None:
    """A RUN: in the root, with its variables and its caches."""
    caches = re.findall(r"--mount=type=cache,target=(\S+)", rest)
    command = re.sub(r"--mount=\S+\s*", "", rest)
    mounts = f"mount -t proc proc {image.root}/proc; mount --rbind /dev {image.root}/dev;"
    for target in caches:
        cache, there = work / "cache" / target.strip("/").replace("/", "-"), image.root / target.lstrip("/")
        cache.mkdir(parents=True, exist_ok=True)
        there.mkdir(parents=True, exist_ok=True)
        mounts += f"mount --bind {cache} {there};"
    # Where this machine's pip finds packages, in place of what an engine would be told by build arguments.
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and "pip" in command}
    for place in {Path(value) for value in pip.values() if value.startswith("/")}:
        there = image.root / str(place).lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.mkdir(exist_ok=True) if place.is_dir() else there.touch()
        mounts += f"mount --bind {place} {there};"
    shutil.copy("/etc/resolv.conf", image.root / "etc" / "resolv.conf")
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    variables = {"PATH": path, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **pip}
    variables |= {**image.args, **image.env}
    inner = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    entered = shlex.join(["chroot", str(image.root), *inner, "env", "-C", image.folder, "sh", "-c", command])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", f"{mounts} exec {entered}"],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    if done.returncode:
        raise SystemExit(f"check: RUN {command[:200]} ended with {done.returncode}")


def _copy(image: Image, rest: str, context: Path, stages: Mapping[str, Image]) -> None:
    *sources, target = rest.split()
    origin = context
    if sources[0].startswith("--from="):
        origin = stages[sources.pop(0).removeprefix("--from=")].root
    there = Path(target) if target.startswith("/") else Path(image.folder, target)
    into = image.root / str(there).lstrip("/")
    for source in sources:
        found = origin / source.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True)
            continue
        place = into / found.name if target.endswith("/") else into
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, place)


def _context(project: Path, folder: Path) -> Path:
    """What an engine would be sent: the files that .dockerignore does not leave out."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = (project / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    listed = ["git", "-C", str(project), "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in _call(listed).stdout.splitlines():
        if not ignored(name, rules) and (project / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / name, folder / name)
    return folder


def _fresh_root(base: str, work: Path, stage: str) -> Path:
    """A new root of the base; debootstrap makes it once, which takes half a minute."""
    suite = SUITES[base.split("@")[0].split(".")[0]]
    made, root = work / f"base-{suite}", work / f"root-{stage}"
    if not made.is_dir():
        _say(f"debootstrap {suite}")
        part = work / f"base-{suite}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        done = _call(["debootstrap", "--variant=minbase", suite, str(part)])
        if done.returncode:
            raise SystemExit(f"check: debootstrap ended with {done.returncode}: {done.stdout[-400:]}")
        part.rename(made)
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(made, root, symlinks=True, ignore=lambda folder, _: _devices(Path(folder), made))
    _say(f"FROM {base}: {suite} made by debootstrap")
    return root


def _devices(folder: Path, made: Path) -> list[str]:
    """Nothing of /dev is copied; this machine's is bound there."""
    return [each.name for each in folder.iterdir()] if folder == made / "dev" else []


def _expanded(text: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], ""), text)


def _megabytes(root: Path) -> int:
    return int(_call(["du", "-sxm", str(root)]).stdout.split()[0])


def _call(words: Sequence[str], stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False, timeout=300)


def _expect(what: str, holds: bool, said: Any) -> None:
    if not holds:
        raise SystemExit(f"check: not so: {what}. {said}")
    _say(what)


def _say(words: str) -> None:
    sys.stderr.write(f"check: {words}\n")
