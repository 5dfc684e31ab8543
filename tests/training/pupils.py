"""Small policies and places to learn in, and eyes that keep what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from drawn import episode, graphs, walks_in
from itinera.policies.base import Weighed
from itinera.policies.checkpoint import Card, Model, card_of, new_model
from itinera.policies.observation import Seen
from itinera.policies.rcm import Sizes
from itinera.policies.tokenizer import Vocabulary
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.training.dataset import Lessons, lessons_of
from itinera.training.vector_env import Atlas, atlas_of
from itinera.worlds import NavGraph, Pose, World

torch.set_num_threads(1)

TINY = Sizes(word=8, text=8, text_layers=2, sight=12, key=6, state=10, dropout=0.4, env_dropout=0.3)
COLUMNS = ("sofa", "red", "in kitchen", "to kitchen", "to hallway", "to the same room", "towards sofa")
WORDS = ("go", "left", "to", "the", "kitchen", "sofa", "then", "stop", ".")
TEXTS = ("go to the kitchen .", "left", "", "then go left to the red sofa . then stop .", "stop the sofa")


class Numbered:
    """Views of any node: numbers that depend on its name and nothing else."""

    columns = COLUMNS
    size = len(COLUMNS)

    def at(self, world_id: str, node: str) -> Any:
        values = generator(0, world_id, node).random((36, self.size), dtype=np.float32)
        return np.where(values < 0.5, 0, values)


def pupil(seed: int = 0, *, sizes: Sizes = TINY, columns: Sequence[str] = COLUMNS, **more: Any) -> Model:
    """A small model that knows nothing yet, ready to be asked."""
    torch.manual_seed(seed)
    model = new_model(card(sizes=sizes, columns=columns, **more))
    model.policy.eval()
    return model


def card(*, sizes: Sizes = TINY, columns: Sequence[str] = COLUMNS, **more: Any) -> Card:
    return card_of("rcm", sizes, tuple(columns), Vocabulary(WORDS), **more)


@dataclass(frozen=True, eq=False)
class School:
    """Worlds and episodes, as simulators and as roll-outs know them."""

    worlds: Mapping[str, World]
    episodes: tuple[Episode, ...]
    atlas: Atlas
    lessons: Lessons


def school(worlds: Mapping[str, World], episodes: Sequence[Episode], *, around: bool = False) -> School:
    atlas = atlas_of(worlds, Numbered(), around=around)
    return School(worlds, tuple(episodes), atlas, lessons_of(episodes, atlas, Vocabulary(WORDS)))


@st.composite
def schools(draw: st.DrawFn, *, connected: bool = False) -> School:
    """One or two drawn worlds with a few episodes in them."""
    graphs_drawn = draw(st.lists(graphs(connected=connected), min_size=1, max_size=2))
    worlds = {f"w{k}": World(f"w{k}", graph) for k, graph in enumerate(graphs_drawn)}
    episodes = []
    for number in range(draw(st.integers(1, 6))):
        world_id = draw(st.sampled_from(sorted(worlds)))
        path = walked_on(draw(walks_in(worlds[world_id].space)))
        text = draw(st.sampled_from(TEXTS))
        start = Pose(path[0], draw(st.floats(-4, 4)), draw(st.floats(-0.7, 0.7)))
        episodes.append(episode(str(number), path, world_id=world_id, start=start, instruction=Instruction(text)))
    return school(worlds, episodes)


def walked_on(path: Sequence[str]) -> tuple[str, ...]:
    """The same without staying anywhere."""
    return tuple(node for k, node in enumerate(path) if k == 0 or node != path[k - 1])


class Watched:
    """A policy that keeps all it is shown and all it makes of it."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.looks_around = getattr(policy, "looks_around", False)
        self.shown: list[tuple[Seen, Weighed]] = []

    def read(self, words: Any, lengths: Any) -> Any:
        self.shown.append(None)  # type: ignore[arg-type]
        return self.policy.read(words, lengths)

    def step(self, state: Any, seen: Seen) -> Any:
        state, weighed = self.policy.step(state, seen)
        self.shown.append((seen, weighed))
        return state, weighed


def of_walker(seen: Seen, k: int) -> Seen:
    """What the k-th walker sees of what all see."""
    mine = seen.slots[k][seen.open[k]]
    parts = {
        "candidates": seen.candidates[mine],
        "geometry": seen.geometry[mine],
        "slots": torch.arange(len(mine))[None],
    }
    for field in fields(seen):
        part = getattr(seen, field.name)
        if field.name not in parts:
            parts[field.name] = None if part is None else part[k : k + 1]
    return Seen(**parts)


def graph_of(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space
