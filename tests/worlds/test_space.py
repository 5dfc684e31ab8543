"""Spaces with and without a batch of their own measure alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.metrics.attempts import distance_blocks, step_lengths
from itinera.worlds import BatchSpace, Ragged
from text_worlds import RowByRow, graph_scenes, open_scenes, quick


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
        distance_blocks(slow, made.path, made.reference), distance_blocks(scene.space, made.path, made.reference)
    )
    np.testing.assert_allclose(step_lengths(slow, made.path), step_lengths(scene.space, made.path))


@pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_no_rows_have_no_distances(scenes, data):
    space = RowByRow(data.draw(scenes).space)
    none = Ragged.from_rows([])
    assert distance_blocks(space, none, none).tolist() == step_lengths(space, none).tolist() == []
