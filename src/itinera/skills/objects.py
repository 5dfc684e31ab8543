"""Seeking objects: told to walk towards a thing in sight, does an agent choose a way that leads there?

Things are those that annotations list at a viewpoint, with a box in every view that shows them; REVERIE's lists end at
3 m. Of several of one kind the first listed is meant; `instances` of a target says how many there are.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from itinera.errors import BadArgument
from itinera.records.action_probabilities import Leaning
from itinera.rendering.panorama import VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH
from itinera.skills.categories import OURS, category_of
from itinera.skills.filter_counts import Dropped
from itinera.skills.trials import Candidate, Draws, Skill, ask, graph_of, mass_on
from itinera.skills.truncation import Cut
from itinera.tasks.trial import Trial
from itinera.worlds import Array, SeenObject, World

TOWARDS = ("Walk towards the {}.",)
BESIDE = 15.0  # degrees: a way that lies nearer than that to a thing leads there
FARTHEST = 3.0  # metres
FOCAL = VIEW_HEIGHT / 2 / math.tan(VIEW_FOV / 2)  # pixels

EXCLUDED = frozenset(
    {"misc", "objects", "unlabeled", "void", "wall", "appliances", "ceiling", "floor"}
    | {"lighting", "door", "railing", "stairs", "window", "shelving"}
)
"""Categories of which one cannot tell what is meant, or which of many."""


def seeking_objects(
    sentences: Sequence[str] = TOWARDS,
    *,
    categories: Mapping[str, str] = OURS,
    own_names: bool = False,
    least_neighbours: int = 2,
) -> Skill:
    """The skill of going towards a thing. One candidate for each name of a thing listed where the walk was cut.

    Kept are names of things in sight, no farther than 3 m where the distance is known, with a neighbour less than 15
    degrees aside, where there are at least so many neighbours (2 in the paper, 3 in the released code). A thing is
    called by its category, or with `own_names` as it is listed. A target is {"object", "heading", "nodes",
    "instances"}: its name, where it lies, radians counter-clockwise from +x, and the neighbours that lead there.
    """
    drawn = tuple(sentences)
    plan = partial(_design, drawn, categories, own_names, least_neighbours)
    return Skill("object", drawn, plan, mass_towards, measures="probability of going towards the object")


def _design(
    sentences: Sequence[str],
    categories: Mapping[str, str],
    own_names: bool,
    least: int,
    cut: Cut,
    world: World,
    rng: Draws,
) -> Iterator[Candidate]:
    if not world.objects:
        raise BadArgument(f"The objects of world {world.id} are not known. Give REVERIE's boxes.")
    graph, at = graph_of(world), cut.nodes[-1]
    called = _called(world.objects.get(at, ()), categories, own_names)
    if not called:
        yield Dropped("no object listed there")
    around = [(node, graph.heading(at, node)) for node in graph.neighbours(at)]
    for name, kind in called.items():
        reason = kind.excluded or _out_of_sight(kind.things)
        if reason:
            yield Dropped(reason)
            continue
        seen = [thing for thing in kind.things if not _out_of_sight([thing])]
        heading = heading_of(seen[0])
        nodes = [node for node, way in around if apart(way, heading) < BESIDE]
        if not nodes:
            yield Dropped("no neighbour within 15 degrees")
        elif len(around) < least:
            yield Dropped(f"fewer than {least} neighbours")
        else:
            target = {"object": name, "heading": heading, "nodes": nodes, "instances": len(seen)}
            said = [sentence.format(name) for sentence in sentences]
            yield ask(cut, "object", said, target, rng, detail=name.replace(" ", "_"))


@dataclass
class _Kind:
    """The things listed at a viewpoint that are called the same."""

    excluded: str  # why they are not sought; empty where they may be
    things: list[SeenObject]


def _called(things: Iterable[SeenObject], categories: Mapping[str, str], own_names: bool) -> dict[str, _Kind]:
    called: dict[str, _Kind] = {}
    for thing in things:
        category = category_of(thing.name, categories)
        if category is None:
            # Kept apart from a category that may happen to be called the same.
            name, excluded = f"? {thing.name}", "name of no known category"
        else:
            name = thing.name if own_names else category.replace("_", " ")
            excluded = "category left out" if category in EXCLUDED else ""
        called.setdefault(name, _Kind(excluded, [])).things.append(thing)
    return called


def _out_of_sight(things: Sequence[SeenObject]) -> str:
    """Why none of these can be walked towards; empty where one can."""
    visible = [thing for thing in things if len(thing.views)]
    if not visible:
        return "listed but not in sight"
    return "farther than 3 m" if all(thing.distance > FARTHEST for thing in visible) else ""


def unknown_names(world: World, categories: Mapping[str, str] = OURS) -> Counter[str]:
    """How often each name without a category is listed in a world, once for each place it is seen from."""
    return Counter(
        thing.name
        for things in world.objects.values()
        for thing in things
        if len(thing.views) and category_of(thing.name, categories) is None
    )


def heading_of(thing: SeenObject) -> float:
    """Where a thing lies by its boxes, radians counter-clockwise from +x: the mean direction of their middles."""
    aside = np.arctan((thing.boxes[:, 0] + thing.boxes[:, 2] / 2 - VIEW_WIDTH / 2) / FOCAL)
    headings = VIEW_HEADINGS[thing.views] - aside
    return round(math.atan2(float(np.sin(headings).sum()), float(np.cos(headings).sum())), 9)


def apart(a: float, b: float) -> float:
    """How far two headings are apart, degrees in [0, 180]."""
    return round(abs(math.degrees(math.remainder(a - b, math.tau))), 9)


def mass_towards(trial: Trial, leaning: Leaning, world: World) -> float:
    """How likely the agent was to go to a neighbour less than 15 degrees aside of the thing."""
    return mass_on(trial, leaning)


def angular_errors(trial: Trial, leaning: Leaning) -> Array:
    """(k,) how far aside of the thing each of the answer's nodes lies, degrees."""
    towards = float(trial.target["heading"])
    return np.array([apart(heading, towards) for heading in leaning.headings.tolist()])
