"""Seeking rooms: told to walk towards a kind of room, does an agent come nearer to it?

One step away it is a choice, and the response is how much nearer the ways on lead that it leans to. Farther away it is
a search: the agent goes on by its likeliest actions, and the response is how far from such a room it ends.
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
from itinera.records.action_probabilities import Leaning
from itinera.skills.filter_counts import Dropped
from itinera.skills.trials import Candidate, Draws, Skill, ask, graph_of
from itinera.skills.truncation import Cut
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World
from itinera.worlds.labels import ROOM_NAMES

FARTHEST = 8  # steps
_STEPS = range(FARTHEST + 1)
TOWARDS = "Walk towards the {}."
ARRIVED = f"{TOWARDS} This is your destination."
UNKNOWN, NO_LABEL = "", "-"  # outside every region, or in one that nobody named
VAGUE = frozenset("zZ")  # "other room" and "junk"

MATTERPORT_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {label: tuple(name.split("/")) for label, name in ROOM_NAMES.items()}
)
"""What each kind of room is called in Matterport's list; one of several names is drawn."""


def choosing_room(
    sentences: Sequence[str] = (TOWARDS,),
    *,
    names: Mapping[str, Sequence[str]] = MATTERPORT_NAMES,
    released: bool = False,
) -> Skill:
    """The skill of choosing a neighbour in another kind of room, "room-1". One candidate for each kind next to a cut.

    A target is {"room", "nodes"}: the label asked for, and the neighbours that have it; released: see `finding_room`.
    """
    plan = partial(_design, "room-1", tuple(sentences), names, (1, 1), released)
    return Skill("room-1", tuple(sentences), plan, nearer, measures="change of distance to the room", unit="m")


def finding_room(
    steps: int,
    sentences: Sequence[str] = (ARRIVED,),
    *,
    within: bool = False,
    names: Mapping[str, Sequence[str]] = MATTERPORT_NAMES,
    released: bool = False,
) -> Skill:
    """The skill of finding a kind of room that has a place exactly so many steps away, or `within` so many.

    It is called "room-3", or "room-within-3". One candidate for each such kind, other than that of the cut itself; that
    the kind may have a nearer place too is as the paper words it. A target is {"room"}, and the distance is to the
    nearest place of the kind anywhere. `released`, it is to the nearest of those within so many steps of the cut,
    {"room", "steps"}; "no label" then counts as a kind, and a cut may lie where the kind is not known.
    """
    if not 1 <= steps <= FARTHEST:
        raise BadArgument(f"A room can be sought 1 to {FARTHEST} steps away, not {steps}.")
    name = f"room-within-{steps}" if within else f"room-{steps}"
    plan = partial(_design, name, tuple(sentences), names, (1 if within else steps, steps), released)
    return Skill(
        name,
        tuple(sentences),
        plan,
        distance_left,
        measures="distance to the room at the end",
        unit="m",
        higher_is_better=False,
        rolls_out=True,
    )


def _design(
    skill: str,
    sentences: Sequence[str],
    names: Mapping[str, Sequence[str]],
    reach: tuple[int, int],
    released: bool,
    cut: Cut,
    world: World,
    rng: Draws,
) -> Iterator[Candidate]:
    at = cut.nodes[-1]
    here, kinds = _label(world, at), _kinds(world)
    if not released and here in (UNKNOWN, NO_LABEL):
        yield Dropped("kind of room not known at the cut")
        return
    fewest, most = reach
    reached = kinds.reached[graph_of(world).index[at], :, fewest : most + 1].any(axis=1)
    near = [label for k in np.flatnonzero(reached).tolist() if (label := kinds.labels[k]) != here]
    if not near:
        yield Dropped("no other kind of room so many steps away")
    for label in near:
        if label in VAGUE or (label == NO_LABEL and not released):
            yield Dropped(f'"{ROOM_NAMES[label]}" is no kind of room')
            continue
        said = [sentence.format(name) for sentence in sentences for name in names[label]]
        yield ask(cut, skill, said, _target(skill, label, most, released, world, at), rng, detail=label)


def _target(skill: str, label: str, steps: int, released: bool, world: World, at: str) -> dict[str, object]:
    target: dict[str, object] = {"room": label}
    if skill == "room-1":
        target["nodes"] = [node for node in graph_of(world).neighbours(at) if _label(world, node) == label]
    return target | {"steps": steps} if released else target


def nearer(trial: Trial, leaning: Leaning, world: World) -> float:
    """How much nearer to the room the agent is expected to be after one move, metres; stopping is left out of account.

    Who is sure to stop comes no nearer.
    """
    moving = float(leaning.moves.sum())
    return float(changes(trial, leaning, world) @ leaning.moves) / moving if moving > 0 else 0.0


def changes(trial: Trial, leaning: Leaning, world: World) -> Array:
    """(k,) how much nearer to the room each of the answer's nodes is than the cut, metres."""
    away = _distances(trial, world)
    graph = graph_of(world)
    change: Array = away[graph.index[trial.last]] - away[graph.locate(leaning.nodes)]
    return change


def distance_left(trial: Trial, leaning: Leaning, world: World) -> float:
    """How far from the nearest place of the room's kind the agent ended, metres along the graph."""
    if not leaning.walked:
        raise BadArgument(f"Trial {trial.id} needs to know where the agent went on to, and its answer does not tell.")
    return float(_distances(trial, world)[graph_of(world).index[leaning.walked[-1]]])


class _Kinds:
    """How far it is from every node to every kind of room."""

    def __init__(self, world: World) -> None:
        graph = graph_of(world)
        held = [_label(world, node) for node in graph.nodes]
        self.labels = tuple(sorted(set(held) - {UNKNOWN}))
        self.places = {label: np.flatnonzero([other == label for other in held]) for label in self.labels}
        self.steps: NDArray[np.float64] = shortest_path(graph.adjacency, unweighted=True)
        away = [[(self.steps[:, self.places[label]] == steps).any(axis=1) for steps in _STEPS] for label in self.labels]
        self.reached = np.array(away).transpose(2, 0, 1)  # (n, labels, steps) whether a place is exactly so far away
        self.metres: dict[str, Array] = {
            label: graph.distances[:, self.places[label]].min(axis=1) for label in self.labels
        }


_KNOWN: WeakKeyDictionary[World, _Kinds] = WeakKeyDictionary()  # worked out once for each world, and kept as long as it


def _kinds(world: World) -> _Kinds:
    if world not in _KNOWN:
        if not world.rooms:
            raise BadArgument(f"The rooms of world {world.id} are not known. Give a table of rooms.")
        _KNOWN[world] = _Kinds(world)
    return _KNOWN[world]


def _label(world: World, node: str) -> str:
    room = world.rooms.get(node)
    return UNKNOWN if room is None else room.label


def _distances(trial: Trial, world: World) -> Array:
    """(n,) from each node to the nearest place that counts, metres."""
    kinds, label = _kinds(world), str(trial.target["room"])
    if "steps" not in trial.target:
        return kinds.metres[label]
    graph = graph_of(world)
    places = kinds.places[label]
    near = places[kinds.steps[graph.index[trial.last], places] <= trial.target["steps"]]
    metres: Array = graph.distances[:, near].min(axis=1)
    return metres
