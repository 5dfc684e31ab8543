"""Probing an agent: its action distribution at the end of a path it was guided along. This runs a skill study.

`probe` runs one trial; `probe_all` runs many, in several processes; `study.py` adds configuration and resuming. The
result does not depend on the number of processes. An agent's error fails its trial, with the reason; the others go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from itinera.agents.agent import Agent, ProbabilisticAgent, validate_probabilities
from itinera.errors import BadArgument, ItineraError
from itinera.records.action_probabilities import ActionDistribution
from itinera.runs.rollout import describe_failure
from itinera.runs.workers import StartMethod, WorkerFailure, parallel_map
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World

MAX_MOVES = 20  # from the start of the episode, guided ones included, as agents on RxR are allowed
BATCH_SIZE = 64  # trials a worker takes at a time


@dataclass(frozen=True, eq=False)
class ProbeContext:
    """The agents, simulator and worlds of one process."""

    make_agent: Callable[[Trial], Agent]  # the same agent for all trials, unless it is allowed to know their targets
    simulator: Simulator
    worlds: Mapping[str, World]


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


def probe_all(
    make_context: MakeContext,
    trials: Sequence[Trial],
    *,
    seed: int,
    workers: int = 1,
    rollout_skills: frozenset[str] = frozenset(),
    start_method: StartMethod = "spawn",
) -> Generator[list[tuple[int, ActionDistribution]]]:
    """The action distributions of all trials, each with its index, in batches as they finish.

    `workers=0` runs in this process. In trials of the `rollout_skills` the agent continues with greedy actions.
    """
    if workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}); 0 runs in this process.")
    batches = _make_batches(trials)
    if workers == 0:
        context = make_context()
        for batch in batches:
            yield _probe_batch(context, batch, seed, rollout_skills)
        return
    # The context is made once in each process, whatever the number of its batches; the token tells calls apart.
    work = partial(_probe_in_worker, os.urandom(8), make_context, seed, rollout_skills)
    try:
        jobs, count = map(_strip, batches), min(workers, len(batches))
        with closing(parallel_map(work, jobs, workers=count, spawn_one=True, start_method=start_method)) as finished:
            for _, results in finished:
                yield results
    except WorkerFailure:
        raise BadArgument(
            "A worker process ended during its trials: the agent ended its process, or memory ran out. Run with "
            "--workers 0 (workers=0) to see more, or give the agent a process of its own (--agent-command, command=)."
        ) from None


def _make_batches(trials: Sequence[Trial]) -> list[Batch]:
    """The trials with their indices, one world at a time."""
    by_world: dict[str, Batch] = {}
    for index, trial in enumerate(trials):
        by_world.setdefault(trial.episode.world_id, []).append((index, trial))
    return [group[k : k + BATCH_SIZE] for group in by_world.values() for k in range(0, len(group), BATCH_SIZE)]


def _strip(batch: Batch) -> Batch:
    """The same trials without what probing does not need, so that little is sent."""
    return [
        (index, replace(trial, target=dict(trial.target), episode=replace(trial.episode, alignment=None, notes={})))
        for index, trial in batch
    ]


def _probe_batch(
    context: ProbeContext, batch: Batch, seed: int, rollout_skills: frozenset[str]
) -> list[tuple[int, ActionDistribution]]:
    def probe_trial(trial: Trial) -> ActionDistribution:
        world = _find_world(context, trial)
        rolls_out = trial.skill in rollout_skills
        agent = context.make_agent(trial)
        return probe(agent, context.simulator, world, trial, seed=seed, greedy_rollout=rolls_out)

    return [(index, probe_trial(trial)) for index, trial in batch]


def _find_world(context: ProbeContext, trial: Trial) -> World:
    if trial.episode.world_id not in context.worlds:
        raise BadArgument(f"World {trial.episode.world_id} is not among the worlds given. Check --worlds (worlds=).")
    return context.worlds[trial.episode.world_id]


_worker_context: dict[bytes, ProbeContext] = {}  # of a worker process: its context, by the token of the call


def _probe_in_worker(
    token: bytes, make_context: MakeContext, seed: int, rollout_skills: frozenset[str], batch: Batch
) -> list[tuple[int, ActionDistribution]]:
    if token not in _worker_context:
        try:
            _worker_context[token] = make_context()
        except ItineraError:
            raise
        except Exception as error:  # of any type, which may not survive being sent to the parent
            raise ItineraError(describe_failure(error)["failed"]) from None
    return _probe_batch(_worker_context[token], batch, seed, rollout_skills)
