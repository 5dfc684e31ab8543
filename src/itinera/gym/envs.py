"""The four environments, each made of tasks, a simulator, sensors and a reward.

Tasks and worlds are objects (`Split`, worlds by id) or paths to files of any format; without them, a small Hearth house
is built.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike

from itinera.errors import BadArgument, validate_choice
from itinera.gym.observations import (
    CandidateSensor,
    HeadingSensor,
    ImageSensor,
    InstructionSensor,
    PointGoalSensor,
    Sensor,
    ViewSensor,
)
from itinera.gym.rewards import Reward, TabledDistances, distance_to_goal, goal_oriented_reward, shaped_reward
from itinera.gym.task_set import Tasks, TaskSet, Worlds, load_task_set
from itinera.gym.tour_env import TourEnv
from itinera.rendering.camera import Camera
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Simulator
from itinera.simulators.unicycle import Speeds, UnicycleSimulator
from itinera.simulators.view_features import ViewSource
from itinera.tasks import PROTOCOLS, Protocol
from itinera.tasks.protocol import IVLN, POINTNAV, R2R, R2R_CE, check_protocol

MAX_CANDIDATES = 15  # of a node; those of Matterport's scans have up to 13
_SMALL = Camera(64, 64, math.radians(90))
RGBD_CAMERA = CameraSensor(_SMALL, channels=("rgb", "depth"))
DEPTH_CAMERA = CameraSensor(_SMALL, channels=("depth",))


class GraphVLN(TourEnv):
    """Instruction following on navigation graphs. Action 0 is STOP, action k moves to the k-th candidate."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = R2R,
        reward: Reward = goal_oriented_reward,
        views: ViewSource | None = None,
        max_candidates: int = MAX_CANDIDATES,
        render_mode: str | None = None,
    ) -> None:
        task_set = load_task_set("episodes", tasks, worlds, _graph_protocol(protocol))
        sensors = _graph_sensors(task_set, views, max_candidates)
        super().__init__(
            task_set, GraphSimulator(views), sensors, actions=1 + max_candidates, reward=reward, render_mode=render_mode
        )


class GroundVLN(TourEnv):
    """Instruction following by steps and turns: 0 STOP, 1 forward, 2 left, 3 right; with `rxr-ce` also 4 up, 5 down."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = R2R_CE,
        reward: Reward = shaped_reward,
        camera: CameraSensor | None = RGBD_CAMERA,
        render_mode: str | None = None,
    ) -> None:
        task_set = load_task_set("episodes", tasks, worlds, find_ground_protocol(protocol))
        simulator = GroundSimulator.for_protocol(task_set.protocol, camera=camera)
        sensors = _ground_sensors(task_set, camera)
        super().__init__(
            task_set, simulator, sensors, actions=simulator.actions, reward=reward, render_mode=render_mode
        )


class PointNav(TourEnv):
    """Navigation to a point. The actions are steps and turns, or the `speeds` given: `unicycle_15()` has fifteen."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = POINTNAV,
        reward: Reward = shaped_reward,
        speeds: Sequence[Speeds] | None = None,
        camera: CameraSensor | None = DEPTH_CAMERA,
        goal_tables: str | PathLike[str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """`goal_tables` is a folder that keeps the distances to goals, which take 30 to 40 ms each to compute."""
        task_set = load_task_set("points", tasks, worlds, find_ground_protocol(protocol))
        simulator: GroundSimulator | UnicycleSimulator
        if speeds is None:
            simulator = GroundSimulator.for_protocol(task_set.protocol, camera=camera)
        else:
            simulator = UnicycleSimulator(speeds, sliding=bool(task_set.protocol.sliding), camera=camera)
        sensors: list[Sensor] = [PointGoalSensor(), *_image_sensors(camera)]
        tabled = None if goal_tables is None else TabledDistances(task_set.split.episodes, goal_tables)
        super().__init__(
            task_set,
            simulator,
            sensors,
            actions=simulator.actions,
            reward=reward,
            find_distance=tabled or distance_to_goal,
            render_mode=render_mode,
        )


class TourVLN(TourEnv):
    """Tours, on graphs as in `GraphVLN` or on the ground as in `GroundVLN`, depending on the protocol.

    When an episode ends before its tour does, the step returns its reward, the agent is guided to the next start, and
    the observation is the first of the next episode.
    """

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        tours: str | PathLike[str] | None = None,
        protocol: Protocol | str = IVLN,
        reward: Reward = goal_oriented_reward,
        views: ViewSource | None = None,
        max_candidates: int = MAX_CANDIDATES,
        camera: CameraSensor | None = RGBD_CAMERA,
        render_mode: str | None = None,
    ) -> None:
        task_set = load_task_set("tours", tasks, worlds, _find_protocol(protocol), tours=tours)
        simulator: Simulator
        if task_set.protocol.on_ground:
            simulator = GroundSimulator.for_protocol(task_set.protocol, camera=camera)
            sensors, actions = _ground_sensors(task_set, camera), simulator.actions
        else:
            simulator, actions = GraphSimulator(views), 1 + max_candidates
            sensors = _graph_sensors(task_set, views, max_candidates)
        super().__init__(
            task_set,
            simulator,
            sensors,
            actions=actions,
            reward=reward,
            tours=task_set.split.tours,
            render_mode=render_mode,
        )


def _graph_sensors(task_set: TaskSet, views: ViewSource | None, max_candidates: int) -> list[Sensor]:
    if max_candidates < 1:
        raise BadArgument(f"max_candidates must be ≥ 1 (got {max_candidates}).")
    actions = 1 + max_candidates
    sensors: list[Sensor] = [InstructionSensor(task_set.split.episodes), HeadingSensor(), CandidateSensor(actions)]
    return sensors if views is None else [*sensors, ViewSensor(views, actions)]


def _ground_sensors(task_set: TaskSet, camera: CameraSensor | None) -> list[Sensor]:
    return [InstructionSensor(task_set.split.episodes), HeadingSensor(), *_image_sensors(camera)]


def _image_sensors(camera: CameraSensor | None) -> list[Sensor]:
    return [] if camera is None else [ImageSensor(camera)]


def _find_protocol(protocol: Protocol | str) -> Protocol:
    if isinstance(protocol, Protocol):
        return check_protocol(protocol)
    return PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]


def _graph_protocol(protocol: Protocol | str) -> Protocol:
    chosen = _find_protocol(protocol)
    if chosen.on_ground:
        raise BadArgument(f"Protocol {chosen.name} is for episodes on the ground: use itinera/GroundVLN-v0.")
    return chosen


def find_ground_protocol(protocol: Protocol | str) -> Protocol:
    """The protocol of this name, or this one, checked; raises BadArgument for one of graphs."""
    chosen = _find_protocol(protocol)
    if not chosen.on_ground:
        raise BadArgument(f"Protocol {chosen.name} is for episodes on graphs: use itinera/GraphVLN-v0.")
    return chosen
