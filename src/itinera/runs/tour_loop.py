"""The phase machine of a tour: acting, guided to a missed goal, guided to the next start, acting again.

`rollout` and the Gymnasium environments step the same loop. It counts steps, ends episodes and keeps the record; it
scores nothing. It shows nothing of the next episode before the agent has arrived at its start.

Where guided places stand in the record: those on the way to a goal follow the acting places of the episode that missed
it; those on the way to a start precede the acting places of the episode that begins there, from the place where the
guidance began. A body that is placed rather than moved has PLACED for an action. STOP adds no place and shows in the
ending alone. There is no guidance after the last episode. Of composite actions, such as drives to waypoints, the
primitive ones are recorded and counted; guidance too is by primitive actions, and the agent observes about every
GUIDED_STRIDE metres, as on its own way.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from itinera.errors import BadArgument, ItineraError, NoRoute
from itinera.records.thinking import DECISIONS
from itinera.records.trajectory import CONTINUED, NO_ACTION, ActionLog, Ending, Phase, Trajectory
from itinera.runs.guidance import Controller, Guide, make_guide
from itinera.simulators.simulator import (
    STOP,
    CompositeSimulator,
    Observation,
    Simulator,
    as_composite,
    as_continuing,
    as_timed,
)
from itinera.tasks import Episode, Protocol
from itinera.worlds import Array, Places, Pose, World

GUIDED_STRIDE = 2.25  # metres between the observations of an agent of waypoints that is guided

# The goals of an episode of the tour, by its index, once its acting phase has ended with this trajectory.
FindGoals: TypeAlias = Callable[[int, Trajectory], Places]


class IllegalAction(BadArgument):
    """The agent chose an action that does not exist here."""


def validate_action(action: Any, count: int) -> int:
    """The action as an integer below `count`; raises IllegalAction."""
    if type(action) is int and 0 <= action < count:  # the usual case
        return action
    if isinstance(action, bool | np.bool_):
        raise IllegalAction(f"The agent chose {action}; an action is an integer, not a boolean.")
    try:
        number = operator.index(action)
    except TypeError:
        kind = type(action).__name__
        raise IllegalAction(f"The agent chose {_short(action)} ({kind}); an action is an integer.") from None
    if not 0 <= number < count:
        raise IllegalAction(f"The agent chose action {_short(number)}; the actions here are 0 to {count - 1}.")
    return number


def _short(value: object, max_length: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ItineraError) else f"{type(error).__name__}: {error}"


def require_goals(protocol: Protocol, episodes: Sequence[Episode]) -> None:
    """Refuse episodes without goals for a protocol that guides agents there."""
    guidance = protocol.guidance
    if guidance is not None and guidance.to_goal and any(episode.goals_withheld for episode in episodes[:-1]):
        raise BadArgument(
            f"Protocol {protocol.name} guides agents to goals they miss, but these tasks withhold their goals. "
            f"Use a protocol that does not, such as {protocol.name}-test."
        )


class _EpisodeRecord:
    """The record of one episode, place by place."""

    __slots__ = (
        "actions",
        "candidates",
        "collided",
        "elevations",
        "headings",
        "notes",
        "phases",
        "places",
        "probabilities",
        "thinking",
        "thinks",
        "times",
    )

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.headings: list[float] = []
        self.elevations: list[float] = []
        self.times: list[float] = []
        self.thinking: list[float] = []  # seconds at each place
        self.thinks = False  # whether the run has a clock
        self.phases: list[Phase] = []
        self.actions: list[int] = []
        self.collided: list[bool] = []
        self.candidates: list[tuple[str, ...]] = []
        self.probabilities: list[Array] = []
        self.notes: dict[str, Any] = {}

    def add(self, action: int, pose: Observation | Pose, time: float, phase: Phase) -> None:
        if self.places:
            self.actions.append(action)
            self.collided.append(isinstance(pose, Observation) and bool(pose.collided))
        self.places.append(pose.place)
        self.headings.append(pose.heading)
        self.elevations.append(pose.elevation)
        self.times.append(time)
        self.thinking.append(0.0)
        self.phases.append(phase)

    def trajectory(self, episode: Episode, ending: Ending) -> Trajectory:
        on_graph = isinstance(self.places[0], str)
        guided = self.phases.count(Phase.ACTING) < len(self.phases)
        return Trajectory(
            episode_id=episode.id,
            places=cast(Places, tuple(self.places) if on_graph else np.array(self.places, dtype=np.float64)),
            headings=np.array(self.headings),
            elevations=np.array(self.elevations),
            actions=np.array(self.actions, dtype=np.int64),
            collided=None if on_graph else np.array(self.collided, dtype=bool),  # nothing to hit on a graph
            times=None if on_graph else _since_start(self.times),  # moves on a graph have no duration
            thinking=np.array(self.thinking) if self.thinks else None,
            phases=tuple(self.phases) if guided else None,
            ending=ending,
            action_log=ActionLog(tuple(self.candidates), tuple(self.probabilities)) if self.probabilities else None,
            notes=dict(self.notes),
        )


def _since_start(times: list[float]) -> Array:
    return np.array(times) - times[0]


class TourLoop:
    """A tour in progress. Call `act` while the phase is acting and `guide` while it is another, until it is `done`."""

    def __init__(
        self,
        simulator: Simulator,
        world: World,
        episodes: Sequence[Episode],
        *,
        protocol: Protocol,
        guide: Guide | None = None,
        find_goals: FindGoals | None = None,
    ) -> None:
        """`guide` is the protocol's own unless another is given. Call `reset` next.

        With `find_goals`, the episodes need not contain their goals: it is asked for those an agent is guided to.
        """
        if not episodes:
            raise BadArgument("A tour must have at least one episode.")
        if find_goals is None:
            require_goals(protocol, episodes)
        self._simulator, self._world, self._episodes = simulator, world, episodes
        self._composite = as_composite(simulator)
        self._protocol, self._guidance = protocol, protocol.guidance
        self._guide, self._find_goals = guide, find_goals
        self._record = _EpisodeRecord()
        self._controller: Controller | None = None
        self._action = STOP  # the controller's next
        self._guided_steps = 0
        self._lost = True  # the pose of the body is unknown
        self._placing = False  # whether the body is placed at the start next, once the agent has observed where it is
        self._clock = 0.0  # seconds before the body was last placed
        self._finished: list[Trajectory] = []
        self._ending = Ending.STOPPED
        self.episode_index = 0  # of the current episode, or of the one the agent is guided to
        self.steps = 0  # of the agent in this episode
        self.phase = Phase.GUIDED_TO_START
        self.done = False
        self._last_action = STOP  # of the agent, in this episode
        self.is_first = False  # whether the current observation is the first of an episode
        self.observation: Observation = cast(Observation, None)  # of every phase; known after `reset`

    @property
    def episode(self) -> Episode:
        """The current episode, or the one the agent is guided to."""
        return self._episodes[self.episode_index]

    @property
    def is_guided(self) -> bool:
        """Whether the agent is being guided, rather than acting, done or about to be placed somewhere."""
        return self.phase is not Phase.ACTING and not self.done and not self._lost

    @property
    def place_index(self) -> int:
        """The index of the current observation among the places of its episode."""
        return max(len(self._record.places) - 1, 0)

    @property
    def num_actions(self) -> int:
        """The number of actions available now."""
        return self._simulator.actions

    @property
    def trajectories(self) -> Sequence[Trajectory]:
        """Those of the episodes that have ended; the last may still grow by the guided path to its goal."""
        return self._finished

    def reset(self) -> None:
        """Place the body at the first start."""
        self._place_at_start()

    @property
    def stops_between(self) -> bool:
        """Whether STOP needs the action probabilities, because the body then goes to a place between candidates."""
        return self._composite is not None and self._composite.stops_between

    def think(self, seconds: float, *, overlap: bool = False) -> None:
        """Let the time pass in which the agent chooses its next action: call it before `act`, on any simulator.

        The body stands still, or with `overlap` goes on with the agent's last action; the record then has a place at
        least every second.
        """
        assert self.phase is Phase.ACTING
        record = self._record
        record.thinks = True
        timed, continuing = as_timed(self._simulator), as_continuing(self._simulator)
        if overlap and continuing is not None and self._last_action != STOP and seconds > 0:
            pieces = max(1, math.ceil(seconds - 1e-9))
            for _ in range(pieces):
                record.thinking[-1] += seconds / pieces
                self.observation = body = continuing.continue_action(seconds / pieces)
                record.add(CONTINUED, body, self._clock + body.time, Phase.ACTING)
            return
        record.thinking[-1] += seconds
        if timed is not None:
            timed.wait(seconds)

    def act(self, action: Any, probabilities: Array | None = None) -> None:
        """Take the agent's action; raises IllegalAction, which changes nothing.

        With action probabilities, a body that stops between candidates goes there before it stops.
        """
        assert self.phase is Phase.ACTING
        assert not self.done
        simulator = self._simulator
        number = validate_action(action, simulator.actions)
        self.is_first = False
        if self._composite is not None and number != STOP:
            self._drive(self._composite, number)
            return
        if number == STOP and probabilities is not None:
            self._approach(probabilities)
        self.steps += 1
        if number == STOP:
            self._end(Ending.STOPPED)
            return
        self.observation = observation = simulator.step(number)
        self._last_action = number
        self._record.add(number, observation, self._clock + observation.time, Phase.ACTING)
        if self.steps == self._protocol.step_limit:
            self._end(Ending.OUT_OF_STEPS)

    def _drive(self, composite: CompositeSimulator, action: int) -> None:
        """Take a composite action: its primitive actions are recorded, and each is a step."""
        notes = self._record.notes
        notes[DECISIONS] = notes.get(DECISIONS, 0) + 1
        for primitive, body in composite.drive(action):
            self._add_step(primitive, body)
            if self.steps == self._protocol.step_limit:
                self._end(Ending.OUT_OF_STEPS)
                if self.done:
                    return
                break
        self.observation = composite.observation

    def _approach(self, probabilities: Array) -> None:
        """Go to where an agent with these probabilities had better stop, as long as steps are left to stop there."""
        if self._composite is None or not self._composite.stops_between or self._last_step:
            return
        for number, (primitive, body) in enumerate(self._composite.approach(probabilities), start=1):
            self._add_step(primitive, body)
            self._record.notes["approach"] = number  # steps after the decision to stop
            if self._last_step:
                return

    @property
    def _last_step(self) -> bool:
        """Whether the next step of this episode is the last one."""
        return self._protocol.step_limit is not None and self.steps + 1 >= self._protocol.step_limit

    def _add_step(self, primitive: int, body: Observation) -> None:
        self.steps += 1
        self._record.add(primitive, body, self._clock + body.time, Phase.ACTING)

    def record_probabilities(self, probabilities: Array) -> None:
        """Record the agent's probability of each action available now."""
        candidates = self.observation.candidates
        names = candidates.nodes if candidates is not None else tuple(map(str, range(1, self._simulator.actions)))
        self._record.candidates.append(("stop", *names))
        self._record.probabilities.append(probabilities)

    def record_usage(self, usage: Mapping[str, Any]) -> None:
        """Record what the agent has taken in this episode so far: calls, tokens, cost."""
        self._record.notes["usage"] = dict(usage)

    def fail(self, notes: Mapping[str, Any], *, lost: bool = False) -> None:
        """End the episode as failed. If the body is `lost`, the next episode begins without guidance to its start.

        An episode whose acting phase is over keeps its ending; only the guidance to its goal is given up.
        """
        record = self._record
        self._lost = self._lost or lost
        if self.phase is Phase.GUIDED_TO_GOAL:
            record.notes["guided to goal"] = f"gave up: {notes.get('failed', '')}"
            self._finished[-1] = record.trajectory(self.episode, self._ending)
            self._next_episode()
            return
        if Phase.ACTING not in record.phases:
            record.add(NO_ACTION, self.episode.start, self._clock, Phase.ACTING)
        record.notes.update({**notes, "lost": True} if self._lost else notes)
        self._end(Ending.FAILED)

    def guide(self) -> None:
        """Take one step of the guidance (a stride, if actions are composite), or place the body at the start."""
        assert self.phase is not Phase.ACTING
        assert not self.done
        if self._lost or self._placing:
            self._place_at_start()
            return
        if not self._record.places:
            self._record_place(NO_ACTION)
        if self._composite is not None:
            self._guide_body(self._composite)
            return
        self.observation = self._simulator.step(self._action)
        self._guided_steps += 1
        self._plan_step(after=self._action)

    def _guide_body(self, composite: CompositeSimulator) -> None:
        """Take primitive actions of the guidance until the body is a stride away, or the guidance ends."""
        phase, first = self.phase, np.asarray(composite.body.place)
        while self.phase is phase and not self._placing:
            if np.linalg.norm(np.asarray(composite.body.place) - first) >= GUIDED_STRIDE:
                break
            composite.step_body(self._action)
            self._guided_steps += 1
            self._plan_step(after=self._action)
        self.observation = composite.observation

    @property
    def _body(self) -> Observation:
        """The last observation of the body."""
        return self.observation if self._composite is None else self._composite.body

    def _record_place(self, action: int) -> None:
        body = self._body
        self._record.add(action, body, self._clock + body.time, self.phase)

    def _end(self, ending: Ending) -> None:
        """End the acting phase of the episode."""
        self.is_first = False
        self._ending = ending
        self.done = self.episode_index + 1 == len(self._episodes)
        guided = self._guidance is not None and not self._lost and not self.done
        goal = self._missed_goal(ending) if guided else None
        self._finished.append(self._record.trajectory(self.episode, ending))
        if goal is not None:
            self._start_guidance(Phase.GUIDED_TO_GOAL, goal, facing=False)
        elif guided:
            self._guide_to_start()
        elif not self.done:
            self._next_episode()
            self._lost = True

    def _missed_goal(self, ending: Ending) -> Pose | None:
        """The nearest goal, if the protocol guides the agent there and it is not near enough already."""
        assert self._guidance is not None
        if not self._guidance.to_goal:
            return None
        goals = self.episode.goals
        if self._find_goals is not None:
            goals = self._find_goals(self.episode_index, self._record.trajectory(self.episode, ending))
        try:
            distances = self._world.space.between(cast(Places, [self._body.place]), goals)[0]
        except ItineraError as error:
            self._record.notes["guided to goal"] = f"gave up: {error}"
            return None
        nearest = int(np.argmin(distances))
        return None if distances[nearest] <= self._guidance.goal_distance else Pose(goals[nearest])

    def _guide_to_start(self) -> None:
        self._next_episode()
        self._start_guidance(Phase.GUIDED_TO_START, self.episode.start, facing=True)

    def _next_episode(self) -> None:
        self.episode_index += 1
        self.steps = 0
        self.phase = Phase.GUIDED_TO_START
        self._record = _EpisodeRecord()

    def _start_guidance(self, phase: Phase, target: Pose, *, facing: bool) -> None:
        self.phase = phase
        self._guided_steps = 0
        try:
            guide = self._guide or make_guide(self._protocol)
            self._controller = guide(self._world, target, facing=facing)
        except Exception as error:
            self._give_up(_reason(error))
            return
        self._plan_step()

    def _plan_step(self, after: int | None = None) -> None:
        """Ask the controller for the next action; `after` is the one just taken, whose outcome is recorded."""
        assert self._guidance is not None
        assert self._controller is not None
        try:
            self._action = self._controller(self._body)
            if self._action != STOP and self._guided_steps == self._guidance.step_limit:
                raise NoRoute(f"not there after {self._guided_steps} steps.")
        except Exception as error:
            if after is not None:
                self._record_place(after)
            self._give_up(_reason(error))
            return
        arrived = self._action == STOP
        # Without exact_start, the place where the guidance ends is the first acting place.
        begins = arrived and self.phase is Phase.GUIDED_TO_START and not self._guidance.exact_start
        if after is not None and not begins:
            self._record_place(after)
        if arrived:
            self._end_guidance(after if begins else None)

    def _end_guidance(self, last: int | None) -> None:
        if self.phase is Phase.GUIDED_TO_GOAL:
            self._guided_past_goal()
        elif self._guidance is not None and self._guidance.exact_start:
            self._placing = True
        else:
            self._begin(NO_ACTION if last is None else last)

    def _guided_past_goal(self) -> None:
        self._finished[-1] = self._record.trajectory(self.episode, self._ending)
        self._guide_to_start()

    def _give_up(self, reason: str) -> None:
        """Stop guiding to a goal; on the way to a start, place the body there."""
        if self.phase is Phase.GUIDED_TO_GOAL:
            self._record.notes["guided to goal"] = f"gave up: {reason}"
            self._guided_past_goal()
        else:
            self._record.notes["guided to start"] = f"placed: {reason}"
            self._placing = True

    def _place_at_start(self) -> None:
        self._lost = True
        if self.observation is None:
            self.observation = self._simulator.reset(self._world, self.episode.start)
        else:
            self._clock += self._body.time
            self.observation = (
                self._simulator.reset(self._world, self.episode.start)
                if self._composite is None
                else self._composite.relocate(self.episode.start)
            )
        self._lost = self._placing = False
        self._begin(NO_ACTION)

    def _begin(self, action: int) -> None:
        self.phase = Phase.ACTING
        self._last_action = STOP
        self.is_first = True
        self._record_place(action)
