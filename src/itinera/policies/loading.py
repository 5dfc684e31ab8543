"""Agents from model files, as commands make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from itinera.errors import BadFile, Fault
from itinera.policies.agent import Walker
from itinera.policies.checkpoint import Card, read_model


def read_card(path: Path) -> Card:
    """The card of a model that can walk."""
    model = read_model(path).model
    if not hasattr(model.policy, "step"):
        problem = f"holds a model of the kind {model.card.kind}, which does not walk."
        raise BadFile(str(path), [Fault("", problem, "Give one that learned to follow instructions.")])
    return model.card


def load_walker(path: Path, shown: Sequence[str]) -> Walker:
    """The agent of a model file, who is shown views with these columns."""
    # One walker is little work, and with one thread its sums are the same however many processes are at work.
    torch.set_num_threads(1)
    return read_model(path).model.walker(tuple(shown))
