"""A few episodes in one house on the ground, small policies for them, and agents with a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from itinera.formats.catalog import read_tasks
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.policies.checkpoint import Model, build_model, make_card
from itinera.policies.ground import cma, map_cma, pool_cma, tour_cma
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.runs.config import load_worlds
from itinera.seeding import generator
from itinera.tasks import PROTOCOLS, Split
from itinera.tasks.protocol import IVLN_CE
from itinera.training.ground.batches import Texts
from itinera.training.ground.experience import Collector
from itinera.training.ground.perception import Sensors
from itinera.training.ground.tour_order import order_tours
from itinera.worlds.lazy import LazyMapping

torch.set_num_threads(1)

SIZES: dict[str, Any] = {"word_dim": 6, "text_dim": 8, "hidden_dim": 8, "key_dim": 6, "visual_dim": 8, "depth_dim": 6}
RESOLUTION = 64  # pixels: faster than the 128 of training
CONFIGS: dict[str, Any] = {
    "map-cma": replace(map_cma.SMALL, **SIZES),
    "cma": replace(cma.SMALL, **SIZES),
    "tour-cma": replace(tour_cma.SMALL, **SIZES),
    "pool-cma": replace(pool_cma.SMALL, **SIZES),
}


@dataclass(frozen=True)
class SmallGround:
    """One house of a season, with the episodes of a few near paths."""

    season: Path
    paths: int = 3
    texts: int = 3  # instructions of each path

    @cached_property
    def worlds(self) -> LazyMapping[Any]:
        opened = load_worlds(self.season, PROTOCOLS["r2r-ce"])
        return LazyMapping(opened, opened.__getitem__, cache_size=4)

    @cached_property
    def split(self) -> Split:
        """Episodes of the shortest paths of the house, without tours."""
        split = read_tasks(self.season / "vlnce" / "val_unseen" / "val_unseen.json.gz")
        by_path: dict[str, list[Any]] = {}
        for episode in split.episodes:
            by_path.setdefault(episode.path_id, []).append(episode)
        near = sorted(by_path.values(), key=lambda group: (group[0].stated_distance, group[0].id))[: self.paths]
        ids = [episode.id for group in near for episode in group[: self.texts]]
        kept = tuple(episode for episode in split.episodes if episode.id in ids)
        return Split("small", kept, protocol=split.protocol)

    @cached_property
    def toured(self) -> Split:
        """The same episodes on tours."""
        return order_tours(self.split)

    def model(self, kind: str, seed: int = 0, *, lifetime: MapLifetime = MapLifetime.EPISODIC) -> Model:
        """An untrained model whose actions vary from step to step."""
        tokenizer = Tokenizer.fit(episode.instruction.text for episode in self.split.episodes)
        sees_map = kind == "map-cma"
        ground = GroundRequirements(
            RESOLUTION, RESOLUTION, rgb=not sees_map, map=MapConfig() if sees_map else None, lifetime=lifetime
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = build_model(make_card(kind, CONFIGS[kind], (), tokenizer, ground=ground))
            with torch.no_grad():
                for name, value in model.policy.named_parameters():
                    if "action_head" in name or "gru" in name:
                        value.mul_(4.0)
                model.policy.action_head.bias.add_(torch.tensor([-1.0, 1.0, 0.0, 0.0]))
        return model

    def texts_of(self, model: Model) -> Texts:
        return Texts.from_split(self.split, model.tokenizer)

    def collector(self, model: Model, *lifetimes: MapLifetime, toured: bool = False, **more: Any) -> Collector:
        """A collector with the model's sensors; an agent has 20 steps."""
        protocol = replace(IVLN_CE if toured else PROTOCOLS["r2r-ce"], step_limit=20)
        sensors = Sensors.from_policy(model.policy, model.card.ground)
        return Collector(self.worlds, protocol, sensors, lifetimes=lifetimes, lanes=3, **more)


def planned_actions(seed: int, episode_id: str, count: int) -> list[int]:
    """Actions drawn for an episode; STOP is among them, but not always."""
    rng = generator(seed, "plan", episode_id)
    return rng.choice([0, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 1], size=count).tolist()


def weights(model: Model) -> dict[str, np.ndarray[Any, Any]]:
    """The weights of a model as arrays."""
    return {name: value.numpy().copy() for name, value in model.policy.state_dict().items()}
