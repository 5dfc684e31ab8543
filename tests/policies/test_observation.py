from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.policies.observation import (
    GEOMETRY_DIM,
    encode_geometry,
    encode_place_geometry,
    encode_view_angles,
    make_padded_index,
    pad_rows,
    view_headings,
)
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_the_padded_index_finds_every_row_once(counts):
    padded_index = make_padded_index(torch.tensor(counts))
    rows = torch.arange(sum(counts), dtype=torch.float32)[:, None]
    assert padded_index.shape == (len(counts), max(counts))
    found = [padded_index[k, :count].tolist() for k, count in enumerate(counts)]
    assert [row for mine in found for row in mine] == list(range(sum(counts)))
    assert all((padded_index[k, count:] == sum(counts)).all() for k, count in enumerate(counts))
    spread = pad_rows(rows + 1, padded_index)
    assert spread.shape == (*padded_index.shape, 1)
    for k, count in enumerate(counts):
        assert spread[k, :count, 0].tolist() == [row + 1 for row in found[k]]
        assert not spread[k, count:].any()


def test_an_empty_batch_has_no_rows():
    assert make_padded_index(torch.zeros(0, dtype=torch.int64)).shape == (0, 0)


def test_geometry_is_relative_to_the_heading():
    one = encode_geometry(
        *(torch.tensor([value]) for value in (math.pi / 2, 0.0, 2.5)),
        agent_heading=torch.tensor([0.0]), visited=torch.tensor([True]), back=torch.tensor([False]),
        counts=torch.tensor([4]), moves=torch.tensor([5]),
    )  # fmt: skip
    torch.testing.assert_close(one, torch.tensor([[1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 0.0, 0.5, 0.5]]), atol=1e-6, rtol=0)
    assert one.shape[1] == GEOMETRY_DIM
    staying = encode_place_geometry(torch.tensor([4]), torch.tensor([5]))
    assert staying.tolist() == [[0.0] * 7 + [0.5, 0.5]]


def test_view_angles_are_relative_to_the_view_faced():
    around = encode_view_angles(torch.tensor([12, 17]))
    assert around.shape == (2, 36, 4)
    torch.testing.assert_close(around[0, 12], torch.tensor([0.0, 1.0, 0.0, 1.0]))
    view = 20
    aside = VIEW_HEADINGS[view] - VIEW_HEADINGS[17]
    wanted = [math.sin(aside), math.cos(aside), math.sin(VIEW_ELEVATIONS[view]), math.cos(VIEW_ELEVATIONS[view])]
    torch.testing.assert_close(around[1, view], torch.tensor(wanted, dtype=torch.float32), atol=1e-6, rtol=0)
    assert view_headings(torch.tensor([17])).item() == torch.tensor(VIEW_HEADINGS[17], dtype=torch.float32).item()
