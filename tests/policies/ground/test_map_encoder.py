"""Encoders of maps: the bag of embeddings equals a convolution, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.policies.ground.map_encoder import (
    BagMapEncoder,
    CellBag,
    ConvolutionalMapEncoder,
    sum_embeddings_dense,
)
from itinera.policies.ground.observation import merge_map
from itinera.seeding import generator


def make_cells(seed, count=2, rows=8, columns=12, classes=5, share=0.4):
    rng = generator(seed, "cells")
    occupancy = rng.random((count, rows, columns)) < share
    return merge_map(occupancy.astype(np.uint8), rng.integers(0, classes, occupancy.shape))


def sum_slowly(cells, table):
    """The slow twin: add the embedding of one cell after another."""
    count, rows, columns = cells.shape
    sums = np.zeros((count, rows // 4, columns // 4, table.shape[2]))
    for n, row, column in np.ndindex(*cells.shape):
        if cells[n, row, column]:
            sums[n, row // 4, column // 4] += table[row % 4 * 4 + column % 4, cells[n, row, column]]
    return sums


@given(seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.1, 0.6, 1.0]), dim=st.integers(1, 9))
def test_the_kernel_sums_the_embeddings_of_occupied_cells(seed, share, dim):
    torch.manual_seed(seed)
    bag = CellBag(5, dim)
    cells = make_cells(seed, share=share)
    with torch.no_grad():
        bag.bias.normal_()
        found = bag(torch.from_numpy(cells)).permute(0, 2, 3, 1) - bag.bias
    expected = sum_slowly(cells, bag.table.detach().double().numpy())
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    dense = sum_embeddings_dense(torch.from_numpy(cells), bag.table.detach())
    np.testing.assert_allclose(dense.numpy(), expected, atol=1e-5)


@given(seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.1, 1.0]))
def test_the_kernels_gradient_is_that_of_the_convolution(seed, share):
    torch.manual_seed(seed)
    cells = torch.from_numpy(make_cells(seed, share=share))
    table = torch.randn(16, 6, 3, requires_grad=True)
    bag = CellBag(5, 3)
    weights = torch.randn(2, 3, 2, 3)
    (sum_embeddings_dense(cells, table).permute(0, 3, 1, 2) * weights).sum().backward()
    with torch.no_grad():
        bag.table.copy_(table)
    (bag(cells) * weights).sum().backward()
    torch.testing.assert_close(bag.table.grad, table.grad, rtol=1e-4, atol=1e-5)


def test_the_gradient_is_the_difference_quotient():
    """As torch.autograd.gradcheck does, in the single precision of the kernel."""
    cells = torch.from_numpy(make_cells(3))
    bag, step = CellBag(5, 2), 0.5
    bag(cells).sum().backward()
    with torch.no_grad():
        for place, kind in ((0, 1), (7, 3), (15, 5)):
            before = bag(cells).double().sum()
            bag.table[place, kind, 0] += step
            slope = (bag(cells).double().sum() - before) / step
            assert float(bag.table.grad[place, kind, 0]) == pytest.approx(float(slope), abs=1e-3)
    assert not bag.table.grad[:, 0].any()  # empty cells have no embedding


def test_the_first_layer_is_a_convolution_over_one_hot_channels():
    torch.manual_seed(0)
    bag = CellBag(13, 4)
    cells = torch.from_numpy(make_cells(1, rows=64, columns=64, classes=13))
    convolution = torch.nn.Conv2d(14, 4, 4, stride=4)
    channels = torch.nn.functional.one_hot(cells.long(), 14).float()  # empty, then occupied by each class
    channels[..., 0] = 0
    with torch.no_grad():
        convolution.weight.copy_(bag.table.permute(2, 1, 0).unflatten(2, (4, 4)))
        convolution.bias.copy_(bag.bias)
        torch.testing.assert_close(bag(cells), convolution(channels.permute(0, 3, 1, 2)), rtol=1e-4, atol=1e-5)


def test_an_encoder_shows_where_a_class_is():
    torch.manual_seed(0)
    for encoder in (BagMapEncoder(13, 12), ConvolutionalMapEncoder(13, 8).eval()):
        maps = torch.zeros(3, 64, 64, dtype=torch.uint8)
        maps[1, 5, 5], maps[2, 5, 5] = 1, 9
        with torch.no_grad():
            features = encoder(maps)
        assert features.shape == (3, 16, 12 if isinstance(encoder, BagMapEncoder) else 8)
        changed = (features[1] - features[0]).abs().sum(dim=1) > 0
        assert changed[0]
        if isinstance(encoder, BagMapEncoder):  # the convolutions of 7 x 7 see farther
            assert not changed[15]
        assert not torch.equal(features[1], features[2])


def test_the_papers_channels_are_occupancy_and_the_class_of_every_cell():
    """An empty cell has class 0, as in the released code."""
    seen = []
    encoder = ConvolutionalMapEncoder(3, 8).eval()
    encoder.blocks.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    encoder(torch.tensor([[[0, 1], [2, 3]]], dtype=torch.uint8).repeat(1, 32, 32))
    cells = seen[0][0, :, :2, :2].permute(1, 2, 0).long().tolist()
    assert cells == [[[0, 1, 0, 0], [1, 1, 0, 0]], [[1, 0, 1, 0], [1, 0, 0, 1]]]
