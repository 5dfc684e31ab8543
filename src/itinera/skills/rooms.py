"""Seeking rooms: given a type of room, does an agent move nearer to one?

One step away it is a choice: the response is the expected decrease of the distance under the agent's action
distribution. Farther away it is a search: the agent continues with greedy actions, and the response is the distance
from such a room to where it ends.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.filter_counts import RejectedTrial
from itinera.skills.trials import DesignOutcome, Skill, TrialRng, make_trial_pair, require_graph
from itinera.skills.truncation import Truncation
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World
from itinera.worlds.labels import ROOM_NAMES

MAX_STEPS = 8
_STEPS = range(MAX_STEPS + 1)
SENTENCE = "Walk towards the {}."
SENTENCE_WITH_STOP = f"{SENTENCE} This is your destination."
UNKNOWN, NO_LABEL = "", "-"  # outside every region, or in one without a label
VAGUE = frozenset("zZ")  # "other room" and "junk"

MATTERPORT_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {label: tuple(name.split("/")) for label, name in ROOM_NAMES.items()}
)
"""The names of each room type in Matterport's list; one of several is drawn."""


def adjacent_room_skill(
    sentences: Sequence[str] = (SENTENCE,),
    *,
    names: Mapping[str, Sequence[str]] = MATTERPORT_NAMES,
    released: bool = False,
) -> Skill:
    """The skill of choosing a neighbour in another type of room, "room-1". One candidate per adjacent room type.

    A target is {"room", "nodes"}: the label of the type and the neighbours that have it; `released` as in
    `room_search_skill`.
    """
    design = partial(_design, "room-1", tuple(sentences), names, (1, 1), released)
    response_name = "decrease of the distance to the room"
    return Skill("room-1", tuple(sentences), design, expected_approach, response_name=response_name, unit="m")


def room_search_skill(
    steps: int,
    sentences: Sequence[str] = (SENTENCE_WITH_STOP,),
    *,
    within: bool = False,
    names: Mapping[str, Sequence[str]] = MATTERPORT_NAMES,
    released: bool = False,
) -> Skill:
    """The skill of finding a type of room that has a node exactly `steps` steps away, or `within` that many.

    It is called "room-3", or "room-within-3". One candidate for each such type other than that of the truncation
    point; as in the paper, the type may have a nearer node too. A target is {"room"}, and the distance is to the
    nearest node of the type anywhere. With `released`, it is to the nearest of those within so many steps of the
    truncation point, {"room", "steps"}; "no label" then counts as a type, and the type at the truncation point may be
    unknown.
    """
    if not 1 <= steps <= MAX_STEPS:
        raise BadArgument(f"steps must be between 1 and {MAX_STEPS} (got {steps}).")
    name = f"room-within-{steps}" if within else f"room-{steps}"
    design = partial(_design, name, tuple(sentences), names, (1 if within else steps, steps), released)
    return Skill(
        name,
        tuple(sentences),
        design,
        final_distance,
        response_name="distance to the room at the end",
        unit="m",
        higher_is_better=False,
        needs_rollout=True,
    )


def _design(
    skill: str,
    sentences: Sequence[str],
    names: Mapping[str, Sequence[str]],
    step_range: tuple[int, int],
    released: bool,
    truncation: Truncation,
    world: World,
    rng: TrialRng,
) -> Iterator[DesignOutcome]:
    node = truncation.nodes[-1]
    own_label, distances = _label(world, node), _room_distances(world)
    if not released and own_label in (UNKNOWN, NO_LABEL):
        yield RejectedTrial("room type unknown at the node")
        return
    fewest, most = step_range
    reached = distances.reached[require_graph(world).index[node], :, fewest : most + 1].any(axis=1)
    near = [label for k in np.flatnonzero(reached).tolist() if (label := distances.labels[k]) != own_label]
    if not near:
        yield RejectedTrial("no other room type at that distance")
    for label in near:
        if label in VAGUE or (label == NO_LABEL and not released):
            yield RejectedTrial(f'"{ROOM_NAMES[label]}" is not a room type')
            continue
        texts = [sentence.format(name) for sentence in sentences for name in names[label]]
        target = _make_target(skill, label, most, released, world, node)
        yield make_trial_pair(truncation, skill, texts, target, rng, detail=label)


def _make_target(skill: str, label: str, steps: int, released: bool, world: World, node: str) -> dict[str, object]:
    target: dict[str, object] = {"room": label}
    if skill == "room-1":
        target["nodes"] = [other for other in require_graph(world).neighbors(node) if _label(world, other) == label]
    return target | {"steps": steps} if released else target


def expected_approach(trial: Trial, distribution: ActionDistribution, world: World) -> float:
    """The expected decrease of the distance to the room after one move, metres, given that the agent moves.

    0 if the agent stops with probability 1.
    """
    moving = float(distribution.moves.sum())
    return float(distance_changes(trial, distribution, world) @ distribution.moves) / moving if moving > 0 else 0.0


def distance_changes(trial: Trial, distribution: ActionDistribution, world: World) -> Array:
    """(k,) how much nearer to the room each candidate node is than the truncation point, metres."""
    metres = _target_distances(trial, world)
    graph = require_graph(world)
    change: Array = metres[graph.index[trial.probe_node]] - metres[graph.locate(distribution.nodes)]
    return change


def final_distance(trial: Trial, distribution: ActionDistribution, world: World) -> float:
    """The distance from where the agent ended to the nearest node of the room type, metres along the graph."""
    if not distribution.greedy_path:
        raise BadArgument(
            f"Trial {trial.id} needs the path the agent took after the truncation, and its record has no greedy_path."
        )
    return float(_target_distances(trial, world)[require_graph(world).index[distribution.greedy_path[-1]]])


class _RoomDistances:
    """Distances from every node of a world to every room type."""

    def __init__(self, world: World) -> None:
        graph = require_graph(world)
        node_labels = [_label(world, node) for node in graph.nodes]
        self.labels = tuple(sorted(set(node_labels) - {UNKNOWN}))
        self.nodes = {label: np.flatnonzero([other == label for other in node_labels]) for label in self.labels}
        self.steps: NDArray[np.float64] = shortest_path(graph.adjacency, unweighted=True)
        by_label = [
            [(self.steps[:, self.nodes[label]] == steps).any(axis=1) for steps in _STEPS] for label in self.labels
        ]
        self.reached = np.array(by_label).transpose(2, 0, 1)  # (n, labels, steps) whether a node is exactly so far away
        self.metres: dict[str, Array] = {
            label: graph.distances[:, self.nodes[label]].min(axis=1) for label in self.labels
        }


_CACHE: WeakKeyDictionary[World, _RoomDistances] = WeakKeyDictionary()  # computed once per world


def _room_distances(world: World) -> _RoomDistances:
    if world not in _CACHE:
        if not world.rooms:
            raise BadArgument(f"World {world.id} has no room labels. Give a table of rooms with --rooms.")
        _CACHE[world] = _RoomDistances(world)
    return _CACHE[world]


def _label(world: World, node: str) -> str:
    room = world.rooms.get(node)
    return UNKNOWN if room is None else room.label


def _target_distances(trial: Trial, world: World) -> Array:
    """(n,) from each node to the nearest node of the target room type, metres."""
    distances, label = _room_distances(world), str(trial.target["room"])
    if "steps" not in trial.target:
        return distances.metres[label]
    graph = require_graph(world)
    nodes = distances.nodes[label]
    near = nodes[distances.steps[graph.index[trial.probe_node], nodes] <= trial.target["steps"]]
    metres: Array = graph.distances[:, near].min(axis=1)
    return metres
