"""Snapping: the nodes that a continuous trajectory passes, and the positions along a path of nodes.

Start with `snap`; `snap_predictions` converts a whole file, `positions_along` is the inverse. On the graph a continuous
trajectory can be scored against a reference path of nodes.
Reference: Krantz et al. 2020, Beyond the Nav-Graph, supplementary section 7.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.records._kernels import follow
from itinera.records.predictions import Predictions, Rollout
from itinera.records.trajectory import Trajectory
from itinera.tasks import Split
from itinera.worlds import Array, Euclidean, NavGraph, Ragged, World

# Height of nodes above the floor. Matterport's are cameras: 1.41 m in the median, nine in ten between 1.15 and
# 1.56 m, the highest 1.81 m.
HIGHEST_CAMERA = 1.81


def snap(
    trajectory: Trajectory,
    graph: NavGraph,
    *,
    start: str | None = None,
    height: float | None = None,
    keep: bool = False,
) -> Trajectory:
    """The trajectory over the graph's nodes that follows a continuous trajectory.

    It begins at `start`. Each further position leads to the nearest of the current node and its neighbors, so the
    result always follows edges. A node is listed once, with heading and time of entering, until it is left or the
    phase changes; `keep` lists one node per position instead. What belongs to single actions (actions, collisions,
    followed steps, the action log) belongs to the continuous trajectory and is left out.

    Heights: nodes are often above the positions, as cameras above the floor. By default the whole trajectory is lifted
    so that it starts level with its start node, which suits nodes on the floor as well as cameras and keeps storeys
    apart. With `height`, nodes are that many metres above the positions everywhere; 0 measures in three dimensions.

    Without `start` the trajectory begins at the nearest node. Unless `height` is given, a node counts as
    level for that from the floor up to `HIGHEST_CAMERA` above it.

    >>> graph = NavGraph.from_edges({"a": (0, 0, 1.5), "b": (2, 0, 1.5), "c": (4, 0, 1.5)}, [("a", "b"), ("b", "c")])
    >>> places = np.array([[0, 0, 0], [0.9, 0, 0], [1.1, 0.5, 0], [1.4, 0.5, 0], [3.2, 0, 0]])
    >>> snap(Trajectory("1", places), graph, start="a").places
    ('a', 'b', 'c')
    """
    named = None if start is None else {trajectory.episode_id: start}
    return _snapped([trajectory], graph, named, height, keep)[0]


def snap_predictions(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    *,
    starts: Mapping[str, str] | None = None,
    height: float | None = None,
    keep: bool = False,
) -> Predictions:
    """The predictions over the nodes of these graphs, each trajectory snapped as by `snap`.

    `split` gives the world of each episode. `starts` gives start nodes by episode; other trajectories begin at the
    nearest node. Protocol and provenance, those of the continuous run, are left out.
    """
    trajectories = list(predictions.trajectories)
    rows: dict[str, list[int]] = {}
    faults = []
    for i, trajectory in enumerate(trajectories):
        episode = split.by_id.get(trajectory.episode_id)
        if episode is None:
            problem = f"is not in {split.name}, so its world is unknown."
            faults.append(Fault(f'episode "{trajectory.episode_id}"', problem, "Give the split of the predictions."))
        else:
            rows.setdefault(episode.world_id, []).append(i)
    if faults:
        raise BadFile(predictions.source, faults)
    done: list[Trajectory] = trajectories.copy()
    for world_id, numbers in rows.items():
        group = _snapped([trajectories[i] for i in numbers], _graph(world_id, worlds), starts, height, keep)
        for i, snapped in zip(numbers, group, strict=True):
            done[i] = snapped
    onward = iter(done)
    rollouts = tuple(
        Rollout(rollout.tour_id, tuple(next(onward) for _ in rollout.trajectories)) for rollout in predictions.rollouts
    )
    return Predictions(predictions.source, rollouts)


def snap_rows(
    rows: Ragged, graph: NavGraph, *, starts: NDArray[np.int64] | None = None, height: float | None = None
) -> NDArray[np.int64]:
    """(positions,) the node index for each position of many trajectories in one graph; see `snap`.

    rows: (n, 3) metres, none of them empty. starts: (rows,) indices of the start nodes, -1 for the nearest.
    """
    if not graph.nodes:
        raise BadArgument("The graph has no nodes, so no trajectory can follow it.")
    if (rows.counts == 0).any():
        raise BadArgument(
            f"Trajectory {int(np.argmin(rows.counts))} has no positions. A trajectory must include its start."
        )
    begun = rows.firsts()
    first = np.full(len(rows), -1, dtype=np.int64) if starts is None else starts.astype(np.int64)
    for k in np.flatnonzero(first < 0):
        first[k] = _nearest(begun[k], graph, height)
    lift = np.full(len(rows), height) if height is not None else graph.positions[first, 2] - begun[:, 2]
    points = np.array(rows.values, dtype=np.float64)
    points[:, 2] += np.repeat(lift, rows.counts)
    joined_starts, joined = _neighbours(graph)
    out = np.empty(len(points), dtype=np.int64)
    follow(points, rows.starts, first, graph.positions, joined_starts, joined, out)
    return out


def positions_along(path: Sequence[str], graph: NavGraph, *, step: float = 0.25) -> Array:
    """(n, 3) positions along a node path, none farther than `step` metres from the next.

    Every node of the path is among them, both ends included; edges are divided into equal parts. A node listed twice in
    a row adds one more position.

    >>> graph = NavGraph.from_edges({"a": (0, 0, 0), "b": (1, 0, 0)}, [("a", "b")])
    >>> positions_along(("a", "b"), graph, step=0.4)[:, 0].round(3).tolist()
    [0.0, 0.333, 0.667, 1.0]
    """
    if not step > 0:
        raise BadArgument(f"The step is {step} m. Give a length above 0.")
    if len(path) == 0:
        raise BadArgument("The path has no nodes. A path contains at least its start.")
    at = graph.locate(path)
    broken = np.flatnonzero((at[:-1] != at[1:]) & ~graph.are_adjacent(at[:-1], at[1:]))
    if len(broken):
        raise BadArgument(f"No edge joins {path[broken[0]]} and {path[broken[0] + 1]}, so the path is broken.")
    corners = graph.positions[at]
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    # A length that is an integer number of steps up to rounding needs no further part.
    parts = np.maximum(np.ceil(lengths / step - 1e-9), 1).astype(np.int64)
    edge = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(parts) - parts, parts) + 1) / parts[edge]
    inner = corners[edge] + share[:, None] * (corners[edge + 1] - corners[edge])
    inner[share == 1] = corners[1:]  # nodes are exact, without rounding
    return np.concatenate([corners[:1], inner])


def _snapped(
    trajectories: Sequence[Trajectory],
    graph: NavGraph,
    starts: Mapping[str, str] | None,
    height: float | None,
    keep: bool,
) -> list[Trajectory]:
    rows = Ragged.from_rows([_positions(trajectory) for trajectory in trajectories])
    named = starts or {}
    first = [graph.locate([named[t.episode_id]])[0] if t.episode_id in named else -1 for t in trajectories]
    nodes = Ragged(snap_rows(rows, graph, starts=np.array(first, dtype=np.int64), height=height), rows.starts)
    return [_on_nodes(t, nodes[k], graph, keep) for k, t in enumerate(trajectories)]


def _positions(trajectory: Trajectory) -> Array:
    if not len(trajectory.places):
        raise BadArgument(
            f'The trajectory of episode "{trajectory.episode_id}" has no positions. It must include its start.'
        )
    if not isinstance(trajectory.places, np.ndarray) and isinstance(trajectory.places[0], str):
        raise BadArgument(f'The trajectory of episode "{trajectory.episode_id}" is already on a graph.')
    return Euclidean().locate(trajectory.places)


def _on_nodes(trajectory: Trajectory, nodes: NDArray[np.int64], graph: NavGraph, keep: bool) -> Trajectory:
    kept = np.ones(len(nodes), dtype=bool)
    if not keep:
        kept[1:] = nodes[1:] != nodes[:-1]
        if trajectory.phases is not None:
            kept[1:] |= [a is not b for a, b in zip(trajectory.phases[1:], trajectory.phases[:-1], strict=True)]

    def shorter(values: Array | None) -> Array | None:
        return None if values is None else values[kept]

    phases = trajectory.phases
    return replace(
        trajectory,
        places=tuple(graph.nodes[i] for i in nodes[kept]),
        headings=shorter(trajectory.headings),
        elevations=shorter(trajectory.elevations),
        times=shorter(trajectory.times),
        thinking=None,
        phases=None if phases is None else tuple(phases[i] for i in np.flatnonzero(kept)),
        actions=None,
        collided=None,
        followed=None,
        action_log=None,
        notes={},
    )


def _nearest(position: Array, graph: NavGraph, height: float | None) -> int:
    across = graph.positions - position
    if height is not None:
        above = across[:, 2] - height
    else:
        above = np.maximum(-across[:, 2], across[:, 2] - HIGHEST_CAMERA).clip(min=0.0)
    return int(np.argmin(across[:, 0] ** 2 + across[:, 1] ** 2 + above**2))


def _neighbours(graph: NavGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(nodes + 1,) the first neighbor of each node in (2 * edges,) all neighbors, in the graph's order."""
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return np.searchsorted(both[:, 0], np.arange(len(graph.nodes) + 1)), np.ascontiguousarray(both[:, 1])


def _graph(world_id: str, worlds: Mapping[str, World]) -> NavGraph:
    if world_id not in worlds:
        raise BadArgument(f"World {world_id} is not among the worlds given. Check that predictions and worlds match.")
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument(f"World {world_id} is not a navigation graph, so no trajectory can be snapped to it.")
    return graph
