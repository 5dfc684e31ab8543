"""`itinera view` end to end: houses, seasons, maps, scenes and navigation graphs become pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest

import cottage
from itinera.builders import hearth
from itinera.errors import BadFile
from itinera.formats import graphs, matterport
from itinera.rendering.lightmaps import Lightmap
from itinera.reports.walkthrough import light
from itinera.worlds import NavGraph, World

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module", autouse=True)
def houses_built_once() -> Iterator[None]:
    """Several pictures of a house need one building of it, and several pages one baking of its light."""
    baked: dict[tuple[bytes, str], Lightmap] = {}

    def bake_once(mesh, normals, mood):
        key = mesh.corners.tobytes(), mood
        if key not in baked:
            baked[key] = bake(mesh, normals, mood)
        return baked[key]

    bake = light.bake_light
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hearth, "build_house_graph", lru_cache(maxsize=2)(hearth.build_house_graph))
        patch.setattr(light, "bake_light", bake_once)
        yield


def is_drawn(path) -> bool:
    """Whether a picture is neither blank nor noise."""
    if path.suffix == ".svg":
        return path.read_text().count("<path") > 5
    from matplotlib.image import imread

    return bool(imread(path)[..., :3].std() > 0.02)


@pytest.mark.parametrize(("house", "how"), [("7", ("--plan", "--paths", "2")), ("hearth-2-003", ("--inside",))])
def test_a_house_becomes_a_picture(itinera, tmp_path, house, how):
    done = itinera("view", house, *how, "--out", tmp_path / "a.png")
    assert done.code == 0, done.err
    name = "hearth-1-007" if house == "7" else house
    assert f"a.png: {name}, " in done.out
    assert "viewpoints" in done.out
    from matplotlib.image import imread

    picture = imread(tmp_path / "a.png")
    if "--inside" in how:
        assert picture.shape[:2] == (480, 3 * 640 + 2 * 4)
    assert is_drawn(tmp_path / "a.png")


def test_a_house_is_drawn_from_above_unless_asked_otherwise_also_as_svg(itinera, tmp_path):
    done = itinera("view", "2", "--out", tmp_path / "a.svg", "--json")
    assert json.loads(done.out)["rooms"] > 5
    assert is_drawn(tmp_path / "a.svg")


def test_the_houses_of_a_season_become_one_picture(itinera, season, tmp_path):
    done = itinera("view", season, "--out", tmp_path / "season.png")
    assert done.code == 0, done.err
    assert "season.png: hearth-1-001, " in done.out
    assert is_drawn(tmp_path / "season.png")
    again = json.loads(itinera("view", season, "--scene", "1", "--out", tmp_path / "b.svg", "--json").out)
    assert again["names"] == ["hearth-1-001"]
    assert "hearth-1-001" in (tmp_path / "b.svg").read_text()
    refused = itinera("view", season, "--scene", "5", "--scene", "hearth-1-001", "--out", tmp_path / "c.png")
    assert refused.code == 2
    assert "has no scene 5 (--scene). It has 1: hearth-1-001" in refused.err


def test_a_sealed_season_shows_its_graphs(itinera, tmp_path):
    folder = tmp_path / "sealed"
    matterport.write_worlds(folder / "connectivity", {"hearth-x-001": TOWER})
    (folder / "season.json").write_text('{"config": {"seed": null}, "houses": {"test": ["hearth-x-001"]}}')
    done = itinera("view", folder, "--out", tmp_path / "a.png")
    assert done.code == 0, done.err
    assert "hearth-x-001, 2 panels" in done.out


def test_a_house_of_a_season_becomes_a_page_with_its_episodes(itinera, season, tmp_path):
    done = itinera("view", season, "--house", "1", "--out", tmp_path / "house.html", "--json")
    assert done.code == 0, done.err
    shown = json.loads(done.out)
    assert shown["names"] == ["hearth-1-001"]
    assert shown["episodes"] > 200
    page = (tmp_path / "house.html").read_text()
    assert "R2R val_unseen" in page
    assert "REVERIE val_unseen" in page
    assert len(page) < 1.5e6
    fewer = itinera("view", season, "--house", "hearth-1-001", "--paths", "2", "--out", tmp_path / "few.html", "--json")
    # Two paths with three instructions each, and two of REVERIE's.
    assert 6 < json.loads(fewer.out)["episodes"] < 13


@pytest.mark.parametrize("how", [("--paths", "2"), ("--inside",)])
def test_a_house_of_a_season_becomes_the_picture_of_its_seed(itinera, season, tmp_path, how):
    assert itinera("view", season, "--house", "1", *how, "--out", tmp_path / "a.png").code == 0
    assert itinera("view", "hearth-1-001", *how, "--out", tmp_path / "b.png").code == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--out", "a.html"),
            "A walk-through page (a.html) shows one house of Hearth. Choose one of the season (--house)",
        ),
        (("--house", "7", "--out", "a.html"), "has no house 7 (--house). It has 1: hearth-1-001"),
        (("--house", "1", "--scene", "1", "--out", "a.html"), "does not use scenes (--scene)"),
        (("--house", "1", "--inside", "--out", "a.html"), "ends in .png, not '.html'"),
        (("--secret", "a.txt", "--out", "a.png"), "does not use secret (--secret)"),
        (("--house", "1", "--secret", "a.txt", "--out", "a.html"), "is a season of a public seed: omit secret"),
    ],
)
def test_a_wrong_call_for_a_house_of_a_season_is_told(itinera, season, arguments, said):
    done = itinera("view", season, *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_only_houses_become_pages(itinera, room, tmp_path):
    refused = itinera("view", room, "--out", tmp_path / "a.html")
    assert refused.code == 2
    assert "shows one house of Hearth" in refused.err


@pytest.fixture
def room(tmp_path):
    """A ROS map: a room of 2 x 1.5 m, a wall, and an unknown part, in cells of 10 cm."""
    cells = np.full((15, 20), 254, dtype=np.uint8)
    cells[:, 12] = 0
    cells[:3, 13:] = 205
    (tmp_path / "room.pgm").write_bytes(b"P5 20 15 255\n" + cells.tobytes())
    legend = "image: room.pgm\nresolution: 0.1\norigin: [-1.0, 3.0, 0.0]\nnegate: 0\n"
    (tmp_path / "room.yaml").write_text(legend + "occupied_thresh: 0.65\nfree_thresh: 0.196\n")
    return tmp_path / "room.yaml"


def test_a_map_becomes_a_picture_with_its_extent(itinera, room, tmp_path):
    done = itinera("view", room, "--out", tmp_path / "map.svg")
    # 12 x 15 cells on the left, 7 x 12 on the right.
    extent = "x from -1.00 to 1.00 m, y from 3.00 to 4.50 m, cells of 0.1 m, 2.6 m² free in 2 regions."
    assert f"map.svg: room.yaml, {extent}" in done.out
    text = (tmp_path / "map.svg").read_text()
    assert all(f">{name}<" in text for name in ("room.yaml", "free", "unknown", "obstacle", "x, metres"))
    assert ">too close for the robot<" not in text
    done = itinera("view", room, "--radius", "0.2", "--out", tmp_path / "map.svg")
    assert "free for a robot of radius 0.2 m in 2 regions" in done.out
    assert ">too close for the robot<" in (tmp_path / "map.svg").read_text()


def test_an_image_is_drawn_in_pixels_or_by_its_scale(itinera, room, tmp_path):
    image = room.with_suffix(".pgm")
    assert "x from 0.00 to 20.00 pixels" in itinera("view", image, "--out", tmp_path / "a.png").out
    scaled = itinera("view", image, "--metres-per-pixel", "0.1", "--radius", "0.1", "--out", tmp_path / "a.png")
    assert "x from 0.00 to 2.00 m" in scaled.out
    assert is_drawn(tmp_path / "a.png")
    assert "has no scale" in itinera("view", image, "--radius", "0.1", "--out", tmp_path / "b.png").err


TOWER = World("tower", NavGraph.from_edges(
    {"a": (0, 0, 1.5), "b": (3, 0, 1.5), "c": (3, 4, 1.5), "d": (3, 5, 4.5), "e": (0, 5, 4.5), "f": (0, 2, 4.5)},
    [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")],
))  # fmt: skip


def test_navigation_graphs_become_pictures(itinera, tmp_path):
    other = World("hut", NavGraph.from_edges({"a": (0, 0, 0), "b": (2, 0, 0)}, [("a", "b")]))
    matterport.write_worlds(tmp_path / "connectivity", {"tower": TOWER, "hut": other})
    graphs.write_worlds(tmp_path / "graphs.json", {"tower": TOWER})
    out = ("--out", tmp_path / "a.png")
    assert "2 graphs of connectivity, 2 panels" in itinera("view", tmp_path / "connectivity", *out).out
    for source in (
        (tmp_path / "connectivity", "--scene", "tower"),
        (tmp_path / "connectivity" / "tower_connectivity.json",),
        (tmp_path / "graphs.json",),
    ):
        done = itinera("view", *source, *out)
        assert "a.png: tower, 2 panels." in done.out, done.err
        assert is_drawn(tmp_path / "a.png")


@pytest.mark.parametrize("ending", ["glb", "obj"])
def test_scenes_become_pictures(itinera, tmp_path, ending):
    pytest.importorskip("trimesh")
    from itinera.formats.scenes import write_scene

    (tmp_path / "scenes").mkdir()
    write_scene(tmp_path / "scenes" / f"cottage.{ending}", cottage.house().mesh)
    for source in (tmp_path / "scenes", tmp_path / "scenes" / f"cottage.{ending}"):
        done = itinera("view", source, "--radius", "0.2", "--out", tmp_path / "a.png")
        assert "a.png: cottage, " in done.out, done.err
        assert is_drawn(tmp_path / "a.png")
    # Lying on its side, it has no floor where one is expected.
    turned = itinera("view", source, "--up", "x", "--out", tmp_path / "b.png")
    assert turned.code == 2
    assert "up must be one of y, z" in turned.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no map, scene or navigation graph"),
        ('[{"path_id": 1, "instructions": [], "path": []}]', "holds R2R, R4R and longer joins (tasks), which"),
    ],
)
def test_a_file_of_another_kind_is_refused(itinera, tmp_path, content, said):
    (tmp_path / "file.json").write_text(content)
    refused = itinera("view", tmp_path / "file.json", "--out", tmp_path / "a.png")
    assert refused.code == BadFile.exit_code
    assert said in refused.err


def test_a_folder_of_maps_names_them(itinera, room, tmp_path):
    refused = itinera("view", tmp_path, "--out", tmp_path / "a.png")
    assert "contains no Hearth season, connectivity files or scenes." in refused.err
    assert "Give one of its maps: room.yaml." in refused.err


def test_options_of_something_else_are_refused(itinera, room, tmp_path):
    refused = itinera("view", room, "--paths", "2", "--inside", "--out", tmp_path / "a.png")
    assert refused.code == 2
    assert "room.yaml is a ROS map, which does not use paths (--paths), inside (--inside)." in refused.err
    assert "7 is a Hearth house, which does not use radius" in itinera(
        "view", "7", "--radius", "1", "--out", tmp_path / "a.png"
    ).err  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("kitchen", "--plan"), "'kitchen' is not a house. Give an index, such as 7"),
        (("-1", "--plan"), "No such option"),
        (("hearth-x-1", "--plan"), "is not a house"),
        (("1", "--plan", "--inside"), "Choose one of --plan and --inside"),
        (("1", "--plan", "--season", "-3"), "seed must be ≥ 0 (got -3)"),
        (("hearth-1-001", "--plan", "--season", "2"), "is a house of season 1, not of season 2 (--season)"),
        (("1", "--appearance", "day"), "is that of views of rooms: give --inside"),
        (("1", "--inside", "--appearance", "dawn"), "An appearance is one of flat, day"),
        (("1", "--inside", "--paths", "2"), "paths (--paths) is a number of paths to draw on the floor plan"),
        (("1", "--plan", "--paths", "-2"), "paths (--paths) is a number of paths"),
        (("1", "--plan", "--out", "a.pdf"), "ends in .png or .svg, not '.pdf'"),
        (("1", "--inside", "--out", "a.svg"), "ends in .png, not '.svg'"),
    ],
)
def test_a_wrong_call_is_told(itinera, tmp_path, arguments, said):
    given = arguments if "--out" in arguments else (*arguments, "--out", tmp_path / "a.png")
    done = itinera("view", *given)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "a.png").exists()
