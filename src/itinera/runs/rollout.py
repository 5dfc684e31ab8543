"""The loop that lets an agent act: one tour, told, shown, asked and recorded.

Whatever an agent does wrong ends its episode as failed, with the reason in the notes, and the tour goes on.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from itinera.agents.agent import Agent, ProbabilisticAgent
from itinera.records import Ending, Phase, Rollout, Trajectory
from itinera.runs.guidance import Leader
from itinera.runs.tour_loop import IllegalAction, Stage
from itinera.seeding import generator
from itinera.simulators.simulator import Observation, Simulator
from itinera.tasks import Episode, Protocol, Tour
from itinera.worlds import Array, World

LONGEST_TRACEBACK = 4000  # characters of it that are kept, the last ones
LONGEST_REASON = 300

Told = Callable[[int, Trajectory], None]  # the number of an episode in its tour, and what it came to


def walk(
    agent: Agent,
    simulator: Simulator,
    world: World,
    tour: Tour,
    episodes: Sequence[Episode],
    *,
    protocol: Protocol,
    seed: int,
    leader: Leader | None = None,
    keep_choices: bool = False,
    told: Told | None = None,
) -> Rollout:
    """The walk of an agent that does the episodes of a tour one after another.

    Its random numbers depend on the seed and the tour's id alone. Every observation is shown to the agent once: to
    `act` while it decides, to `observe` while it is led. `keep_choices` records what a `ProbabilisticAgent` agent thinks of its
    actions. `told` hears of every episode when the agent's part is over, and again if it was then led to the goal.
    """
    stage = Stage(simulator, world, episodes, protocol=protocol, leader=leader)
    return _Walking(agent, stage, tour, keep_choices, told).whole(seed)


class _Walking:
    """A walk as it happens."""

    def __init__(self, agent: Agent, stage: Stage, tour: Tour, keep_choices: bool, told: Told | None) -> None:
        self.agent, self.stage, self.tour = agent, stage, tour
        self.weighing = agent if keep_choices and isinstance(agent, ProbabilisticAgent) else None
        self.told = told
        self.heard = 0  # trajectories passed on
        self.last: Trajectory | None = None  # of those
        self.broken: dict[str, Any] | None = None  # what went wrong while the agent was not to act

    def whole(self, seed: int) -> Rollout:
        stage = self.stage
        rng = generator(seed, "run", self.tour.id)
        unable = self._asked(lambda: self.agent.reset(rng))
        self._happens(stage.open)
        self._tell()
        while not stage.over:
            if stage.phase is not Phase.ACTING:
                self._be_led()
            elif stage.begins:
                self._begin(unable)
            else:
                self._act()
            self._tell()
        return Rollout(self.tour.id, tuple(stage.trajectories))

    def _begin(self, unable: dict[str, Any] | None) -> None:
        wrong = unable or self.broken
        self.broken = None
        if wrong is None:
            wrong = self._asked(lambda: self.agent.start_episode(self.stage.episode.instruction))
        if wrong is None:
            self._act()
        else:
            self._happens(lambda: self.stage.fail(wrong))

    def _act(self) -> None:
        stage = self.stage
        try:
            if self.weighing is not None:
                stage.weigh(
                    _weights(self.weighing.action_probabilities(stage.observation), stage.choices)
                )
            action = self.agent.act(stage.observation)
        except (Exception, SystemExit) as error:
            wrong = failure(error)
            self._happens(lambda: stage.fail(wrong))
            return
        try:
            stage.act(action)
        except IllegalAction as error:
            reason = {"failed": str(error)}
            self._happens(lambda: stage.fail(reason))
        except Exception as error:
            # Where the body cannot do what it should, the fault is not the agent's, but the episode is lost.
            stage.fail(failure(error), lost=True)
        else:
            self._look_back()

    def _look_back(self) -> None:
        """An agent that ran out of steps has not yet seen where it came to, and is led on from there."""
        stage = self.stage
        if stage.is_led and stage.trajectories[-1].ending is Ending.OUT_OF_STEPS:
            self._watch(stage.observation)

    def _be_led(self) -> None:
        self._happens(self.stage.lead)
        if self.stage.is_led:
            self._watch(self.stage.observation)

    def _watch(self, observation: Observation) -> None:
        if self.broken is None:
            self.broken = self._asked(lambda: self.agent.observe(observation))

    def _asked(self, call: Callable[[], object]) -> dict[str, Any] | None:
        """What went wrong when the agent was asked, if anything did."""
        try:
            call()
        except (Exception, SystemExit) as error:
            return failure(error)
        return None

    def _happens(self, change: Callable[[], object]) -> None:
        """Let the stage change; an episode that cannot be put on has failed, and so may be the next."""
        while True:
            try:
                change()
            except Exception as error:
                change = partial(self.stage.fail, failure(error), lost=True)
            else:
                return

    def _tell(self) -> None:
        """Pass on the trajectories that are new, or longer than they were."""
        done = self.stage.trajectories
        if self.told is None or not done or done[-1] is self.last:
            return
        # Only the last one told may have grown.
        first = self.heard - 1 if self.heard and done[self.heard - 1] is not self.last else self.heard
        for number in range(first, len(done)):
            self.told(number, done[number])
        self.heard, self.last = len(done), done[-1]


def failure(error: BaseException) -> dict[str, str]:
    """What the notes of an episode tell about an error: the reason, and how it came about."""
    lines = "".join(traceback.format_exception(error))
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return {"failed": _lasting(reason)[:LONGEST_REASON], "traceback": _lasting(lines)[-LONGEST_TRACEBACK:]}


def _lasting(text: str) -> str:
    # Addresses in memory are others in every process, and would make equal runs differ.
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x…", text)


def _weights(weights: Any, count: int) -> Array:
    """(count,) what the agent thinks of each action."""
    values = np.array(weights, dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all() or (values < 0).any():
        expected = f"({count},) probabilities, finite and not negative"
        raise IllegalAction(f"action_probabilities() gave an array of shape {values.shape}; expected {expected}.")
    return values
