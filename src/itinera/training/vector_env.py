"""Navigation graphs as index tensors, so that a batch of agents steps at once.

The nodes of all worlds share one numbering, and so do their edges. `GraphSimulator` is the reference: a test steps both
side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.observation import (
    GEOMETRY_DIM,
    BatchObservation,
    encode_geometry,
    encode_place_geometry,
    encode_view_angles,
    make_padded_index,
    view_headings,
)
from itinera.rendering.panorama import VIEWS
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.view_features import ViewSource
from itinera.training.jitter import CandidateJitter
from itinera.worlds import NavGraph, World


@dataclass(frozen=True, eq=False)
class BatchedGraphEnv:
    """Graphs and their view features as tables. Action k at a node follows its edge k - 1; action 0 is STOP."""

    worlds: tuple[str, ...]  # ids
    nodes: tuple[str, ...]  # names
    node_index: Mapping[tuple[str, str], int]  # by world id and node name
    first_edge: Tensor  # (nodes,)
    degree: Tensor  # (nodes,)
    edge_target: Tensor  # (edges,) node
    headings: Tensor  # (edges,) radians
    elevations: Tensor  # (edges,) radians
    lengths: Tensor  # (edges,) metres
    edge_view: Tensor  # (edges,) the view of 36 an agent faces after following it
    distance_row: Tensor  # (nodes,) start of the node's row in `distances`, less the number of its world's first node
    distances: Tensor  # geodesic distances of each world, row by row, in metres; double for the metrics
    next_action: Tensor  # laid out as `distances`: the first action of a shortest path, 0 at the target itself
    edge_features: Tensor  # (edges, features) of the view that contains each edge
    node_features: Tensor  # (nodes, features) the maximum of each feature over all views
    panoramas: Tensor | None  # (nodes, 36, features) in half precision, if requested
    jitter: CandidateJitter | None = None  # noise on observations, for training

    @property
    def num_features(self) -> int:
        return self.edge_features.shape[1]

    @property
    def device(self) -> torch.device:
        return self.first_edge.device

    def to(self, device: torch.device | str) -> BatchedGraphEnv:
        """The same environment with its tables on another device."""
        tables: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **tables)

    def distance(self, a: Tensor, b: Tensor) -> Tensor:
        """The geodesic distance between nodes of one world, metres."""
        return self.distances[self.distance_row[a] + b].float()

    def shortest_path_action(self, a: Tensor, b: Tensor) -> Tensor:
        """The first action of a shortest path from a to b; 0 (STOP) if a is b."""
        return self.next_action[self.distance_row[a] + b].long()

    def neighbor_action(self, a: Tensor, b: Tensor) -> Tensor:
        """The action at a that leads to its neighbor b; -1 if they are not adjacent."""
        counts = self.degree[a]
        padded_index = make_padded_index(counts)
        targets = torch.cat([self.edge_target[self.edge_rows(a, counts)], counts.new_tensor([-1])])[padded_index]
        matches = torch.cat([counts.new_zeros(len(a), 1, dtype=torch.bool), targets == b[:, None]], dim=1)
        action = matches.long().argmax(dim=1)
        return torch.where(action > 0, action, -1)

    def edge_rows(self, nodes: Tensor, counts: Tensor) -> Tensor:
        """(rows,) the edges of these nodes, one node after another; `counts` are their degrees."""
        starts = self.first_edge[nodes] - (counts.cumsum(0) - counts)
        return torch.repeat_interleave(starts, counts) + torch.arange(int(counts.sum()), device=self.device)

    def reset(self, nodes: Tensor, view: Tensor) -> EnvState:
        """The state of agents placed at these nodes, facing these views."""
        n = len(nodes)
        none = nodes.new_full((n,), -1)
        return EnvState(
            nodes,
            view,
            none,
            none[:, None],
            nodes.new_zeros(n),
            torch.zeros(n, self.num_features, device=self.device),
            torch.zeros(n, GEOMETRY_DIM, device=self.device),
        )

    def observe(self, state: EnvState) -> BatchObservation:
        """The observation of every agent."""
        counts = self.degree[state.node]
        rows = self.edge_rows(state.node, counts)
        owner_index = torch.repeat_interleave(torch.arange(len(counts), device=self.device), counts)
        targets = self.edge_target[rows]
        geometry = encode_geometry(
            self.headings[rows],
            self.elevations[rows],
            self.lengths[rows],
            agent_heading=view_headings(state.view)[owner_index],
            visited=(state.visited[owner_index] == targets[:, None]).any(dim=1),
            back=targets == state.previous_node[owner_index],
            counts=counts[owner_index],
            moves=state.moves[owner_index],
        )
        observation = BatchObservation(
            self.edge_features.index_select(0, rows),
            geometry,
            make_padded_index(counts),
            self.node_features.index_select(0, state.node),
            encode_place_geometry(counts, state.moves),
            state.previous,
            state.previous_geometry,
            None if self.panoramas is None else self.panoramas[state.node].float(),
            None if self.panoramas is None else encode_view_angles(state.view),
        )
        return observation if self.jitter is None else self.jitter.apply(observation)

    def step(self, state: EnvState, observation: BatchObservation, action: Tensor) -> EnvState:
        """The state after actions other than STOP. An action that does not exist leads anywhere."""
        row = observation.padded_index.gather(1, action[:, None] - 1).squeeze(1)
        row = row.clamp_max(len(observation.candidates) - 1)
        edge = (self.first_edge[state.node] + action - 1).clamp_max(len(self.edge_target) - 1)
        return EnvState(
            self.edge_target[edge],
            self.edge_view[edge],
            state.node,
            torch.cat([state.visited, state.node[:, None]], dim=1),
            state.moves + 1,
            observation.candidates.index_select(0, row),
            observation.geometry[row],
        )

    def step_movers(self, state: EnvState, observation: BatchObservation, action: Tensor) -> EnvState:
        """The state after actions; agents whose action is 0 stay as they are."""
        moving = action > 0
        moved = self.step(state, observation, action.clamp_min(1))

        def choose(new: Tensor, old: Tensor) -> Tensor:
            return torch.where(moving if new.dim() == 1 else moving[:, None], new, old)

        return EnvState(
            choose(moved.node, state.node),
            choose(moved.view, state.view),
            choose(moved.previous_node, state.previous_node),
            torch.cat([state.visited, torch.where(moving, state.node, -1)[:, None]], dim=1),
            choose(moved.moves, state.moves),
            choose(moved.previous, state.previous),
            choose(moved.previous_geometry, state.previous_geometry),
        )


@dataclass(frozen=True, eq=False)
class EnvState:
    """Where a batch of agents is, and what observations need of its past."""

    node: Tensor  # (batch,)
    view: Tensor  # (batch,) the view of 36 each agent faces
    previous_node: Tensor  # (batch,) -1 at the start
    visited: Tensor  # (batch, moves + 1) the nodes left in this episode, padded with -1
    moves: Tensor  # (batch,) number of moves
    previous: Tensor  # (batch, features) of the candidate chosen last
    previous_geometry: Tensor  # (batch, GEOMETRY_DIM)


def build_env(worlds: Mapping[str, World], views: ViewSource | None, *, panorama: bool = False) -> BatchedGraphEnv:
    """The environment of these worlds, in this order; without views, observations contain only geometry.

    `panorama` stores all 36 views of every node, for policies that use them.
    """
    graphs = [_require_graph(world) for world in worlds.values()]
    counts = [len(graph.nodes) for graph in graphs]
    offsets = np.cumsum([0, *counts])
    nodes = tuple(node for graph in graphs for node in graph.nodes)
    node_index = {
        (world_id, node): int(offset) + k
        for world_id, graph, offset in zip(worlds, graphs, offsets, strict=False)
        for k, node in enumerate(graph.nodes)
    }
    columns: dict[str, list[np.ndarray]] = {}
    for world_id, graph, offset in zip(worlds, graphs, offsets, strict=False):
        for name, column in _build_tables(world_id, graph, int(offset), views, panorama).items():
            columns.setdefault(name, []).append(column)
    tables = {name: torch.from_numpy(np.concatenate(parts)) for name, parts in columns.items()}
    squares = np.cumsum([0, *(n * n for n in counts)])
    distance_row = np.concatenate(
        [square + n * np.arange(n) - offset for square, n, offset in zip(squares, counts, offsets, strict=False)]
    )
    degree = tables.pop("degree")
    return BatchedGraphEnv(
        tuple(worlds),
        nodes,
        node_index,
        first_edge=degree.cumsum(0) - degree,
        degree=degree,
        distance_row=torch.from_numpy(distance_row),
        panoramas=tables.pop("panoramas", None),
        jitter=None,
        **tables,
    )


def _build_tables(
    world_id: str, graph: NavGraph, offset: int, views: ViewSource | None, panorama: bool
) -> dict[str, np.ndarray]:
    """The tables of one world; its nodes are numbered from `offset`."""
    candidates = graph_candidates(graph)
    by_node = [candidates[node] for node in graph.nodes]
    num_features = 0 if views is None else views.size
    panoramas = np.zeros((len(graph.nodes), VIEWS, num_features), np.float32)
    if views is not None:
        for k, node in enumerate(graph.nodes):
            panoramas[k] = views.at(world_id, node)
    targets = [np.array([graph.index[node] for node in c.nodes], dtype=np.int64) for c in by_node]
    next_action = np.zeros(graph.distances.shape, np.uint8)
    for k, (c, target) in enumerate(zip(by_node, targets, strict=True)):
        if len(target):
            # Rounding makes equally short paths equal, whatever the last bit of a sum; the first action wins.
            through = (c.distances[:, None] + graph.distances[target]).round(6)
            next_action[k] = 1 + through.argmin(axis=0)
        next_action[k, k] = 0
    tables = {
        "degree": np.array([len(target) for target in targets], dtype=np.int64),
        "edge_target": np.concatenate(targets) + offset,
        "headings": np.concatenate([c.headings for c in by_node]).astype(np.float32),
        "elevations": np.concatenate([c.elevations for c in by_node]).astype(np.float32),
        "lengths": np.concatenate([c.distances for c in by_node]).astype(np.float32),
        "edge_view": np.concatenate([c.views for c in by_node]),
        "distances": graph.distances.ravel(),
        "next_action": next_action.ravel(),
        "edge_features": np.concatenate([panoramas[k][c.views] for k, c in enumerate(by_node)]),
        "node_features": panoramas.max(axis=1),
    }
    if panorama:
        tables["panoramas"] = panoramas.astype(np.float16)
    return tables


def _require_graph(world: World) -> NavGraph:
    if not isinstance(world.space, NavGraph):
        raise BadArgument(
            f"World {world.id} is not a navigation graph. Policies train on graphs: give worlds of a connectivity "
            "folder or a Hearth season."
        )
    return world.space


def node_indices(env: BatchedGraphEnv, world_id: str, nodes: Sequence[str]) -> list[int]:
    """The numbers of nodes of a world."""
    return [env.node_index[world_id, node] for node in nodes]
