"""Probing an agent: its action distribution at the end of a path it was guided along. This runs a skill study.

`probe` runs one trial; `probe_all` runs many, in several processes; `study.py` adds configuration and resuming. The
result does not depend on the number of processes. An agent's error fails its trial, with the reason; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.agents.agent import Agent, ProbabilisticAgent, validate_probabilities
from itinera.errors import BadArgument
from itinera.formats.action_probabilities import decode_record, encode_record
from itinera.records.action_probabilities import ActionDistribution
from itinera.runs.engines import Engine
from itinera.runs.engines.messages import BadMessage
from itinera.runs.engines.sandbox import Sandbox, run_in_sandboxes
from itinera.runs.engines.worker_pool import Jobs, WorkerPool
from itinera.runs.engines.worker_process import StartMethod, Work, WorkerSide
from itinera.runs.rollout import describe_failure
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import Trial
from itinera.worlds import Array, Pose, World

MAX_MOVES = 20  # from the start of the episode, guided ones included, as agents on RxR are allowed
BATCH_SIZE = 64  # trials a worker takes at a time


@dataclass(frozen=True, eq=False)
class ProbeContext:
    """The agents, simulator and worlds of one process."""

    make_agent: Callable[[Trial], Agent]  # the same agent for all trials, unless it is allowed to know their targets
    simulator: Simulator
    worlds: Mapping[str, World]
    files: Mapping[str, str] = field(default_factory=dict)  # the digests of the agent's files, by name


MakeContext = Callable[[], ProbeContext]  # sent to workers, so it is a function of a module, or a partial of one


def probe(
    agent: Agent, simulator: Simulator, world: World, trial: Trial, *, seed: int, greedy_rollout: bool = False
) -> ActionDistribution:
    """The agent's action distribution at the end of the trial's path.

    The agent receives the instruction, observes every place on the path (`observe`), and is queried at the last
    (`action_probabilities`). With `greedy_rollout` it continues with its most probable actions until it stops or has
    made 20 moves in total. Its random stream depends on the seed and the path only, so a trial and its control differ
    in their instruction and in nothing else.
    """
    probed = _require_probabilities(agent)
    try:
        probed.reset(generator(seed, "study", trial.control_id or trial.id))
        observation = simulator.reset(world, trial.episode.start)
        probed.start_episode(trial.episode.instruction)
        for node in trial.episode.reference[1:]:
            probed.observe(observation)
            observation = simulator.step(_find_action(str(node), observation))
        probabilities = _query(probed, observation, simulator)
        assert observation.candidates is not None
        path = tuple(_roll_out(probed, simulator, observation, probabilities, trial)) if greedy_rollout else ()
    except (Exception, SystemExit) as error:
        return ActionDistribution.failure(trial.id, describe_failure(error)["failed"])
    candidates = observation.candidates
    return ActionDistribution(trial.id, observation.heading, candidates.nodes, candidates.headings, probabilities, path)


def _require_probabilities(agent: Agent) -> ProbabilisticAgent:
    if not isinstance(agent, ProbabilisticAgent):
        raise BadArgument(
            f"{type(agent).__name__} does not report action probabilities, which a study needs. Give it a method "
            "action_probabilities(observation), STOP first; an agent in another process replies to hello with "
            '"action_probabilities": true; for one that cannot run here there are `itinera study export` and '
            "`itinera study import`."
        )
    return agent


def _find_action(node: str, observation: Observation) -> int:
    """The action that moves to a node."""
    if observation.candidates is None:
        raise BadArgument("Trials need navigation graphs.")
    if node not in observation.candidates.nodes:
        raise BadArgument(f"The trial's path goes from {observation.place} to {node}, and there is no such edge.")
    return 1 + observation.candidates.nodes.index(node)


def _query(agent: ProbabilisticAgent, observation: Observation, simulator: Simulator) -> Array:
    probabilities = validate_probabilities(agent.action_probabilities(observation), simulator.actions)
    return np.asarray(probabilities / probabilities.sum())


def _roll_out(
    agent: ProbabilisticAgent, simulator: Simulator, observation: Observation, probabilities: Array, trial: Trial
) -> Iterator[str]:
    """The nodes visited by greedy actions; of equally probable actions the first is taken."""
    yield str(observation.place)
    for _ in range(len(trial.episode.reference) - 1, MAX_MOVES):
        action = int(np.argmax(probabilities))
        if action == STOP:
            return
        agent.observe(observation)
        observation = simulator.step(action)
        yield str(observation.place)
        probabilities = _query(agent, observation, simulator)


Batch = list[tuple[int, Trial]]


class _TrialMessage(msgspec.Struct, frozen=True):
    """What the worker of an agent may know of a trial; goals and target are empty unless the agent is an expert."""

    id: str
    control_id: str
    skill: str
    arm: str
    start: str
    path: list[str]
    heading: float
    elevation: float
    text: str
    language: str
    goals: list[str]
    target: dict[str, Any]


class _BatchMessage(msgspec.Struct, frozen=True):
    world_id: str
    trials: list[_TrialMessage]


class ProbeWork(Work[Batch, ActionDistribution]):
    """Probes of batches of trials: an item is a trial, its record an action distribution."""

    item_name = "trial"

    def __init__(self, make_context: MakeContext, seed: int, rollout_skills: frozenset[str]) -> None:
        self._make_context, self._seed, self._rollout_skills = make_context, seed, rollout_skills

    def make_context(self) -> tuple[ProbeContext, dict[str, str]]:
        context = self._make_context()
        return context, dict(context.files)

    def serve(self, context: ProbeContext, job: bytes, worker: WorkerSide) -> None:
        message = msgspec.msgpack.decode(job, type=_BatchMessage)
        trials = [_decode_trial(trial, message.world_id) for trial in message.trials]
        _find_world(context, trials[0])
        worker.start()
        for index, trial in enumerate(trials):
            worker.report(index, encode_record(_probe_trial(context, trial, self._seed, self._rollout_skills)))


class ProbeJobs(Jobs[Batch, ActionDistribution]):
    """The batches in the parent; workers receive goals and targets only if the agent is `privileged`."""

    def __init__(self, *, privileged: bool) -> None:
        self._privileged = privileged

    def world_id(self, job: Batch) -> str:
        return job[0][1].episode.world_id

    def count(self, job: Batch) -> int:
        return len(job)

    def encode(self, job: Batch, first: int) -> bytes:
        trials = [_encode_trial(trial, privileged=self._privileged) for _, trial in job[first:]]
        return msgspec.msgpack.encode(_BatchMessage(self.world_id(job), trials))

    def decode(self, job: Batch, index: int, record: bytes) -> ActionDistribution:
        try:
            distribution = decode_record(record)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadMessage(f"no action distribution ({error})") from None
        if distribution.trial_id != job[index][1].id:
            raise BadMessage("an action distribution of another trial")
        return distribution

    def lose(self, job: Batch, index: int, reason: str) -> ActionDistribution:
        return ActionDistribution.failure(job[index][1].id, reason)


def _encode_trial(trial: Trial, *, privileged: bool) -> _TrialMessage:
    episode = trial.episode
    return _TrialMessage(
        trial.id,
        trial.control_id,
        trial.skill,
        trial.arm,
        str(episode.start.place),
        [str(node) for node in episode.reference],
        episode.start.heading,
        episode.start.elevation,
        episode.instruction.text,
        episode.instruction.language,
        [str(goal) for goal in episode.goals] if privileged else [],
        dict(trial.target) if privileged else {},
    )


def _decode_trial(message: _TrialMessage, world_id: str) -> Trial:
    start = Pose(message.start, message.heading, message.elevation)
    instruction = Instruction(message.text, message.language)
    episode = Episode(message.id, world_id, start, tuple(message.goals), tuple(message.path), instruction)
    return Trial(message.id, message.skill, message.arm, message.control_id, episode, message.target)


def probe_all(
    make_context: MakeContext,
    trials: Sequence[Trial],
    *,
    seed: int,
    workers: int = 1,
    rollout_skills: frozenset[str] = frozenset(),
    start_method: StartMethod = "spawn",
    privileged: bool = False,
) -> Iterator[list[tuple[int, ActionDistribution]]]:
    """The action distributions of all trials, each with its index, in batches as they finish.

    `workers=0` runs in this process. In trials of the `rollout_skills` the agent continues with greedy actions.
    A `privileged` agent is an expert, which receives goals and targets.
    """
    check_workers(workers)
    if workers == 0:
        yield from probe_here(make_context(), trials, seed, rollout_skills)
        return
    with make_probe_pool(make_context, seed, rollout_skills, start_method, privileged=privileged) as pool:
        yield from probe_in_pool(pool, trials, workers)


def check_workers(workers: int) -> None:
    """Refuse negative numbers."""
    if workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}); 0 runs in this process.")


def probe_here(
    context: ProbeContext, trials: Sequence[Trial], seed: int, rollout_skills: frozenset[str]
) -> Iterator[list[tuple[int, ActionDistribution]]]:
    """The action distributions of all trials in batches, in this process."""
    for batch in _make_batches(trials):
        yield [(index, _probe_trial(context, trial, seed, rollout_skills)) for index, trial in batch]


def make_probe_pool(
    make_context: MakeContext,
    seed: int,
    rollout_skills: frozenset[str],
    start_method: StartMethod,
    *,
    privileged: bool,
) -> WorkerPool[Batch, ActionDistribution]:
    """Workers for trials."""
    work = ProbeWork(make_context, seed, rollout_skills)
    return WorkerPool(work, ProbeJobs(privileged=privileged), start_method)


def make_probe_sandbox(
    make_context: MakeContext, seed: int, rollout_skills: frozenset[str], *, privileged: bool
) -> Sandbox[Batch, ActionDistribution]:
    """Workers for trials on other machines."""
    return Sandbox(ProbeWork(make_context, seed, rollout_skills), ProbeJobs(privileged=privileged))


def probe_on_engine(
    engine: Engine, sandbox: Sandbox[Batch, ActionDistribution], trials: Sequence[Trial], files: Sequence[Path]
) -> Iterator[list[tuple[int, ActionDistribution]]]:
    """The action distributions of all trials in batches, by the processes of an engine."""
    batches = _make_batches(trials)
    for number, found in run_in_sandboxes(engine, sandbox, batches, size=1, files=files):
        yield [(index, distribution) for (index, _), distribution in zip(batches[number], found, strict=True)]


def probe_in_pool(
    pool: WorkerPool[Batch, ActionDistribution], trials: Sequence[Trial], workers: int
) -> Iterator[list[tuple[int, ActionDistribution]]]:
    """The action distributions of all trials in batches, by the workers of a pool."""
    batches = _make_batches(trials)
    for number, found in pool.run(batches, min(workers, len(batches))):
        yield [(index, distribution) for (index, _), distribution in zip(batches[number], found, strict=True)]


def _make_batches(trials: Sequence[Trial]) -> list[Batch]:
    """The trials with their indices, one world at a time."""
    by_world: dict[str, Batch] = {}
    for index, trial in enumerate(trials):
        by_world.setdefault(trial.episode.world_id, []).append((index, trial))
    return [group[k : k + BATCH_SIZE] for group in by_world.values() for k in range(0, len(group), BATCH_SIZE)]


def _probe_trial(context: ProbeContext, trial: Trial, seed: int, rollout_skills: frozenset[str]) -> ActionDistribution:
    world = _find_world(context, trial)
    rolls_out = trial.skill in rollout_skills
    agent = context.make_agent(trial)
    return probe(agent, context.simulator, world, trial, seed=seed, greedy_rollout=rolls_out)


def _find_world(context: ProbeContext, trial: Trial) -> World:
    if trial.episode.world_id not in context.worlds:
        raise BadArgument(f"World {trial.episode.world_id} is not among the worlds given. Check --worlds (worlds=).")
    return context.worlds[trial.episode.world_id]
