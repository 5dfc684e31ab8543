"""Small floors drawn in text, and plain ways over them."""

from __future__ import annotations

from textwrap import dedent

import networkx
import numpy as np

from itinera.worlds.grid import Grid

ROOMS = """
    ####################
    #........#.........#
    #........#.........#
    #........#.........#
    #..................#
    #..................#
    #........#.........#
    #........####..#####
    #........#.........#
    #..................#
    #........#.........#
    ####################
"""


def grid(drawn: str, *, size: float = 0.5, resolution: float = 0.1) -> Grid:
    """A floor of characters so many metres wide, # for walls; the first line has the largest y."""
    lines = dedent(drawn).strip().splitlines()
    cells = np.array([[letter == "#" for letter in line] for line in lines])[::-1]
    fine = round(size / resolution)
    return Grid(np.kron(cells, np.ones((fine, fine), dtype=bool)), resolution)


def way(allowed: np.ndarray, resolution: float, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """A shortest way from cell to cell by their sides, (n, 2) metres; it is clear as straight lines."""
    rows, columns = allowed.shape
    graph = networkx.grid_2d_graph(rows, columns)
    graph.remove_nodes_from([(j, i) for j, i in np.argwhere(~allowed).tolist()])
    ends = [(int(place[1] / resolution), int(place[0] / resolution)) for place in (start, goal)]
    cells = networkx.shortest_path(graph, *ends)
    return (np.array(cells)[1:-1, ::-1].reshape(-1, 2) + 0.5) * resolution
