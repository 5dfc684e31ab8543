"""`rollout`: an agent acts through one tour, and everything it does is recorded.

An agent's mistake ends its episode as failed, with the reason in the notes, and the tour continues.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from itinera.agents.agent import Agent, MeteredAgent, ProbabilisticAgent, validate_probabilities, validate_usage
from itinera.records import Ending, Phase, Rollout, Trajectory
from itinera.runs.clock import Clock
from itinera.runs.guidance import Guide
from itinera.runs.map_recorders import MapRecorders
from itinera.runs.tour_loop import FindGoals, IllegalAction, TourLoop
from itinera.seeding import generator
from itinera.simulators.simulator import Observation, Simulator
from itinera.tasks import Episode, Protocol, Tour
from itinera.worlds import World

LONGEST_TRACEBACK = 4000  # characters that are kept, the last ones
LONGEST_REASON = 300

OnEpisode = Callable[[int, Trajectory], None]  # the index of an episode in its tour, and its trajectory


def rollout(
    agent: Agent,
    simulator: Simulator,
    world: World,
    tour: Tour,
    episodes: Sequence[Episode],
    *,
    protocol: Protocol,
    seed: int,
    guide: Guide | None = None,
    find_goals: FindGoals | None = None,
    record_probabilities: bool = False,
    record_maps: bool = False,
    clock: Clock | None = None,
    on_episode: OnEpisode | None = None,
) -> Rollout:
    """The trajectories of an agent in the episodes of a tour, one after another.

    The agent's random numbers depend on the seed and the tour's id alone. It receives every observation once: by `act`
    while it acts, by `observe` while it is guided. `record_probabilities` records the action probabilities of a
    `ProbabilisticAgent`, `record_maps` the maps of a `MapHolder`; what a `MeteredAgent` takes is always recorded.
    A `clock` records how long the agent thinks before each action, and lets that time pass.
    `on_episode` is called when the acting phase of an episode ends, and again if the agent was then guided to the goal.
    `find_goals` finds goals that the episodes do not contain; see `TourLoop`.
    """
    loop = TourLoop(simulator, world, episodes, protocol=protocol, guide=guide, find_goals=find_goals)
    recording = MapRecorders(agent) if record_maps else None
    return _RolloutLoop(agent, loop, tour, record_probabilities, recording, clock, on_episode).run(seed)


class _RolloutLoop:
    """A rollout in progress."""

    def __init__(
        self,
        agent: Agent,
        loop: TourLoop,
        tour: Tour,
        record_probabilities: bool,
        maps: MapRecorders | None,
        clock: Clock | None,
        on_episode: OnEpisode | None,
    ) -> None:
        self.agent, self.loop, self.tour = agent, loop, tour
        needed = record_probabilities or loop.stops_between
        self.probabilistic = agent if needed and isinstance(agent, ProbabilisticAgent) else None
        self.records_probabilities = record_probabilities
        self.metered = agent if isinstance(agent, MeteredAgent) else None
        self.maps, self.clock = maps, clock
        self.usage: Mapping[str, Any] = {}  # of the agent in this episode
        self.on_episode = on_episode
        self.reported = 0  # trajectories passed to `on_episode`
        self.last: Trajectory | None = None  # of those
        self.error: dict[str, Any] | None = None  # of the agent while it was guided; fails its next episode

    def run(self, seed: int) -> Rollout:
        loop = self.loop
        rng = generator(seed, "run", self.tour.id)
        reset_error = self._call_agent(lambda: self.agent.reset(rng))
        self._change(loop.reset)
        self._report()
        while not loop.done:
            if loop.phase is not Phase.ACTING:
                self._guide()
            elif loop.is_first:
                self._start_episode(reset_error)
            else:
                self._act()
            self._report()
        trajectories = loop.trajectories
        if self.maps is not None:
            trajectories = [self.maps.add_to(trajectory, k) for k, trajectory in enumerate(trajectories)]
        return Rollout(self.tour.id, tuple(trajectories))

    def _start_episode(self, reset_error: dict[str, Any] | None) -> None:
        error = reset_error or self.error
        self.error, self.usage = None, {}
        if error is None:
            error = self._call_agent(lambda: self.agent.start_episode(self.loop.episode.instruction))
        if error is None:
            self._act()
        else:
            self._change(lambda: self.loop.fail(error))

    def _act(self) -> None:
        loop, probabilities = self.loop, None
        before, started = self.usage, time.perf_counter()
        try:
            if self.probabilistic is not None:
                found = self.probabilistic.action_probabilities(loop.observation)
                probabilities = validate_probabilities(found, loop.num_actions)
                if self.records_probabilities:
                    loop.record_probabilities(probabilities)
            try:
                action = self.agent.act(loop.observation)
                measured = time.perf_counter() - started
            finally:
                self._record_usage()
            self._record_map()
        except (Exception, SystemExit) as error:
            notes = describe_failure(error)
            self._change(lambda: loop.fail(notes))
            return
        try:
            if self.clock is not None:
                loop.think(self.clock.seconds(measured, before, self.usage), overlap=self.clock.overlap)
            loop.act(action, probabilities)
        except IllegalAction as error:
            reason = {"failed": str(error)}
            self._change(lambda: loop.fail(reason))
        except Exception as error:
            # The simulator failed, not the agent; the episode is lost all the same.
            loop.fail(describe_failure(error), lost=True)
        else:
            self._observe_last()

    def _observe_last(self) -> None:
        """An agent that ran out of steps has not received its last observation, and is guided from there."""
        loop = self.loop
        if loop.is_guided and loop.trajectories[-1].ending is Ending.OUT_OF_STEPS:
            self._observe(loop.observation)

    def _guide(self) -> None:
        self._change(self.loop.guide)
        if self.loop.is_guided:
            self._observe(self.loop.observation)

    def _observe(self, observation: Observation) -> None:
        if self.error is None:
            self.error = self._call_agent(lambda: self.agent.observe(observation)) or self._call_agent(self._record_map)

    def _record_map(self) -> None:
        if self.maps is not None:
            loop = self.loop
            self.maps.record(loop.episode_index, loop.place_index, acting=loop.phase is Phase.ACTING)

    def _record_usage(self) -> None:
        if self.metered is not None:
            self.usage = validate_usage(self.metered.episode_usage())
            self.loop.record_usage(self.usage)

    def _call_agent(self, call: Callable[[], object]) -> dict[str, Any] | None:
        """The failure of a call of the agent, if it failed."""
        try:
            call()
        except (Exception, SystemExit) as error:
            return describe_failure(error)
        return None

    def _change(self, change: Callable[[], object]) -> None:
        """Change the state of the loop; an episode that the simulator cannot start has failed, and so may the next."""
        while True:
            try:
                change()
            except Exception as error:
                change = partial(self.loop.fail, describe_failure(error), lost=True)
            else:
                return

    def _report(self) -> None:
        """Pass on the trajectories that are new, or longer than they were."""
        ended = self.loop.trajectories
        if self.on_episode is None or not ended or ended[-1] is self.last:
            return
        # Only the last one reported may have grown.
        first = self.reported - 1 if self.reported and ended[self.reported - 1] is not self.last else self.reported
        for index in range(first, len(ended)):
            trajectory = ended[index]
            self.on_episode(index, trajectory if self.maps is None else self.maps.add_to(trajectory, index))
        self.reported, self.last = len(ended), ended[-1]


def describe_failure(error: BaseException) -> dict[str, str]:
    """The notes of an episode that ended in an error: the reason and the traceback."""
    lines = "".join(traceback.format_exception(error))
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return {
        "failed": _without_addresses(reason)[:LONGEST_REASON],
        "traceback": _without_addresses(lines)[-LONGEST_TRACEBACK:],
    }


def _without_addresses(text: str) -> str:
    # Addresses in memory differ from process to process, and would make equal runs differ.
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x…", text)
