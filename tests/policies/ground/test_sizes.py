"""The paper's sizes: numbers of parameters, frozen encoders, devices."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.ground import cma, map_cma, pool_cma, seq2seq, tour_cma
from itinera.policies.ground.map_encoder import ConvolutionalMapEncoder
from itinera.policies.ground.observation import GroundSequence
from itinera.policies.ground.resnet import DepthResNet, ImageResNet
from itinera.policies.ground.weights import load_encoder, load_word_vectors
from itinera.policies.tokenizer import UNKNOWN, Tokenizer
from policies.ground.examples import TOKENIZER, make_frames, make_policy, make_texts

PAPER = {
    "seq2seq": (seq2seq.Seq2Seq, seq2seq.Seq2SeqConfig(), 256, 224),
    "cma": (cma.CMA, cma.CMAConfig(), 256, 224),
    "tour-cma": (tour_cma.TourCMA, tour_cma.TourCMAConfig(), 256, 224),
    "pool-cma": (pool_cma.PoolCMA, pool_cma.PoolCMAConfig(), 256, 224),
    "pool-end-cma": (pool_cma.PoolEndCMA, pool_cma.PoolCMAConfig(), 256, 224),
    "map-cma": (map_cma.MapCMA, map_cma.MapCMAConfig(), 256, 32),
    "small seq2seq": (seq2seq.Seq2Seq, seq2seq.SMALL, 64, 32),
    "small cma": (cma.CMA, cma.SMALL, 64, 32),
    "small tour-cma": (tour_cma.TourCMA, tour_cma.SMALL, 64, 32),
    "small pool-cma": (pool_cma.PoolCMA, pool_cma.SMALL, 64, 32),
    "small pool-end-cma": (pool_cma.PoolEndCMA, pool_cma.SMALL, 64, 32),
    "small map-cma": (map_cma.MapCMA, map_cma.SMALL, 64, 32),
}
IMAGENET_RESNET50 = 25_557_032  # with a classifier of 1,000 classes, as torchvision's documentation says
VOCABULARY = Tokenizer(tuple(f"word{k}" for k in range(2501)))  # with the special tokens 2,504, as in VLN-CE


def count(*modules):
    return sum(value.numel() for module in modules for value in module.parameters())


def linear(inputs, outputs):
    return inputs * outputs + outputs


def recurrent(inputs, hidden, gates):
    return gates * hidden * (inputs + hidden + 2)


def resnet50(width, channels):
    """The number of parameters of a ResNet-50 without classifier."""
    total, inputs = 49 * channels * width + 2 * width, width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner, outputs = width << stage, 4 * (width << stage)
        for block in range(blocks):
            total += inputs * inner + 9 * inner * inner + inner * outputs + 2 * (2 * inner + outputs)
            total += (inputs + 2) * outputs if block == 0 else 0  # the shortcut
            inputs = outputs
    return total


def test_resnet50_has_the_published_number_of_parameters():
    published = IMAGENET_RESNET50 - linear(2048, 1000)
    assert resnet50(64, 3) == published
    with torch.device("meta"):
        assert count(ImageResNet()) == published


def test_the_depth_encoder_is_a_resnet50_of_half_the_width():
    with torch.device("meta"):
        encoder = DepthResNet()
    assert count(encoder.backbone) == resnet50(32, 1)
    assert count(encoder.compression) == 9 * 1024 * 128 + 2 * 128


def test_the_map_encoder_has_the_papers_sizes():
    channels = (14, 32, 64, 128, 128)
    expected = sum(49 * a * b + b + 2 * b for a, b in pairwise(channels))
    with torch.device("meta"):
        assert count(ConvolutionalMapEncoder(13)) == expected


def common_parts():
    """The parameters of CMA that do not depend on what it sees beside depth, in the sizes of VLN-CE."""
    text = 2504 * 50 + 2 * recurrent(50, 128, 4)
    depth = 16 * 64 + linear(16 * 192, 128) + linear(192, 256 + 128)
    attention = linear(512, 256) + linear(256, 256) + linear(256, 256)
    heads = linear(512, 4) + linear(512, 1)
    joined = linear(512 + 256 + 256 + 128 + 32, 512) + recurrent(512, 512, 3)
    return text + depth + attention + joined + heads + 5 * 32


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cma", 16 * 64 + linear(2112, 256) + linear(2112, 512) + recurrent(416, 512, 3)),
        ("tour-cma", 16 * 64 + linear(2112, 256) + linear(2112, 512) + recurrent(416, 512, 3)),
        ("pool-cma", 16 * 64 + linear(2112, 256) + linear(2112, 512) + recurrent(928, 512, 3)),
        ("pool-end-cma", 16 * 64 + linear(2112, 256) + linear(2112, 512) + recurrent(928, 512, 3) + linear(1024, 512)),
        ("map-cma", linear(2048, 256) + linear(128, 512) + recurrent(416, 512, 3)),
    ],
)
def test_the_layers_between_the_encoders_have_the_papers_sizes(name, expected):
    make, config, _, _ = PAPER[name]
    with torch.device("meta"):
        policy = make((), VOCABULARY, config)
    encoders = [policy.depth_encoder, policy.map_encoder if name == "map-cma" else policy.image_encoder]
    assert count(policy) - count(*encoders) == common_parts() + expected


def test_seq2seq_has_the_papers_sizes():
    with torch.device("meta"):
        policy = seq2seq.Seq2Seq((), VOCABULARY)
    text = 2504 * 50 + recurrent(50, 128, 4)
    rest = linear(2048, 128) + linear(2048, 256) + recurrent(512, 512, 3) + linear(512, 4) + linear(512, 1)
    assert count(policy) - count(policy.depth_encoder, policy.image_encoder) == text + rest


@pytest.mark.parametrize("name", PAPER)
def test_no_tensor_is_made_on_another_device(name):
    """On the device "meta" there is no memory, and every operation with a tensor of the CPU fails."""
    make, config, depth_size, rgb_size = PAPER[name]
    with torch.device("meta"):
        policy = make((), TOKENIZER, config).train()
    assert all(value.device.type == "meta" for value in policy.state_dict().values())
    frames = make_frames(6, depth_size=depth_size, rgb_size=rgb_size, device="meta")
    state = policy.encode_instruction(*make_texts(4, device="meta"))
    state, output = policy.unroll(state, GroundSequence.from_lengths(frames, [2, 4], [0, 1]))
    assert output.logits.shape == (4, 3, 4)
    assert output.logits.device.type == "meta"
    state = policy.update_instruction(state, *make_texts(6, device="meta"))
    state = policy.observe(policy.encode_instruction(*make_texts(6, device="meta")), frames)
    assert policy(state, frames)[1].progress.shape == (6,)


def test_frozen_encoders_keep_their_weights_and_statistics():
    config = replace(cma.SMALL, train_encoders=False, image_encoder="resnet50", image_channels=2048)
    policy = cma.CMA((), TOKENIZER, config).train()
    before = {name: value.clone() for name, value in policy.image_encoder.state_dict().items()}
    optimizer = torch.optim.SGD([value for value in policy.parameters() if value.requires_grad], lr=0.1)
    _, output = policy(policy.encode_instruction(*make_texts(2)), make_frames(2))
    output.logits.square().sum().backward()
    optimizer.step()
    assert not policy.image_encoder.encoder.training
    assert all(value.grad is None for value in policy.image_encoder.parameters())
    assert all(torch.equal(value, before[name]) for name, value in policy.image_encoder.state_dict().items())


def test_word_vectors_may_be_frozen():
    policy = make_policy("cma", train_words=False)
    assert not policy.text_encoder.embedding.weight.requires_grad
    assert make_policy("cma").text_encoder.embedding.weight.requires_grad


def published(module, prefix):
    """A checkpoint that contains the weights of a module under a prefix, and other tensors."""
    weights = {prefix + name: torch.rand_like(value.float()) for name, value in module.state_dict().items()}
    return weights | {f"{prefix}fc.weight": torch.zeros(1000, 2048), "critic.weight": torch.zeros(3)}


@pytest.mark.parametrize("prefix", ["", "actor_critic.net.visual_encoder."])
def test_an_encoder_takes_its_weights_from_a_larger_checkpoint(prefix):
    policy = make_policy("cma", depth_encoder="resnet50", depth_size=256, train_encoders=False)
    weights = published(policy.depth_encoder.encoder, prefix)
    load_encoder(policy.depth_encoder, weights)
    state = policy.depth_encoder.encoder.state_dict()
    assert all(torch.equal(value, weights[prefix + name]) for name, value in state.items())


def test_weights_of_another_network_are_refused():
    encoder = ImageResNet()
    weights = published(encoder, "")
    del weights["layer3.2.bn1.bias"]
    with pytest.raises(BadArgument, match=r"not those of a ImageResNet: layer3\.2\.bn1\.bias is missing"):
        load_encoder(encoder, weights)
    weights = published(encoder, "") | {"layer1.0.conv1.weight": torch.zeros(2)}
    with pytest.raises(BadArgument, match=r"layer1\.0\.conv1\.weight has another shape"):
        load_encoder(encoder, weights)
    with pytest.raises(BadArgument, match=r"there is no backbone\.conv1\.0\.weight"):
        load_encoder(DepthResNet(), weights)
    weights = published(encoder, "")
    weights["bn1.bias"][0] = torch.nan
    with pytest.raises(BadArgument, match=r"not finite, in bn1\.bias"):
        load_encoder(encoder, weights)


def test_images_of_a_size_that_does_not_fit_are_refused():
    with pytest.raises(BadArgument, match="have a multiple of 16 pixels, not 70"):
        make_policy("cma", depth_size=70)
    with pytest.raises(BadArgument, match="ResNet-50 sees depth images of 256 pixels, not 64"):
        make_policy("cma", depth_encoder="resnet50")


@pytest.mark.parametrize("name", ["seq2seq", "cma"])
def test_word_vectors_are_taken_from_elsewhere(name):
    policy = make_policy(name)
    dim = policy.text_encoder.embedding.embedding_dim
    vectors = {"word1": [1.0] * dim, "word3": [3.0] * dim, "other": [7.0] * dim}
    assert load_word_vectors(policy, TOKENIZER, vectors) == 2
    weight = policy.text_encoder.embedding.weight
    assert weight[[TOKENIZER.index["word3"], UNKNOWN, 0], 0].tolist() == [3, 2, 0]
    with pytest.raises(BadArgument, match="None of these"):
        load_word_vectors(policy, TOKENIZER, {"other": [1.0] * dim})
    with pytest.raises(BadArgument, match="have 2 numbers"):
        load_word_vectors(policy, TOKENIZER, {"word1": [1.0, 2.0]})
