"""Goal tables on disk: read back bit by bit, and made again where a file is not the right one."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.formats.goal_tables import GoalTableFolder, read_goal_table, write_goal_table
from itinera.worlds.goal_table import GoalTable
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

STAIRS = Surface.from_mesh(storeys(), **ROBOT)
ROOM = Surface.from_mesh(room(4, 3), **ROBOT)
GOALS = np.array([[1.0, 2.0, 0.0], [6.5, 3.0, 2.7]])


def arrays(table):
    return vars(table)


def assert_equal(one, other):
    assert all(np.array_equal(arrays(one)[name], arrays(other)[name]) for name in arrays(one))


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = GoalTable.compute(STAIRS.ground, GOALS)
    write_goal_table(tmp_path / "house.npz", STAIRS.ground, table)
    assert_equal(read_goal_table(tmp_path / "house.npz", STAIRS.ground), table)
    assert [path.name for path in tmp_path.iterdir()] == ["house.npz"]


def test_a_table_of_another_ground_is_none(tmp_path):
    write_goal_table(tmp_path / "house.npz", STAIRS.ground, GoalTable.compute(STAIRS.ground, GOALS))
    assert read_goal_table(tmp_path / "house.npz", ROOM.ground) is None
    assert read_goal_table(tmp_path / "nowhere.npz", ROOM.ground) is None


def test_a_folder_computes_a_table_once(tmp_path, monkeypatch):
    first = GoalTableFolder(tmp_path / "tables")("house", STAIRS.ground, GOALS)
    computed = []
    compute = GoalTable.compute
    monkeypatch.setattr(GoalTable, "compute", lambda *given: computed.append(given) or compute(*given))
    again = GoalTableFolder(tmp_path / "tables")("house", STAIRS.ground, GOALS)
    assert_equal(first, again)
    assert not computed
    other = GoalTableFolder(tmp_path / "tables")("house", STAIRS.ground, GOALS[:1])
    assert len(other) == len(computed) == 1
    assert len(GoalTableFolder(tmp_path / "tables")("house", STAIRS.ground, GOALS[:1])) == 1
    assert len(computed) == 1


def test_a_damaged_file_is_made_again(tmp_path):
    table = GoalTable.compute(STAIRS.ground, GOALS)
    path = tmp_path / "house.goals.npz"
    write_goal_table(path, STAIRS.ground, table)
    whole = path.read_bytes()
    for content in (b"", b"PK", whole[: len(whole) // 2], b"no archive at all"):
        path.write_bytes(content)
        assert read_goal_table(path, STAIRS.ground) is None
    assert_equal(GoalTableFolder(tmp_path)("house", STAIRS.ground, GOALS), table)
    assert path.read_bytes() == whole


def beyond(name, index, value):
    def spoil(table):
        array = arrays(table)[name]
        changed = array.copy()
        (changed[index[0]] if isinstance(index[0], str) else changed)[index[-1]] = value
        return GoalTable(**{**arrays(table), name: changed})

    return spoil


WRONG = {
    "a turn that is none": beyond("codes", ((0, 0),), 0x7FFF),
    "a cell that is none": beyond("bends", ("cell", 0), 10**9),
    "a way to nowhere": beyond("bends", ("onward", 1), 10**6),
    "a listed cell that is none": beyond("rising", (0,), -5),
    "rows that run backwards": beyond("bend_starts", (1,), 10**6),
    "a row too few": lambda table: GoalTable(**{**arrays(table), "codes": table.codes[:1]}),
    "numbers of another kind": lambda table: GoalTable(**{**arrays(table), "codes": table.codes.astype(np.int64)}),
    "a list cut short": lambda table: GoalTable(**{**arrays(table), "rising_distances": table.rising_distances[:-1]}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_leads_beyond_its_arrays_is_refused(tmp_path, name):
    table = GoalTable.compute(STAIRS.ground, GOALS)
    write_goal_table(tmp_path / "house.npz", STAIRS.ground, WRONG[name](table))
    assert read_goal_table(tmp_path / "house.npz", STAIRS.ground) is None
