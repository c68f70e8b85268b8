"""What tests of all folders share: no network, and a clean place to run in.

Every socket to another address than this machine's own is refused.
"""

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from models.encoders.minilm import MiniLM

# A browser that was not silent is quoted.
pytest.register_assert_rewrite("tests.browsing")
# As the command line sets it, and before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

settings.register_profile("fast", deadline=None, print_blob=False, max_examples=25)
settings.register_profile("thorough", deadline=None, print_blob=False, max_examples=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let unix sockets and the loopback address through, refuse the rest."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not _is_loopback(str(address[0])):
            raise PermissionError("a test tried to reach the network")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and no variable of Lethe's but those that the test sets."""
    for name in [name for name in os.environ if name.upper().startswith("LETHE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, which is never asked."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def minilm() -> "MiniLM":
    """The embedded encoder, loaded once for all tests."""
    from models.encoders.minilm import MiniLM

    return MiniLM("cpu")


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of an embedded Milvus."""
    from tests.databases import need

    need("langchain_milvus", "pymilvus", "milvus_lite")
    return str(tmp_path_factory.mktemp("milvus") / "milvus.db")


@pytest.fixture(scope="session")
def pgvector() -> Iterator[str]:
    """The address of a PostgreSQL with pgvector."""
    from tests.databases import postgres

    with postgres() as address:
        yield address


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` rewrites what the golden run expects."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/expected")
