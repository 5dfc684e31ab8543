"""The small RGB-D network: what it sees, how it upsamples, and what it computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from itinera.policies.segmentation.network import best_labels
from itinera.policies.segmentation.rgbd_unet import (
    COLOR_WEIGHTS,
    RGBDUNet,
    RGBDUNetConfig,
    pixel_features,
    upsample_guided,
)

TINY = RGBDUNetConfig(
    dim_2=4, dim_4=6, dim_8=8, dim_16=10, quarter_layers=1, eighth_layers=1, sixteenth_layers=1, fov_deg=80
)
LABELS = ("void", "bed", "sofa")


def tiny():
    torch.manual_seed(0)
    network = RGBDUNet(LABELS, config=TINY)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 2)
    return network.eval()


def images(n=2, height=64, width=96):
    generator = torch.Generator().manual_seed(1)
    rgb, depth = (torch.rand((n, k, height, width), generator=generator) for k in (3, 1))
    return rgb, 5 * depth + 0.5


def test_there_are_logits_for_every_pixel():
    with torch.no_grad():
        assert tiny()(*images()).shape == (2, 3, 64, 96)


def test_predicted_labels_are_those_with_the_greatest_logits():
    with torch.no_grad():
        network, (rgb, depth) = tiny(), images()
        expected = network(rgb, depth).argmax(dim=1)
        assert len(expected.unique()) > 1
        assert torch.equal(network.predict(rgb, depth).long(), expected)


def test_merging_layers_changes_nothing_but_the_speed():
    network = tiny()
    with torch.no_grad():
        before = network(*images())
        torch.testing.assert_close(network.merge_layers()(*images()), before, atol=1e-5, rtol=1e-4)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())


def test_offsets_are_added_to_all_logits_of_a_label():
    network, (rgb, depth) = tiny(), images()
    with torch.no_grad():
        before = network(rgb, depth)
        network.add_offsets(torch.tensor([0.0, 2.0, -1.0]))
        expected = before + torch.tensor([0.0, 2.0, -1.0])[:, None, None]
        torch.testing.assert_close(network(rgb, depth), expected, atol=1e-6, rtol=1e-5)


def test_it_makes_no_tensor_on_another_device():
    with torch.device("meta"):
        network = RGBDUNet(LABELS)
    rgb, depth = torch.empty((2, 3, 128, 128), device="meta"), torch.empty((2, 1, 128, 128), device="meta")
    assert network(rgb, depth).shape == (2, 3, 128, 128)
    assert network.predict(rgb, depth).shape == (2, 128, 128)


def test_a_background_without_depth_gives_finite_logits():
    rgb, depth = images()
    depth[:, :, 20:] = torch.inf
    with torch.no_grad():
        assert bool(torch.isfinite(tiny()(rgb, depth)).all())


@pytest.mark.parametrize("normal", [(0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (0.6, 0.0, -0.8), (-0.48, -0.6, -0.64)])
def test_normals_of_a_plane_are_those_of_the_plane(normal):
    fov, side = 90, 64
    focal = side / 2 / math.tan(math.radians(fov) / 2)
    ticks = (np.arange(side) + 0.5 - side / 2) / focal
    rays = np.stack([*np.meshgrid(ticks, ticks), np.ones((side, side))])
    inverse = np.tensordot(np.array(normal), rays, 1) / -1.5  # a plane 1.5 m from the camera
    depth = torch.tensor(np.where((inverse > 0.1) & (inverse < 3), 1 / inverse, np.nan), dtype=torch.float32)[
        None, None
    ]
    seen = pixel_features(torch.zeros(1, 3, side, side), depth, fov)[0, 5:].numpy()
    valid = np.isfinite(seen).all(axis=0)
    assert valid.sum() > 100
    # Of the two directions, the one away from the camera, such that the third component is positive ahead.
    np.testing.assert_allclose(seen[:, valid], -np.array(normal)[:, None] * np.ones(valid.sum()), atol=2e-3)


def test_heights_are_metres_above_the_camera():
    depth = torch.full((1, 1, 32, 32), 2.0)
    heights = pixel_features(torch.zeros(1, 3, 32, 32), depth, 90)[0, 4]
    expected = 2.0 * (16 - np.arange(0, 32, 2) - 0.5) / 16
    np.testing.assert_allclose(heights.numpy(), np.repeat(expected[:, None], 16, axis=1), rtol=1e-6)


def slowly_upsampled(coarse, rgb, depth):
    guide = rgb.permute(0, 2, 3, 1).double() @ torch.tensor(COLOR_WEIGHTS).double() + 1 / depth[:, 0].double()
    n, height, width = guide.shape
    fine = np.zeros((n, height, width), np.uint8)
    for k, v, u in np.ndindex(fine.shape):
        candidates = [
            (min(v // 2 + down, height // 2 - 1), min(u // 2 + right, width // 2 - 1))
            for down in range(v % 2 + 1)
            for right in range(u % 2 + 1)
        ]
        distances = [abs(guide[k, v, u] - guide[k, 2 * i, 2 * j]) for i, j in candidates]
        fine[k, v, u] = coarse[(k, 0, *candidates[int(np.argmin(distances))])]
    return fine


def test_a_pixel_takes_the_label_of_the_neighbor_that_resembles_it_most():
    rgb, depth = images(2, 8, 12)
    coarse = torch.arange(2 * 4 * 6, dtype=torch.uint8).reshape(2, 1, 4, 6)
    found = upsample_guided(coarse, rgb, depth)[:, 0]
    np.testing.assert_array_equal(found.numpy(), slowly_upsampled(coarse, rgb, depth))


def test_borders_between_flat_colors_are_exact():
    labels = torch.zeros((1, 1, 16, 16), dtype=torch.uint8)
    labels[..., 3:9, 5:] = 1
    labels[..., 9:, :4] = 2
    rgb = torch.tensor([[0.1, 0.2, 0.3], [0.7, 0.2, 0.3], [0.1, 0.5, 0.9]])[labels[:, 0].long()].permute(0, 3, 1, 2)
    assert torch.equal(upsample_guided(labels[..., ::2, ::2], rgb, torch.ones(1, 1, 16, 16)), labels)


def test_the_best_label_is_the_first_with_the_greatest_logit():
    logits = torch.randint(0, 4, (2, 7, 9, 5), generator=torch.Generator().manual_seed(3)).float()
    expected = torch.from_numpy(np.argmax(logits.numpy(), axis=1))
    assert torch.equal(best_labels(logits).long(), expected)
