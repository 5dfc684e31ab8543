"""Model files of policies on the ground."""

from __future__ import annotations

from dataclasses import asdict, replace

import msgspec
import pytest
import safetensors.torch
import torch

import itinera
from itinera.errors import BadArgument, BadFile
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.policies import checkpoint
from itinera.policies.checkpoint import CARD_KEY, build_model, encode_model, make_card, read_model
from itinera.policies.ground.agent import GroundPolicyAgent
from itinera.policies.ground.requirements import GroundRequirements
from policies.ground.examples import POLICIES, TOKENIZER
from training.small_models import tiny_card

KINDS = ("seq2seq", "cma", "tour-cma", "pool-cma", "pool-end-cma", "map-cma")
MAPS = GroundRequirements(128, 128, map=MapConfig(cell=0.2), lifetime=MapLifetime.KNOWN)


def make_model(kind="map-cma", **ground):
    needs = MAPS if kind == "map-cma" else GroundRequirements(64, 64, rgb=True)
    card = make_card(kind, POLICIES[kind][1], (), TOKENIZER, ground=msgspec.structs.replace(needs, **ground))
    torch.manual_seed(0)
    return build_model(card)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_comes_back_as_it_was(kind, path):
    model = make_model(kind)
    path.write_bytes(encode_model(model))
    opened = read_model(path).model
    assert opened.card == model.card
    assert opened.fingerprint == model.fingerprint
    agent = itinera.load_agent(path)
    assert isinstance(agent, GroundPolicyAgent)
    assert agent.requirements == model.card.ground
    assert agent.fingerprint == model.fingerprint


def test_half_precision_is_enough_to_act(path):
    path.write_bytes(encode_model(make_model(), half=True))
    weights = read_model(path).model.policy.state_dict()
    assert weights["map_encoder.bag.table"].dtype is torch.float32


def test_cards_of_policies_on_graphs_are_encoded_as_before():
    assert b"ground" not in msgspec.json.encode(tiny_card())
    assert msgspec.json.decode(msgspec.json.encode(tiny_card()), type=checkpoint.ModelCard) == tiny_card()


def read_error(path):
    with pytest.raises(BadFile) as error:
        read_model(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "ground", "message"),
    [
        ("map-cma", {"width": 100}, "ground: is a camera of 100x128 pixels.\n  Both must be multiples of 64"),
        ("map-cma", {"width": 0}, "ground: is no camera.\n  Its width and height must be from 1 to 4096 pixels."),
        ("map-cma", {"height": 10**12}, "ground: is no camera."),
        ("map-cma", {"map": MapConfig(column=1e-6)}, "ground.map: has cells that are too small."),
        ("map-cma", {"fov_deg": 170.0}, "ground: is no camera: A field of view is at most 120 degrees"),
        ("map-cma", {"rgb": True}, "ground.rgb: is True.\n  This policy needs False."),
        ("map-cma", {"map": None}, "ground.map: is missing.\n  This policy sees a map."),
        ("map-cma", {"map": MapConfig(size=32)}, "ground.map.size: is 32 cells.\n  This policy sees maps of 64 cells."),
        ("map-cma", {"map": MapConfig(camera_height=0.9)}, "ground.map.camera_height: is 0.9 m."),
        ("cma", {"map": MapConfig()}, "ground.map: is set.\n  This policy sees no map."),
        ("cma", {"rgb": False}, "ground.rgb: is False.\n  This policy needs True."),
    ],
)
def test_a_camera_or_map_that_does_not_fit_is_refused(kind, ground, message, path):
    path.write_bytes(encode_model(make_model(kind, **ground)))
    assert message in read_error(path)


def write_card(path, **changes):
    model = make_model()
    card = msgspec.to_builtins(model.card) | changes
    tensors = {f"policy.{name}": value for name, value in model.policy.state_dict().items()}
    path.write_bytes(safetensors.torch.save(tensors, {CARD_KEY: msgspec.json.encode(card).decode()}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"ground": {"width": 64, "height": 64, "lens": "wide"}},
            "has no model card of Itinera (Object contains unknown",
        ),
        ({"ground": {"width": 64, "height": 64, "lifetime": "eternal"}}, "Invalid enum value 'eternal'"),
        ({"ground": {"width": 64, "height": 64, "map": {"size": 7}}}, "size of a map must be an even number"),
        ({"config": asdict(POLICIES["map-cma"][1]) | {"map_encoder": "cube"}}, "Invalid enum value 'cube'"),
    ],
)
def test_a_card_with_other_values_is_refused(changes, message, path):
    write_card(path, **changes)
    assert message in read_error(path)


def test_a_camera_is_required_of_policies_on_the_ground_and_of_no_others(path):
    model = make_model()
    card = replace_card(model.card, ground=msgspec.UNSET)
    path.write_bytes(encode_model(replace(model, card=card)))
    assert "ground: is missing." in read_error(path)
    with pytest.raises(BadArgument, match="needs its camera"):
        replace(model, card=card).agent()
    graph = build_model(replace_card(tiny_card(), ground=MAPS))
    path.write_bytes(encode_model(graph))
    assert "ground: is set.\n  This policy does not act on the ground." in read_error(path)


def replace_card(card, **changes):
    return msgspec.structs.replace(card, **changes)


def test_weights_that_are_not_finite_are_named(path):
    model = make_model()
    torch.nn.init.constant_(model.policy.map_encoder.bag.bias, torch.nan)
    path.write_bytes(encode_model(model))
    assert "map_encoder.bag.bias: contains values that are not finite." in read_error(path)


def test_a_network_that_cannot_act_is_told_what_can():
    model = make_model()
    with pytest.raises(BadArgument, match=r"Use one of: rcm, .*seq2seq, cma, tour-cma, .*map-cma"):
        replace(model, policy=torch.nn.Linear(1, 1)).agent()
