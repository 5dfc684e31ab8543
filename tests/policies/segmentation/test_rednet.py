"""RedNet: its size and shapes as printed, the fusion of its encoders, and the names of released weights."""

from __future__ import annotations

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.segmentation.rednet import RedNet, RedNetConfig, load_resnet, rename_released_weights
from itinera.worlds.labels import MAP_CLASSES

RESNET_50 = 23_508_032  # parameters without the classifier
TINY = RedNetConfig(width=2)


@pytest.fixture(scope="module")
def printed():
    """The network of the paper, without memory for its weights."""
    with torch.device("meta"):
        return RedNet(MAP_CLASSES)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def tiny(seed=0):
    torch.manual_seed(seed)
    network = RedNet(MAP_CLASSES, config=TINY)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # as after training
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 2)
    return network


def images(n=2, side=64):
    generator = torch.Generator().manual_seed(1)
    return torch.rand((n, 3, side, side), generator=generator), 9 * torch.rand((n, 1, side, side), generator=generator)


def test_it_has_the_size_of_two_resnets_and_a_decoder(printed):
    assert count(printed.color) == RESNET_50
    assert count(printed.depth) == RESNET_50 - 2 * 64 * 7 * 7  # one input channel instead of three
    assert count(printed) == 81_951_681
    assert len(printed.state_dict()) == 928


def test_it_predicts_full_resolution_and_in_training_four_coarser_ones(printed):
    rgb, depth = torch.empty((2, 3, 256, 256), device="meta"), torch.empty((2, 1, 256, 256), device="meta")
    printed.train()
    shapes = [tuple(logits.shape) for logits in printed(rgb, depth)]
    assert shapes == [(2, 13, side, side) for side in (256, 128, 64, 32, 16)]
    printed.eval()
    assert printed(rgb, depth).shape == (2, 13, 256, 256)


def test_color_receives_depth_but_depth_is_not_changed_by_color():
    network = tiny().eval()
    seen = {}
    for name in ("color", "depth"):
        stage = getattr(network, name).stages[1]
        stage.register_forward_hook(lambda _, inputs, output, name=name: seen.update({name: (inputs[0], output)}))
    rgb, depth = images()
    with torch.no_grad():
        network(rgb, depth)
        before = dict(seen)
        network(1 - rgb, depth)
        assert torch.equal(seen["depth"][1], before["depth"][1])
        assert not torch.equal(seen["color"][1], before["color"][1])
        network(rgb, depth / 2)
        assert not torch.equal(seen["color"][0], before["color"][0])


def test_images_are_normalized_as_released_weights_expect():
    rgb = torch.tensor([0.485, 0.456, 0.406])[None, :, None, None].expand(1, 3, 2, 2)
    depth = torch.tensor([[0.0, 2.13], [10.0, torch.inf]])[None, None]
    color, distance = tiny().normalize(rgb, depth)
    torch.testing.assert_close(color, torch.zeros(1, 3, 2, 2))
    torch.testing.assert_close(
        distance[0, 0], torch.tensor([[-0.213 / 0.285, 0.0], [0.787 / 0.285, 0.787 / 0.285]]), atol=1e-6, rtol=0
    )


def test_merging_layers_changes_nothing_but_the_speed():
    network = tiny().eval()
    with torch.no_grad():
        before = network(*images())
        torch.testing.assert_close(network.merge_layers()(*images()), before, atol=1e-5, rtol=1e-4)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())


def released_names():
    """The names of all tensors of released weights, written out from the structure."""
    norm = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")

    def pair(conv, bn):
        return [f"{conv}.weight", *(f"{bn}.{part}" for part in norm)]

    def block(prefix, convolutions, shortcut):
        names = [name for k in range(1, convolutions + 1) for name in pair(f"{prefix}.conv{k}", f"{prefix}.bn{k}")]
        return names + (pair(f"{prefix}.{shortcut}.0", f"{prefix}.{shortcut}.1") if shortcut else [])

    names = []
    for suffix in ("", "_d"):
        names += pair(f"conv1{suffix}", f"bn1{suffix}")
        for stage, blocks in enumerate((3, 4, 6, 3), 1):
            for k in range(blocks):
                names += block(f"layer{stage}{suffix}.{k}", 3, "" if k else "downsample")
    for stage, blocks in enumerate((6, 4, 3, 3), 1):
        for k in range(blocks):
            names += block(f"deconv{stage}.{k}", 2, "upsample" if k == blocks - 1 else "")
    names += [name for k in range(3) for name in block(f"final_conv.{k}", 2, "")]
    names += [name for k in range(5) for name in pair(f"agant{k}.0", f"agant{k}.1")]
    heads = ("final_deconv_custom", *(f"out{k}_conv_custom" for k in (5, 4, 3, 2)))
    return names + [f"{head}.{part}" for head in heads for part in ("weight", "bias")]


@pytest.mark.parametrize("prefix", ["", "module."])
def test_released_names_become_those_of_the_layers(printed, prefix):
    renamed = rename_released_weights({prefix + name: name for name in released_names()})
    assert renamed.keys() == printed.state_dict().keys()
    assert renamed["side_heads.3.bias"] == "out2_conv_custom.bias"
    assert renamed["depth.stages.1.0.shortcut.1.weight"] == "layer2_d.0.downsample.1.weight"
    assert renamed["decoder.0.5.layers.1.0.weight"] == "deconv1.5.conv2.weight"


def test_a_resnet_initializes_both_encoders():
    network, other = tiny(), tiny(1)
    source = other.state_dict()
    new_names = rename_released_weights({name: name for name in released_names()})
    weights = {name: source[new] for new, name in new_names.items() if new.startswith("color.")}
    load_resnet(network, {**weights, "fc.weight": torch.zeros(3)})
    after = network.state_dict()
    assert torch.equal(after["color.stages.2.5.layers.1.0.weight"], source["color.stages.2.5.layers.1.0.weight"])
    assert torch.equal(after["depth.stages.2.5.layers.1.0.weight"], source["color.stages.2.5.layers.1.0.weight"])
    torch.testing.assert_close(after["depth.stem.0.weight"][:, 0], source["color.stem.0.weight"].mean(dim=1))
    with pytest.raises(BadArgument, match="no weights of a ResNet-50"):
        load_resnet(network, {"fc.weight": torch.zeros(3)})
