"""Imitation on the ground: decisions of noisy walks among waypoints, labeled by a teacher that knows the goal.

`collect_waypoint_rollout` goes through an episode and keeps what a policy needs of every decision;
`waypoint_imitation_loss` unrolls a policy over a batch of rollouts, each with any of the path's instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from itinera.policies.agent import PolicyAgent
from itinera.policies.base import Policy, select_rows
from itinera.policies.observation import BatchObservation, make_padded_index
from itinera.simulators.simulator import STOP
from itinera.simulators.waypoint_simulator import WaypointSimulator
from itinera.tasks import Episode, Instruction
from itinera.training.dataset import CPU
from itinera.worlds import Array, World
from itinera.worlds.surface import Surface

MAX_DECISIONS = 15  # of a rollout
STOP_DISTANCE = 1.0  # metres from the goal within which the teacher stops
LAST_DISTANCE = 2.5  # metres within which it stops where no waypoint leads nearer
LENGTH_WEIGHT = 0.5  # of the way to a waypoint, beside the distance from there to the goal
VISITED_PENALTY = 2.0  # metres
SNAP = 1.5  # metres from a waypoint to the surface


class WaypointTeacher:
    """Chooses the waypoint from which the goal is nearest, with a preference for near ones that are new.

    The waypoint nearest to the goal alone would be a bad label: it often lies across a corner, and then leads back.
    """

    def __init__(self, surface: Surface, goal: Array) -> None:
        self._surface = surface
        self._field = surface.field(np.asarray(goal, dtype=np.float64).reshape(1, 3))

    def distances(self, places: Array) -> Array:
        """(n,) metres to the goal; inf where a place is far from the surface."""
        snapped, gaps = self._surface.snap(places, reach=SNAP)
        found = np.full(len(places), np.inf)
        near = np.isfinite(gaps)
        if near.any():
            found[near] = self._field.distances(snapped[near])
        return found

    def action(self, here: Array, places: Array, visited: NDArray[np.bool_]) -> int:
        """The action at a place (3,) whose waypoints lead to places (k, 3), some of them visited."""
        to_go = self.distances(np.concatenate([here[None], places]))
        if to_go[0] <= STOP_DISTANCE or not len(places):
            return STOP
        if to_go[0] <= LAST_DISTANCE and not (to_go[1:] < to_go[0]).any():
            return STOP
        cost = to_go[1:] + LENGTH_WEIGHT * np.linalg.norm(places - here, axis=1) + VISITED_PENALTY * visited
        return 1 + int(np.argmin(cost.round(6)))


@dataclass(frozen=True, eq=False)
class WaypointRollout:
    """The decisions of a rollout: a batch of one per decision, and the teacher's action at each."""

    episode: Episode
    observations: tuple[BatchObservation, ...]
    labels: Tensor  # (decisions,)


def collect_waypoint_rollout(
    simulator: WaypointSimulator,
    world: World,
    episode: Episode,
    agent: PolicyAgent,
    rng: np.random.Generator,
    *,
    noise: float,
) -> WaypointRollout:
    """A rollout by the teacher's actions, a share `noise` of them replaced by random ones; it ends where it would stop.

    The agent encodes the observations, as it does when it acts.
    """
    assert isinstance(world.space, Surface)
    teacher = WaypointTeacher(world.space, np.asarray(episode.goals[0]))
    agent.reset(rng)
    agent.start_episode(Instruction(""))
    observation = simulator.reset(world, episode.start)
    visited, observations, labels = set[str](), list[BatchObservation](), list[int]()
    for _ in range(MAX_DECISIONS):
        assert observation.candidates is not None
        names = observation.candidates.nodes
        seen = np.array([name in visited for name in names], dtype=bool)
        label = teacher.action(np.asarray(simulator.body.place), simulator.places, seen)
        observations.append(agent.encode(observation))
        labels.append(label)
        if label == STOP or not names:
            break
        visited.add(str(observation.place))
        observation = simulator.step(1 + int(rng.integers(len(names))) if rng.random() < noise else label)
    return WaypointRollout(episode, tuple(observations), torch.tensor(labels, device=CPU))


def join_observations(observations: Sequence[BatchObservation]) -> BatchObservation:
    """Batches of one as one batch."""

    def join(name: str) -> Tensor:
        return torch.cat([getattr(observation, name) for observation in observations])

    counts = torch.tensor([len(observation.candidates) for observation in observations], device=CPU)
    names = ("place", "place_geometry", "previous", "previous_geometry")
    place, place_geometry, previous, previous_geometry = map(join, names)
    has_panorama = observations[0].panorama is not None
    return BatchObservation(
        join("candidates"),
        join("geometry"),
        make_padded_index(counts),
        place,
        place_geometry,
        previous,
        previous_geometry,
        join("panorama") if has_panorama else None,
        join("view_angles") if has_panorama else None,
    )


def waypoint_imitation_loss(
    policy: Policy[Any], rollouts: Sequence[WaypointRollout], words: Tensor, lengths: Tensor
) -> Tensor:
    """Cross-entropy of the teacher's actions, mean over all decisions; words and lengths are those of each rollout."""
    order = sorted(range(len(rollouts)), key=lambda k: -len(rollouts[k].labels))
    decisions = sum(len(rollout.labels) for rollout in rollouts)
    rollouts, index = [rollouts[k] for k in order], torch.tensor(order, device=CPU)
    state = policy.encode_instruction(words[index], lengths[index])
    losses = []
    for step in range(len(rollouts[0].labels)):
        active = sum(len(rollout.labels) > step for rollout in rollouts)
        if active < len(rollouts):
            rollouts = rollouts[:active]
            state = select_rows(state, torch.arange(active, device=CPU))
        state, output = policy(state, join_observations([rollout.observations[step] for rollout in rollouts]))
        labels = torch.stack([rollout.labels[step] for rollout in rollouts])
        losses.append(cross_entropy(output.logits, labels, reduction="sum"))
    return torch.stack(losses).sum() / decisions
