"""The four environments: each puts together tasks, a body, what it shows and a reward.

Tasks and worlds are objects (`Split`, worlds by id) or paths to files of any format; with neither, a small house of
Hearth is built.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike

from itinera.errors import BadArgument
from itinera.gym.observations import Candidates, Heading, Pictures, PointGoal, Sense, Views, Words
from itinera.gym.rewards import Reward, goal_oriented, shaped
from itinera.gym.task_set import Playground, Tasks, Worlds, chosen_protocol, playground
from itinera.gym.tour_env import StageEnv
from itinera.rendering.rasterizer import Camera
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Simulator
from itinera.simulators.unicycle import Speeds, UnicycleSimulator
from itinera.simulators.view_features import ViewSource
from itinera.tasks import Protocol
from itinera.tasks.protocol import IVLN, POINTNAV, R2R, R2R_CE

WAYS = 15  # room for ways on from a node; those of Matterport's scans have up to 13
_SMALL = Camera(64, 64, math.radians(90))
SEEING = CameraSensor(_SMALL, channels=("rgb", "depth"))
FEELING = CameraSensor(_SMALL, channels=("depth",))


class GraphVLN(StageEnv):
    """Following an instruction from node to node. Action 0 is STOP, action k leads along the k-th candidate."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = R2R,
        reward: Reward = goal_oriented,
        views: ViewSource | None = None,
        candidates: int = WAYS,
        render_mode: str | None = None,
    ) -> None:
        place = playground("episodes", tasks, worlds, _on_graphs(protocol))
        senses = _graph_senses(place, views, candidates)
        super().__init__(
            place, GraphSimulator(views), senses, actions=1 + candidates, reward=reward, render_mode=render_mode
        )


class GroundVLN(StageEnv):
    """Following an instruction by steps and turns: 0 STOP, 1 forward, 2 left, 3 right; by `rxr-ce` 4 up, 5 down too."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = R2R_CE,
        reward: Reward = shaped,
        eye: CameraSensor | None = SEEING,
        render_mode: str | None = None,
    ) -> None:
        place = playground("episodes", tasks, worlds, _on_the_ground(protocol))
        body = GroundSimulator.for_protocol(place.protocol, eye=eye)
        senses = _ground_senses(place, eye)
        super().__init__(place, body, senses, actions=body.actions, reward=reward, render_mode=render_mode)


class PointNav(StageEnv):
    """Going to a point. The actions are steps and turns, or what `speeds` lists: `unicycle_15()` has fifteen."""

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        protocol: Protocol | str = POINTNAV,
        reward: Reward = shaped,
        speeds: Sequence[Speeds] | None = None,
        eye: CameraSensor | None = FEELING,
        render_mode: str | None = None,
    ) -> None:
        place = playground("points", tasks, worlds, _on_the_ground(protocol))
        body: GroundSimulator | UnicycleSimulator
        if speeds is None:
            body = GroundSimulator.for_protocol(place.protocol, eye=eye)
        else:
            body = UnicycleSimulator(speeds, sliding=bool(place.protocol.sliding), eye=eye)
        senses: list[Sense] = [PointGoal(), *_pictures(eye)]
        super().__init__(place, body, senses, actions=body.actions, reward=reward, render_mode=render_mode)


class Tours(StageEnv):
    """Tours, on graphs as in `GraphVLN` or on the ground as in `GroundVLN`, whichever the protocol is of.

    An episode that ends before the tour does ends within it: its reward is paid, the agent is led on, and the next
    observation is the first of the next episode.
    """

    def __init__(
        self,
        tasks: Tasks | None = None,
        worlds: Worlds | None = None,
        *,
        tours: str | PathLike[str] | None = None,
        protocol: Protocol | str = IVLN,
        reward: Reward = goal_oriented,
        views: ViewSource | None = None,
        candidates: int = WAYS,
        eye: CameraSensor | None = SEEING,
        render_mode: str | None = None,
    ) -> None:
        place = playground("tours", tasks, worlds, chosen_protocol(protocol), tours=tours)
        body: Simulator
        if place.protocol.on_ground:
            body = GroundSimulator.for_protocol(place.protocol, eye=eye)
            senses, actions = _ground_senses(place, eye), body.actions
        else:
            body, senses, actions = GraphSimulator(views), _graph_senses(place, views, candidates), 1 + candidates
        super().__init__(
            place, body, senses, actions=actions, reward=reward, tours=place.split.tours, render_mode=render_mode
        )


def _graph_senses(place: Playground, views: ViewSource | None, candidates: int) -> list[Sense]:
    if candidates < 1:
        raise BadArgument(f"There must be room for at least 1 way on from a node, not {candidates}.")
    senses: list[Sense] = [Words(place.split.episodes), Heading(), Candidates(1 + candidates)]
    return senses if views is None else [*senses, Views(views, 1 + candidates)]


def _ground_senses(place: Playground, eye: CameraSensor | None) -> list[Sense]:
    return [Words(place.split.episodes), Heading(), *_pictures(eye)]


def _pictures(eye: CameraSensor | None) -> list[Sense]:
    return [] if eye is None else [Pictures(eye)]


def _on_graphs(protocol: Protocol | str) -> Protocol:
    chosen = chosen_protocol(protocol)
    if chosen.on_ground:
        raise BadArgument(f"Protocol {chosen.name} is of walks on the ground: make itinera/GroundVLN-v0 for it.")
    return chosen


def _on_the_ground(protocol: Protocol | str) -> Protocol:
    chosen = chosen_protocol(protocol)
    if not chosen.on_ground:
        raise BadArgument(f"Protocol {chosen.name} is of walks on graphs: make itinera/GraphVLN-v0 for it.")
    return chosen
