"""Observations as tensors: depth, color, maps and previous actions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.ground.observation import (
    GroundSequence,
    encode_depth,
    encode_previous_actions,
    encode_rgb,
    merge_map,
    to_unit,
)
from itinera.seeding import generator
from policies.ground.examples import make_frames


def test_depth_is_the_nearest_point_of_each_pixel_in_tenths_of_a_range():
    depth = np.full((4, 4), np.inf, dtype=np.float32)
    depth[0, 1], depth[1, 1], depth[3, 0], depth[2, 3] = 3.0, 2.0, 12.0, 10.0
    assert encode_depth(depth, 2).tolist() == [[[51, 255], [255, 255]]]
    assert encode_depth(depth[None], 4).shape == (1, 1, 4, 4)


def test_depth_is_that_of_a_slow_twin():
    depth = generator(0, "depth").uniform(-0.5, 13, (3, 12, 8)).astype(np.float32)
    nearest = depth.reshape(3, 4, 3, 4, 2).min(axis=(2, 4)).clip(0, 10)
    assert np.array_equal(encode_depth(depth, 4)[:, 0], np.floor(nearest * np.float32(25.5) + np.float32(0.5)))


def test_depth_that_cannot_be_reduced_is_refused():
    with pytest.raises(BadArgument, match="6 x 4 pixels cannot be reduced to 4 x 4"):
        encode_depth(np.ones((4, 6), np.float32), 4)


def test_color_is_averaged():
    rgb = generator(0, "rgb").integers(0, 256, (2, 6, 6, 3), dtype=np.uint8)
    smaller = encode_rgb(rgb, 3)
    expected = rgb.reshape(2, 3, 2, 3, 2, 3).mean(axis=(2, 4)).transpose(0, 3, 1, 2)
    assert smaller.dtype == np.uint8
    assert np.abs(smaller - expected).max() <= 0.5
    assert np.array_equal(encode_rgb(rgb, 6), rgb.transpose(0, 3, 1, 2))
    assert encode_rgb(rgb, 4).shape == (2, 3, 4, 4)
    assert np.array_equal(encode_rgb(np.full((6, 6, 3), 77, np.uint8), 4), np.full((3, 4, 4), 77))


def test_bytes_and_floats_mean_the_same():
    assert to_unit(torch.tensor([0, 255], dtype=torch.uint8)).tolist() == [0, 1]
    assert to_unit(torch.tensor([0.25])).tolist() == [0.25]


def test_previous_actions_are_numbered_from_none_to_a_collision():
    actions = np.array([-1, 0, 1, 2, 3, 1, 2])
    collided = np.array([True, False, False, False, False, True, True])
    assert encode_previous_actions(actions, collided).tolist() == [0, 1, 2, 3, 4, 5, 3]


def test_a_merged_map_tells_empty_cells_from_occupied_ones_of_class_0():
    occupancy = np.array([[0, 1, 1]], dtype=np.uint8)
    assert merge_map(occupancy, np.array([[0, 0, 12]], dtype=np.uint16)).tolist() == [[0, 1, 13]]


def test_steps_are_padded_and_packed_again():
    sequence = GroundSequence.from_lengths(make_frames(6), [1, 3, 2])
    values = torch.arange(6.0)[:, None]
    padded = sequence.steps.pad(values)
    assert padded[..., 0].tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 0]]
    assert sequence.mask.tolist() == [[True, False, False], [True, True, True], [True, True, False]]
    assert torch.equal(sequence.steps.pack(padded), values)


def test_guided_frames_come_last_and_are_left_out_of_the_acting_steps():
    sequence = GroundSequence.from_lengths(make_frames(6), [1, 3, 2], [0, 2, 1])
    assert sequence.steps.mask.sum(dim=1).tolist() == [1, 3, 2]
    assert sequence.mask.tolist() == [[True], [True], [True]]
    assert sequence.acting_frames.tolist() == [0, 1, 4]
    alone = sequence.without_guided()
    assert torch.equal(alone.frames.depth, sequence.frames.depth[[0, 1, 4]])
    assert alone.without_guided() is alone
