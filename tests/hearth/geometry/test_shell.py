"""The shell as one stands in it: closed, facing inwards, with stairs to climb and no faces that fight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hearth.coplanar import fighting_faces
from itinera.hearth.geometry.polygons import triangulate
from itinera.hearth.geometry.shell import build_shell
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.plan import OUTSIDE, FloorPlan, PlannedRoom
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.labels import MPCAT40
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

Shell = tuple[tuple[HouseObject, ...], Mesh]


@pytest.fixture(
    scope="module", params=[range(6), pytest.param(range(6, 200), marks=pytest.mark.slow)], ids=["6", "200"]
)
def shells(
    request: pytest.FixtureRequest, plan_of: Callable[[int], FloorPlan], shell_of: Callable[[int], Shell]
) -> list[tuple[FloorPlan, tuple[HouseObject, ...], Mesh]]:
    return [(plan_of(index), *shell_of(index)) for index in request.param]


Shells = list[tuple[FloorPlan, tuple[HouseObject, ...], Mesh]]


def first_hits(mesh: Mesh, origins: Array, directions: Array) -> tuple[Array, Array]:
    """The distance to the first face along each ray (inf if none) and its number, by trying every face."""
    a, b, c = np.moveaxis(mesh.corners.astype(np.float64), 1, 0)
    e1, e2 = b - a, c - a
    distances, faces = np.full(len(origins), np.inf), np.full(len(origins), -1)
    for k, (origin, direction) in enumerate(zip(origins, directions, strict=True)):
        p = np.cross(direction, e2)
        det = (e1 * p).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = origin - a
            u = (t * p).sum(axis=1) / det
            q = np.cross(t, e1)
            v = (q @ direction) / det
            far = (e2 * q).sum(axis=1) / det
            hit = (np.abs(det) > 1e-12) & (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (far > 1e-6)
        if hit.any():
            far = np.where(hit, far, np.inf)
            distances[k], faces[k] = far.min(), int(far.argmin())
    return distances, faces


def places_in(room: PlannedRoom, rng: np.random.Generator, count: int) -> Array:
    """Points at eye height, spread over a room's floor but not behind an open door."""
    triangles = triangulate(room.outline)
    chosen = triangles[rng.integers(len(triangles), size=20 * count)]
    flat = (chosen * rng.dirichlet((1, 1, 1), size=len(chosen))[:, :, None]).sum(axis=1)
    ahead = np.roll(room.outline, -1, axis=0) - room.outline
    lengths = np.hypot(*ahead.T)
    off = ((flat[:, None] - room.outline) * np.column_stack([-ahead[:, 1], ahead[:, 0]])).sum(axis=2) / lengths
    flat = flat[np.abs(off).min(axis=1) > 0.2][:count]
    return np.column_stack([flat, np.full(len(flat), room.floor + 1.5)])


def test_rays_from_inside_any_room_meet_the_front_of_a_face(shells: Shells) -> None:
    rng = np.random.default_rng(5)
    for plan, _, mesh in shells:
        # In a stairwell, half of them start inside the flight.
        inside = [room for room in plan.rooms if room.kind != "s" and not room.outdoor]
        origins = np.concatenate([places_in(room, rng, 3) for room in inside])
        directions = rng.normal(size=origins.shape)
        distances, faces = first_hits(mesh, origins, directions)
        away = ~np.isfinite(distances)
        assert all(leaves_by_a_door(plan, *ray) for ray in zip(origins[away], directions[away], strict=True))
        origins, directions, faces = origins[~away], directions[~away], faces[~away]
        corners = mesh.corners[faces].astype(np.float64)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert ((normals * directions).sum(axis=1) < 0).all(), "one sees the back of a face"


def leaves_by_a_door(plan: FloorPlan, origin: Array, direction: Array) -> bool:
    """Whether a ray passes through a door to the outdoors."""
    for passage in plan.passages:
        if sum(k != OUTSIDE and plan.rooms[k].outdoor for k in passage.rooms) == 1:
            along = float((passage.center - origin[:2]) @ passage.normal) / float(direction[:2] @ passage.normal)
            place = origin + along * direction
            aside = abs(float((place[:2] - passage.center) @ passage.normal[::-1]))
            if along > 0 and aside < passage.width / 2 and 0 <= place[2] - passage.floor <= passage.height:
                return True
    return False


