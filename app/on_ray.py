"""An ingest whose reading and sanitizing run on a Ray cluster; this machine stores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from app.access.vault import Sealing
from app.data_dir import DataDir
from app.ingesting import Plan, limits_of, pipeline, worker_of
from app.settings.load import Settings
from ingest.errors import SanitizationError
from ingest.on_ray.connection import Cluster
from ingest.on_ray.stages import Work, known_key, prepared
from ingest.pipeline import Begin, Intake, Tally, already
from ingest.protocols import Prepare
from ingest.read.paths import FOLDERS_ALONE, Walk
from ingest.read.reading import Fields, ReadLimits
from ingest.read.sources import STDIN, sources_of
from ingest.scoring.scale import Scale
from models.errors import ConfigurationError, LetheError
from retrieval.passages import Writer
from retrieval.store.database import CutDocument


@dataclass(frozen=True, slots=True)
class OnRay:
    """Stores what a cluster makes of the files behind ``paths``; an ``app.ingesting.Elsewhere``."""

    cluster: Cluster
    data: DataDir = field(repr=False)
    paths: Sequence[str] = field(repr=False)
    fields: Fields
    read_limits: ReadLimits
    own_entities: str
    readers: frozenset[str] = field(default=frozenset(), repr=False)
    walk: Walk = FOLDERS_ALONE

    def __call__(self, planned: Plan, writer: Writer, on_progress: Callable[[Tally], None]) -> Tally:
        """As ``Pipeline.run``, for a plan with a manifest.

        Raises:
            LetheError: A machine of the cluster cannot do its part.
        """
        assert planned.manifest is not None
        settings = self.data.settings
        sent = _Sent(
            settings,
            self.data.key,
            planned.manifest.scale,
            self.own_entities,
            version("lethe"),
            planned.sealing,
            self.readers,
        )
        work = Work(
            intake=sent.intake,
            prepare=sent.prepare,
            fields=self.fields,
            read_limits=self.read_limits,
            limits=limits_of(settings),
            seconds=settings.ingest.sanitize_seconds,
        )
        known = [known_key(each) for each in writer.stored()]
        arriving = prepared(self.cluster, sources_of(self.paths, self.walk), work, known)
        begin: Begin[CutDocument | SanitizationError, CutDocument] = already
        return pipeline(begin, settings).run(arriving, writer, on_progress)


@dataclass(frozen=True, slots=True)
class _Sent:
    """What every machine is told. The keys stay in its memory."""

    settings: Settings = field(repr=False)
    key: bytes = field(repr=False)
    scale: Scale
    own_entities: str
    version: str
    sealing: Sealing | None
    readers: frozenset[str] = field(repr=False)

    def intake(self) -> Intake:
        """What gives documents their ids."""
        if version("lethe") != self.version:
            raise LetheError(
                f"A machine of the Ray cluster has Lethe {version('lethe')}, and this one has "
                f"{self.version}. Install the same everywhere."
            )
        return Intake(DataDir(self.settings, key=self.key).public_ids, self.key, self.readers)

    def prepare(self) -> Prepare[CutDocument]:
        """What sanitizes, in a process of an actor: it has one thread, or a GPU."""
        return worker_of(self.settings, self.key, self.scale, 1, self.own_entities, self.sealing)


def refuse_standard_input(paths: Sequence[str]) -> None:
    """Raise ConfigurationError for what no other machine can read."""
    if STDIN in paths:
        raise ConfigurationError(
            "Standard input cannot be read by the machines of a Ray cluster. Name files, or leave out --ray."
        )
