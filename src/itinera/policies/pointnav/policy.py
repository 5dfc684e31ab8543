"""A PointNav policy: encode what the sensors measure, remember it, and score the actions.

The defaults are the network of Yokoyama et al. 2021, ResNet-50 and a two-layer LSTM of 512 units: nobody trains those
on a CPU. `SMALL` has networks that learn in minutes on one. What a policy is given is in `observation.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from itinera.errors import BadArgument, validate_choice
from itinera.policies.ground.resnet import DepthResNet
from itinera.policies.pointnav.observation import PointNavTensors, encode_ranges, goal_features
from itinera.policies.pointnav.recurrent import Recurrent
from itinera.policies.pointnav.requirements import POOLED, SENSORS
from itinera.policies.tokenizer import Tokenizer

GOAL_FEATURES = 7


@dataclass(frozen=True)
class PointNavConfig:
    """Sizes of a PointNav policy; the defaults are those of the paper."""

    sensor: str = "depth"  # none, scan, pooled-depth or depth
    num_actions: int = 4  # of the robot, STOP included
    rays: int = 32  # of a scan
    depth_size: int = 256  # pixels of a side of a depth image
    encoder: str = "resnet50"  # of depth images: resnet50 or conv
    visual_dim: int = 512  # features of what the sensor measures
    cell: str = "lstm"  # or gru
    hidden_dim: int = 512
    num_layers: int = 2  # of the recurrent network
    uses_contact: bool = True  # whether the policy knows if its last action touched a wall


SMALL: Mapping[str, PointNavConfig] = {
    "none": PointNavConfig("none", visual_dim=32, cell="gru", hidden_dim=96, num_layers=1),
    "scan": PointNavConfig("scan", visual_dim=64, cell="gru", hidden_dim=96, num_layers=1),
    "pooled-depth": PointNavConfig("pooled-depth", visual_dim=64, cell="gru", hidden_dim=96, num_layers=1),
    "depth": PointNavConfig(
        "depth", depth_size=64, encoder="conv", visual_dim=96, cell="gru", hidden_dim=128, num_layers=1
    ),
}
"""The small networks, by sensor."""


@dataclass(frozen=True, eq=False)
class ActorCriticOutput:
    """The action logits and value estimates of every step."""

    logits: Tensor  # (..., actions), STOP first
    value: Tensor  # (...) expected return


class PointNavPolicy(nn.Module):
    """A recurrent actor-critic. It is made by `Class(columns, tokenizer, config)` as all policies; both are unused."""

    config_class: type[Any] = PointNavConfig

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: PointNavConfig) -> None:
        super().__init__()
        self.config = config
        validate_choice("sensor", config.sensor, SENSORS)
        numbers = GOAL_FEATURES + config.num_actions + config.uses_contact
        self.encoder = None if config.sensor == "none" else _make_encoder(config)
        self.embed_numbers = nn.Sequential(nn.Linear(numbers, 32), nn.ReLU())
        visual_dim = 0 if self.encoder is None else config.visual_dim
        self.recurrent = Recurrent(config.cell, 32 + visual_dim, config.hidden_dim, config.num_layers)
        self.heads = nn.Linear(config.hidden_dim, config.num_actions + 1)
        with torch.no_grad():  # almost equal probabilities and values near 0 at first
            self.heads.weight.mul_(0.1)
            self.heads.bias.zero_()

    @property
    def state_dim(self) -> int:
        """The numbers of a state."""
        return self.recurrent.state_dim

    def start(self, batch: int) -> Tensor:
        """(batch, state_dim) the state before the first step."""
        return torch.zeros(batch, self.state_dim, device=self.heads.weight.device)

    def forward(self, observations: PointNavTensors, state: Tensor) -> tuple[ActorCriticOutput, Tensor]:
        """The outputs of every step (steps, batch, …), and the last state.

        A step at which an episode starts forgets the state before it.
        """
        features = self.embed_numbers(self._numbers(observations))
        if self.encoder is not None:
            seen = observations.sensed
            visual = self.encoder(seen.flatten(0, 1)).view(*seen.shape[:2], -1)
            features = torch.cat([features, visual], dim=2)
        hidden, state = self.recurrent(features, state, observations.starts)
        scores = self.heads(hidden)
        return ActorCriticOutput(scores[..., :-1], scores[..., -1]), state

    def _numbers(self, observations: PointNavTensors) -> Tensor:
        before = nn.functional.one_hot(observations.last_actions, self.config.num_actions).float()
        before = before * (1.0 - observations.starts)[..., None]  # no action came before the first step
        parts = [goal_features(observations.pointgoal), before]
        if self.config.uses_contact:
            parts.append(observations.contact[..., None])
        return torch.cat(parts, dim=-1)


def _make_encoder(config: PointNavConfig) -> nn.Module:
    if config.sensor == "scan":
        return _ScanEncoder(config.rays, config.visual_dim)
    if config.sensor == "pooled-depth":
        return _PooledDepthEncoder(config.visual_dim)
    if config.encoder == "resnet50":
        return _ResNetEncoder(config)
    validate_choice("encoder", config.encoder, ("resnet50", "conv"))
    return _DepthEncoder(config.depth_size, config.visual_dim)


def _initialize(encoder: nn.Module) -> None:
    """Draw weights that keep the scale of their inputs through rectified layers; torch's own shrink it."""
    for module in encoder.modules():
        if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Linear):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
            assert module.bias is not None
            nn.init.zeros_(module.bias)


