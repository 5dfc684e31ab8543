"""A stage with a reward, in Gymnasium's five words.

One episode of Gymnasium's is one task or one tour: a task alone is a tour of one. Nothing here decides what an action
does or when an episode ends; `runs/tour_loop.py` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.gym.observations import Seen, Sense, mask_of
from itinera.gym.rewards import Happened, Reward, distance_to_goal
from itinera.gym.task_set import Playground
from itinera.records import Ending, Phase, Rollout
from itinera.rendering.rasterizer import Camera
from itinera.runs.tour_loop import IllegalAction, Stage
from itinera.seeding import generator
from itinera.simulators.sensors import CameraSensor, Sight
from itinera.simulators.simulator import STOP, Simulator
from itinera.tasks import Tour
from itinera.worlds import NavGraph, Place, World

SHOWN = Camera(320, 240, math.radians(90))  # what `render` draws

Step = tuple[Seen, float, bool, bool, dict[str, Any]]


class StageEnv(gymnasium.Env[Seen, np.int64]):
    """Tasks or tours in an order drawn from the seed, each once before any comes again.

    `reset(options={"episode": id})` asks for a certain one, `{"tour": id}` where there are tours; the order then goes
    on as if it had not. STOP terminates, the protocol's step limit truncates. An action that the mask leaves out ends
    its episode as failed, as it would in a run; one outside the action space is refused. Between the episodes of a tour
    the agent is led within a step, and what it sees on the way is in `info["watched"]`. `last_walk` is the record of
    the last one that was completed, the same as a run keeps.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 (as Gymnasium has it)
    action_space: gymnasium.spaces.Discrete

    def __init__(
        self,
        place: Playground,
        simulator: Simulator,
        senses: Sequence[Sense],
        *,
        actions: int,
        reward: Reward,
        tours: Sequence[Tour] = (),  # none: every episode stands alone
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise BadArgument(f"render_mode must be None or rgb_array, not {render_mode!r}.")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Dict({k: v for sense in senses for k, v in sense.spaces.items()})
        self.action_space = gymnasium.spaces.Discrete(actions)
        self.last_walk: Rollout | None = None
        self._place, self._simulator, self._senses, self._reward = place, simulator, senses, reward
        self._option = "tour" if tours else "episode"
        alone = (Tour(episode.id, episode.world_id, (episode.id,)) for episode in place.split.episodes)
        self._rounds = _Rounds({tour.id: tour for tour in tours or alone})
        # The nodes of a graph are at eye height.
        self._sight = Sight(CameraSensor(SHOWN, height=1.25 if place.protocol.on_ground else 0.0, channels=("rgb",)))
        self._play: _Play | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or self._rounds.seed is None:
            self._rounds.start(seed if seed is not None else self.np_random_seed)
        self._play = None
        tour = self._asked_for(options or {}) or self._rounds.next()
        world = self._place.worlds[tour.world_id]
        self._check_room(world)
        episodes = [self._place.split.by_id[name] for name in tour.episode_ids]
        stage = Stage(self._simulator, world, episodes, protocol=self._place.protocol)
        stage.open()
        self._play = _Play(tour, world, stage)
        return self._seen(self._play), self._told(self._play)

    def step(self, action: Any) -> Step:
        play = self._play
        if play is None or play.stage.over:
            raise gymnasium.error.ResetNeeded("The episode is over, or none has begun. Call reset first.")
        if not self.action_space.contains(action):
            raise BadArgument(f"{action!r} is no action: they are the whole numbers below {self.action_space.n}.")
        stage, before, done = play.stage, play.walked[-1], len(play.stage.trajectories)
        notes = _act(play, int(action))
        ending = stage.trajectories[-1].ending if len(stage.trajectories) > done else None
        reward = self._reward(self._happened(play, int(action), before, ending))
        if ending is not None:
            notes |= {"ending": ending.value, **self._go_on(play, ending)}
        truncated = stage.over and ending is Ending.OUT_OF_STEPS
        return self._seen(play), float(reward), stage.over and not truncated, truncated, self._told(play) | notes

    def render(self) -> NDArray[np.uint8] | None:
        """(240, 320, 3) what lies ahead; the world needs a mesh."""
        if self.render_mode is None or self._play is None:
            return None
        seen, world = self._play.stage.observation, self._play.world
        space, place = world.space, seen.place
        at = space.positions[space.index[str(place)]] if isinstance(space, NavGraph) else np.asarray(place, np.float64)
        return self._sight.of(world)(at, seen.heading, seen.elevation).rgb

    def _asked_for(self, options: dict[str, Any]) -> Tour | None:
        unknown = sorted(set(options) - {self._option})
        if unknown:
            raise BadArgument(f"There is no option {unknown[0]!r} for a reset here, only {self._option!r}.")
        name = options.get(self._option)
        if name is not None and name not in self._rounds.tours:
            raise BadArgument(f"There is no {self._option} {name!r} in {self._place.split.name}.")
        return None if name is None else self._rounds.tours[name]

    def _check_room(self, world: World) -> None:
        """Refuse a graph with more ways than there are actions before an agent stands there and cannot take them."""
        if isinstance(world.space, NavGraph):
            most = int(world.space.adjacency.sum(axis=1).max())
            if most >= self.action_space.n:
                room = int(self.action_space.n) - 1
                raise BadArgument(f"World {world.id} has a node with {most} ways on; there is room for {room}: ways=.")

    def _happened(self, play: _Play, action: int, before: Place, ending: Ending | None) -> Happened:
        return Happened(
            play.episode, play.world, self._place.protocol, action, before, play.walked, ending, play.to_goal
        )

    def _go_on(self, play: _Play, ending: Ending) -> dict[str, Any]:
        """Be led to where the next episode begins, if there is one; what the agent sees on the way comes out."""
        stage, watched = play.stage, []
        if stage.is_led and ending is Ending.OUT_OF_STEPS:  # it has not yet seen where it came to
            watched.append(self._seen(play))
        while not stage.over and stage.phase is not Phase.ACTING:
            stage.lead()
            if stage.is_led:
                watched.append(self._seen(play))
        if stage.over:
            self.last_walk = Rollout(play.tour.id, tuple(stage.trajectories))
        else:
            play.begin()
        return {"watched": tuple(watched)} if self._option == "tour" else {}

    def _seen(self, play: _Play) -> Seen:
        # While it is led, an agent is told nothing yet of what comes next.
        asked = None if play.stage.phase is not Phase.ACTING else play.stage.episode
        return {name: value for sense in self._senses for name, value in sense(play.stage.observation, asked).items()}

    def _told(self, play: _Play) -> dict[str, Any]:
        stage = play.stage
        return {
            "episode_id": stage.episode.id,
            "action_mask": mask_of(stage.choices, int(self.action_space.n)),
            "collided": bool(stage.observation.collided),
        }


class _Play:
    """A tour that is going on, and what a reward may ask about its episode."""

    def __init__(self, tour: Tour, world: World, stage: Stage) -> None:
        self.tour, self.world, self.stage = tour, world, stage
        self.begin()

    def begin(self) -> None:
        """Of the stage's present episode."""
        self.episode = self.stage.episode
        self.walked: list[Place] = [self.stage.observation.place]
        self.to_goal = distance_to_goal(self.world, self.episode)


def _act(play: _Play, action: int) -> dict[str, Any]:
    """Do it; where it cannot be done here, the episode has failed, and why is told."""
    try:
        play.stage.act(action)
    except IllegalAction as error:
        play.stage.fail({"failed": str(error)})
        return {"failed": str(error)}
    if action != STOP:
        play.walked.append(play.stage.observation.place)
    return {}


class _Rounds:
    """Tours in random order, round after round."""

    def __init__(self, tours: dict[str, Tour]) -> None:
        self.tours = tours
        self.seed: int | None = None
        self._round = 0
        self._left: list[Tour] = []

    def start(self, seed: int) -> None:
        self.seed, self._round, self._left = seed, 0, []

    def next(self) -> Tour:
        assert self.seed is not None
        if not self._left:
            order = generator(self.seed, "gym", "round", str(self._round)).permutation(len(self.tours))
            names = list(self.tours)
            self._left = [self.tours[names[k]] for k in order[::-1]]
            self._round += 1
        return self._left.pop()