def test_rays_from_outdoors_meet_the_front_of_a_face_or_the_sky(shells: Shells) -> None:
    rng = np.random.default_rng(6)
    for plan, _, mesh in shells:
        places = [places_in(room, rng, 8) for room in plan.rooms if room.outdoor]
        if not places:
            continue
        origins = np.concatenate(places)
        directions = rng.normal(size=origins.shape)
        _, faces = first_hits(mesh, origins, directions)
        hit = faces >= 0
        assert hit.mean() > 0.1
        assert hit[directions[:, 2] < -8 * np.hypot(*directions[:, :2].T)].all()
        corners = mesh.corners[faces[hit]].astype(np.float64)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert ((normals * directions[hit]).sum(axis=1) < 0).mean() > 0.97, "one sees the back of many faces"


def rays_to(targets: Array, middle: Array, floor: float) -> tuple[Array, Array]:
    """Level rays half a metre above the floor, from a metre before each target, as seen from the middle of a room."""
    ahead = (targets - middle) / np.linalg.norm(targets - middle, axis=1, keepdims=True)
    level = np.full((len(targets), 1), floor + 0.5)
    return np.hstack([targets - ahead, level]), np.hstack([ahead, np.zeros_like(level)])


def test_a_fence_that_hides_the_view_hides_it_at_its_corners_too(shells: Shells) -> None:
    checked = 0
    for plan, _, mesh in shells:
        for room in (room for room in plan.rooms if room.outdoor):
            fences = [fence for fence in plan.fences if fence.room == room.index]
            ends = {(*fence.end.tolist(),) for fence in fences}
            meets = [fence.start for fence in fences if (*fence.start.tolist(),) in ends]
            if not meets:
                continue
            middle = room.outline.mean(axis=0)
            along = np.concatenate([f.start + np.linspace(0.15, 0.85, 9)[:, None] * (f.end - f.start) for f in fences])
            faces = first_hits(mesh, *rays_to(along, middle, room.floor))[1]
            dense = np.isin(mesh.classes[faces], [MPCAT40.index("plant"), MPCAT40.index("wall")])
            if not (dense & (faces >= 0)).all():
                continue  # bars, panes or panels between posts
            beside = np.concatenate([corner + np.outer((-0.005, 0.0, 0.005), (1, -1)) for corner in meets])
            beside = np.concatenate([beside, *(corner + np.outer((-0.005, 0.005), (1, 1)) for corner in meets)])
            assert (first_hits(mesh, *rays_to(beside, middle, room.floor))[0] < 1.2).all()
            checked += 1
    assert checked


def test_the_house_seen_from_far_shows_only_the_front_of_faces(shells: Shells) -> None:
    rng = np.random.default_rng(7)
    for plan, _, mesh in shells:
        corners = np.concatenate([room.outline for room in plan.rooms])
        middle = np.array([*(corners.min(axis=0) + corners.max(axis=0)) / 2, 2.0])
        toward = rng.normal(size=(40, 3))
        toward[:, 2] = np.abs(toward[:, 2]) * 0.5
        origins = middle + 60 * toward / np.linalg.norm(toward, axis=1, keepdims=True)
        targets = middle + rng.uniform(-4, 4, size=(40, 3))
        _, faces = first_hits(mesh, origins, targets - origins)
        hit = faces >= 0
        triangles = mesh.corners[faces[hit]].astype(np.float64)
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        assert ((normals * (targets - origins)[hit]).sum(axis=1) < 0).mean() > 0.9


def test_no_faces_of_different_labels_fight(shells: Shells) -> None:
    for _, _, mesh in shells:
        assert fighting_faces(mesh) == []


def test_faces_that_fight_are_found() -> None:
    tilt = np.array([[0.6, 0.0, -0.8], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6]])
    lower = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)]) @ tilt
    upper = lower[[0, 2, 1]] + 0.0005 * tilt[2]
    apart = lower + 0.002 * tilt[2]
    beside = lower + np.array([1.1, 0, 0]) @ tilt

    def pairs(other: Array, instance: int) -> list[tuple[int, int]]:
        faces, classes = [[0, 1, 2], [3, 4, 5]], [1, 1]
        mesh = Mesh(np.concatenate([lower, other]), faces, classes, [0, instance], np.zeros((2, 3)))
        return fighting_faces(mesh)

    assert pairs(upper, 1) == [(0, 1)]
    assert pairs(upper, 0) == []
    assert pairs(apart, 1) == []
    assert pairs(beside, 1) == []


def test_a_shell_is_light(shells: Shells) -> None:
    for _, _, mesh in shells:
        assert 1000 < len(mesh.faces) < 20000


def test_floors_look_up_and_ceilings_down(shells: Shells) -> None:
    for _, _, mesh in shells:
        corners = mesh.corners.astype(np.float64)
        up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
        assert (up[mesh.classes == MPCAT40.index("floor")] > 0).all()
        assert (up[mesh.classes == MPCAT40.index("ceiling")] < 0).all()


