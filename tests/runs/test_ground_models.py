"""`itinera.run` with trained agents on the ground: camera, maps, lifetimes, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
import torch

import itinera
from gym.playing import GROUNDS, on_graph, on_ground
from itinera.errors import BadArgument
from itinera.formats.native_predictions import encode_rollout
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.policies.checkpoint import build_model, encode_model, make_card
from itinera.policies.ground.requirements import GroundRequirements
from itinera.rendering.camera import Camera
from itinera.runs.context import make_agent
from itinera.runs.prepare import prepare_run
from itinera.simulators.sensors import CameraSensor
from policies.ground.examples import POLICIES, TOKENIZER

MAPS = GroundRequirements(64, 64, map=MapConfig(), lifetime=MapLifetime.ITERATIVE)
SPLIT = on_ground((2, 4), (5, 8), tours=[("0", "1")])


def write_model(path, kind="map-cma", needs=MAPS):
    torch.manual_seed(0)
    model = build_model(make_card(kind, POLICIES[kind][1], (), TOKENIZER, ground=needs))
    torch.nn.init.normal_(model.policy.action_head.weight)
    torch.nn.init.constant_(model.policy.action_head.bias[0], -9)  # it never stops
    path.write_bytes(encode_model(model))
    return path


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "map.safetensors")


@pytest.fixture
def colors(tmp_path):
    return write_model(tmp_path / "color.safetensors", "tour-cma", GroundRequirements(64, 64, rgb=True))


def prepare(model, split=SPLIT, **options):
    return prepare_run(str(model), split, GROUNDS, workers=0, **options)


def short(prepared):
    """The same run with few steps."""
    protocol = replace(prepared.config.protocol, step_limit=5)
    config = replace(prepared.config, protocol=protocol)
    return replace(prepared, config=config, rollouts=replace(prepared.rollouts, protocol=protocol))


def rows(predictions):
    return [encode_rollout(rollout) for rollout in predictions.rollouts]


def test_the_camera_is_that_of_the_card(model, colors):
    camera = prepare(model).config.observations.camera
    assert (camera.camera, camera.height) == (Camera(64, 64, math.radians(90)), 1.25)
    assert set(camera.channels) == {"depth", "classes"}
    assert set(prepare(colors).config.observations.camera.channels) == {"depth", "rgb"}
    assert set(prepare(model, semantics="inferred").config.observations.camera.channels) == {"depth", "rgb"}


def test_the_same_camera_may_be_asked_for_with_more_channels(model):
    camera = prepare(model, camera=replace(MAPS.camera(), channels=("rgb", "instances"))).config.observations.camera
    assert set(camera.channels) == {"depth", "classes", "rgb", "instances"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"camera": CameraSensor(Camera(128, 128, math.radians(90)))}, "trained with a camera of 64x64 pixels, 90 deg"),
        ({"camera": CameraSensor(Camera(64, 64, math.radians(80)))}, "leave out --camera, --fov"),
        ({"camera": replace(MAPS.camera(), height=0.9)}, "1.25 m above the floor: leave out"),
        ({"camera": replace(MAPS.camera(), panorama=True)}, "and --panorama"),
        ({"map_lifetime": "eternal"}, "map_lifetime must be .*episodic"),
        ({"semantics": "guessed"}, "semantics must be .*inferred"),
        ({"views": "annotations"}, "--views are features of graph nodes"),
    ],
)
def test_options_that_contradict_the_card_are_refused(model, options, message):
    with pytest.raises(BadArgument, match=message):
        prepare(model, **options)


def test_lifetimes_are_for_agents_with_maps(colors):
    with pytest.raises(BadArgument, match="are for agents with maps, and this model has none"):
        prepare(colors, map_lifetime="known")
    with pytest.raises(BadArgument, match="are for trained agents with maps"):
        prepare("uniform", map_lifetime="known")


def test_models_of_the_ground_do_not_run_on_graphs_nor_the_other_way_round(model):
    with pytest.raises(BadArgument, match="trained on the ground; drawn has episodes on navigation graphs"):
        prepare(model, on_graph("ab"))
    with pytest.raises(BadArgument, match="trained on navigation graphs; hall has continuous episodes"):
        prepare("rcm-fidelity")


def test_models_of_the_ground_do_not_drive_unicycles(model):
    with pytest.raises(BadArgument, match="forward, left and right"):
        prepare(model, on_ground((2, 4)), drive="unicycle-15")


def test_a_tour_depends_on_the_lifetime_of_the_map(model):
    def execute(lifetime):
        return rows(short(prepare(model, map_lifetime=lifetime, record_probabilities=True)).execute())

    found = {name: execute(name) for name in ("episodic", "iterative", "known")}
    assert execute(None) == found["iterative"]
    assert len({repr(one) for one in found.values()}) == 3


def test_an_agent_gets_the_worlds_of_the_run(model):
    agent = make_agent(prepare(model, map_lifetime="known").config, GROUNDS)
    assert agent.lifetime is MapLifetime.KNOWN
    assert agent.context.worlds is GROUNDS


def test_another_lifetime_is_another_run(model, tmp_path):
    plans = {prepare(model, map_lifetime=name).config.observations.fingerprint for name in (None, "known", "episodic")}
    assert len(plans) == 3
    out = tmp_path / "predictions.jsonl"
    short(prepare(model, max_episodes=1)).execute(out=out)
    with pytest.raises(itinera.errors.ItineraError, match="overwrite"):
        short(prepare(model, max_episodes=1, map_lifetime="known")).execute(out=out)


def test_an_agent_object_gets_its_camera_and_worlds_from_the_run(model):
    agent = itinera.load_agent(model)
    prepared = prepare_run(agent, SPLIT, GROUNDS, workers=0)
    assert prepared.config.observations.camera == MAPS.camera()
    assert rows(short(prepared).execute()) == rows(short(prepare(model)).execute())


def test_the_maps_of_a_model_are_recorded_and_shown(model, tmp_path):
    predictions = short(prepare(model, record="maps")).execute()
    for trajectory in predictions:
        occupancy, _ = trajectory.maps.decode()
        assert trajectory.maps.size == 64
        assert occupancy.any(axis=(1, 2)).all()
    shown = itinera.show(predictions, SPLIT, GROUNDS, tour=predictions.rollouts[0].tour_id, max_views=0)
    assert all(trajectory.maps.frames for episode in shown.episodes for trajectory in episode.trajectories)


def test_a_model_without_a_map_has_none_to_record(colors):
    ended = short(prepare(colors, record="maps", keep_going=True)).execute()
    assert all("holds no map to record" in trajectory.notes["failed"] for trajectory in ended)


def test_probabilities_are_recorded(model):
    predictions = short(prepare(model, max_episodes=1, record_probabilities=True)).execute()
    log = predictions.rollouts[0].trajectories[0].action_log
    assert np.allclose([one.sum() for one in log.probabilities], 1)
    assert {len(one) for one in log.probabilities} == {4}


def test_a_model_of_the_ground_passes_the_check_of_agents(model):
    itinera.check_agent(str(model), protocol="r2r-ce")
    with pytest.raises(BadArgument, match=r"trained on the ground: give --protocol r2r-ce"):
        itinera.check_agent(str(model))


def test_a_model_of_a_camera_that_is_none_is_refused(tmp_path):
    path = write_model(tmp_path / "wide.safetensors", needs=msgspec.structs.replace(MAPS, fov_deg=179.0))
    with pytest.raises(itinera.errors.BadFile, match="is no camera"):
        prepare(path)
