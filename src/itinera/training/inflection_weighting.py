"""Inflection weighting: steps where one turns or stops count more, for they are few and decide where one comes to.

Reference: Wijmans et al. 2019, Embodied Question Answering in Photorealistic Environments; on graphs as in Krantz et
al. 2022, Iterative Vision-and-Language Navigation.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from itinera.rendering.panorama import TURNS
from itinera.training.rollout import RollOut
from itinera.training.vector_env import Atlas

MOST = 2  # views of 30 degrees; a turn by more of them is an inflection


def inflections(walked: RollOut, atlas: Atlas, *, wraps: bool = True) -> list[Tensor]:
    """For each step whether what was taught is to turn by more than 60 degrees, or to stop.

    `wraps=False` is the released code's way, which takes 330 degrees to the right for another turn than 30 to the left.
    """
    view = walked.batch.view.clone()
    told = []
    for step in walked.steps:
        turned = (_view_after(atlas, step.node, step.taught) - view[step.rows] % TURNS).abs()
        if wraps:
            turned = torch.minimum(turned, TURNS - turned)
        told.append((step.taught == 0) | ((step.taught > 0) & (turned > MOST)))
        way = atlas.first[step.node] + step.action.clamp_min(1) - 1
        view[step.rows] = torch.where(step.action > 0, atlas.view[way], view[step.rows])
    return told


def _view_after(atlas: Atlas, node: Tensor, action: Tensor) -> Tensor:
    """The heading after an action, counted in views."""
    return atlas.view[atlas.first[node] + action.clamp_min(1) - 1] % TURNS


def inflected_cloning(walked: RollOut, atlas: Atlas, *, wraps: bool = True) -> Tensor:
    """Cross-entropy with what was taught, weighted mean over all steps of all walkers.

    An inflection of an episode weighs as many times as much as it is rare: steps of the episode by inflections of it.
    """
    told = inflections(walked, atlas, wraps=wraps)
    steps, turns = torch.zeros(walked.batch.walkers), torch.zeros(walked.batch.walkers)
    for step, inflection in zip(walked.steps, told, strict=True):
        taught = step.taught >= 0
        steps[step.rows[taught]] += 1
        turns[step.rows[inflection]] += 1
    rare = steps / turns.clamp_min(1)
    losses, weights = [], []
    for step, inflection in zip(walked.steps, told, strict=True):
        weight = torch.where(inflection, rare[step.rows], 1.0) * (step.taught >= 0)
        loss = cross_entropy(step.weighed.logits, step.taught, reduction="none", ignore_index=-1)
        losses.append((weight * loss).sum())
        weights.append(weight.sum())
    return torch.stack(losses).sum() / torch.stack(weights).sum()
