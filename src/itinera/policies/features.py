"""What a walker looks at, encoded: the ways on, the way it came, and all views around or the place and its ways."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from itinera.errors import BadArgument
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.observation import ANGLES, GEOMETRY, Seen, padded


@dataclass(frozen=True, eq=False)
class Sights:
    """What is seen, as vectors."""

    candidates: Tensor  # (rows, size) packed as in `Seen`
    here: Tensor  # (walkers, size) the place
    taken: Tensor  # (walkers, size) the way taken last
    views: Tensor  # (walkers, n, size) what attention goes to
    there: Tensor  # (walkers, n) whether there is such a view
    who: Tensor  # (rows,) whose way it is
    pooled: Tensor  # (rows + walkers, …) what is seen along ways and at places, before geometry is added


def looked(encoder: WayEncoder, meanings: Meanings, seen: Seen, *, around: bool, kept: Tensor | None = None) -> Sights:
    """What is made of what is seen.

    With `around` attention goes to all 36 views, otherwise to the place as a whole and the ways on. `kept`
    (walkers, features) multiplies the features each walker sees: feature dropout.
    """
    rows, walkers = len(seen.candidates), seen.walkers
    who = seen.who
    each = torch.arange(walkers)
    features, whose = [seen.candidates, seen.here, seen.taken], [who, each, each]
    geometry = [seen.geometry, seen.here_geometry, seen.taken_geometry]
    if around:
        if seen.around is None or seen.facing is None:
            raise BadArgument(
                "This agent looks at all 36 views, and was shown the ways alone. Give the atlas around=True."
            )
        features.append(seen.around.flatten(0, 1))
        whose.append(each.repeat_interleave(seen.around.shape[1]))
        geometry.append(pad(seen.facing.flatten(0, 1), (0, GEOMETRY - ANGLES)))
    packed = torch.cat(features)
    if kept is not None:
        packed = packed * kept.index_select(0, torch.cat(whose))
    pooled = encoder.pooled(packed, meanings)
    encoded, found = encoder(pooled, torch.cat(geometry)), pooled[: rows + walkers]
    candidates, here, taken, views = encoded.split([rows, walkers, walkers, len(encoded) - rows - 2 * walkers])
    if around:
        views = views.reshape(walkers, -1, views.shape[1])
        return Sights(candidates, here, taken, views, seen.open.new_ones(views.shape[:2]), who, found)
    views = torch.cat([here[:, None], padded(candidates, seen.slots)], dim=1)
    there = torch.cat([seen.open.new_ones(walkers, 1), seen.open], dim=1)
    return Sights(candidates, here, taken, views, there, who, found)


def environment(features: int, share: float, rng: torch.Generator) -> Tensor:
    """(features,) an environment that lacks a share of the features: 0 for those, for the others more than 1.

    One for all views, steps and walkers, and for who speaks as for who listens (Tan et al. 2019).
    """
    return (torch.rand(features, generator=rng) >= share) / (1 - share)


def within(meanings: Meanings, kept: Tensor | None) -> Meanings:
    """What features mean in an environment that lacks some of them; None lacks nothing."""
    return meanings if kept is None else Meanings(meanings.looks * kept[:, None])
