from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.records.action_probabilities import ActionDistribution


def test_angles_are_told_from_where_the_agent_faced_to_the_left():
    headings = np.array([0.5 + math.pi / 2, 0.5, 0.5 - math.pi / 2 + 4 * math.pi, 0.5 + math.pi, 0.5 - math.pi])
    distribution = ActionDistribution("t", 0.5, tuple("abcde"), headings, np.full(6, 1 / 6))
    assert distribution.relative_headings == pytest.approx([math.pi / 2, 0, -math.pi / 2, math.pi, math.pi])


def test_stopping_comes_first():
    distribution = ActionDistribution("t", 0.0, ("a", "b"), np.zeros(2), np.array([0.5, 0.2, 0.3]))
    assert distribution.stop == 0.5
    assert distribution.moves.tolist() == [0.2, 0.3]


def test_one_that_could_not_be_asked_says_why():
    assert ActionDistribution.failure("t", "it rained").failed == "it rained"
    assert not ActionDistribution.failure("t", "it rained").nodes
