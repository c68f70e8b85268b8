"""What the server adds to its parts, and how many requests it answers.

``python -m benchmarks.server DATA`` fills a collection of 100,000 passages without the detector, as
``benchmarks.search_scale`` does, starts ``lethe serve`` over it on loopback, and writes
``benchmarks/results/server.json``. Run it on a machine that does nothing else; the file says how much other
work there was.

Searches are timed four ways that take turns with each question, in the same minutes: over HTTP in the
server's process, and in this one by the encoder and FAISS alone, by both with the texts of what was found,
and by the retriever, which does more: it counts words, merges both rankings and reads texts. So HTTP is set
against each. Questions are those of the public corpora, asked several times. A client speaks HTTP/1.1 over
one connection that it keeps, from threads of this process, which share the cores with the server.
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import faiss
import numpy as np

from app.compose import encoder_of, retriever_of, search_of
from app.data_dir import DataDir
from app.machine import cores
from app.settings.load import Settings, load_settings
from benchmarks.search_scale import PASSAGE_TOKENS, Copies, fill, real_documents
from benchmarks.searching import SEED
from eval.measures.uncertainty import RESAMPLES, Drawn, Estimate, Floats, bootstrap, holding
from eval.provenance import commit_here, provenance_here
from ingest.deciding.policy import Policy
from ingest.keys import secret_key
from ingest.protocols import Encoder
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.collection import Collection, locked
from retrieval.manifest import Manifest
from retrieval.search import NEAREST

RESULT = Path(__file__).parent / "results" / "server.json"
NAME = "big"
K, WARM_UP = 5, 20
DOCUMENTS = 150
"""Of each corpus, that are copied: encoding more would take longer than all that is measured."""
STARTS = 9
CLIENTS = (4, 16)
CHATTING = 4
QUANTILES = (0.5, 0.95, 0.99)
Ask = Callable[[str], object]


# -- the collection and the server -------------------------------------------------------------------------


def made(
    data: DataDir, corpora: Path, documents: int, passages: int, encoder: Encoder
) -> tuple[int, list[str]]:
    """Fill the collection; the number of its passages, and the questions."""
    real, questions = real_documents(corpora, encoder, documents)
    policy = Policy("redact")
    manifest = Manifest(
        "", encoder.name, encoder.dim, PASSAGE_TOKENS, "none", "none", policy, EMBEDDED_SCALE, "0"
    )
    folder = data.folder(NAME)
    # The server refuses a folder with a collection and without it.
    secret_key(data.settings.data_dir / "secret.key")
    with locked(folder), Collection.create(folder, manifest) as collection:
        fill(collection, real, Copies(real, encoder), passages)
        collection.publish()
        return collection.store.count_passages(), questions


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, str, float]]:
    """A server over the data folder: its process, its URL, and the seconds until it was ready."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LETHE_")}
    environment = {**kept, "LETHE_DATA_DIR": str(folder), "LETHE_SERVER__PORT": "0"}
    began = time.perf_counter()
    command = [sys.executable, "-m", "app.cli", "serve"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = next(word for word in process.stderr.readline().split() if word.startswith("http://"))
            with Client(url) as client:
                while client.get("/readyz") != http.HTTPStatus.OK:
                    time.sleep(0.02)
            yield process.pid, url, time.perf_counter() - began
        finally:
            process.send_signal(signal.SIGTERM)


class Client:
    """One connection that is kept."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, path: str) -> int:
        """The status of a path."""
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status

    def post(self, path: str, body: Mapping[str, object]) -> float:
        """Seconds until the first byte of the answer's body; all of it is read. Raises if it is an error."""
        content = json.dumps(body)
        began = time.perf_counter()
        self._connection.request("POST", path, content, {"content-type": "application/json"})
        answer = self._connection.getresponse()
        answer.read(1)
        first = time.perf_counter() - began
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{path} answered {answer.status}")
        return first

    def search(self, question: str) -> float:
        """Seconds of a search."""
        return self.post("/v1/search", {"collection": NAME, "question": question, "k": K})

    def chat(self, question: str) -> float:
        """Seconds until the first byte of a streamed answer."""
        messages = [{"role": "user", "content": question}]
        return self.post(
            "/v1/chat/completions", {"model": f"kb:{NAME}", "messages": messages, "stream": True}
        )


def pss(pid: int) -> int:
    """Bytes of memory of a process; what it shares is counted in part."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(row.split()[1]) << 10 for row in rows if row.startswith("Pss:"))


# -- timing ------------------------------------------------------------------------------------------------


def ways_of(collection: Collection, settings: Settings, encoder: Encoder, client: Client) -> dict[str, Ask]:
    """The same search by HTTP and by its parts, with the vectors in FAISS in single precision."""
    retriever = retriever_of(collection, encoder, search_of(settings))
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(encoder.dim))
    for ids, vectors in collection.store.vectors(after=0):
        index.add_with_ids(vectors, np.asarray(ids, dtype=np.int64))

    def nearest(question: str) -> object:
        return index.search(encoder.encode([question]), NEAREST)

    def with_texts(question: str) -> object:
        found = index.search(encoder.encode([question]), K)[1][0]
        return collection.store.passages(found.tolist())

    return {
        "HTTP": client.search,
        "encoder and FAISS": nearest,
        "encoder, FAISS and texts": with_texts,
        "retriever": lambda question: retriever.retrieve([question], K),
    }


def in_turn(ways: Mapping[str, Ask], questions: Sequence[str]) -> dict[str, list[float]]:
    """Seconds of each way by question, warm-up left out; which way comes first changes each time."""
    taken: dict[str, list[float]] = {way: [] for way in ways}
    names = list(ways)
    for number, question in enumerate(questions):
        turn = number % len(names)
        for way in names[turn:] + names[:turn]:
            began = time.perf_counter()
            ways[way](question)
            taken[way].append(time.perf_counter() - began)
    return {way: each[WARM_UP:] for way, each in taken.items()}


def quantile_of(seconds: Sequence[float], q: float) -> Estimate:
    """A quantile in milliseconds, with its bootstrap interval."""
    values = 1e3 * np.asarray(seconds)

    def statistic(drawn: Drawn) -> Floats:
        return np.quantile(values[drawn], q, axis=1)

    redraws = bootstrap(statistic, len(values), SEED, RESAMPLES)
    return _counted(holding(float(np.quantile(values, q)), redraws), len(values))


def ratio_of_quantiles(one: Sequence[float], other: Sequence[float], q: float) -> Estimate:
    """A quantile of one way over that of another, resampled by question."""
    ones, others = np.asarray(one), np.asarray(other)

    def statistic(drawn: Drawn) -> Floats:
        return np.asarray(np.quantile(ones[drawn], q, axis=1) / np.quantile(others[drawn], q, axis=1))

    value = float(np.quantile(ones, q) / np.quantile(others, q))
    return _counted(holding(value, bootstrap(statistic, len(ones), SEED, RESAMPLES)), len(ones))


def _counted(estimate: Estimate, n: int) -> Estimate:
    return Estimate(estimate.value, estimate.low, estimate.high, n=n)


def searched(taken: Mapping[str, Sequence[float]]) -> dict[str, object]:
    """Milliseconds of each way, and HTTP as times of each other."""
    return {
        "milliseconds": {
            way: {str(q): asdict(quantile_of(each, q)) for q in QUANTILES} for way, each in taken.items()
        },
        "HTTP as times": {
            way: {str(q): asdict(ratio_of_quantiles(taken["HTTP"], each, q)) for q in QUANTILES}
            for way, each in taken.items()
            if way != "HTTP"
        },
    }


def at_once(url: str, clients: int, seconds: float, questions: Sequence[str]) -> list[list[float]]:
    """For each client the pairs of moment and seconds of its searches, flat, asked without a pause."""
    until = time.perf_counter() + seconds

    def one(number: int) -> list[float]:
        rows: list[float] = []
        with Client(url) as client:
            while (began := time.perf_counter()) < until:
                rows += [began, client.search(questions[(number * 37 + len(rows) // 2) % len(questions)])]
        return rows

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(one, range(clients)))


def shared_out(url: str, clients: int, questions: Sequence[str]) -> list[float]:
    """Seconds until the first byte of the answer to each question; every client asks its share of them."""

    def one(number: int) -> list[float]:
        with Client(url) as client:
            return [client.chat(question) for question in questions[number::clients]]

    with ThreadPoolExecutor(clients) as pool:
        return [took for each in pool.map(one, range(clients)) for took in each]


def sustained(rows: Sequence[Sequence[float]], seconds: float) -> Estimate:
    """Requests a second; the interval is that of whole seconds drawn again, the first and last left out."""
    ends = np.array(
        [began + took for each in rows for began, took in zip(each[::2], each[1::2], strict=True)]
    )
    counts = np.bincount((ends - ends.min()).astype(int))[1 : int(seconds) - 1].astype(float)

    def statistic(drawn: Drawn) -> Floats:
        return np.asarray(counts[drawn].mean(axis=1))

    value = float(counts.mean())
    return _counted(holding(value, bootstrap(statistic, len(counts), SEED, RESAMPLES)), len(counts))


# -- the run -----------------------------------------------------------------------------------------------


def started(folder: Path, starts: int) -> list[float]:
    """Seconds until the server was ready, of several starts."""
    found = []
    for _ in range(starts):
        with serving(folder) as (_, _, seconds):
            found.append(seconds)
    return found


def measured(given: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    seconds: float = given.seconds
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        settings = load_settings({"data_dir": str(folder)})
        data, encoder = DataDir(settings), encoder_of(settings)
        count, questions = made(data, given.data, given.documents, given.passages, encoder)
        starting = started(folder, given.starts)
        with serving(folder) as (pid, url, _):
            at_start = pss(pid)
            with data.open(NAME) as collection, Client(url) as client:
                taken = in_turn(ways_of(collection, settings, encoder, client), questions * given.rounds)
            after_searches = pss(pid)
            chats = {when: shared_out(url, CHATTING, questions) for when in ("first time", "again")}
            rates = {
                str(clients): asdict(sustained(at_once(url, clients, seconds, questions), seconds))
                for clients in CLIENTS
            }
            bytes_held = {"ready": at_start, "after searches": after_searches, "after all": pss(pid)}
    return {
        "passages": count,
        "questions": len(questions),
        "cores": cores(),
        "search": searched(taken),
        "chat": {
            "clients": CHATTING,
            "first byte, milliseconds": {
                when: {str(q): asdict(quantile_of(each, q)) for q in QUANTILES}
                for when, each in chats.items()
            },
        },
        "searches a second": rates,
        "seconds until ready": {"runs": sorted(round(each, 3) for each in starting)},
        "bytes": bytes_held,
    }


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 4)
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case _:
            return value


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="What the server adds to its parts.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--passages", type=int, default=100_000, help="how many there are at least")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each corpus, to be copied")
    parser.add_argument("--seconds", type=float, default=40, help="of each load of searches")
    parser.add_argument("--rounds", type=int, default=5, help="how often each question is asked")
    parser.add_argument("--starts", type=int, default=STARTS, help="of the server")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file of the figures")
    given = parser.parse_args()
    # As the command line sets it, so that both processes wait alike; before torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    commit, load = commit_here(), {"before": os.getloadavg()[0]}
    figures = measured(given)
    told = {"load average before": f"{load['before']:.2f}", "seconds of each load": str(given.seconds)}
    entry = {"provenance": provenance_here(told, commit).model_dump(mode="json"), **_rounded(figures)}
    given.result.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(entry))


if __name__ == "__main__":
    main()
