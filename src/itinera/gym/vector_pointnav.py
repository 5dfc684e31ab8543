"""PointNav for many robots at once, as a Gymnasium vector environment over the batched stage.

`gymnasium.make_vec("itinera/PointNav-v0", num_envs=128)` makes one. Its observations, rewards and endings equal those
of as many environments of one robot in the same-step autoreset mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.formats.goal_tables import GoalTableFolder
from itinera.gym.envs import DEPTH_CAMERA, find_ground_protocol
from itinera.gym.observations import MAX_DEPTH, ImageSensor, PointGoalSensor
from itinera.gym.rewards import DecayingReward, Reward, shaped_reward
from itinera.gym.task_set import Tasks, Worlds, load_task_set
from itinera.gym.tour_env import EpisodeOrder
from itinera.records import Ending
from itinera.rendering.appearance import FLAT
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import EpisodeSource, Start, find_start
from itinera.simulators.pointnav.house_set import PointNavHouses, compute_table, episode_goals
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.simulators.pointnav.vectorized import Endings, Observations, VectorizedPointNav
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import Speeds
from itinera.tasks import Protocol, Split
from itinera.tasks.protocol import POINTNAV

Arrays: TypeAlias = dict[str, NDArray[Any]]
MakeEpisodes: TypeAlias = Callable[[PointNavHouses], EpisodeSource]
VectorStep: TypeAlias = tuple[Arrays, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]

_MAX_FLOAT = float(np.finfo(np.float32).max)


class VectorPointNav(gymnasium.vector.VectorEnv[Arrays, NDArray[np.int64], NDArray[Any]]):
    """Navigation to a point by `num_envs` robots at once; the arguments are those of `PointNav`, and four more.

    Without `episodes`, each robot gets the tasks in its own random order, as environments with the seeds seed,
    seed + 1, … do. With `episodes=TrainingStarts`, starts are drawn without end towards the goals of the tasks; the
    source is then `source`, whose limits may be changed while training. An ended episode is followed by the next in the
    same step; the last observation is in `infos["final_obs"]`, the parts of the scores in `infos["final_info"]`.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        num_envs: int = 1,
        protocol: Protocol | str = POINTNAV,
        reward: Reward = shaped_reward,
        speeds: Sequence[Speeds] | None = None,
        camera: CameraSensor | None = DEPTH_CAMERA,
        pool: tuple[int, int] = (1, 1),
        scan: ScanSensor | None = None,
        episodes: MakeEpisodes | None = None,
        goal_tables: str | PathLike[str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """`pool` are the rows and columns of depth pixels of which the least is kept. `goal_tables` is a folder that
        keeps the distances to goals, which take 30 to 40 ms each to compute.
        """
        if render_mode is not None:
            raise BadArgument(
                'There are no pictures of many robots: omit render_mode, or give vectorization_mode="sync".'
            )
        task_set = load_task_set("points", tasks, worlds, find_ground_protocol(protocol))
        self.task_set, self.num_envs = task_set, num_envs
        self._reward, self._decaying = reward, _as_decaying(reward)
        self._motion = Motion.for_protocol(task_set.protocol) if speeds is None else Motion.speeds(speeds)
        self._depth, self._scan = None if camera is None else _depth_sensor(camera, pool), scan
        self.houses = PointNavHouses.load(
            task_set.worlds,
            episode_goals(task_set.split.episodes),
            scan=scan is not None,
            depth=camera is not None,
            height=task_set.protocol.robot_height or POINTNAV.robot_height or 0.0,
            find_table=compute_table if goal_tables is None else GoalTableFolder(goal_tables),
        )
        self.source: EpisodeSource = (
            ShuffledEpisodes(self.houses, task_set.split, task_set.protocol.step_limit or POINTNAV.step_limit or 0)
            if episodes is None
            else episodes(self.houses)
        )
        self._stage: VectorizedPointNav | None = None
        self.single_observation_space = spaces.Dict(self._spaces(camera))
        self.single_action_space = spaces.Discrete(len(self._motion))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        super().reset(seed=seed)
        if options:
            raise BadArgument(f'reset has no option {sorted(options)[0]!r} here. Use vectorization_mode="sync" for it.')
        if seed is not None or self._stage is None:
            self._stage = self._make_stage(seed if seed is not None else int(self.np_random_seed or 0))
        seen = self._stage.reset()
        return self._convert(seen), {"episode_id": self._stage.episode_ids, "_episode_id": self._everyone}

    def step(self, actions: NDArray[np.int64]) -> VectorStep:
        stage = self._stage
        if stage is None:
            raise gymnasium.error.ResetNeeded("No episode has begun. Call reset first.")
        if self._decaying is not None:
            stage.steps_taken = self._decaying.taken
        step = stage.step(actions)
        if self._decaying is not None:
            self._decaying.taken = stage.steps_taken
        infos: dict[str, Any] = {"collided": step.observations["contact"] > 0, "_collided": self._everyone}
        if len(step.endings):
            infos |= self._final_infos(step.endings, self._convert(step.final_observations))
        flags = step.terminated.copy(), step.truncated.copy()
        return self._convert(step.observations), step.rewards.copy(), *flags, infos

    @property
    def stage(self) -> VectorizedPointNav:
        """The stage, for what Gymnasium has no word for: poses, distances, the step count of a decaying reward."""
        if self._stage is None:
            raise gymnasium.error.ResetNeeded("No episode has begun. Call reset first.")
        return self._stage

    @property
    def _everyone(self) -> NDArray[np.bool_]:
        return np.ones(self.num_envs, dtype=np.bool_)

    def _make_stage(self, seed: int) -> VectorizedPointNav:
        if isinstance(self.source, ShuffledEpisodes):
            self.source.start(seed)
        protocol = self.task_set.protocol
        return VectorizedPointNav(
            self.houses,
            self.source,
            self.num_envs,
            motion=self._motion,
            sliding=bool(protocol.sliding),
            success_radius=protocol.success_radius,
            scan=self._scan,
            depth=self._depth,
            decay_steps=None if self._decaying is None else self._decaying.steps,
            seed=seed,
        )

    def _spaces(self, camera: CameraSensor | None) -> dict[str, spaces.Space[Any]]:
        found: dict[str, spaces.Space[Any]] = dict(PointGoalSensor().spaces)
        if self._depth is not None and camera is not None:
            shape = self._depth.shape
            small = replace(camera, camera=replace(camera.camera, width=shape[1], height=shape[0]))
            found |= ImageSensor(small).spaces
        if self._scan is not None:
            found["scan"] = spaces.Box(0.0, self._scan.max_range, (self._scan.rays,), np.float32)
        return found

    def _convert(self, seen: Observations) -> Arrays:
        """The observations of the stage in the form of the sensors of one robot; copies."""
        metres, bearing = seen["pointgoal"].T
        found: Arrays = {"pointgoal": np.column_stack([metres, np.cos(bearing), np.sin(bearing)])}
        if "depth" in seen:
            found["depth"] = seen["depth"][..., None].copy()
        if "scan" in seen:
            found["scan"] = seen["scan"].copy()
        return found

    def _final_infos(self, endings: Endings, finals: Arrays) -> dict[str, Any]:
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[endings.index] = True
        last = np.full(self.num_envs, None, dtype=object)
        for row, k in enumerate(endings.index.tolist()):
            last[k] = {name: values[row] for name, values in finals.items()}
        stopped = endings.stopped
        columns: Arrays = {
            "episode_id": np.array(endings.episode_ids, dtype=object),
            "ending": np.where(stopped, Ending.STOPPED.value, Ending.OUT_OF_STEPS.value).astype(object),
        } | {name: getattr(endings, field) for name, field in _SCORES.items()}
        info: dict[str, Any] = {}
        for name, values in columns.items():
            info[name] = np.zeros(self.num_envs, dtype=values.dtype)
            info[name][endings.index], info[f"_{name}"] = values, ended
        return {"final_obs": last, "_final_obs": ended, "final_info": info, "_final_info": ended}


# The names in `infos["final_info"]`, and those of `Endings`.
_SCORES = {
    "success": "success",
    "spl": "spl",
    "path_length": "lengths",
    "steps": "steps",
    "seconds": "seconds",
    "distance_to_goal": "distances",
    "start_distance": "start_distances",
    "contacts": "contacts",
}


class ShuffledEpisodes:
    """The tasks of a split in random order, each once before any is repeated; every robot has an order of its own."""

    def __init__(self, houses: PointNavHouses, split: Split, step_limit: int) -> None:
        self._starts = {episode.id: find_start(houses, episode, step_limit) for episode in split.episodes}
        self._orders: dict[int, EpisodeOrder] = {}
        self._seed = 0

    def start(self, seed: int) -> None:
        """Begin anew; robot k gets the order of an environment with the seed `seed + k`."""
        self._seed, self._orders = seed, {}

    def draw(self, rng: np.random.Generator, robot: int) -> Start:
        order = self._orders.get(robot)
        if order is None:
            order = self._orders[robot] = EpisodeOrder(list(self._starts), self._seed + robot)
        return self._starts[order.next()]


def _as_decaying(reward: Reward) -> DecayingReward | None:
    if isinstance(reward, DecayingReward):
        return reward
    if reward is not shaped_reward:
        raise BadArgument(
            "Many robots at once have two rewards, shaped_reward and DecayingReward. For another one give "
            'vectorization_mode="sync".'
        )
    return None


def _depth_sensor(camera: CameraSensor, pool: tuple[int, int]) -> DepthSensor:
    if set(camera.channels) != {"depth"} or camera.panorama or camera.around > 1 or camera.appearance != FLAT:
        raise BadArgument(
            "Many robots at once observe depth images of what is ahead. For other cameras give "
            'vectorization_mode="sync".'
        )
    return DepthSensor(camera.camera, camera.height, camera.elevation, pool, MAX_DEPTH)
