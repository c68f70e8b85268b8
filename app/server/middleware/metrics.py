"""The figures of a running server, as Prometheus reads them.

Labels are route templates, methods, statuses, states and names of parts. Names of collections are chosen by
people and may tell something, so no label has them.
"""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import GaugeMetricFamily

from app.server.middleware.answered import Answered

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The figures of one app, in a registry of its own."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "lethe_requests_total",
            "Requests by route, method and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "lethe_request_seconds",
            "Seconds from the first byte of a request to the last of its answer.",
            ("route", "method"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge(
            "lethe_requests_in_flight", "Requests that are being answered.", registry=self._registry
        )
        ProcessCollector(registry=self._registry)

    def count(self, answered: Answered) -> None:
        """Count a request that is over."""
        status = "none" if answered.status is None else str(answered.status)
        self._requests.labels(answered.route, answered.method, status).inc()
        self._seconds.labels(answered.route, answered.method).observe(answered.seconds)

    def show(self, name: str, told: str, label: str, read: Callable[[], Mapping[str, int]]) -> None:
        """Add figures that are read whenever they are asked for, by the values of a label."""
        self._registry.register(_Read(name, told, label, read))

    def text(self) -> bytes:
        """All figures in Prometheus' text form."""
        return generate_latest(self._registry)


class _Read:
    """A family of figures that somebody else keeps."""

    def __init__(self, name: str, told: str, label: str, read: Callable[[], Mapping[str, int]]) -> None:
        self._name, self._told, self._label, self._read = name, told, label, read

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(self._name, self._told, labels=(self._label,))
        for value, figure in self._read().items():
            family.add_metric((value,), figure)
        yield family
