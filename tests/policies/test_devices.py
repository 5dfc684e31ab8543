"""No tensor is created on a device of its own choice: policies and training must run where their weights are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import itinera
from itinera.policies import envdrop, follower, rcm
from itinera.policies.observation import ANGLE_DIM, GEOMETRY_DIM, BatchObservation
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.panorama import VIEWS

PACKAGE = Path(itinera.__file__).parent
COLUMNS = ("sofa", "in kitchen")
TOKENIZER = Tokenizer.fit(["go to the sofa in the kitchen and stop"])

FACTORIES = (
    "arange",
    "empty",
    "eye",
    "full",
    "linspace",
    "ones",
    "rand",
    "randint",
    "randn",
    "randperm",
    "tensor",
    "zeros",
)
ON_THE_CPU = {
    "policies/agent.py": "an agent of a simulator acts alone, which is slower elsewhere",
    "policies/ground/context_agent.py": "moves its tensors to the policy's device afterwards",
    "policies/pointnav/agent.py": "an agent of a simulator acts alone",
    "policies/pointnav/observation.py": "joins arrays of the simulator; the learner moves them",
    "policies/observation.py": "constants at the top, moved where they are used",
    "training/pointnav/evaluation.py": "beside the simulator",
    "training/ppo.py": "beside the simulator; minibatches are moved",
    "training/rooms.py": "a small classifier, trained on the CPU in seconds",
}


def is_constructor(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def is_parameter(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Parameter"


def factory_calls(source: str) -> Iterator[ast.Call]:
    """Calls of functions that create tensors, except for the weights of modules, which `to` moves."""
    tree = ast.parse(source)
    weights = [node for node in ast.walk(tree) if is_constructor(node) or is_parameter(node)]
    skipped = {call for node in weights for call in ast.walk(node)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and call not in skipped and isinstance(call.func, ast.Attribute):
            owner = call.func.value
            if isinstance(owner, ast.Name) and owner.id == "torch" and call.func.attr in FACTORIES:
                yield call


def names_device(call: ast.Call) -> bool:
    """Whether a call says where its tensor is: it names a device, or a generator, which has one."""
    return bool({"device", "generator"} & {keyword.arg for keyword in call.keywords})


@pytest.mark.parametrize("folder", ["policies", "training"])
def test_every_new_tensor_says_on_which_device(folder: str) -> None:
    found = []
    for file in sorted((PACKAGE / folder).rglob("*.py")):
        name = str(file.relative_to(PACKAGE))
        if name in ON_THE_CPU:
            continue
        calls = factory_calls(file.read_text(encoding="utf-8"))
        found += [f"{name}:{call.lineno}" for call in calls if not names_device(call)]
    assert found == []


def test_a_tensor_without_a_device_is_found() -> None:
    assert len(list(factory_calls("def f(n):\n    return torch.zeros(n)\n"))) == 1
    assert not list(factory_calls("class A:\n    def __init__(self):\n        self.x = torch.zeros(3)\n"))


@pytest.mark.parametrize("name", sorted(ON_THE_CPU))
def test_exceptions_exist(name: str) -> None:
    assert any(factory_calls((PACKAGE / name).read_text(encoding="utf-8")))


def meta_observation(*, panorama: bool) -> BatchObservation:
    """Two agents with five candidates together."""
    rows = {
        "candidates": (5, len(COLUMNS)),
        "geometry": (5, GEOMETRY_DIM),
        "place": (2, len(COLUMNS)),
        "place_geometry": (2, GEOMETRY_DIM),
        "previous": (2, len(COLUMNS)),
        "previous_geometry": (2, GEOMETRY_DIM),
    }
    tensors: dict[str, Any] = {name: torch.empty(shape, device="meta") for name, shape in rows.items()}
    if panorama:
        tensors["panorama"] = torch.empty(2, VIEWS, len(COLUMNS), device="meta")
        tensors["view_angles"] = torch.empty(2, VIEWS, ANGLE_DIM, device="meta")
    return BatchObservation(padded_index=torch.empty(2, 3, dtype=torch.int64, device="meta"), **tensors)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("policy_class", "config"),
    [(rcm.RCM, rcm.SMALL), (follower.Follower, follower.SMALL), (envdrop.EnvDrop, envdrop.SMALL)],
)
def test_a_step_stays_on_the_device_of_the_policy(policy_class: Any, config: Any, training: bool) -> None:
    # The device "meta" computes shapes without values, and refuses to mix its tensors with others, as a GPU does.
    policy = policy_class(COLUMNS, TOKENIZER, config).to("meta").train(training)
    words = torch.empty(2, 6, dtype=torch.int64, device="meta")
    state = policy.encode_instruction(words, torch.empty(2, dtype=torch.int64, device="meta"))
    for _ in range(2):
        state, output = policy(state, meta_observation(panorama=policy.uses_panorama))
    assert output.logits.device.type == "meta"
    assert output.logits.shape == (2, 4)