class _ScanEncoder(nn.Module):
    """Convolutions along the rays of a scan (n, rays) in metres."""

    def __init__(self, rays: int, dim: int) -> None:
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv1d(2, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv1d(16, 32, 3, stride=2, padding=1), nn.ReLU()
        )
        self.project = nn.Sequential(nn.Linear(32 * -(-rays // 4), dim), nn.ReLU())

        _initialize(self)

    def forward(self, scan: Tensor) -> Tensor:
        features: Tensor = self.project(self.convs(encode_ranges(scan, dim=1)).flatten(1))
        return features


class _PooledDepthEncoder(nn.Module):
    """Convolutions along the columns of pooled depth (n, 4, 64) in metres; rows are channels."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        rows, columns = POOLED
        self.convs = nn.Sequential(
            nn.Conv1d(2 * rows, 24, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(24, 32, 5, stride=4, padding=2),
            nn.ReLU(),
        )
        self.project = nn.Sequential(nn.Linear(32 * (columns // 8), dim), nn.ReLU())

        _initialize(self)

    def forward(self, depth: Tensor) -> Tensor:
        features: Tensor = self.project(self.convs(encode_ranges(depth, dim=1).flatten(1, 2)).flatten(1))
        return features


class _DepthEncoder(nn.Module):
    """Three convolutions on depth images (n, size, size) in metres."""

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        if size % 16:
            raise BadArgument(f"depth_size must be a multiple of 16, not {size}.")
        self.convs = nn.Sequential(
            nn.Conv2d(2, 16, 8, stride=4, padding=2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
        )
        self.project = nn.Sequential(nn.Linear(32 * (size // 16) ** 2, dim), nn.ReLU())

        _initialize(self)

    def forward(self, depth: Tensor) -> Tensor:
        features: Tensor = self.project(self.convs(encode_ranges(depth, dim=1)).flatten(1))
        return features


class _ResNetEncoder(nn.Module):
    """The depth encoder of DD-PPO, on images (n, 256, 256) in metres up to 10 m."""

    def __init__(self, config: PointNavConfig) -> None:
        super().__init__()
        if config.depth_size != DepthResNet.size:
            raise BadArgument(f"resnet50 sees depth images of {DepthResNet.size} pixels, not {config.depth_size}.")
        self.resnet = DepthResNet()
        self.project = nn.Sequential(nn.Linear(16 * DepthResNet.dim, config.visual_dim), nn.ReLU())

    def forward(self, depth: Tensor) -> Tensor:
        scaled = depth.clamp(0.0, 10.0)[:, None] / 10.0
        features: Tensor = self.project(self.resnet(scaled).flatten(1))
        return features
