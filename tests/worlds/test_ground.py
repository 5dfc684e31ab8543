"""Where a robot may stand."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.hearth.geometry.solids import Solids
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface
from worlds.rooms import GREY, ROBOT, floor, room, storeys, turned
from worlds.taut import grown, inside

HALL = 6.0, 4.0


def stands(surface: Surface, x: float, y: float, z: float = 0.0, *, island: int | None = None) -> bool:
    """Whether a robot may be at (x, y), up to a centimetre, and within a tenth of a metre of this height."""
    _, gap = surface.snap([[x, y, z]], reach=0.01 if z == 0 else 0.1, island=island)
    return bool(np.isfinite(gap[0]))


def in_hall(*boxes: tuple[tuple[float, float, float], tuple[float, float, float]], **robot: float) -> Surface:
    return Surface.from_mesh(room(*HALL, boxes=boxes), **(ROBOT | robot))


@pytest.mark.parametrize("radius", [0.1, 0.18, 0.2, 0.35])
def test_walls_keep_the_robot_at_its_radius_to_half_a_cell(radius):
    surface = in_hall(radius=radius)
    assert surface.area[0] == pytest.approx((HALL[0] - 2 * radius) * (HALL[1] - 2 * radius), rel=0.03)
    assert stands(surface, radius + 0.03, 2.0)
    assert not stands(surface, radius - 0.035, 2.0)


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.8, 1.2])
def test_things_at_any_angle_keep_the_robot_at_its_radius(angle):
    thing = turned(2.0, 0.8, (3.0, 2.0), angle)
    ground = Surface.from_mesh(room(*HALL, prisms=[thing]), radius=0.18, height=1.5).ground
    level = ground.heights < 0.1
    middles = (ground.columns[level] + 0.5) * ground.size + ground.origin
    assert not inside(grown(thing, 0.178), middles).any()
    outside = HALL[0] * HALL[1] - np.pi * 0.2**2 - (2.0 * 0.8 + 2 * 0.2 * 2.8) - 2 * 0.2 * sum(HALL)
    assert level.sum() * ground.size**2 > outside - 0.02 * HALL[0] * HALL[1]


@pytest.mark.parametrize("tall", [0.005, 0.02, 0.1, 0.24])
def test_what_is_lower_than_the_climb_is_walked_over(tall):
    surface = in_hall(((2, 1, 0), (3, 2, tall)))
    assert surface.between([[1.0, 1.5, 0]], [[4.0, 1.5, 0]])[0, 0] == pytest.approx(3.0, abs=0.15)
    assert len(surface.area) == 1


@pytest.mark.parametrize("tall", [0.3, 0.45, 0.95])
def test_what_is_higher_is_walked_round_and_its_top_is_another_island(tall):
    surface = in_hall(((2, 1, 0), (3, 2, tall)))
    assert not stands(surface, 2.5, 1.5)
    assert not stands(surface, 1.93, 1.5)
    assert stands(surface, 1.87, 1.5)
    assert (surface.area > 0.1).sum() == 2
    assert surface.island([[2.5, 1.5, tall]])[0] == 1


def test_what_hangs_higher_than_the_robot_is_walked_under():
    beam = (2, 0, 1.6), (2.2, 4, 2.5)
    assert stands(in_hall(beam), 2.1, 2.0)
    assert not stands(in_hall(beam, height=1.7), 2.1, 2.0)


def test_a_lamp_of_slanting_pieces_does_not_block_the_floor_below_it():
    solids = Solids()
    floor(solids, (0, 0), (4, 4))
    # A cone on its point, closed above, and one on its base.
    for tip, base in ((1.9, 2.1), (2.1, 1.9)):
        ring = [(2 + 0.2 * np.cos(a), 2 + 0.2 * np.sin(a), base) for a in np.arange(8) * np.pi / 4]
        ring = ring if tip > base else ring[::-1]
        solids.triangles(
            [(p, q, (2, 2, tip)) for p, q in zip(ring, ring[1:] + ring[:1], strict=True)], "lighting", 1, GREY
        )
        solids.polygon(ring[::-1], "lighting", 1, GREY)
    surface = Surface.from_mesh(solids.mesh(), **ROBOT)
    assert stands(surface, 2.0, 2.0)
    assert stands(surface, 2.15, 2.0)


def test_nobody_stands_inside_a_wardrobe():
    assert not stands(in_hall(((2, 1, 0), (4, 3, 1.9))), 3.0, 2.0)


def test_a_floor_without_a_ceiling_below_the_next_storey_is_still_a_floor():
    solids = Solids()
    for z in (0.0, 2.6):
        floor(solids, (0, 0), (4, 4), z)
    surface = Surface.from_mesh(solids.mesh(), **ROBOT)
    assert stands(surface, 2.0, 2.0)
    assert stands(surface, 2.0, 2.0, 2.6)


@pytest.mark.parametrize(("radius", "islands"), [(0.2, 1), (0.38, 1), (0.46, 2)])
def test_a_door_lets_through_who_is_narrower(radius, islands):
    door = ((3, 0, 0), (3.1, 1.5, 2.5)), ((3, 2.4, 0), (3.1, 4, 2.5))
    assert (in_hall(*door, radius=radius).area > 0.5).sum() == islands


@pytest.mark.parametrize(("degrees", "walked"), [(10, True), (40, True), (50, False)])
def test_slopes_are_walked_up_to_the_steepest(degrees, walked):
    solids = Solids()
    rise = float(np.tan(np.radians(degrees)))
    floor(solids, (0, 0), (2, 2))
    solids.polygon([(2, 0, 0), (3, 0, rise), (3, 2, rise), (2, 2, 0)], "floor", 0, GREY)
    floor(solids, (3, 0), (5, 2), rise)
    surface = Surface.from_mesh(solids.mesh(), **ROBOT)
    apart = surface.between([[1, 1, 0]], [[4, 1, rise]])[0, 0]
    assert np.isfinite(apart) == walked
    if walked:
        assert apart == pytest.approx(2 + np.hypot(1, rise), rel=0.02)


def test_steps_are_climbed_up_to_the_climb():
    up = Surface.from_mesh(storeys(), **ROBOT)
    assert up.island([[7, 3, 0], [7, 3, 2.7], [3.5, 0.5, 1.35]]).tolist() == [0, 0, 0]
    not_up = Surface.from_mesh(storeys(), **ROBOT, climb=0.15)
    assert not np.isfinite(not_up.between([[7, 3, 0]], [[7, 3, 2.7]])[0, 0])


def test_a_wide_robot_climbs_stairs_too():
    surface = Surface.from_mesh(storeys(), radius=0.35, height=1.5)
    assert np.isfinite(surface.between([[7, 3, 0]], [[7, 3, 2.7]])[0, 0])


def test_one_walks_below_the_upper_floor_and_not_into_the_stairs():
    surface = Surface.from_mesh(storeys(), **ROBOT)
    assert stands(surface, 7.0, 0.5)
    assert not stands(surface, 4.5, 0.5)


def test_cracks_between_floors_are_walked_over():
    solids = Solids()
    floor(solids, (0, 0), (1.985, 2))
    floor(solids, (2, 0), (4, 2))
    assert len(Surface.from_mesh(solids.mesh(), **ROBOT).area) == 1


def test_islands_are_numbered_from_the_largest():
    solids = Solids()
    for x, wide in ((0, 1), (2, 3), (6, 2)):
        floor(solids, (x, 0), (x + wide, 2))
    surface = Surface.from_mesh(solids.mesh(), **ROBOT)
    assert surface.island([[3, 1, 0], [7, 1, 0], [0.5, 1, 0]]).tolist() == [0, 1, 2]
    assert (np.diff(surface.area) < 0).all()


def test_the_same_ground_comes_of_the_same_mesh_wherever_its_faces_stand_in_the_list():
    mesh = storeys()
    order = np.random.default_rng(5).permutation(len(mesh.faces))
    shuffled = Mesh(mesh.vertices, mesh.faces[order], mesh.classes[order], mesh.instances[order], mesh.colors[order])
    one, two = (Surface.from_mesh(m, **ROBOT).ground for m in (mesh, shuffled))
    np.testing.assert_array_equal(one.links, two.links)
    np.testing.assert_array_equal(one.heights, two.heights)


def test_faces_without_area_do_no_harm():
    mesh = room(*HALL)
    flat = np.concatenate([mesh.faces, [[0, 0, 1], [2, 2, 2]]]).astype(np.int32)
    surface = Surface.from_mesh(Mesh.from_triangles(mesh.vertices, flat), **ROBOT)
    assert surface.area[0] == pytest.approx(in_hall().area[0], rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"radius": 2.5},
            "height 1.5 m fits nowhere in the mesh: no floor leaves room for its radius",
        ),
        ({"height": 3.0}, "no floor leaves room for its height"),
        ({"radius": 0.0}, "radius must be a positive number of metres, not 0.0"),
        ({"cell": -0.05}, "cell must be a positive number of metres, not -0.05"),
        ({"height": float("nan")}, "height must be a positive number"),
        ({"height": 0.2}, "height, 0.2 m, must exceed the climb, 0.25 m"),
        ({"slope": 2.0}, "slope must lie between 0 and pi / 2 radians, not 2.0"),
    ],
    ids=str,
)
def test_robots_that_fit_nowhere_or_make_no_sense_are_refused(arguments, told):
    with pytest.raises(BadArgument, match=told):
        in_hall(**arguments)


@pytest.mark.parametrize("faces", [[], [[0, 2, 1]]])
def test_a_mesh_without_a_floor_is_refused(faces):
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], dtype=np.float32)
    mesh = Mesh.from_triangles(corners, np.array(faces, dtype=np.int32).reshape(-1, 3))
    with pytest.raises(BadArgument, match="No face of the mesh points up"):
        Surface.from_mesh(mesh, **ROBOT)
