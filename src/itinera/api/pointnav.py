"""Training of PointNav agents by reinforcement learning."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from itinera.api.scoring import optional_path
from itinera.errors import MissingExtra

if TYPE_CHECKING:
    from itinera.policies.pointnav.agent import PointNavAgent
    from itinera.runs.engines import Engine
    from itinera.tasks import Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]


def train_pointnav(
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    sensor: str = "scan",
    drive: str = "point-turn",
    sliding: bool = True,
    decaying: bool = False,
    steps: int | None = None,
    minutes: float | None = None,
    validation: Split | File | None = None,
    times: FastestTimes | File | None = None,
    evaluate_every: int | None = None,
    seed: int = 0,
    out: File | None = None,
    overwrite: bool = False,
    num_envs: int = 128,
    learning_rate: float = 7e-4,
    max_distance: float = 30.0,
    lift_gate: bool = False,
    config: Any = None,
    start_from: File | None = None,
    device: str = "cpu",
    tables: File | None = None,
    tensorboard: File | None = None,
    workers: int = 1,
    engine: str | Engine = "processes",
    verbose: bool = True,
) -> PointNavAgent:
    """An agent that drives to a point, trained by PPO in the houses of these tasks; their episodes are not used.

    >>> import itinera
    >>> tasks = "hearth/pointnav/train/train.json.gz"
    >>> agent = itinera.train_pointnav(tasks, "hearth", minutes=10, out="driver.safetensors")  # doctest: +SKIP
    >>> test_tasks = "hearth/pointnav/val_unseen/val_unseen.json.gz"
    >>> predictions = itinera.run(agent, test_tasks, "hearth", drive="point-turn")  # doctest: +SKIP

    sensor: "none", "scan" (32 rays, 90 degrees), "pooled-depth" (4 x 64) or "depth" (64 x 64).
    drive: "point-turn", "unicycle-6" or "unicycle-15". sliding: whether the robot slides along walls.
    decaying: the reward for progress decays to nothing over 8/15 of all steps, as in Yokoyama et al. 2021.
    steps, minutes: environment steps of all processes, or as many as they make in about this time. Give one of them.
    validation: episodes in other houses to evaluate on; the result is the model with the best SCT if there are `times`
        (`itinera.fastest_times`), else SPL.
    out: the model file. If interrupted, the same call resumes; `overwrite=True` starts anew.
    lift_gate: STOP is forbidden farther than 0.2 m from the goal, by the agent's own estimate; this lifts it in the
        second half of training, so that the agent learns when to stop.
    max_distance: of starts from their goals, metres; a curriculum begins at 3 m.
    config: sizes of the network, a `PointNavConfig` or a mapping of some of its fields; by default small ones.
    start_from: a model file to go on from.
    tables: a folder for the distances to goals, which otherwise take about a second per house every time.

    workers: the number of processes that train together, each with `num_envs` robots (DD-PPO), by the `engine`:
        "processes" of this machine, "ray", "ray://HOST:PORT" or "slurm". The weights depend on their number, not on
        the engine. Tasks and worlds are then given as paths, and `out` in a folder that all machines see.

    Under `torchrun` every process calls this, and all train one policy (DD-PPO); the first one writes. With one process
    and one thread, as here, equal seeds give equal weights.
    """
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise MissingExtra("Training", "torch", "neural")
    from itinera.formats.io import check_outputs
    from itinera.runs.engines import is_local, open_engine
    from itinera.runs.prepare import check_seed
    from itinera.tasks import Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.training.distributed import ALONE, is_launched, join_ranks, leave_ranks
    from itinera.training.pointnav.job import TrainingJob
    from itinera.training.pointnav.train_agent import PointNavOptions

    check_outputs([out], [tasks, worlds, validation, times, start_from])
    check_seed(seed)
    options = PointNavOptions(
        sensor, drive, sliding, decaying, steps, minutes, num_envs, learning_rate=learning_rate,
        max_distance=max_distance, lift_gate=lift_gate, evaluate_every=evaluate_every,
    )  # fmt: skip
    job = TrainingJob(
        tasks=tasks if isinstance(tasks, Split) else Path(tasks),
        worlds=worlds if isinstance(worlds, Mapping) else Path(worlds),
        options=options,
        config=config,
        start_from=optional_path(start_from),
        validation=validation if validation is None or isinstance(validation, Split) else Path(validation),
        times=times if times is None or isinstance(times, FastestTimes) else Path(times),
        tables=optional_path(tables),
        seed=seed,
        device=device,
        out=None if out is None else Path(out).absolute(),
        overwrite=overwrite,
        tensorboard=optional_path(tensorboard),
        verbose=verbose,
    )
    if workers != 1 or not is_local(engine):
        with open_engine(engine, workers) as running:
            return job.train_on(running, workers)
    launched = is_launched()
    try:
        return job.train(join_ranks(device=device) if launched else ALONE)
    finally:
        if launched:
            leave_ranks()
