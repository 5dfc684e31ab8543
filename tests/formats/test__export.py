"""What writers take from a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.formats._export import acting_part, require_nodes, require_positions
from itinera.records import Phase, Trajectory

LED = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL)


def test_only_acting_steps_are_left_with_all_that_belongs_to_them() -> None:
    four = np.arange(4.0)
    walked = acting_part(Trajectory("e", ("a", "b", "c", "d"), headings=four, elevations=-four, times=four, phases=LED))
    assert walked.places == ("b", "c")
    for values, expected in ((walked.headings, [1, 2]), (walked.elevations, [-1, -2]), (walked.times, [1, 2])):
        assert values is not None
        assert values.tolist() == expected
    assert walked.phases is None


def test_what_belongs_to_actions_is_left_out_with_them() -> None:
    flags = np.array([True, False, True])
    walk = Trajectory("e", ("a", "b", "c", "d"), collided=flags, followed=flags, phases=LED)
    assert (acting_part(walk).collided, acting_part(walk).followed) == (None, None)


def test_what_is_not_known_stays_unknown() -> None:
    walked = acting_part(Trajectory("e", np.arange(12.0).reshape(4, 3), phases=LED))
    assert np.asarray(walked.places).tolist() == [[3, 4, 5], [6, 7, 8]]
    assert walked.headings is None


def test_a_walk_never_led_is_given_as_it_is() -> None:
    walk = Trajectory("e", ("a",), actions=np.array([], dtype=np.int64))
    assert acting_part(walk) is walk


def test_nodes_and_positions_are_not_taken_for_each_other() -> None:
    assert require_nodes(("a", "b"), "It") == ("a", "b")
    assert require_positions([[1, 2, 3]], "It").tolist() == [[1.0, 2.0, 3.0]]  # type: ignore[arg-type]
    assert require_positions((), "It").shape == (0, 3)
    with pytest.raises(BadArgument, match=r"^It contains positions"):
        require_nodes(np.zeros((2, 3)), "It")
    with pytest.raises(BadArgument, match=r"^It contains nodes"):
        require_positions(("a", "b"), "It")
    with pytest.raises(BadArgument, match=r"^It contains nodes"):
        require_positions(("abc", "def", "ghi"), "It")
