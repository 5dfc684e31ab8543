"""Label images: true ones from the scene, inferred ones from a model file."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.policies.checkpoint import ModelCard, build_model, encode_model
from itinera.policies.segmentation.labeling import Segmenter
from itinera.policies.segmentation.rgbd_unet import RGBDUNetConfig
from itinera.policies.segmentation.semantics import TrueSemantics, class_table, load_semantics, name_table
from itinera.rendering.camera import Frame
from itinera.worlds.labels import MAP_CLASSES, MPCAT40
from training.small_models import tiny_model

SIZES = {"dim_2": 4, "dim_4": 4, "dim_8": 4, "dim_16": 4}


def segmentation_model(labels=MAP_CLASSES):
    return build_model(ModelCard("rgbd-unet", SIZES, tuple(labels), ()))


def frames(n=5, side=64, classes=()):
    rng = np.random.default_rng(0)
    rgb = rng.integers(0, 256, (n, side, side, 3), dtype=np.uint8)
    depth = rng.uniform(0.5, 8, (n, side, side)).astype(np.float32)
    return Frame(rgb, depth, np.array(classes, np.uint8), np.empty(0, np.int32))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.safetensors"
    path.write_bytes(encode_model(segmentation_model(), half=True))
    return str(path)


def test_true_labels_are_the_classes_that_maps_know():
    source = load_semantics("true")
    names = ("bed", "wall", "sink", "unlabeled")
    seen = source(frames(classes=[[[MPCAT40.index(name) for name in names]]]))
    assert [MAP_CLASSES[label] for label in seen[0, 0]] == ["bed", "void", "sink", "void"]
    assert (source.labels, source.channels, source.fingerprint) == (MAP_CLASSES, ("classes",), "true")


def test_every_category_can_be_a_label():
    assert TrueSemantics(MPCAT40)(frames(classes=[[range(len(MPCAT40))]])).tolist() == [[list(range(len(MPCAT40)))]]
    assert class_table(MAP_CLASSES)[200:].max() == 0


def test_names_without_a_label_are_void():
    assert name_table(["lamp", "void", "desk"], ("void", "desk", "chair")).tolist() == [0, 0, 1]
    with pytest.raises(BadArgument, match="at most 256 labels; got 300"):
        name_table([], [str(k) for k in range(300)])


def test_inferred_labels_need_color_and_depth_and_have_the_names_of_the_card(file):
    source = load_semantics(file)
    assert (source.labels, source.channels) == (MAP_CLASSES, ("rgb", "depth"))
    found = source(frames())
    assert found.shape == (5, 64, 64)
    assert found.dtype == np.uint8
    assert found.max() < len(MAP_CLASSES)
    assert load_semantics(file).fingerprint == source.fingerprint != "true"


def test_images_do_not_depend_on_the_others_of_their_batch(file):
    source, seen = load_semantics(file), frames(20)
    alone = np.concatenate([source(Frame(*(part[k : k + 1] for part in seen.channels))) for k in range(20)])
    assert (alone != source(seen)).mean() < 1e-4  # equal up to rounding


@pytest.mark.parametrize(
    ("source", "message"),
    [("guessed", "Semantics are 'true', 'inferred' or a model file"), ("none.safetensors", "there is no such file")],
)
def test_unknown_sources_are_refused(source, message):
    with pytest.raises((BadArgument, BadFile), match=message):
        load_semantics(source)


def test_a_model_that_predicts_other_labels_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(encode_model(segmentation_model(("void", "lamp"))))
    with pytest.raises(BadArgument, match=r"predicts 2 labels \(lamp, …\), not the 13 labels \(shelving"):
        load_semantics(path)
    assert load_semantics(path, ("void", "lamp")).labels == ("void", "lamp")


def test_a_model_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "agent.safetensors"
    path.write_bytes(encode_model(tiny_model()))
    with pytest.raises(BadFile, match="a model of kind rcm, which predicts no label images"):
        load_semantics(path)
    with pytest.raises(BadArgument, match="A model of kind rcm predicts no label images"):
        Segmenter(tiny_model())


@pytest.mark.parametrize(
    ("height", "width", "message"),
    [(64, 60, r"multiples of 32 pixels \(got 60 x 64\)"), (0, 0, "must be of the same images")],
)
def test_images_that_do_not_fit_are_refused(height, width, message):
    rgb, depth = np.zeros((1, 64, 60, 3), np.uint8), np.zeros((1, height, width), np.float32)
    with pytest.raises(BadArgument, match=message):
        Segmenter(segmentation_model()).predict(rgb, depth)


def test_the_sizes_of_a_card_decide_those_of_its_model():
    assert segmentation_model().policy.config == RGBDUNetConfig(**SIZES)
