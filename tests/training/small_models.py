"""Small policies, worlds and datasets for tests, and a policy that records its observations and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from itinera.policies.base import Policy, PolicyOutput
from itinera.policies.checkpoint import Model, ModelCard, build_model, make_card
from itinera.policies.observation import BatchObservation
from itinera.policies.rcm import RCMConfig
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.training.dataset import EpisodeDataset
from itinera.training.vector_env import BatchedGraphEnv, build_env
from itinera.worlds import NavGraph, Pose, World
from text_worlds import episode, graphs, walks_in

torch.set_num_threads(1)

TINY = RCMConfig(
    word_dim=8,
    text_dim=8,
    num_text_layers=2,
    visual_dim=12,
    key_dim=6,
    hidden_dim=10,
    dropout=0.4,
    env_dropout=0.3,
)
COLUMNS = ("sofa", "red", "in kitchen", "to kitchen", "to hallway", "to the same room", "towards sofa")
WORDS = ("go", "left", "to", "the", "kitchen", "sofa", "then", "stop", ".")
TEXTS = ("go to the kitchen .", "left", "", "then go left to the red sofa . then stop .", "stop the sofa")


class NumberedViews:
    """View features that depend only on the name of the node."""

    columns = COLUMNS
    size = len(COLUMNS)

    def at(self, world_id: str, node: str) -> Any:
        values = generator(0, world_id, node).random((36, self.size), dtype=np.float32)
        return np.where(values < 0.5, 0, values)


def tiny_model(seed: int = 0, *, config: RCMConfig = TINY, columns: Sequence[str] = COLUMNS, **more: Any) -> Model:
    """A small untrained model in evaluation mode."""
    torch.manual_seed(seed)
    model = build_model(tiny_card(config=config, columns=columns, **more))
    model.policy.eval()
    return model


def tiny_card(*, config: RCMConfig = TINY, columns: Sequence[str] = COLUMNS, **more: Any) -> ModelCard:
    return make_card("rcm", config, tuple(columns), Tokenizer(WORDS), **more)


@dataclass(frozen=True, eq=False)
class TinyData:
    """Worlds and episodes, for simulators and for batched rollouts."""

    worlds: Mapping[str, World]
    episodes: tuple[Episode, ...]
    env: BatchedGraphEnv
    dataset: EpisodeDataset


def tiny_data(worlds: Mapping[str, World], episodes: Sequence[Episode], *, panorama: bool = False) -> TinyData:
    env = build_env(worlds, NumberedViews(), panorama=panorama)
    dataset = EpisodeDataset.from_episodes(episodes, env, Tokenizer(WORDS))
    return TinyData(worlds, tuple(episodes), env, dataset)


@st.composite
def tiny_datasets(draw: st.DrawFn, *, connected: bool = False) -> TinyData:
    """One or two random worlds with a few episodes."""
    graphs_drawn = draw(st.lists(graphs(connected=connected), min_size=1, max_size=2))
    worlds = {f"w{k}": World(f"w{k}", graph) for k, graph in enumerate(graphs_drawn)}
    episodes = []
    for number in range(draw(st.integers(1, 6))):
        world_id = draw(st.sampled_from(sorted(worlds)))
        path = without_stays(draw(walks_in(worlds[world_id].space)))
        text = draw(st.sampled_from(TEXTS))
        start = Pose(path[0], draw(st.floats(-4, 4)), draw(st.floats(-0.7, 0.7)))
        episodes.append(episode(str(number), path, world_id=world_id, start=start, instruction=Instruction(text)))
    return tiny_data(worlds, episodes)


def without_stays(path: Sequence[str]) -> tuple[str, ...]:
    """The path without repeated nodes in a row."""
    return tuple(node for k, node in enumerate(path) if k == 0 or node != path[k - 1])


class RecordingPolicy(Policy[Any]):
    """A policy that records every observation and output; None marks the start of an episode."""

    def __init__(self, policy: Policy[Any]) -> None:
        super().__init__()
        self.policy = policy
        self.uses_panorama = policy.uses_panorama
        self.records: list[tuple[BatchObservation, PolicyOutput]] = []

    def encode_instruction(self, words: Any, lengths: Any) -> Any:
        self.records.append(None)  # type: ignore[arg-type]
        return self.policy.encode_instruction(words, lengths)

    def forward(self, state: Any, observation: BatchObservation) -> Any:
        state, output = self.policy(state, observation)
        self.records.append((observation, output))
        return state, output


def select_agent(observation: BatchObservation, k: int) -> BatchObservation:
    """The observation of the k-th agent of a batch."""
    rows = observation.padded_index[k][observation.mask[k]]
    parts = {
        "candidates": observation.candidates[rows],
        "geometry": observation.geometry[rows],
        "padded_index": torch.arange(len(rows))[None],
    }
    for field in fields(observation):
        part = getattr(observation, field.name)
        if field.name not in parts:
            parts[field.name] = None if part is None else part[k : k + 1]
    return BatchObservation(**parts)


def require_graph(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space