def test_items_count_from_one_and_own_faces_within_their_reach(shells: Shells) -> None:
    for plan, items, mesh in shells:
        assert [item.index for item in items] == list(range(1, len(items) + 1))
        assert set(np.unique(mesh.instances)) == set(range(len(items) + 1))
        for item in items:
            faces = mesh.instances == item.index
            assert set(mesh.classes[faces]) == {MPCAT40.index(item.category)}
            off = np.abs(mesh.corners[faces] - item.center).max(axis=(0, 1))
            assert (off[:2] < max(item.size[:2]) + 1.3).all()
            assert 0 <= item.room < len(plan.rooms)


def test_every_door_window_and_flight_becomes_an_item(shells: Shells) -> None:
    for plan, items, _ in shells:
        names = [item.name for item in items]
        assert names.count("door") + names.count("garage door") == sum(not p.wide for p in plan.passages)
        assert names.count("garage door") == sum(room.kind == "g" for room in plan.rooms)
        assert names.count("window") == len(plan.windows)
        assert names.count("stairs") == names.count("railing") == len(plan.staircases)
        assert all(item.color for item in items if item.name == "door")


def test_one_walks_straight_through_every_passage_but_the_front_door(shells: Shells) -> None:
    for plan, _, mesh in shells:
        for passage in plan.passages:
            along = np.array([-passage.normal[1], passage.normal[0]])
            sides = np.linspace(-0.5, 0.5, 3)[:, None] * along * (passage.width - 0.04)
            if any(k != OUTSIDE and plan.rooms[k].kind == "s" for k in passage.rooms):
                sides = sides[1:2]  # beside the middle there may be a flight
            flat = passage.center + sides - passage.normal * (passage.depth / 2 + 0.25)
            heights = [np.full(len(flat), passage.floor + z) for z in (0.1, 2.0)]
            origins = np.concatenate([np.column_stack([flat, z]) for z in heights])
            distances, _ = first_hits(mesh, origins, np.tile([*passage.normal, 0.0], (len(origins), 1)))
            if OUTSIDE in passage.rooms:
                assert (distances < 0.5).all()
            else:
                assert (distances > passage.depth + 0.4).all()


def test_a_robot_reaches_every_room_from_the_entry_and_every_storey(shells: Shells) -> None:
    for plan, _, mesh in shells[:: 1 + len(shells) // 10]:
        surface = Surface.from_mesh(mesh, radius=0.2, height=1.5)
        middles = []
        for room in plan.rooms:
            center = triangulate(room.outline).mean(axis=1)[0]
            if room.kind == "s":  # in a stairwell, just inside its opening
                opening = next(p for p in plan.passages if room.index in p.rooms)
                center = opening.center + opening.normal * (0.3 if opening.rooms[1] == room.index else -0.3)
            middles.append([*center, room.floor])
        entry = next(room.index for room in plan.rooms if room.kind == "e")
        places, off = surface.snap(np.array(middles), reach=1.0)
        assert (off < 1.0).all()
        assert np.isfinite(surface.between(places[[entry]], places)).all()
        assert surface.island(places[[entry]])[0] == 0, "roofs are no floor"


def test_there_is_headroom_all_along_the_stairs(shells: Shells) -> None:
    for plan, _, mesh in shells:
        for flight in (flight for stairs in plan.staircases for flight in stairs.flights):
            shares = (np.arange(flight.steps - 1) + 0.5) / (flight.steps - 1)
            treads = flight.foot + shares[:, None] * (flight.head - flight.foot)
            rise = (flight.head[2] - flight.foot[2]) / flight.steps
            treads[:, 2] = flight.foot[2] + rise * np.arange(1, flight.steps) + 0.01
            down, _ = first_hits(mesh, treads, np.tile([0.0, 0.0, -1.0], (len(treads), 1)))
            assert down == pytest.approx(0.01, abs=1e-4)
            headroom, _ = first_hits(mesh, treads, np.tile([0.0, 0.0, 1.0], (len(treads), 1)))
            assert headroom.min() >= 2.0


def test_the_same_generator_raises_the_same_bytes(
    plan_of: Callable[[int], FloorPlan], shell_of: Callable[[int], Shell]
) -> None:
    solids = Solids()
    build_shell(plan_of(0), generator(1, "house", "0", "shell"), solids)
    first, second = solids.mesh(), shell_of(0)[1]
    for name in ("vertices", "faces", "classes", "instances", "colors"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
