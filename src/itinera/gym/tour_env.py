"""A tour loop with sensors and a reward, as a Gymnasium environment.

One Gymnasium episode is one task or one tour: a single task is a tour of one. Actions and endings are decided by
`runs/tour_loop.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.gym.observations import ObservationDict, Sensor, make_action_mask
from itinera.gym.rewards import FindDistance, Reward, Transition, distance_to_goal
from itinera.gym.task_set import TaskSet
from itinera.records import Ending, Phase, Rollout
from itinera.rendering.camera import Camera
from itinera.runs.tour_loop import IllegalAction, TourLoop
from itinera.seeding import generator
from itinera.simulators.sensors import CameraRenderer, CameraSensor
from itinera.simulators.simulator import STOP, Simulator
from itinera.tasks import Tour
from itinera.worlds import NavGraph, Place, World

RENDER_CAMERA = Camera(320, 240, math.radians(90))

Step = tuple[ObservationDict, float, bool, bool, dict[str, Any]]


class TourEnv(gymnasium.Env[ObservationDict, np.int64]):
    """Tasks or tours in random order, each once before any is repeated.

    `reset(options={"episode": id})` selects an episode, `{"tour": id}` a tour; the random order continues afterwards as
    if nothing was selected. STOP terminates, the protocol's step limit truncates. An action that the mask excludes ends
    its episode as failed, as in a run; an action outside the action space raises BadArgument. Between the episodes of a
    tour the agent is guided within one step, and its observations on the way are in `info["guided_observations"]`.
    `last_rollout` is the record of the last completed task or tour, the same as that of a run; `task_set` has the tasks
    and worlds.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 (as Gymnasium has it)
    action_space: gymnasium.spaces.Discrete

    def __init__(
        self,
        task_set: TaskSet,
        simulator: Simulator,
        sensors: Sequence[Sensor],
        *,
        actions: int,
        reward: Reward,
        tours: Sequence[Tour] = (),  # none: every episode stands alone
        find_distance: FindDistance = distance_to_goal,  # for rewards
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise BadArgument(f"render_mode must be None or rgb_array, not {render_mode!r}.")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Dict({k: v for sensor in sensors for k, v in sensor.spaces.items()})
        self.action_space = gymnasium.spaces.Discrete(actions)
        self.last_rollout: Rollout | None = None
        self.task_set, self._simulator, self._sensors, self._reward = task_set, simulator, sensors, reward
        self._find_distance = find_distance
        self._option = "tour" if tours else "episode"
        alone = (Tour(episode.id, episode.world_id, (episode.id,)) for episode in task_set.split.episodes)
        self._tours = {tour.id: tour for tour in tours or alone}
        self._order: EpisodeOrder | None = None
        # The nodes of a graph are at camera height.
        height = 1.25 if task_set.protocol.on_ground else 0.0
        self._camera = CameraRenderer(CameraSensor(RENDER_CAMERA, height=height, channels=("rgb",)))
        self._state: _TourState | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObservationDict, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or self._order is None:
            self._order = EpisodeOrder(list(self._tours), seed if seed is not None else self.np_random_seed)
        self._state = None
        tour = self._selected_tour(options or {}) or self._tours[self._order.next()]
        world = self.task_set.worlds[tour.world_id]
        self._check_action_space(world)
        episodes = [self.task_set.split.by_id[name] for name in tour.episode_ids]
        loop = TourLoop(self._simulator, world, episodes, protocol=self.task_set.protocol)
        loop.reset()
        self._state = _TourState(tour, world, loop, self._find_distance)
        return self._observe(self._state), self._make_info(self._state)

    def step(self, action: Any) -> Step:
        state = self._state
        if state is None or state.loop.done:
            raise gymnasium.error.ResetNeeded("The episode is over, or none has begun. Call reset first.")
        if not self.action_space.contains(action):
            raise BadArgument(f"{action!r} is not an action: actions are integers below {self.action_space.n}.")
        loop, previous, ended = state.loop, state.places[-1], len(state.loop.trajectories)
        notes = _act(state, int(action))
        ending = loop.trajectories[-1].ending if len(loop.trajectories) > ended else None
        reward = self._reward(self._make_transition(state, int(action), previous, ending))
        if ending is not None:
            notes |= {"ending": ending.value, **self._guide(state, ending)}
        truncated = loop.done and ending is Ending.OUT_OF_STEPS
        return (
            self._observe(state),
            float(reward),
            loop.done and not truncated,
            truncated,
            self._make_info(state) | notes,
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """(actions,) whether each action is available now, as MaskablePPO of sb3-contrib asks for it."""
        if self._state is None or self._state.loop.done:
            raise gymnasium.error.ResetNeeded("The episode is over, or none has begun. Call reset first.")
        return make_action_mask(self._state.loop.num_actions, int(self.action_space.n)).astype(bool)

    def render(self) -> NDArray[np.uint8] | None:
        """(240, 320, 3) the view ahead; the world needs a mesh."""
        if self.render_mode is None or self._state is None:
            return None
        observation, world = self._state.loop.observation, self._state.world
        space, place = world.space, observation.place
        at = space.positions[space.index[str(place)]] if isinstance(space, NavGraph) else np.asarray(place, np.float64)
        return self._camera.for_world(world)(at, observation.heading, observation.elevation).rgb

    def _selected_tour(self, options: dict[str, Any]) -> Tour | None:
        unknown = sorted(set(options) - {self._option})
        if unknown:
            raise BadArgument(f"reset has no option {unknown[0]!r} here, only {self._option!r}.")
        name = options.get(self._option)
        if name is not None and name not in self._tours:
            raise BadArgument(f"There is no {self._option} {name!r} in {self.task_set.split.name}.")
        return None if name is None else self._tours[name]

    def _check_action_space(self, world: World) -> None:
        """Refuse a graph that has a node with more candidates than there are actions."""
        if isinstance(world.space, NavGraph):
            most = int(np.bincount(world.space.directed_edges[:, 0], minlength=1).max())
            if most >= self.action_space.n:
                raise BadArgument(
                    f"World {world.id} has a node with {most} candidates, but the action space has room for "
                    f"{int(self.action_space.n) - 1}: give max_candidates={most}."
                )

    def _make_transition(self, state: _TourState, action: int, previous: Place, ending: Ending | None) -> Transition:
        return Transition(
            state.episode,
            state.world,
            self.task_set.protocol,
            action,
            previous,
            state.places,
            ending,
            state.distance_to_goal,
        )

    def _guide(self, state: _TourState, ending: Ending) -> dict[str, Any]:
        """Guide the agent to the start of the next episode, if there is one; its observations on the way."""
        loop, observations = state.loop, []
        if loop.is_guided and ending is Ending.OUT_OF_STEPS:  # the agent has not received its last observation
            observations.append(self._observe(state))
        while not loop.done and loop.phase is not Phase.ACTING:
            loop.guide()
            if loop.is_guided:
                observations.append(self._observe(state))
        if loop.done:
            self.last_rollout = Rollout(state.tour.id, tuple(loop.trajectories))
        else:
            state.start_episode()
        return {"guided_observations": tuple(observations)} if self._option == "tour" else {}

    def _observe(self, state: _TourState) -> ObservationDict:
        # While it is guided, an agent observes nothing of the next episode.
        episode = None if state.loop.phase is not Phase.ACTING else state.loop.episode
        observation = state.loop.observation
        return {name: value for sensor in self._sensors for name, value in sensor(observation, episode).items()}

    def _make_info(self, state: _TourState) -> dict[str, Any]:
        loop = state.loop
        return {
            "episode_id": loop.episode.id,
            "action_mask": make_action_mask(loop.num_actions, int(self.action_space.n)),
            "collided": bool(loop.observation.collided),
        }


class _TourState:
    """A tour in progress, with what a reward may need of its current episode."""

    def __init__(self, tour: Tour, world: World, loop: TourLoop, find_distance: FindDistance) -> None:
        self.tour, self.world, self.loop, self._find_distance = tour, world, loop, find_distance
        self.start_episode()

    def start_episode(self) -> None:
        self.episode = self.loop.episode
        self.places: list[Place] = [self.loop.observation.place]
        self.distance_to_goal = self._find_distance(self.world, self.episode)


def _act(state: _TourState, action: int) -> dict[str, Any]:
    """Take the action; if it is not available here, the episode fails, and the reason comes back."""
    try:
        state.loop.act(action)
    except IllegalAction as error:
        state.loop.fail({"failed": str(error)})
        return {"failed": str(error)}
    if action != STOP:
        state.places.append(state.loop.observation.place)
    return {}


class EpisodeOrder:
    """Names in random order, each once before any is repeated."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self._names, self.seed = names, seed
        self._epoch = 0
        self._left: list[str] = []

    def next(self) -> str:
        """The next name."""
        if not self._left:
            order = generator(self.seed, "gym", "round", str(self._epoch)).permutation(len(self._names))
            self._left = [self._names[k] for k in order[::-1]]
            self._epoch += 1
        return self._left.pop()
