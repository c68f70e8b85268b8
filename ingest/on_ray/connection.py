"""The connection to a Ray cluster, or a Ray of this command's own."""

import logging
import os
import secrets
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ingest.on_ray.disks import HOW, MEMORY, in_memory
from ingest.temporary import temporary_folder
from models.errors import ConfigurationError

LOCAL = "local"
"""Instead of an address: a Ray of this command's own, on this machine."""
CPUS_OF_A_READER = 8
"""One task reads for so many CPUs that sanitize."""

_STORE_BYTES, _LEAST_STORE_BYTES = 512 << 20, 80 << 20
_SECONDS_TO_CONNECT = 5.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the connected Ray has; every actor has one GPU if there are any, else one CPU."""

    actors: int
    readers: int
    gpus: int


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[Cluster]:
    """The Ray at an address, or one of our own that ends with the context; ``workers`` are its actors.

    Raises:
        ConfigurationError: Ray is not installed or cannot be reached, or its versions differ from ours.
    """
    _set_environment(address)
    try:
        import ray.data
    except ImportError:
        raise ConfigurationError("--ray needs Ray: pip install 'lethe[ray]'.") from None
    # It tells of what it runs and of what fails, and so does Lethe.
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="ray")
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        with _own_ray(ray, workers or 1, quiet):
            yield _cluster(ray, workers)
        return
    try:
        _join(ray, address, quiet)
        yield _cluster(ray, workers)
    finally:
        ray.shutdown()


def _set_environment(address: str) -> None:
    """What Ray reads when it is imported."""
    host = address.removeprefix("ray://").rpartition(":")[0]
    here = address == LOCAL or host in ("127.0.0.1", "localhost", "::1")
    chosen = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
    if here:
        # Ray then listens on the loopback address alone, on Linux too.
        chosen["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if address == LOCAL:
        chosen |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ.update(chosen)


@contextmanager
def _own_ray(ray: Any, cpus: int, quiet: dict[str, Any]) -> Iterator[None]:
    """A Ray whose files all lie in memory, logs too, and go with it."""
    if not in_memory(MEMORY):
        raise ConfigurationError(
            f"--ray {LOCAL} passes documents on through files in memory, and this system has no {MEMORY} for "
            "them. Use --workers, or the address of a cluster."
        )
    space = os.statvfs(MEMORY)
    size = min(_STORE_BYTES, space.f_bavail * space.f_frsize // 2)
    if size < _LEAST_STORE_BYTES:
        raise ConfigurationError(
            f"{MEMORY} has too little room ({2 * size >> 20} MB) to pass documents on. Give it "
            f"{2 * _LEAST_STORE_BYTES >> 20} MB or more (docker run --shm-size=1g), or use --workers."
        )
    with temporary_folder(MEMORY) as folder:
        # Ray opens its own folder to every user of the machine; this one stays ours.
        session, full = folder / "ray", folder / "full"
        session.mkdir()
        full.mkdir()
        try:
            with _hushed():
                ray.init(
                    address=LOCAL,
                    num_cpus=cpus,
                    include_dashboard=False,
                    object_store_memory=size,
                    object_spilling_directory=str(full),
                    _temp_dir=str(session),
                    _plasma_directory=str(folder),
                    _system_config={"automatic_object_spilling_enabled": False},
                    **quiet,
                )
            yield
        finally:
            ray.shutdown()


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    if address.startswith("ray://"):
        raise ConfigurationError(
            f"{address} is for Ray's client, over which Ray Data does not run. Run this on a machine of the "
            f"cluster with --ray auto; {HOW}."
        )
    unreachable = (
        f"No Ray answers at {address}. Check the address, and that this machine may reach it; {HOW}."
    )
    refused = f"The Ray at {address} refused the connection. Check its token (RAY_AUTH_TOKEN); {HOW}."
    host, _, port = address.rpartition(":")
    if address != "auto":
        if not host or not port.isdecimal():
            raise ConfigurationError(
                f"{address} is no address of Ray: write host:port, auto for that of this machine, or "
                f"{LOCAL} for one that ends with the command."
            )
        try:
            # Ray itself tries for minutes.
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT).close()
        except (OSError, OverflowError):
            raise ConfigurationError(unreachable) from None
    try:
        with _hushed():
            ray.init(address=address, **quiet)
    except ConnectionError:
        raise ConfigurationError(unreachable if address == "auto" else refused) from None
    except Exception as error:
        if "ersion mismatch" in str(error):
            raise ConfigurationError(
                f"The Ray at {address} has other versions. Install this machine's Python and Ray "
                f"({ray.__version__}) on all of its machines; {HOW}."
            ) from None
        raise ConfigurationError(refused) from None


def _cluster(ray: Any, workers: int | None) -> Cluster:
    there = ray.cluster_resources()
    cpus, gpus = int(there.get("CPU", 0)), int(there.get("GPU", 0))
    return Cluster(workers or gpus or max(1, cpus), max(2, cpus // CPUS_OF_A_READER), gpus)


@contextmanager
def _hushed() -> Iterator[None]:
    """Ray writes to the terminal from C++ while it starts."""
    sys.stderr.flush()
    terminal, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
        os.close(nowhere)
