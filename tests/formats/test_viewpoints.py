"""The path of an episode as a list of viewpoints, for every writer of annotation files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.formats import ndh, reverie
from itinera.formats.viewpoints import viewpoint_path
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

POINT = np.zeros(3)
AFLOAT = Episode("1_0", "house", Pose(POINT), POINT[None], POINT[None], Instruction("Go. "), path_id="1")


def test_a_path_is_its_reference_or_else_its_start() -> None:
    assert viewpoint_path(Episode("1_0", "house", Pose("a"), ("b",), ("a", "b"), Instruction(""))) == ["a", "b"]
    assert viewpoint_path(Episode("1_0", "house", Pose("a"), (), (), Instruction(""))) == ["a"]


@pytest.mark.parametrize("write", [reverie.write_split, ndh.write_split])
def test_positions_cannot_be_written(tmp_path: Path, write) -> None:
    with pytest.raises(BadArgument, match='"1_0" has continuous positions'):
        write(tmp_path / "x.json", Split("open", (AFLOAT,)))
    assert list(tmp_path.iterdir()) == []
