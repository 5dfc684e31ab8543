"""Seeking objects: given a visible object, does an agent choose a candidate that leads towards it?

Objects are those that annotations list at a viewpoint, with a box in every view that shows them; REVERIE's lists end
at 3 m. If several objects have one name, the first listed is the target; `instances` counts them.
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
from itinera.records.action_probabilities import ActionDistribution
from itinera.rendering.panorama import VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH
from itinera.skills.categories import DEFAULT_CATEGORIES, lookup_category
from itinera.skills.filter_counts import RejectedTrial
from itinera.skills.trials import DesignOutcome, Skill, TrialRng, make_trial_pair, require_graph, target_probability
from itinera.skills.truncation import Truncation
from itinera.tasks.trial import Trial
from itinera.worlds import Array, VisibleObject, World

SENTENCES = ("Walk towards the {}.",)
MAX_ANGLE = 15.0  # degrees between a candidate that leads towards an object and the object
MAX_DISTANCE = 3.0  # metres
FOCAL = VIEW_HEIGHT / 2 / math.tan(VIEW_FOV / 2)  # pixels

EXCLUDED = frozenset(
    {"misc", "objects", "unlabeled", "void", "wall", "appliances", "ceiling", "floor"}
    | {"lighting", "door", "railing", "stairs", "window", "shelving"}
)
"""Categories that do not identify an object: too vague, or too many instances."""


def object_skill(
    sentences: Sequence[str] = SENTENCES,
    *,
    categories: Mapping[str, str] = DEFAULT_CATEGORIES,
    own_names: bool = False,
    min_neighbors: int = 2,
) -> Skill:
    """The skill of going towards an object. One candidate for each object name listed at the truncation point.

    Kept are names of visible objects, at most 3 m away where the distance is known, with a neighbour less than 15
    degrees aside, at nodes with at least `min_neighbors` neighbours (2 in the paper, 3 in the released code). An object
    is called by its category, or with `own_names` by its listed name. A target is {"object", "heading", "nodes",
    "instances"}: the name, the object's heading, radians counter-clockwise from +x, and the neighbours that lead there.
    """
    choices = tuple(sentences)
    design = partial(_design, choices, categories, own_names, min_neighbors)
    response_name = "probability of going towards the object"
    return Skill("object", choices, design, object_response, response_name=response_name)


def _design(
    sentences: Sequence[str],
    categories: Mapping[str, str],
    own_names: bool,
    min_neighbors: int,
    truncation: Truncation,
    world: World,
    rng: TrialRng,
) -> Iterator[DesignOutcome]:
    if not world.objects:
        raise BadArgument(f"World {world.id} has no object annotations. Give REVERIE's BBox folder with --objects.")
    graph, node = require_graph(world), truncation.nodes[-1]
    groups = _group_by_name(world.objects.get(node, ()), categories, own_names)
    if not groups:
        yield RejectedTrial("no object listed at the node")
    neighbors = [(other, graph.heading(node, other)) for other in graph.neighbors(node)]
    for name, group in groups.items():
        reason = group.excluded or _out_of_sight(group.objects)
        if reason:
            yield RejectedTrial(reason)
            continue
        visible = [item for item in group.objects if not _out_of_sight([item])]
        heading = object_heading(visible[0])
        nodes = [other for other, towards in neighbors if angle_between(towards, heading) < MAX_ANGLE]
        if not nodes:
            yield RejectedTrial("no neighbour within 15 degrees")
        elif len(neighbors) < min_neighbors:
            yield RejectedTrial(f"fewer than {min_neighbors} neighbours")
        else:
            target = {"object": name, "heading": heading, "nodes": nodes, "instances": len(visible)}
            texts = [sentence.format(name) for sentence in sentences]
            yield make_trial_pair(truncation, "object", texts, target, rng, detail=name.replace(" ", "_"))


@dataclass
class _Group:
    """The objects listed at a viewpoint that have one name."""

    excluded: str  # why they are never a target; empty if they may be
    objects: list[VisibleObject]


def _group_by_name(
    objects: Iterable[VisibleObject], categories: Mapping[str, str], own_names: bool
) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for item in objects:
        category = lookup_category(item.name, categories)
        if category is None:
            # Kept apart from a category that may have the same name.
            name, excluded = f"? {item.name}", "object name without a category"
        else:
            name = item.name if own_names else category.replace("_", " ")
            excluded = "excluded category" if category in EXCLUDED else ""
        groups.setdefault(name, _Group(excluded, [])).objects.append(item)
    return groups


def _out_of_sight(objects: Sequence[VisibleObject]) -> str:
    """Why none of these objects can be a target; empty if one can."""
    visible = [item for item in objects if len(item.views)]
    if not visible:
        return "listed but not visible"
    return "farther than 3 m" if all(item.distance > MAX_DISTANCE for item in visible) else ""


def count_unknown_names(world: World, categories: Mapping[str, str] = DEFAULT_CATEGORIES) -> Counter[str]:
    """How often each object name without a category is listed in a world, once per viewpoint that shows it."""
    return Counter(
        item.name
        for objects in world.objects.values()
        for item in objects
        if len(item.views) and lookup_category(item.name, categories) is None
    )


def object_heading(item: VisibleObject) -> float:
    """The heading of an object, radians counter-clockwise from +x: the mean direction of the centres of its boxes."""
    offsets = np.arctan((item.boxes[:, 0] + item.boxes[:, 2] / 2 - VIEW_WIDTH / 2) / FOCAL)
    headings = VIEW_HEADINGS[item.views] - offsets
    return round(math.atan2(float(np.sin(headings).sum()), float(np.cos(headings).sum())), 9)


def angle_between(a: float, b: float) -> float:
    """The angle between two headings in radians, degrees in [0, 180]."""
    return round(abs(math.degrees(math.remainder(a - b, math.tau))), 9)


def object_response(trial: Trial, distribution: ActionDistribution, world: World) -> float:
    """The probability of going to a neighbour less than 15 degrees aside of the object."""
    return target_probability(trial, distribution)


def angular_errors(trial: Trial, distribution: ActionDistribution) -> Array:
    """(k,) the angle between the object and each candidate node, degrees."""
    towards = float(trial.target["heading"])
    return np.array([angle_between(heading, towards) for heading in distribution.headings.tolist()])
