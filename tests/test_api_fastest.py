"""`itinera.read_map`, `fastest` and `fastest_times`: objects or paths, map coordinates, helpful errors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import itinera
from itinera.errors import BadArgument
from itinera.planners.motion.dynamics import unicycle
from itinera.worlds.grid import Grid

pytest.importorskip("yaml")

ORIGIN = (10.0, 5.0)
START, GOAL = (11.0, 6.0, math.pi / 2), (15.0, 6.0)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A room of 6 x 4 m with a wall that leaves a passage, as a ROS map whose lower left corner is ORIGIN."""
    cells = np.full((40, 60), 254, dtype=np.uint8)
    cells[:, [0, -1]] = cells[[0, -1]] = 0
    cells[12:, 30] = 0
    (tmp_path / "room.pgm").write_bytes(b"P5 60 40 255\n" + cells.tobytes())
    legend = f"image: room.pgm\nresolution: 0.1\norigin: [{ORIGIN[0]}, {ORIGIN[1]}, 0.0]\nnegate: 0\n"
    (tmp_path / "room.yaml").write_text(legend + "occupied_thresh: 0.65\nfree_thresh: 0.196\n")
    return tmp_path / "room.yaml"


def test_a_map_may_be_a_path_or_a_grid(room):
    grid = itinera.read_map(room)
    assert repr(grid) == "Grid(60 x 40 cells of 0.1 m, origin (10, 5))"
    by_path, by_grid = (itinera.fastest(one, START, GOAL, trees=0) for one in (str(room), grid))
    assert (by_path.lower, by_path.upper) == (by_grid.lower, by_grid.upper)
    # Round the wall, not through it: 4 m apart, and more than 16 s at 0.25 m/s.
    assert 20 < by_path.lower <= by_path.upper < 30
    assert by_path.drive.poses[-1, :2].tolist() == pytest.approx(GOAL)
    assert by_path.drive.is_collision_free(grid, 0.2)


def test_the_command_has_the_answer_of_the_function(room, capsys, monkeypatch):
    from itinera.__main__ import main

    found = itinera.fastest(room, START, GOAL, trees=1, seed=3)
    words = ["fastest", str(room), "--start", "11,6,90", "--goal", "15,6", "--trees", "1", "--seed", "3", "--json"]
    monkeypatch.setattr("sys.argv", ["itinera", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    printed = json.loads(capsys.readouterr().out)
    assert printed["time_s"] == {"lower": found.lower, "upper": found.upper}


def test_a_picture_of_the_drives_is_drawn_in_map_coordinates(room, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from itinera.reports.charts import drives

    drawn = {}
    monkeypatch.setattr(
        drives,
        "draw_drives",
        lambda floor, paths, goal, *rest, **more: drawn.update(floor=floor, paths=paths, goal=goal),
    )
    itinera.fastest(room, START, GOAL, trees=0, figure=tmp_path / "drive.png")
    assert drawn["floor"].origin == ORIGIN
    assert [path.path[0, :2].tolist() for path in drawn["paths"]] == [pytest.approx(START[:2])] * 3
    assert drawn["goal"].tolist() == pytest.approx(GOAL)


def test_dynamics_by_name_or_object():
    room = Grid(np.zeros((40, 40), dtype=bool), 0.1)
    named = itinera.fastest(room, (1, 1, 0), (3, 1), vmax=0.5, wmax=1.0, trees=0)
    assert named.dynamics == unicycle(0.5, 1.0)
    assert itinera.fastest(room, (1, 1, 0), (3, 1), dynamics=unicycle(0.5, 1.0), trees=0).upper == named.upper == 4.0


EMPTY = Grid(np.zeros((40, 40), dtype=bool), 0.1)
AT, TO = (1, 1, 0), (3, 1)
WRONG = {
    "an array for a map": (lambda: itinera.fastest(np.zeros((9, 9)), (1, 1, 0), (3, 1)), "Grid.blocked, resolution"),
    "an image without scale": (lambda: itinera.read_map("plan.png"), "give resolution= in metres per pixel"),
    "a start without heading": (
        lambda: itinera.fastest(EMPTY, (1, 1), (3, 1)),
        r"pose \(x, y, heading\)",
    ),
    "a goal in a wall": (lambda: itinera.fastest(EMPTY, (1, 1, 0), (9, 1)), r"cannot be at the goal, \(9, 1\)"),
    "a misspelled name": (
        lambda: itinera.fastest(EMPTY, AT, TO, dynamics="unicyle"),
        "Did you mean unicycle",
    ),
    "speeds twice": (
        lambda: itinera.fastest(EMPTY, AT, TO, dynamics=unicycle(), vmax=1.0),
        "set them in the Dynamics object",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_say_what_to_type(case):
    call, message = WRONG[case]
    with pytest.raises(BadArgument, match=message):
        call()


def test_fastest_times_of_objects_without_a_file():
    pytest.importorskip("trimesh")
    from itinera.tasks import Episode, Instruction, Split
    from itinera.worlds import Pose, World
    from itinera.worlds.surface import Surface
    from worlds.rooms import room as furnished_room

    surface = Surface.from_mesh(furnished_room(4, 3), radius=0.2, height=1.5)
    start, goals = Pose(np.array([0.5, 1.5, 0.0]), 0.0), np.array([[3.5, 1.5, 0.0]])
    tasks = Split("tasks", (Episode("a", "hall", start, goals, (), Instruction("")),), protocol="pointnav")
    found = []
    times = itinera.fastest_times(tasks, {"hall": World("hall", surface)}, workers=0, on_summary=found.append)
    assert times.upper.tolist() == pytest.approx([3.0 / 0.25], abs=0.5)
    assert repr(times) == "FastestTimes(1 episodes, 1 with both bounds, unicycle)"
    assert (found[0].bounded, found[0].reused) == (1, 0)
