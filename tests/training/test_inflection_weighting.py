"""Which steps are inflections, worked by hand, and what they weigh."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch

from drawn import episode, world
from itinera.policies.base import Weighed, with_stop
from itinera.training.experts import to_goal
from itinera.training.inflection_weighting import inflected_cloning, inflections
from itinera.training.rollout import as_taught, roll_out
from itinera.worlds import Pose
from training.pupils import school

# North is up. From a one goes east, from c south.
DRAWING = """
    a-b-c
        |
        d
"""


@dataclass(frozen=True)
class Nothing:
    """What is kept in mind."""


class Even:
    """A policy that likes everything alike."""

    def read(self, words, lengths):
        return Nothing()

    def step(self, state, seen):
        none = torch.zeros(seen.walkers)
        return state, Weighed(with_stop(none, torch.zeros(len(seen.candidates)), seen), none)


def walked(heading, path="abcd", drawing=DRAWING):
    """The path as it is taught, and where."""
    place = school({"house": world(drawing)}, [episode("0", path, start=Pose(path[0], heading))])
    batch = place.lessons.batch([0])
    return roll_out(Even(), place.atlas, batch, choose=as_taught, teacher=to_goal, limit=9), place.atlas


@pytest.mark.parametrize(
    ("heading_deg", "wraps", "told"),
    [
        (0, True, [False, False, True, True]),  # on east, on east, right by 90 degrees, stop
        (60, True, [False, False, True, True]),  # right by 60 degrees is not more than 60
        (90, True, [True, False, True, True]),
        (-150, True, [True, False, True, True]),
        (120, True, [True, False, True, True]),  # facing 330 degrees clockwise from north, to 90: right by 120
        (120, False, [True, False, True, True]),  # the raw difference is 240
        (60, False, [False, False, True, True]),
    ],
)
def test_turns_by_more_than_60_degrees_and_stops_are_inflections(heading_deg, wraps, told):
    done, atlas = walked(math.radians(heading_deg))
    assert [bool(step) for step in inflections(done, atlas, wraps=wraps)] == told


def test_only_the_released_rule_takes_a_small_turn_across_north_for_a_large_one():
    done, atlas = walked(math.radians(120), "cb", "b\n|\nc")  # 330 degrees clockwise from north, and so to north
    assert [bool(step) for step in inflections(done, atlas)] == [False, True]
    assert [bool(step) for step in inflections(done, atlas, wraps=False)] == [True, True]


def test_inflections_weigh_as_much_as_they_are_rare():
    done, atlas = walked(0.0)
    # Of four steps two are inflections, so each weighs 2. There are 2, 3, 3 and 2 things to do at a, b, c and d.
    losses = [math.log(n) for n in (2, 3, 3, 2)]
    expected = (losses[0] + losses[1] + 2 * losses[2] + 2 * losses[3]) / 6
    assert float(inflected_cloning(done, atlas)) == pytest.approx(expected, rel=1e-5)
