"""A crossing that is approached from the west, with trials at it: the parts of a small skill study.

    l
    |
a-b-c-f
    |
    r
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from itinera.agents.agent import Agent
from itinera.hearth.language.scene_description import DescribedCandidate, DescribedObject, SceneDescription
from itinera.records.action_probabilities import ActionDistribution
from itinera.runs.probing import ProbeContext
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import Trial
from itinera.worlds import NavGraph, Pose, Room, World
from text_worlds import graph

GRAPH = graph("""
        l
        |
    a-b-c-f
        |
        r
""")
LABELS = {"a": "h", "b": "h", "c": "h", "f": "h", "l": "k", "r": "b"}
SCENES = ("one", "two", "three")
WORLDS = {name: World(name, GRAPH, rooms={node: Room(label) for node, label in LABELS.items()}) for name in SCENES}
WALK = ("a", "b", "c")


def sight(graph: NavGraph, node: str) -> SceneDescription:
    """The description of a node: a hall with a red sofa to the north, and the candidates."""
    candidates = [
        DescribedCandidate(
            other,
            graph.heading(node, other),
            float(graph.between([node], [other])[0, 0]),
            0,
            LABELS[other],
            "" if LABELS[other] == LABELS[node] else "door",
        )
        for other in graph.neighbors(node)
    ]
    return SceneDescription(
        node, LABELS[node], (DescribedObject("sofa", "red", "", math.pi / 2, 2.5, 1.8),), tuple(candidates), ()
    )


SIGHTS = {name: {node: sight(GRAPH, node) for node in GRAPH.nodes} for name in SCENES}

Told = Mapping[str, tuple[str, Mapping[str, Any]]]
SENTENCES: Told = {
    "stop": ("This is your destination.", {"stop": True}),
    "direction-left": ("Turn left and walk forward.", {"direction": "left", "heading": 0.0, "nodes": ["l"]}),
    "direction-forward": ("Walk forward.", {"direction": "forward", "heading": 0.0, "nodes": ["f"]}),
    "object": ("Walk towards the sofa.", {"object": "sofa", "heading": math.pi / 2, "nodes": ["l"], "instances": 1}),
    "room-1": ("Walk towards the kitchen.", {"room": "k", "nodes": ["l"]}),
    "room-within-2": ("Walk towards the kitchen. This is your destination.", {"room": "k"}),
}


def trial(
    skill: str = "stop",
    arm: str = "control",
    *,
    world: str = "one",
    walk: Sequence[str] = WALK,
    path: str = "p",
    n: int = 0,
) -> Trial:
    """A trial of a skill at the end of a path prefix."""
    sentence, target = SENTENCES[skill]
    name = f"{world}.{path}.{n}.{skill}"
    text = "Go straight. Go straight." + {"intervention": f" {sentence}", "control": "", "ahead": " Go straight."}[arm]
    own = {"intervention": name, "control": f"{name}.control", "ahead": f"{name}.ahead"}[arm]
    target = {**target, "edges": 1} if arm == "ahead" else target
    episode = Episode(own, world, Pose(walk[0], 0.0), walk[-1:], tuple(walk), Instruction(text), path_id=path)
    return Trial(own, skill, arm, "" if arm == "control" else f"{name}.control", episode, target, f"{world}.{path}")


def trials(skills: Sequence[str] = tuple(SENTENCES), *, paths: int = 3) -> list[Trial]:
    """A study: in every scene some paths, each with two instructions; interventions, then their controls."""
    return [
        trial(skill, arm, world=world, path=f"p{path}", n=n, walk=WALK[path % 2 :])
        for skill in skills
        for world in SCENES
        for path in range(paths)
        for n in range(2)
        for arm in (("intervention", "control", "ahead") if skill == "stop" else ("intervention", "control"))
    ]


def distribution(of: Trial, **shares: float) -> ActionDistribution:
    """An action distribution at the crossing, by node; `greedy_path` follows the most probable move."""
    nodes = ("b", "l", "f", "r")
    headings = np.array([math.pi, math.pi / 2, 0.0, -math.pi / 2])
    probabilities = np.array([shares.get("stop", 0.0), *(shares.get(node, 0.0) for node in nodes)])
    best = ("c", *nodes)[int(np.argmax(probabilities))]
    return ActionDistribution(of.id, 0.0, nodes, headings, probabilities, ("c",) if best == "c" else ("c", best))


def context(agent: Callable[[], Agent]) -> ProbeContext:
    """The context of one agent for all trials, as a worker process builds it."""
    one = agent()
    return ProbeContext(lambda trial: one, GraphSimulator(descriptions=SIGHTS), WORLDS)
