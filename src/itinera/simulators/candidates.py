"""The navigable candidates of each node of a graph, in the order and with the views of R2R's agents.

Matterport3DSimulator lists, for a view, the adjacent nodes within 40 degrees to either side, nearest to the center
first. Agents go through views 0 to 35, number each node when it is first listed, and assign to it the view whose center
is nearest. All of this follows from the graph, so it is computed for the whole graph at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.panorama import STEP, TURNS, VIEW_ELEVATIONS, VIEWS
from itinera.simulators.simulator import Candidates
from itinera.worlds import Array, NavGraph

HALF_WIDTH = math.radians(40)  # half of 60 degrees times 640 / 480, the width of a view in that simulator
DIGITS = 9  # of angles that are compared; the last ones differ between math libraries


def graph_candidates(graph: NavGraph) -> dict[str, Candidates]:
    """The candidates of each node.

    Nodes that are first listed in the same view at the same distance from its center are in the graph's order. A node
    straight above or below counts as in the direction of +x.
    """
    starts, ends = graph.directed_edges.T
    headings, elevations, distances, views, order = _list(graph.positions[ends] - graph.positions[starts], starts, ends)
    names = [graph.nodes[end] for end in ends[order].tolist()]
    bounds = np.searchsorted(starts, np.arange(len(graph.nodes) + 1)).tolist()
    return {
        node: Candidates(tuple(names[a:b]), headings[a:b], elevations[a:b], distances[a:b], views[a:b])
        for node, a, b in zip(graph.nodes, bounds[:-1], bounds[1:], strict=True)
    }


def list_candidates(names: Sequence[str], offsets: Array) -> tuple[Candidates, NDArray[np.int64]]:
    """The candidates at these offsets (k, 3), metres, in the order of a graph's, and their positions in `names`."""
    one_place = np.zeros(len(names), dtype=np.int64)
    headings, elevations, distances, views, order = _list(offsets.reshape(-1, 3), one_place, np.arange(len(names)))
    return Candidates(tuple(names[k] for k in order), headings, elevations, distances, views), order


def _list(
    offsets: Array, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Array, Array, Array, NDArray[np.int64], NDArray[np.int64]]:
    """Headings, elevations, distances and views of offsets (m, 3) in listed order, and that order."""
    dx, dy, dz = offsets.T
    flat = np.hypot(dx, dy)
    headings, elevations, distances = np.arctan2(dy, dx), np.arctan2(dz, flat), np.hypot(flat, dz)

    aside = (math.pi / 2 - headings)[:, None] - STEP * np.arange(TURNS)
    aside = np.abs((aside + math.pi) % math.tau - math.pi)  # (edges, turns)
    lean = elevations[:, None] - VIEW_ELEVATIONS[::TURNS]  # (edges, rows)
    apart = np.hypot(lean[:, :, None], aside[:, None]).round(DIGITS).reshape(-1, VIEWS)
    views = apart.argmin(axis=1)  # ties: the first view
    found = (aside.round(DIGITS) <= round(HALF_WIDTH, DIGITS)).argmax(
        axis=1
    )  # in the lowest row, which agents go through first
    order = np.lexsort((ends, apart[np.arange(len(ends)), found], found, starts))

    for column in (headings, elevations, distances, views):
        column[:] = column[order].round(DIGITS)
        column.flags.writeable = False
    return headings, elevations, distances, views, order
