"""Model files: round trips, and what is refused."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from dataclasses import replace

import msgspec
import pytest
import safetensors.torch
import torch

from itinera.errors import BadFile
from itinera.policies.checkpoint import (
    CARD_KEY,
    MAX_BYTES,
    MAX_COLUMNS,
    MAX_DIM,
    MAX_WORDS,
    VERSION,
    build_model,
    encode_model,
    read_model,
)
from training.small_models import TINY, tiny_card, tiny_model


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_a_model_comes_back_as_it_was(path):
    model = tiny_model(views="annotations", reach=10.0, metadata={"seed": 3, "scores": {"SR": 0.5}})
    path.write_bytes(encode_model(model, {"step": torch.tensor(4)}, "notes"))
    opened = read_model(path)
    assert opened.model.card == model.card
    assert opened.model.tokenizer.words == model.card.words
    assert (opened.extra["step"].item(), opened.notes) == (4, "notes")
    for name, value in model.policy.state_dict().items():
        assert torch.equal(opened.model.policy.state_dict()[name], value)


def test_a_model_is_the_same_bytes_every_time():
    assert len({encode_model(tiny_model()) for _ in range(8)}) == 1


def write(path, card, tensors=None):
    tensors = tiny_model().policy.state_dict() if tensors is None else tensors
    header = {CARD_KEY: msgspec.json.encode(card).decode()}
    path.write_bytes(safetensors.torch.save({f"policy.{name}": value for name, value in tensors.items()}, header))
    return path


def read_error(path):
    with pytest.raises(BadFile) as error:
        read_model(path)
    return str(error.value)


def changed(**more):
    return {**msgspec.to_builtins(tiny_card()), **more}


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (changed(version=VERSION + 1), f"version: is {VERSION + 1}, expected {VERSION}."),
        (changed(kind="oracle"), "kind: is 'oracle'."),
        (changed(config={"word_dim": 8, "wings": 2}), "config.wings: is unknown."),
        (changed(config={"word_dim": "eight"}), "config: is not a configuration of rcm: Expected `int`, got `str`"),
        (changed(config={"word_dim": MAX_DIM + 1}), f"config.word_dim: is {MAX_DIM + 1}."),
        (changed(config={"hidden_dim": -1}), "config.hidden_dim: is -1."),
        (changed(colour="red"), "has no model card of Itinera"),
        ({}, "has no model card of Itinera"),
    ],
)
def test_a_card_of_another_kind_or_version_is_refused(path, card, message):
    assert message in read_error(write(path, card))


def test_numbers_of_another_shape_are_named_all_together(path):
    tensors = dict(tiny_model().policy.state_dict())
    tensors["stop_embedding"] = torch.zeros(3)
    tensors["word_match_scale"] = tensors["word_match_scale"].double()
    tensors["wing"] = torch.zeros(1)
    tensors["initial_state.bias"] = torch.full_like(tensors["initial_state.bias"], torch.nan)
    del tensors["text_keys.weight"]
    said = read_error(write(path, tiny_card(), tensors))
    for part in (
        "text_keys.weight: is missing.",
        "wing: is not a parameter of this model.",
        "stop_embedding: is float32 (3,); its card requires float32 (12,).",
        "word_match_scale: is float64 (1,); its card requires float32 (1,).",
        "initial_state.bias: contains values that are not finite.",
    ):
        assert part in said


def test_a_model_of_other_sizes_is_refused(path):
    assert "its card requires" in read_error(write(path, tiny_card(config=replace(TINY, hidden_dim=14))))


class Trap:
    """Records that it was unpickled."""

    caught = False

    def __reduce__(self):
        return (setattr, (Trap, "caught", True))


@pytest.mark.parametrize("name", ["pickle", "torch"])
def test_pickles_are_refused_and_never_opened(path, name):
    if name == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    else:
        torch.save({"policy": torch.zeros(2), "trap": Trap()}, path)
    assert "is not a safetensors file" in read_error(path)
    assert not Trap.caught


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a safetensors file"),
        (b"\xff" * 64, "is not a safetensors file"),
        (struct.pack("<Q", 2) + b"{}", "has no model card of Itinera"),
        (struct.pack("<Q", 1 << 40) + b"{}", "is not a safetensors file"),
    ],
)
def test_what_is_no_model_is_told_so(path, content, message):
    path.write_bytes(content)
    assert message in read_error(path)


def test_a_file_that_is_not_there_or_too_large_is_told_so(path, tmp_path):
    assert "there is no such file" in read_error(path)
    assert "is no regular file" in read_error(tmp_path)
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)  # a sparse file
    assert "larger than 1024 MiB" in read_error(path)


def test_another_safetensors_file_is_told_so(path):
    path.write_bytes(safetensors.torch.save({"weight": torch.zeros(2)}, {"format": "pt"}))
    assert "has no model card of Itinera" in read_error(path)


def plain_card(**more):
    return {"kind": "rcm", "config": {}, "columns": [], "words": [], **more}


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (plain_card(config={"word_dim": 0}), "config.word_dim: is 0.\n  Sizes must be from 1 to 8192."),
        (plain_card(config={"num_text_layers": 65}), "config.num_text_layers: is 65.\n  Sizes must be from 0 to 64."),
        (plain_card(config={"hidden_dim": 10**30}), "config.hidden_dim: is a number of more than 20 digits."),
        (plain_card(config={"dropout": 1.5}), "config.dropout: is 1.5.\n  Rates must be from 0 to 1."),
        (plain_card(words=["a"] * (MAX_WORDS + 1)), "words: has 131,073 entries."),
        (plain_card(columns=["a"] * (MAX_COLUMNS + 1)), "columns: has 16,385 entries."),
        (plain_card(max_words=0), "max_words: is 0."),
        (plain_card(reach=-1.0), "reach: is -1."),
        (plain_card(config={"text_dim": 1}), "config: describes a model that cannot be built"),
        (plain_card(kind="hamt", config={"hidden_dim": 8192, "num_heads": 1, "num_text_layers": 64}), "is missing."),
    ],
)
def test_a_card_that_asks_for_much_or_nothing_is_refused_in_a_file_of_200_bytes(path, card, message):
    assert message in read_error(write(path, card, {}))


@pytest.mark.parametrize("text", ["", "0", "[" * 100_000, '{"kind": ' + "9" * 5000 + "}", '{"kind": {"a":' * 50_000])
def test_a_card_that_is_no_card_is_refused(path, text):
    path.write_bytes(safetensors.torch.save({}, {CARD_KEY: text}))
    assert "header: has no model card of Itinera" in read_error(path)


def test_reading_a_model_draws_from_the_generator_as_building_it_does(path):
    path.write_bytes(encode_model(tiny_model()))
    torch.manual_seed(5)
    read_model(path)
    after_reading = torch.get_rng_state()
    torch.manual_seed(5)
    build_model(tiny_card())
    assert torch.equal(after_reading, torch.get_rng_state())


def test_shapes_are_compared_without_importing_the_compiler_of_torch(path):
    path.write_bytes(encode_model(tiny_model()))
    program = "import sys\nfrom itinera.policies.checkpoint import read_model\nread_model(sys.argv[1])\n"
    program += "print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
