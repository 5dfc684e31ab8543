"""The stage a tour is played on: acting, being led past a missed goal, being led to the next start, acting again.

`walk` and the Gymnasium environments step the same stage. It counts steps, ends episodes and keeps the record; it
scores nothing. Of the next episode it shows nothing before the way to it has been walked.

Where led places stand in the record: those on the way to a goal follow the acting places of the episode that missed it,
those on the way to a start come before the acting places of the episode that begins there, from the place where the
agent was fetched. A body that is put somewhere rather than moved has PLACED for an action. STOP moves nobody and is
told by the ending alone. After the last episode nobody is led anywhere.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from itinera.errors import BadArgument, ItineraError, NoRoute
from itinera.records.trajectory import PLACED, Choices, Ending, Phase, Trajectory
from itinera.runs.guidance import Leader, Way, leader_by
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks import Episode, Protocol
from itinera.worlds import Array, Places, Pose, World


class IllegalAction(BadArgument):
    """Something that cannot be done here was chosen."""


def legal(action: Any, count: int) -> int:
    """The action as a number below count, or IllegalAction."""
    if type(action) is int and 0 <= action < count:  # as nearly all are
        return action
    if isinstance(action, bool | np.bool_):
        raise IllegalAction(f"{action} was chosen: an action is a whole number, not a truth value.")
    try:
        number = operator.index(action)
    except TypeError:
        kind = type(action).__name__
        raise IllegalAction(f"{_short(action)} ({kind}) was chosen: an action is a whole number.") from None
    if not 0 <= number < count:
        raise IllegalAction(f"Action {_short(number)} was chosen where there are actions 0 to {count - 1}.")
    return number


def _short(value: object, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, ItineraError) else f"{type(error).__name__}: {error}"


class _Record:
    """What happens in one episode, place by place."""

    __slots__ = ("actions", "candidates", "elevations", "headings", "notes", "phases", "places", "times", "weights")

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.headings: list[float] = []
        self.elevations: list[float] = []
        self.times: list[float] = []
        self.phases: list[Phase] = []
        self.actions: list[int] = []
        self.candidates: list[tuple[str, ...]] = []
        self.weights: list[Array] = []
        self.notes: dict[str, Any] = {}

    def add(self, action: int, pose: Observation | Pose, time: float, phase: Phase) -> None:
        if self.places:
            self.actions.append(action)
        self.places.append(pose.place)
        self.headings.append(pose.heading)
        self.elevations.append(pose.elevation)
        self.times.append(time)
        self.phases.append(phase)

    def trajectory(self, episode: Episode, ending: Ending) -> Trajectory:
        on_graph = isinstance(self.places[0], str)
        led = self.phases.count(Phase.ACTING) < len(self.phases)
        return Trajectory(
            episode_id=episode.id,
            places=cast(Places, tuple(self.places) if on_graph else np.array(self.places, dtype=np.float64)),
            headings=np.array(self.headings),
            elevations=np.array(self.elevations),
            actions=np.array(self.actions, dtype=np.int64),
            times=None if on_graph else _since_start(self.times),  # a step along a graph takes no time that is known
            phases=tuple(self.phases) if led else None,
            ending=ending,
            choices=Choices(tuple(self.candidates), tuple(self.weights)) if self.weights else None,
            notes=dict(self.notes),
        )


def _since_start(times: list[float]) -> Array:
    return np.array(times) - times[0]


class Stage:
    """A tour as it happens. Call `act` while the phase is acting and `lead` while it is another, until it is over."""

    def __init__(
        self,
        simulator: Simulator,
        world: World,
        episodes: Sequence[Episode],
        *,
        protocol: Protocol,
        leader: Leader | None = None,
    ) -> None:
        """`leader` is the protocol's own unless another is given. `open` comes next."""
        if not episodes:
            raise BadArgument("A tour has at least one episode.")
        guidance = protocol.guidance
        if guidance is not None and guidance.to_goal and any(episode.goals_withheld for episode in episodes[:-1]):
            raise BadArgument(
                f"Protocol {protocol.name} leads agents to goals they miss, but these tasks withhold theirs. "
                f"Choose one that does not, such as {protocol.name}-test."
            )
        self._simulator, self._world, self._episodes = simulator, world, episodes
        self._protocol, self._guidance = protocol, guidance
        self._leader = leader or leader_by(protocol)
        self._record = _Record()
        self._way: Way | None = None
        self._action = STOP  # the leader's next
        self._led = 0
        self._lost = True  # nobody knows where the body is
        self._placing = False  # whether it is put at the start next, once the agent has seen where it is now
        self._clock = 0.0  # seconds before the body was last placed
        self._finished: list[Trajectory] = []
        self._ending = Ending.STOPPED
        self.number = 0  # of the episode that is going on, or led to
        self.steps = 0  # the agent's, in this episode
        self.phase = Phase.GUIDED_TO_START
        self.over = False
        self.begins = False  # whether an episode begins with the present observation
        self.observation: Observation = cast(Observation, None)  # of every phase; known once opened

    @property
    def episode(self) -> Episode:
        """The one that is going on, or led to."""
        return self._episodes[self.number]

    @property
    def is_led(self) -> bool:
        """Whether the agent is on its way with a leader, rather than acting, done or about to be put somewhere."""
        return self.phase is not Phase.ACTING and not self.over and not self._lost

    @property
    def choices(self) -> int:
        """How many actions can be chosen now."""
        return self._simulator.actions

    @property
    def trajectories(self) -> Sequence[Trajectory]:
        """Of the episodes that have ended; the last may yet grow by the way to its goal."""
        return self._finished

    def open(self) -> None:
        """Put the body at the first start."""
        self._arrive()

    def act(self, action: Any) -> None:
        """Do what the agent chose; raises IllegalAction, which changes nothing."""
        assert self.phase is Phase.ACTING
        assert not self.over
        simulator = self._simulator
        number = legal(action, simulator.actions)
        self.begins = False
        self.steps += 1
        if number == STOP:
            self._end(Ending.STOPPED)
            return
        self.observation = seen = simulator.step(number)
        self._record.add(number, seen, self._clock + seen.time, Phase.ACTING)
        if self.steps == self._protocol.step_limit:
            self._end(Ending.OUT_OF_STEPS)

    def weigh(self, weights: Array) -> None:
        """Keep what the agent thinks of its actions here."""
        candidates = self.observation.candidates
        named = candidates.nodes if candidates is not None else tuple(map(str, range(1, self._simulator.actions)))
        self._record.candidates.append(("stop", *named))
        self._record.weights.append(weights)

    def fail(self, notes: Mapping[str, Any], *, lost: bool = False) -> None:
        """End the episode as failed. Where the body is lost, the next episode begins without a way to it.

        An episode that is over but for the way to its goal stays as it ended.
        """
        record = self._record
        self._lost = self._lost or lost
        if self.phase is Phase.GUIDED_TO_GOAL:
            record.notes["led to goal"] = f"gave up: {notes.get('failed', '')}"
            self._finished[-1] = record.trajectory(self.episode, self._ending)
            self._go_on()
            return
        if Phase.ACTING not in record.phases:
            record.add(PLACED, self.episode.start, self._clock, Phase.ACTING)
        record.notes.update({**notes, "lost": True} if self._lost else notes)
        self._end(Ending.FAILED)

    def lead(self) -> None:
        """Go on by one step of the leader, or be put at the start after the last."""
        assert self.phase is not Phase.ACTING
        assert not self.over
        if self._lost or self._placing:
            self._arrive()
            return
        if not self._record.places:
            self._note(PLACED)
        self.observation = self._simulator.step(self._action)
        self._led += 1
        self._foresee(then=self._action)

    def _note(self, action: int) -> None:
        self._record.add(action, self.observation, self._clock + self.observation.time, self.phase)

    def _end(self, ending: Ending) -> None:
        """The agent's part of the episode is over."""
        self.begins = False
        self._ending = ending
        self.over = self.number + 1 == len(self._episodes)
        led = self._guidance is not None and not self._lost and not self.over
        goal = self._missed() if led else None
        self._finished.append(self._record.trajectory(self.episode, ending))
        if goal is not None:
            self._set_out(Phase.GUIDED_TO_GOAL, goal, facing=False)
        elif led:
            self._set_out_for_start()
        elif not self.over:
            self._go_on()
            self._lost = True

    def _missed(self) -> Pose | None:
        """The nearest goal, if the agent is to be led there and not so near already that it has seen it."""
        assert self._guidance is not None
        if not self._guidance.to_goal:
            return None
        goals = self.episode.goals
        try:
            far = self._world.space.between(cast(Places, [self.observation.place]), goals)[0]
        except ItineraError as error:
            self._record.notes["led to goal"] = f"gave up: {error}"
            return None
        nearest = int(np.argmin(far))
        return None if far[nearest] <= self._guidance.goal_distance else Pose(goals[nearest])

    def _set_out_for_start(self) -> None:
        self._go_on()
        self._set_out(Phase.GUIDED_TO_START, self.episode.start, facing=True)

    def _go_on(self) -> None:
        """To the next episode."""
        self.number += 1
        self.steps = 0
        self.phase = Phase.GUIDED_TO_START
        self._record = _Record()

    def _set_out(self, phase: Phase, target: Pose, *, facing: bool) -> None:
        self.phase = phase
        self._led = 0
        try:
            self._way = self._leader(self._world, target, facing=facing)
        except Exception as error:
            self._stuck(_why(error))
            return
        self._foresee()

    def _foresee(self, then: int | None = None) -> None:
        """Ask for the leader's next action; `then` is the one just done, whose outcome is noted."""
        assert self._guidance is not None
        assert self._way is not None
        try:
            self._action = self._way(self.observation)
            if self._action != STOP and self._led == self._guidance.step_limit:
                raise NoRoute(f"not there after {self._led} steps.")
        except Exception as error:
            if then is not None:
                self._note(then)
            self._stuck(_why(error))
            return
        there = self._action == STOP
        # A leader that leaves the agent as it came has already brought it to its first acting place.
        begins = there and self.phase is Phase.GUIDED_TO_START and not self._guidance.exact_start
        if then is not None and not begins:
            self._note(then)
        if there:
            self._led_there(then if begins else None)

    def _led_there(self, last: int | None) -> None:
        if self.phase is Phase.GUIDED_TO_GOAL:
            self._led_past_goal()
        elif self._guidance is not None and self._guidance.exact_start:
            self._placing = True
        else:
            self._begin(PLACED if last is None else last)

    def _led_past_goal(self) -> None:
        self._finished[-1] = self._record.trajectory(self.episode, self._ending)
        self._set_out_for_start()

    def _stuck(self, why: str) -> None:
        """A leader gives up on the way to a goal; at the start the agent is put there."""
        if self.phase is Phase.GUIDED_TO_GOAL:
            self._record.notes["led to goal"] = f"gave up: {why}"
            self._led_past_goal()
        else:
            self._record.notes["led to start"] = f"placed: {why}"
            self._placing = True

    def _arrive(self) -> None:
        """Put the body at the episode's start."""
        self._lost = True
        if self.observation is not None:
            self._clock += self.observation.time
        self.observation = self._simulator.reset(self._world, self.episode.start)
        self._lost = self._placing = False
        self._begin(PLACED)

    def _begin(self, action: int) -> None:
        self.phase = Phase.ACTING
        self.begins = True
        self._note(action)
