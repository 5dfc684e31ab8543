"""Worlds as index tensors, so that many walkers move, see and are taught at once.

Nodes of all worlds are numbered together, and so are the ways between them. `GraphSimulator` is the reference: a test walks
both side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.observation import GEOMETRY, Seen, facing_views, geometry_of, heading_of, moment, slots_of
from itinera.rendering.panorama import VIEWS
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.view_features import ViewSource
from itinera.worlds import NavGraph, World


@dataclass(frozen=True, eq=False)
class Atlas:
    """Graphs and what is seen in them, as tables. Way numbers count from 0; action k at a node is its way k - 1."""

    worlds: tuple[str, ...]
    nodes: tuple[str, ...]  # names
    number: Mapping[tuple[str, str], int]  # of world and node
    first: Tensor  # (nodes,) the first way on from each
    degree: Tensor  # (nodes,) how many
    beyond: Tensor  # (ways,) the node it leads to
    headings: Tensor  # (ways,) radians
    elevations: Tensor  # (ways,) radians
    lengths: Tensor  # (ways,) metres
    view: Tensor  # (ways,) the one of 36 one is turned to after taking it
    block: Tensor  # (nodes,) where the node's row in `far` begins, less the number of the world's first node
    far: Tensor  # world by world, from each node to each: metres of the shortest way, double for the metrics' sake
    onward: Tensor  # the same: the action that leads there by a shortest way, 0 where one is there
    seen: Tensor  # (ways, size) features of the view in which each way lies
    here: Tensor  # (nodes, size) of each feature the most that any view of a node has
    around: Tensor | None  # (nodes, 36, size), kept on request

    @property
    def size(self) -> int:
        return self.seen.shape[1]

    def distance(self, a: Tensor, b: Tensor) -> Tensor:
        """Metres of the shortest way between nodes of one world."""
        return self.far[self.block[a] + b].float()

    def action_to(self, a: Tensor, b: Tensor) -> Tensor:
        """The action at a that leads to b by a shortest way; 0, which is STOP, at b itself."""
        return self.onward[self.block[a] + b].long()

    def action_along(self, a: Tensor, b: Tensor) -> Tensor:
        """The action at a that leads to its neighbour b; -1 where there is none."""
        counts = self.degree[a]
        slots = slots_of(counts)
        ends = torch.cat([self.beyond[self.rows(a, counts)], torch.tensor([-1])])[slots]
        found = torch.cat([torch.zeros(len(a), 1, dtype=torch.bool), ends == b[:, None]], dim=1)
        action = found.long().argmax(dim=1)
        return torch.where(action > 0, action, -1)

    def rows(self, nodes: Tensor, counts: Tensor) -> Tensor:
        """(rows,) the ways on from these nodes, one node after another."""
        starts = self.first[nodes] - (counts.cumsum(0) - counts)
        return torch.repeat_interleave(starts, counts) + torch.arange(int(counts.sum()))

    def look(self, at: Walkers) -> Seen:
        """What walkers see."""
        counts = self.degree[at.node]
        rows = self.rows(at.node, counts)
        who = torch.repeat_interleave(torch.arange(len(counts)), counts)
        beyond = self.beyond[rows]
        geometry = geometry_of(
            self.headings[rows],
            self.elevations[rows],
            self.lengths[rows],
            facing=heading_of(at.view)[who],
            visited=(at.visited[who] == beyond[:, None]).any(dim=1),
            back=beyond == at.before[who],
            counts=counts[who],
            moves=at.moves[who],
        )
        return Seen(
            self.seen.index_select(0, rows),
            geometry,
            slots_of(counts),
            self.here.index_select(0, at.node),
            moment(counts, at.moves),
            at.taken,
            at.taken_geometry,
            None if self.around is None else self.around[at.node].float(),
            None if self.around is None else facing_views(at.view),
        )

    def move(self, at: Walkers, seen: Seen, action: Tensor) -> Walkers:
        """The walkers after they took these actions, none of them STOP. One that is not there leads anywhere."""
        taken = seen.slots.gather(1, action[:, None] - 1).squeeze(1).clamp_max(len(seen.candidates) - 1)
        way = (self.first[at.node] + action - 1).clamp_max(len(self.beyond) - 1)
        visited = torch.cat([at.visited, at.node[:, None]], dim=1)
        return Walkers(
            self.beyond[way],
            self.view[way],
            at.node,
            visited,
            at.moves + 1,
            seen.candidates.index_select(0, taken),
            seen.geometry[taken],
        )

    def put(self, nodes: Tensor, view: Tensor) -> Walkers:
        """Walkers who have just been put at these nodes, turned to these views."""
        n = len(nodes)
        none = torch.full((n,), -1)
        return Walkers(
            nodes,
            view,
            none,
            none[:, None],
            torch.zeros(n, dtype=torch.int64),
            torch.zeros(n, self.size),
            torch.zeros(n, GEOMETRY),
        )


@dataclass(frozen=True, eq=False)
class Walkers:
    """Where a batch of walkers is, and what they remember of how they came there."""

    node: Tensor  # (walkers,)
    view: Tensor  # (walkers,) the one of 36 each is turned to
    before: Tensor  # (walkers,) the node each came from; -1 at the start
    visited: Tensor  # (walkers, moves + 1) where each was in this episode, and -1
    moves: Tensor  # (walkers,) how often each moved
    taken: Tensor  # (walkers, size) what was seen along the way taken last
    taken_geometry: Tensor  # (walkers, GEOMETRY)


def atlas_of(worlds: Mapping[str, World], views: ViewSource | None, *, around: bool = False) -> Atlas:
    """The tables of worlds, in this order; without views nothing is seen but where the ways lead.

    `around` keeps all 36 views of every node, for agents that look at all of them.
    """
    graphs = [_graph(world) for world in worlds.values()]
    counts = [len(graph.nodes) for graph in graphs]
    offsets = np.cumsum([0, *counts])
    nodes = tuple(node for graph in graphs for node in graph.nodes)
    number = {
        (world_id, node): int(offset) + k
        for world_id, graph, offset in zip(worlds, graphs, offsets, strict=False)
        for k, node in enumerate(graph.nodes)
    }
    columns: dict[str, list[np.ndarray]] = {name: [] for name in _COLUMNS}
    for world_id, graph, offset in zip(worlds, graphs, offsets, strict=False):
        for name, column in _tables(world_id, graph, int(offset), views, around).items():
            columns[name].append(column)
    whole = {name: torch.from_numpy(np.concatenate(parts)) for name, parts in columns.items() if parts}
    squares = np.cumsum([0, *(n * n for n in counts)])
    block = np.concatenate(
        [square + n * np.arange(n) - offset for square, n, offset in zip(squares, counts, offsets, strict=False)]
    )
    degree = whole.pop("degree")
    return Atlas(
        tuple(worlds),
        nodes,
        number,
        first=degree.cumsum(0) - degree,
        degree=degree,
        block=torch.from_numpy(block),
        around=whole.pop("around", None),
        **whole,
    )


_COLUMNS = ("degree", "beyond", "headings", "elevations", "lengths", "view", "far", "onward", "seen", "here", "around")


def _tables(
    world_id: str, graph: NavGraph, offset: int, views: ViewSource | None, around: bool
) -> dict[str, np.ndarray]:
    candidates = graph_candidates(graph)
    each = [candidates[node] for node in graph.nodes]
    size = 0 if views is None else views.size
    panoramas = np.zeros((len(graph.nodes), VIEWS, size), np.float32)
    if views is not None:
        for k, node in enumerate(graph.nodes):
            panoramas[k] = views.at(world_id, node)
    ends = [np.array([graph.index[node] for node in way.nodes], dtype=np.int64) for way in each]
    onward = np.zeros(graph.distances.shape, np.uint8)
    for k, (way, end) in enumerate(zip(each, ends, strict=True)):
        if len(end):
            # Of ways equally short the first is taken, whatever the last bit of a sum of lengths.
            through = (way.distances[:, None] + graph.distances[end]).round(6)
            onward[k] = 1 + through.argmin(axis=0)
        onward[k, k] = 0
    tables = {
        "degree": np.array([len(end) for end in ends], dtype=np.int64),
        "beyond": np.concatenate(ends) + offset,
        "headings": np.concatenate([way.headings for way in each]).astype(np.float32),
        "elevations": np.concatenate([way.elevations for way in each]).astype(np.float32),
        "lengths": np.concatenate([way.distances for way in each]).astype(np.float32),
        "view": np.concatenate([way.views for way in each]),
        "far": graph.distances.ravel(),
        "onward": onward.ravel(),
        "seen": np.concatenate([panoramas[k][way.views] for k, way in enumerate(each)]),
        "here": panoramas.max(axis=1),
    }
    if around:
        tables["around"] = panoramas.astype(np.float16)
    return tables


def _graph(world: World) -> NavGraph:
    if not isinstance(world.space, NavGraph):
        raise BadArgument(f"World {world.id} is no navigation graph, and these agents learn on graphs.")
    return world.space


def node_numbers(atlas: Atlas, world_id: str, nodes: Sequence[str]) -> list[int]:
    """The numbers of nodes of a world."""
    return [atlas.number[world_id, node] for node in nodes]
