"""`TrainingJob`: a training of PointNav as a value, which other processes load for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from itinera.errors import BadArgument
from itinera.formats.fastest_times import read_times
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import load_agent, read_model
from itinera.policies.pointnav.agent import PointNavAgent
from itinera.runs.config import load_tasks, load_worlds
from itinera.runs.engines import Engine
from itinera.tasks import PROTOCOLS, Split
from itinera.tasks.fastest_times import FastestTimes
from itinera.training.distributed import ALONE, Ranks
from itinera.training.pointnav.ranks import train_on_engine
from itinera.training.pointnav.train_agent import PointNavOptions, train_pointnav
from itinera.worlds import World

MODEL = "model.safetensors"


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """The arguments of `train_pointnav`, as read or as the paths of files."""

    tasks: Path | Split
    worlds: Path | Mapping[str, World]
    options: PointNavOptions
    config: Any = None
    start_from: Path | None = None
    validation: Path | Split | None = None
    times: Path | FastestTimes | None = None
    tables: Path | None = None
    seed: int = 0
    device: str = "cpu"
    out: Path | None = None
    overwrite: bool = False
    tensorboard: Path | None = None
    verbose: bool = False

    def train(self, ranks: Ranks = ALONE) -> PointNavAgent:
        """The agent, trained by this process as one of the ranks."""
        return train_pointnav(
            load_tasks(self.tasks),
            load_worlds(self.worlds, PROTOCOLS["pointnav"]),
            self.options,
            config=self.config,
            start_from=None if self.start_from is None else read_model(self.start_from).model,
            validation=None if self.validation is None else load_tasks(self.validation),
            times=read_times(self.times) if isinstance(self.times, Path) else self.times,
            tables=self.tables,
            seed=self.seed,
            device=ranks.device if ranks.size > 1 else self.device,
            out=self.out,
            overwrite=self.overwrite,
            tensorboard=self.tensorboard,
            ranks=ranks,
            verbose=self.verbose,
        )

    def train_on(self, engine: Engine, size: int) -> PointNavAgent:
        """The agent, trained by so many ranks in processes of an engine."""
        if not isinstance(self.tasks, Path) or not isinstance(self.worlds, Path):
            raise BadArgument("Several processes (workers, engine) need tasks and worlds as the paths of files.")
        inputs = (self.tasks, self.worlds, self.start_from, self.validation, self.times)
        files = [path for path in inputs if isinstance(path, Path)]
        model = train_on_engine(engine, size, partial(train_model, self), files)
        with TemporaryDirectory() as folder:
            written = self.out or Path(folder) / MODEL
            if not written.exists():  # the first rank may have written it already
                with atomic_write(written) as stream:
                    stream.write(model)
            agent = load_agent(written)
        assert isinstance(agent, PointNavAgent)
        return agent


def train_model(job: TrainingJob, ranks: Ranks) -> bytes:
    """The model file of a job that this process trains as one of the ranks, if it is the first one."""
    with TemporaryDirectory() as folder:
        written = job.out or Path(folder) / MODEL
        replace(job, out=written).train(ranks)
        return written.read_bytes() if ranks.is_first else b""
