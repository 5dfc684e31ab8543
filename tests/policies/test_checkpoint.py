"""Model files: there and back, and what is refused."""

from __future__ import annotations

import pickle
import struct
from dataclasses import replace

import msgspec
import pytest
import safetensors.torch
import torch

from itinera.errors import BadFile
from itinera.policies.checkpoint import CARD, LARGEST, VERSION, WIDEST, encode, read_model
from training.pupils import TINY, card, pupil


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_a_model_comes_back_as_it_was(path):
    model = pupil(views="annotations", reach=10.0, told={"seed": 3, "scores": {"SR": 0.5}})
    path.write_bytes(encode(model, {"step": torch.tensor(4)}, "notes"))
    opened = read_model(path)
    assert opened.model.card == model.card
    assert opened.model.vocabulary.words == model.card.words
    assert (opened.more["step"].item(), opened.notes) == (4, "notes")
    for name, value in model.policy.state_dict().items():
        assert torch.equal(opened.model.policy.state_dict()[name], value)


def test_a_model_is_the_same_bytes_every_time():
    assert len({encode(pupil()) for _ in range(8)}) == 1


def written(path, card, tensors=None):
    tensors = pupil().policy.state_dict() if tensors is None else tensors
    told = {CARD: msgspec.json.encode(card).decode()}
    path.write_bytes(safetensors.torch.save({f"policy.{name}": value for name, value in tensors.items()}, told))
    return path


def refused(path):
    with pytest.raises(BadFile) as told:
        read_model(path)
    return str(told.value)


def changed(**more):
    return {**msgspec.to_builtins(card()), **more}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (changed(version=VERSION + 1), f"version: is {VERSION + 1}; this Itinera reads {VERSION}."),
        (changed(kind="oracle"), "kind: is 'oracle'."),
        (changed(sizes={"word": 8, "wings": 2}), "sizes.wings: is not known."),
        (changed(sizes={"word": "eight"}), "sizes: are not those of rcm: Expected `int`, got `str`"),
        (changed(sizes={"word": WIDEST + 1}), f"sizes.word: is {WIDEST + 1}."),
        (changed(sizes={"state": -1}), "sizes.state: is -1."),
        (changed(colour="red"), "has no card of Itinera in its head"),
        ({}, "has no card of Itinera in its head"),
    ],
)
def test_a_card_of_another_kind_or_version_is_refused(path, told, said):
    assert said in refused(written(path, told))


def test_numbers_of_another_shape_are_named_all_together(path):
    tensors = dict(pupil().policy.state_dict())
    tensors["stopping"] = torch.zeros(3)
    tensors["match"] = tensors["match"].double()
    tensors["wing"] = torch.zeros(1)
    tensors["first.bias"] = torch.full_like(tensors["first.bias"], torch.nan)
    del tensors["word_keys.weight"]
    said = refused(written(path, card(), tensors))
    for part in (
        "word_keys.weight: is missing.",
        "wing: is not a part of this model.",
        "stopping: is float32 (3,); its card makes it float32 (12,).",
        "match: is float64 (1,); its card makes it float32 (1,).",
        "first.bias: holds numbers that are not finite.",
    ):
        assert part in said


def test_a_model_of_other_sizes_is_refused(path):
    assert "its card makes it" in refused(written(path, card(sizes=replace(TINY, state=14))))


class Trap:
    """Whoever unpickles it has been caught."""

    caught = False

    def __reduce__(self):
        return (setattr, (Trap, "caught", True))


@pytest.mark.parametrize("name", ["pickle", "torch"])
def test_pickles_are_refused_and_never_opened(path, name):
    if name == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    else:
        torch.save({"policy": torch.zeros(2), "trap": Trap()}, path)
    assert "is no safetensors file" in refused(path)
    assert not Trap.caught


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no safetensors file"),
        (b"\xff" * 64, "is no safetensors file"),
        (struct.pack("<Q", 2) + b"{}", "has no card of Itinera"),
        (struct.pack("<Q", 1 << 40) + b"{}", "is no safetensors file"),
    ],
)
def test_what_is_no_model_is_told_so(path, content, said):
    path.write_bytes(content)
    assert said in refused(path)


def test_a_file_that_is_not_there_or_too_large_is_told_so(path, tmp_path):
    assert "there is no such file" in refused(path)
    assert "is no safetensors file" in refused(tmp_path)
    with path.open("wb") as stream:
        stream.truncate(LARGEST + 1)  # of holes
    assert "is larger than 1024 MiB" in refused(path)


def test_another_safetensors_file_is_told_so(path):
    path.write_bytes(safetensors.torch.save({"weight": torch.zeros(2)}, {"format": "pt"}))
    assert "has no card of Itinera" in refused(path)
