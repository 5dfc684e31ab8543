"""Spaces with and without a batch of their own measure alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import RowByRow, graph_scenes, open_scenes, quick
from itinera.worlds import BatchSpace, Ragged
from itinera.worlds.space import blocks, steps


@pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_measuring_at_once_equals_measuring_row_by_row(scenes, data):
    scene = data.draw(scenes)
    slow = RowByRow(scene.space)
    assert isinstance(scene.space, BatchSpace)
    assert not isinstance(slow, BatchSpace)
    made = scene.attempts
    np.testing.assert_allclose(
        blocks(slow, made.walked, made.reference), blocks(scene.space, made.walked, made.reference)
    )
    np.testing.assert_allclose(steps(slow, made.walked), steps(scene.space, made.walked))


@pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_no_rows_have_no_distances(scenes, data):
    space = RowByRow(data.draw(scenes).space)
    none = Ragged.of([])
    assert blocks(space, none, none).tolist() == steps(space, none).tolist() == []
