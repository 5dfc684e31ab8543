"""Teachers, against shortest ways by networkx and against the references themselves."""

from __future__ import annotations

from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from drawn import networkx_graph, quick
from itinera.training.experts import along_path, to_goal
from training.pupils import graph_of, schools


def walked(place, teacher, *, wandering=(), stays=1, limit=40):
    """Where a teacher leads the first walker, after it went astray by these numbers; when it stopped, or None.

    The reference stays so many steps at each of its nodes.
    """
    atlas, rows = place.atlas, torch.tensor([0])
    batch = place.lessons.batch([0])
    batch = replace(batch, path=batch.path.repeat_interleave(stays, 1), path_lengths=stays * batch.path_lengths)
    at = atlas.put(batch.start, batch.view)
    path = [int(at.node)]
    for moves in range(limit):
        if moves < len(wandering) and int(atlas.degree[at.node]):
            action = 1 + wandering[moves] % int(atlas.degree[at.node])
        else:
            action = int(teacher(atlas, batch, at, rows))
        if action == 0:
            return [atlas.nodes[n] for n in path], moves
        at = atlas.move(at, atlas.look(at), torch.tensor([action]))
        path.append(int(at.node))
    return [atlas.nodes[n] for n in path], None


@quick
@given(place=schools(connected=True), astray=st.lists(st.integers(0, 50), max_size=4))
def test_the_way_to_the_goal_is_a_shortest_one(place, astray):
    asked = place.episodes[0]
    graph = graph_of(place.worlds[asked.world_id])
    path, stopped = walked(place, to_goal, wandering=astray)
    assert stopped is not None
    assert path[-1] == asked.reference[-1]
    left = path[min(len(astray), len(path) - 1) :]
    shortest = networkx.dijkstra_path_length(networkx_graph(graph), left[0], left[-1])
    assert graph.along(left).sum() == pytest.approx(shortest)


@quick
@given(place=schools(connected=True))
def test_along_the_path_goes_where_it_goes(place):
    path, stopped = walked(place, along_path)
    assert tuple(path) == tuple(place.episodes[0].reference)
    assert stopped == len(path) - 1


@quick
@given(place=schools(connected=True), astray=st.lists(st.integers(0, 50), max_size=4), stays=st.integers(1, 4))
def test_who_left_the_path_is_led_to_the_goal_at_last(place, astray, stays):
    path, stopped = walked(place, along_path, wandering=astray, stays=stays)
    assert stopped is not None
    assert path[-1] == place.episodes[0].reference[-1]
