"""Every policy on the ground in tiny sizes, with random observations and instructions for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from itinera.policies.ground import cma, map_cma, pool_cma, seq2seq, tour_cma
from itinera.policies.ground.observation import GroundObservation, merge_map
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator

TOKENIZER = Tokenizer(tuple(f"word{k}" for k in range(30)))
SIZES = {
    "word_dim": 6,
    "text_dim": 8,
    "hidden_dim": 12,
    "key_dim": 8,
    "visual_dim": 10,
    "depth_dim": 6,
    "action_dim": 4,
    "cell_dim": 3,
    "depth_channels": 8,
}
POLICIES = {
    "seq2seq": (seq2seq.Seq2Seq, replace(seq2seq.SMALL, hidden_dim=12, image_channels=8, depth_channels=8)),
    "cma": (cma.CMA, replace(cma.SMALL, **SIZES, image_channels=8)),
    "tour-cma": (tour_cma.TourCMA, replace(tour_cma.SMALL, **SIZES, image_channels=8)),
    "tour-cma, both": (tour_cma.TourCMA, replace(tour_cma.SMALL, **SIZES, image_channels=8, persistent="both")),
    "pool-cma": (pool_cma.PoolCMA, replace(pool_cma.SMALL, **SIZES, image_channels=8)),
    "pool-end-cma": (pool_cma.PoolEndCMA, replace(pool_cma.SMALL, **SIZES, image_channels=8)),
    "map-cma": (map_cma.MapCMA, replace(map_cma.SMALL, **SIZES, map_channels=12)),
    "map-cma, convolutional": (
        map_cma.MapCMA,
        replace(map_cma.SMALL, **SIZES, map_encoder="convolutional", map_channels=8, map_positions=False),
    ),
}


def make_policy(name, **more):
    """An untrained policy in evaluation mode whose action scores differ visibly from each other."""
    make, config = POLICIES[name]
    torch.manual_seed(1)
    policy = make((), TOKENIZER, replace(config, **more)).eval()
    torch.nn.init.normal_(policy.action_head.weight)
    return policy


def make_frames(count, *, seed=0, depth_size=64, rgb_size=32, device="cpu"):
    """Random observations of `count` agents."""
    rng = generator(seed, "frames")
    occupancy = rng.random((count, 64, 64)) < 0.2
    arrays = {
        "depth": rng.integers(0, 256, (count, 1, depth_size, depth_size), dtype=np.uint8),
        "previous_action": rng.integers(0, 6, count),
        "rgb": rng.integers(0, 256, (count, 3, rgb_size, rgb_size), dtype=np.uint8),
        "map": merge_map(occupancy.astype(np.uint8), rng.integers(0, 13, (count, 64, 64))),
    }
    return GroundObservation(**{name: torch.from_numpy(values).to(device) for name, values in arrays.items()})


def make_texts(count, *, seed=0, device="cpu"):
    """Random token ids (count, max words) and the numbers of words."""
    rng = generator(seed, "texts")
    lengths = rng.integers(2, 9, count)
    words = rng.integers(3, len(TOKENIZER), (count, lengths.max()))
    words[np.arange(words.shape[1]) >= lengths[:, None]] = 0
    return torch.from_numpy(words).to(device), torch.from_numpy(lengths).to(device)
