"""The segmentation model that comes with Itinera."""

from __future__ import annotations

from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import read_model
from itinera.policies.segmentation.semantics import PRETRAINED, load_semantics
from itinera.training.segmentation import FrameSampler, evaluate_segmentation
from itinera.worlds.labels import MAP_CLASSES


def test_it_is_a_small_file_whose_card_says_what_it_needs():
    assert PRETRAINED.stat().st_size < 1_500_000
    card = read_model(PRETRAINED).model.card
    assert (card.kind, card.columns) == ("rgbd-unet", MAP_CLASSES)
    assert card.metadata["camera"] == {"width": 128, "height": 128, "fov_deg": 90, "height_m": 1.25, "elevation_deg": 0}
    assert card.metadata["appearance"] == "flat"
    assert {"mIoU", "object recall", "accuracy"} <= card.metadata["val-unseen, %"].keys()


def test_it_labels_an_unseen_house():
    world = ground_world(1, 1, radius=0.1)
    sampler = FrameSampler({world.id: world}, MAP_CLASSES)
    scores = evaluate_segmentation(load_semantics("inferred"), sampler, frames_per_world=40)
    assert scores.interval("mIoU").mean > 0.45
    assert scores.interval("object recall").mean > 0.6
