"""Asking an agent what it would do at the end of a walk it was led along: the running of a skill study.

`ask` asks once; `ask_all` asks many times, in several processes at once. What comes out does not depend on how many.
Whatever an agent does wrong fails its trial, with the reason, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from itinera.agents.agent import Agent, ProbabilisticAgent
from itinera.errors import BadArgument, ItineraError
from itinera.records.action_probabilities import Leaning, unasked
from itinera.runs.process_map import end_with_parent
from itinera.runs.rollout import failure
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World

MOST_MOVES = 20  # from the start of the episode, those it is led included, as agents of RxR are let
NEAR_ONE = 1e-4  # as far as single precision may be off
BATCH = 64  # trials a worker takes at a time


@dataclass(frozen=True, eq=False)
class Panel:
    """All it takes to ask; every worker makes its own."""

    agent: Callable[[Trial], Agent]  # whom to ask; only one that knows answers is another for each trial
    simulator: Simulator
    worlds: Mapping[str, World]


Recipe = Callable[[], Panel]  # sent to workers, so it is a function of a module, or a partial of one


def ask(agent: Agent, simulator: Simulator, world: World, trial: Trial, *, seed: int, onward: bool = False) -> Leaning:
    """What the agent leans to at the end of the trial's path.

    It is told the words, shown every place on the way (`observe`), and asked at the last (`action_probabilities`). With `onward` it goes
    on from there: it is led along its likeliest actions until it would rather stop, or has made 20 moves in all. Its
    random numbers depend on the seed and the walk alone, so a trial and its control twin differ in their words and in
    nothing else.
    """
    weigher = _weighing(agent)
    try:
        weigher.reset(generator(seed, "study", trial.twin or trial.id))
        observation = simulator.reset(world, trial.episode.start)
        weigher.start_episode(trial.episode.instruction)
        for node in trial.episode.reference[1:]:
            weigher.observe(observation)
            observation = simulator.step(_towards(str(node), observation))
        weights = _weights(weigher.action_probabilities(observation), simulator.actions)
        assert observation.candidates is not None
        walked = tuple(_rolled_out(weigher, simulator, observation, weights, trial)) if onward else ()
    except (Exception, SystemExit) as error:
        return unasked(trial.id, failure(error)["failed"])
    return Leaning(
        trial.id, observation.heading, observation.candidates.nodes, observation.candidates.headings, weights, walked
    )


def _weighing(agent: Agent) -> ProbabilisticAgent:
    if not isinstance(agent, ProbabilisticAgent):
        raise BadArgument(
            f"{type(agent).__name__} cannot weigh: a study asks for the probability of every action. Give it a method "
            'action_probabilities(observation), STOP first; in another process, answer hello with "action_probabilities": true; for one that cannot '
            "be run here there are `itinera study export` and `itinera study import`."
        )
    return agent


def _towards(node: str, observation: Observation) -> int:
    if observation.candidates is None:
        raise BadArgument("Trials are walked on graphs.")
    if node not in observation.candidates.nodes:
        raise BadArgument(f"The trial's path goes from {observation.place} to {node}, which no edge joins.")
    return 1 + observation.candidates.nodes.index(node)


def _weights(weights: Any, count: int) -> Array:
    """(count,) the probabilities an agent gave, if that is what they are."""
    values = np.array(weights, dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all() or (values < 0).any():
        expected = f"({count},) probabilities, STOP first, finite and not negative"
        raise BadArgument(f"action_probabilities() gave an array of shape {values.shape}; expected {expected}.")
    if abs(values.sum() - 1) > NEAR_ONE:
        raise BadArgument(
            f"action_probabilities() gave probabilities that sum to {values.sum():g}; they must sum to 1."
        )
    return np.asarray(values / values.sum())


def _rolled_out(
    agent: ProbabilisticAgent, simulator: Simulator, observation: Observation, weights: Array, trial: Trial
) -> Iterator[str]:
    """Where the agent goes by its likeliest actions; the first of those equally likely."""
    yield str(observation.place)
    for _ in range(len(trial.episode.reference) - 1, MOST_MOVES):
        action = int(np.argmax(weights))
        if action == STOP:
            return
        agent.observe(observation)
        observation = simulator.step(action)
        yield str(observation.place)
        weights = _weights(agent.action_probabilities(observation), simulator.actions)


def ask_all(
    recipe: Recipe, trials: Sequence[Trial], *, seed: int, workers: int = 1, onward: frozenset[str] = frozenset()
) -> Iterator[list[tuple[int, Leaning]]]:
    """The leanings of all trials, each with its number, batch by batch as they are done; `workers=0` asks here.

    In trials of the skills `onward` names, the agent goes on after it was asked; see `ask`.
    """
    if workers < 0:
        raise BadArgument(f"There cannot be {workers} workers. 0 asks in this process.")
    batches = _batches(trials)
    if workers == 0 or not batches:
        panel = recipe()
        for batch in batches:
            yield _asked(panel, batch, seed, onward)
        return
    # Fresh processes, not copies of this one: what they do cannot depend on what was done here before.
    count = min(workers, len(batches))
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=_take_seat, initargs=(recipe,)) as pool:
        work = [pool.submit(_asked_there, _bare(batch), seed, onward) for batch in batches]
        try:
            for done in as_completed(work):
                yield done.result()
        except BrokenProcessPool:
            raise BadArgument(
                "A worker ended in the middle of its trials: the agent ended its process, or there was no memory left. "
                "--workers 0 asks in this process and shows more; --agent-command keeps an agent in one of its own."
            ) from None
        finally:
            _give_up(work)


_Batch = list[tuple[int, Trial]]


def _batches(trials: Sequence[Trial]) -> list[_Batch]:
    """The trials with their numbers, a world at a time."""
    by_world: dict[str, _Batch] = {}
    for number, trial in enumerate(trials):
        by_world.setdefault(trial.episode.world_id, []).append((number, trial))
    return [group[k : k + BATCH] for group in by_world.values() for k in range(0, len(group), BATCH)]


def _bare(batch: _Batch) -> _Batch:
    """The same without what nobody is asked about, so that little is sent."""
    return [
        (number, replace(trial, target=dict(trial.target), episode=replace(trial.episode, alignment=None, notes={})))
        for number, trial in batch
    ]


def _asked(panel: Panel, batch: _Batch, seed: int, onward: frozenset[str]) -> list[tuple[int, Leaning]]:
    def asked(trial: Trial) -> Leaning:
        world = _world(panel, trial)
        return ask(panel.agent(trial), panel.simulator, world, trial, seed=seed, onward=trial.skill in onward)

    return [(number, asked(trial)) for number, trial in batch]


def _world(panel: Panel, trial: Trial) -> World:
    if trial.episode.world_id not in panel.worlds:
        raise BadArgument(f"World {trial.episode.world_id} is not among the worlds given. Check --worlds.")
    return panel.worlds[trial.episode.world_id]


_seat: list[Panel | Exception] = []  # of a worker: its own panel, made once, or why it has none


def _take_seat(recipe: Recipe) -> None:
    end_with_parent()
    try:
        _seat[:] = [recipe()]
    except BadArgument as error:  # raised here it would break the pool without a word
        _seat[:] = [error]
    except Exception as error:  # of any kind, which may not survive the way back
        _seat[:] = [ItineraError(failure(error)["failed"] if not isinstance(error, ItineraError) else str(error))]


def _asked_there(batch: _Batch, seed: int, onward: frozenset[str]) -> list[tuple[int, Leaning]]:
    panel = _seat[0]
    if isinstance(panel, Exception):
        raise panel
    return _asked(panel, batch, seed, onward)


def _give_up(work: Sequence[Future[Any]]) -> None:
    for future in work:
        future.cancel()
