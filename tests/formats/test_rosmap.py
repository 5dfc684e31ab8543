"""ROS maps: what their cells mean, and everything that can be wrong with them."""

from __future__ import annotations

import math
import re
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from itinera.errors import BadArgument, BadFile, MissingExtra
from itinera.formats.catalog import detect
from itinera.formats.rosmap import read_map

GOOD = {
    "image": "map.pgm",
    "resolution": "0.05",
    "origin": "[-1.0, 2.0, 0.0]",
    "negate": "0",
    "occupied_thresh": "0.65",
    "free_thresh": "0.196",
}
# free, unknown, occupied; free at the lower left
PIXELS = np.array([[254, 205, 0], [254, 254, 254], [254, 0, 0]])


def pgm(
    pixels: np.ndarray, *, kind: str = "P5", white: int = 255, remark: str = "# CREATOR: map_saver 0.050 m/pix\n"
) -> bytes:
    height, width = pixels.shape
    head = f"{kind}\n{remark}{width} {height}\n{white}\n".encode()
    if kind == "P2":
        return head + b" ".join(str(value).encode() for value in pixels.ravel()) + b"\n"
    return head + pixels.astype(">u2" if white > 255 else "u1").tobytes()


def saved(folder: Path, picture: bytes = pgm(PIXELS), **keys: str | None) -> Path:
    """A map on disk, some of its keys changed or left out."""
    said = GOOD | keys
    text = "".join(f"{key}: {value}\n" for key, value in said.items() if value is not None)
    (folder / "map.yaml").write_text(text)
    (folder / "map.pgm").write_bytes(picture)
    return folder / "map.yaml"


def faults(path: Path) -> str:
    with pytest.raises(BadFile) as caught:
        read_map(path)
    return str(caught.value)


def test_rows_are_turned_over_and_unknown_cells_are_as_asked(tmp_path: Path) -> None:
    path = saved(tmp_path)
    grid = read_map(path)
    assert grid.blocked.tolist() == [[False, True, True], [False, False, False], [False, True, True]]
    assert (grid.resolution, grid.origin, grid.rotation) == (0.05, (-1.0, 2.0), 0.0)
    assert read_map(path, unknown="free").blocked.tolist() == [
        [False, True, True], [False, False, False], [False, False, True],
    ]  # fmt: skip
    with pytest.raises(BadArgument, match='must be "blocked" or "free"'):
        read_map(path, unknown="maybe")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["P2", "P5"])
@pytest.mark.parametrize("white", [15, 255, 1000, 65535])
@pytest.mark.parametrize("remark", ["", "# one\n# two 3 4\n", "  \n"])
def test_every_kind_of_pgm_says_the_same(tmp_path: Path, kind: str, white: int, remark: str) -> None:
    pixels = np.array([[white, 0], [round(white * 0.9), round(white * 0.5)]])
    path = saved(tmp_path, pgm(pixels, kind=kind, white=white, remark=remark))
    assert read_map(path).blocked.tolist() == [[False, True], [False, True]]


def test_negate_makes_light_occupied(tmp_path: Path) -> None:
    plain = read_map(saved(tmp_path)).blocked
    turned = saved(tmp_path, pgm(255 - PIXELS), negate="1")
    assert np.array_equal(read_map(turned).blocked, plain)


def test_a_turned_origin_turns_the_frame(tmp_path: Path) -> None:
    grid = read_map(saved(tmp_path, origin=f"[1.0, 2.0, {math.pi / 2}]"))
    assert grid.to_map((0.1, 0.0)) == pytest.approx((1.0, 2.1))


def test_the_thresholds_are_the_files_own(tmp_path: Path) -> None:
    """Value 205, the unknown of most maps, is free to a file that says so."""
    assert not read_map(saved(tmp_path, free_thresh="0.25")).blocked[2, 1]
    assert read_map(saved(tmp_path, free_thresh="0.196")).blocked[2, 1]
    # A cell at a threshold is neither free nor occupied, as map_server has it.
    even = saved(tmp_path, pgm(np.array([[204, 51]])), free_thresh="0.2", occupied_thresh="0.8")
    assert read_map(even).blocked.tolist() == [[True, True]]
    assert read_map(even, unknown="free").blocked.tolist() == [[False, False]]


def coloured(folder: Path, pixels: list[tuple[int, ...]], **keys: str) -> Path:
    Image.fromarray(np.array([pixels], dtype=np.uint8)).save(folder / "map.png")
    return saved(folder, b"", **{"image": "map.png", **keys})


def test_colours_are_averaged_and_alpha_means_what_the_mode_says(tmp_path: Path) -> None:
    white, black, clear, half = (255,) * 4, (0, 0, 0, 255), (0, 0, 0, 0), (255, 255, 255, 128)
    pixels = [white, black, clear, half]
    # Trinary averages alpha in: an opaque black is a quarter light, a clear black is black.
    assert read_map(coloured(tmp_path, pixels)).blocked.tolist() == [[False, True, True, False]]
    assert read_map(coloured(tmp_path, pixels), unknown="free").blocked.tolist() == [[False, True, True, False]]
    scale = coloured(tmp_path, pixels, mode="scale")
    assert read_map(scale).blocked.tolist() == [[False, True, True, True]]
    assert read_map(scale, unknown="free").blocked.tolist() == [[False, True, False, False]]
    grey = coloured(tmp_path, [(255, 255, 255), (255, 255, 230), (0, 0, 90)])
    assert read_map(grey).blocked.tolist() == [[False, False, True]]


def test_in_scale_mode_what_lies_between_the_thresholds_is_not_surely_free(tmp_path: Path) -> None:
    path = saved(tmp_path, pgm(np.array([[255, 180, 100, 20]])), mode="scale")
    assert read_map(path).blocked.tolist() == [[False, True, True, True]]
    assert read_map(path, unknown="free").blocked.tolist() == [[False, False, False, True]]


def test_in_raw_mode_values_are_percent_and_the_rest_is_unknown(tmp_path: Path) -> None:
    path = saved(tmp_path, pgm(np.array([[0, 19, 20, 65, 66, 100, 101, 255]])), mode="raw")
    assert read_map(path).blocked.tolist() == [[False, False, *[True] * 6]]
    assert read_map(path, unknown="free").blocked.tolist() == [[False, False, False, False, True, True, False, False]]


def test_numbers_may_be_written_as_yaml_takes_for_words(tmp_path: Path) -> None:
    assert read_map(saved(tmp_path, resolution="5e-2", negate="false")).resolution == 0.05


WRONG = {
    "no resolution": ({"resolution": None}, "field resolution|^[^\n]*resolution: is missing"),
    "no size": ({"resolution": "0"}, "line 2, field resolution: is 0, not between 1e-06 and 10 metres"),
    "negative": ({"resolution": "-0.05"}, "is -0.05, not between"),
    "enormous": ({"resolution": "50"}, "is 50, not between"),
    "not a number": ({"resolution": ".nan"}, "is nan, not between"),
    "a word": ({"resolution": "small"}, "is 'small', not between"),
    "a truth": ({"resolution": "true"}, "is True, not between"),
    "two numbers": ({"origin": "[0, 0]"}, r"line 3, field origin: is \[0, 0\], not three finite numbers"),
    "endless": ({"origin": "[0, 0, .inf]"}, "not three finite numbers"),
    "negate": ({"negate": "2"}, "line 4, field negate: is 2, not 0 or 1"),
    "order": ({"free_thresh": "0.7"}, r"line 6, field free_thresh: is 0\.7, above occupied_thresh, 0\.65"),
    "share": ({"occupied_thresh": "65"}, "line 5, field occupied_thresh: is 65, not between 0 and 1"),
    "mode": ({"mode": "grey"}, "line 7, field mode: is 'grey', not one of trinary, scale, raw"),
    "no image": ({"image": "''"}, "line 1, field image: is '', not the name of a file"),
    "a list": ({"image": "[a]"}, r"field image: is \['a'\], not the name of a file"),
    "absolute": ({"image": "/etc/passwd"}, "may be outside the folder of the map and is not opened"),
    "a drive": ({"image": "'C:\\map.pgm'"}, "may be outside the folder"),
    "above": ({"image": "../map.pgm"}, "may be outside the folder"),
    "up and down": ({"image": "maps/../../map.pgm"}, "may be outside the folder"),
    "missing": (
        {"image": "none.pgm"},
        r"line 1, field image: is 'none\.pgm', and there is no such file in the folder of the map",
    ),
    "an alias": ({"origin": "&a [0, 0, 0]", "mode": "*a"}, "line 7: is an alias of another part"),
    "depth": ({"mode": "[" * 2000 + "]" * 2000}, "line 7: is nested too deeply"),
    "no yaml": ({"mode": "[trinary"}, r"line \d+: is not YAML"),
    "code": ({"mode": "!!python/object/apply:os.getcwd []"}, "line 7: is not YAML"),
    "twice": ({"mode": "trinary\nnegate: 1"}, "line 8, field negate: occurs a second time"),
    "huge": ({"mode": "1" * 5000}, "is not YAML"),
}


@pytest.mark.parametrize(("keys", "words"), WRONG.values(), ids=WRONG.keys())
def test_every_fault_of_the_yaml_file_is_told_with_its_place(
    tmp_path: Path, keys: dict[str, str | None], words: str
) -> None:
    assert re.search(words, faults(saved(tmp_path, **keys)), re.MULTILINE)


def test_all_faults_are_told_together(tmp_path: Path) -> None:
    told = faults(saved(tmp_path, pgm(PIXELS)[:-2], resolution="0", origin=None, mode="odd"))
    for words in (
        "resolution: is 0",
        "origin: is missing",
        "mode: is 'odd'",
        "map.pgm pixels: ends after 7 of 9 pixels",
    ):
        assert words in told


BROKEN = {
    "cut short": (pgm(PIXELS)[:-3], "pixels: ends after 6 of 9 pixels"),
    "without pixels": (pgm(PIXELS)[:-9], "pixels: ends after 0 of 9 pixels"),
    "sixteen bits cut short": (pgm(PIXELS, white=300)[:-3], "pixels: ends after 7 of 9 pixels"),
    "plain, cut short": (pgm(PIXELS, kind="P2")[:-4], "pixels: ends after 7 of 9"),
    "plain, with a word": (pgm(PIXELS, kind="P2") + b"x", "'x' is not the value of a pixel"),
    "plain, beyond white": (pgm(PIXELS + 100, kind="P2"), "the value 354 in row 0, column 0 is above white, 255"),
    "beyond white": (pgm(PIXELS, white=100), "the value 254 in row 0, column 0 is above white, 100"),
    "a cut header": (b"P5\n# half", "header: is not a grayscale PGM"),
    "in colour": (b"P6\n1 1\n255\n\0\0\0", "header: is not a grayscale PGM"),
    "no white": (b"P5\n3 3\n0\n" + bytes(9), "header: the value of white is 0"),
    "too white": (b"P5\n3 3\n70000\n" + bytes(18), "header: the value of white is 70000"),
    "no size": (b"P5\n0 3\n255\n", "header: has 0 x 3 pixels"),
    "gigantic": (b"P5\n99999 99999\n255\n" + bytes(99), "header: has 99,999 x 99,999 pixels"),
    "absurd": (b"P5\n" + b"9" * 40 + b" 9\n255\n", "header: is not a grayscale PGM"),
    "empty": (b"", "is empty"),
    "something else": (b"GIF89a", "cannot be read as an image"),
}


@pytest.mark.parametrize(("image", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_every_fault_of_the_picture_is_told(tmp_path: Path, image: bytes, words: str) -> None:
    told = faults(saved(tmp_path, image))
    assert words in told
    assert "map.pgm" in told


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    path = saved(home)
    (home / "map.pgm").rename(elsewhere / "map.pgm")
    (home / "map.pgm").symlink_to(elsewhere / "map.pgm")
    assert "a link out of the folder" in faults(path)
    # Installed file by file, both are links into one folder.
    path.rename(elsewhere / "map.yaml")
    path.symlink_to(elsewhere / "map.yaml")
    assert read_map(path).resolution == 0.05


def test_what_is_no_map_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert "is an image, not the YAML file" in faults(tmp_path / "map.pgm")
    assert "no such file" in faults(tmp_path / "none.yaml")
    for content, words in [(b"", "no keys and values"), (b"- a\n- b\n", "no keys and values"), (b"\xff\xfe", "UTF-8"),
                           (b"a: \x00", "is not YAML"), (b" " * 70_000, "holds more than")]:  # fmt: skip
        path.write_bytes(content)
        assert words in faults(path)


MAP = "".join(f"{key}: {value}\n" for key, value in GOOD.items()).encode()
PNG = BytesIO()
Image.fromarray(PIXELS.astype(np.uint8)).save(PNG, "PNG")
tried = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with some bytes replaced, put in or left out."""
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 4)))
        content = (
            content[:begin]
            + draw(st.binary(max_size=4) | st.sampled_from([b"[", b"&a ", b"*a", b"-", b": ", b"!!"]))
            + content[end:]
        )
    return content


@given(
    content=damaged(MAP),
    picture=st.one_of(damaged(pgm(PIXELS)), damaged(pgm(PIXELS, kind="P2")), damaged(PNG.getvalue())),
)
@tried
def test_no_damage_gives_anything_but_a_grid_or_a_plain_refusal(tmp_path: Path, content: bytes, picture: bytes) -> None:
    path = saved(tmp_path, picture)
    for said in (MAP, content):
        path.write_bytes(said)
        try:
            assert read_map(path).blocked.size
        except BadFile as refusal:
            assert refusal.faults  # noqa: PT017


@pytest.mark.parametrize(("module", "package"), [("yaml", "PyYAML"), ("PIL.Image", "Pillow")])
def test_a_missing_package_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    path = coloured(tmp_path, [(255, 255, 255)])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"need {package}\. .*itinera\[maps\]"):
        read_map(path)


def test_a_map_is_recognised_by_its_keys(tmp_path: Path) -> None:
    found = detect(saved(tmp_path))
    assert (found.name, found.kind) == ("ros-map", "maps")
    assert found.read(tmp_path / "map.yaml").blocked.shape == (3, 3)


REAL = {
    "willow-2010-02-18-0.10.yaml": (566, 608, 0.10, (0.0, 0.0), 0.3173),
    "coda.yaml": (1184, 1088, 0.05, (-35.5, -24.25), 0.1298),
    "ipa-apartment/map.yaml": (544, 768, 0.05, (-19.2, -19.2), 0.2964),
    "small_house/map.yaml": (500, 500, 0.05, (-12.5, -12.5), 0.2521),
    "bookstore/map.yaml": (384, 384, 0.05, (-10.0, -10.0), 0.4197),
    "turtlebot3_world/map.yaml": (384, 384, 0.05, (-10.0, -10.0), 0.0538),
    "tb3_sandbox.yaml": (384, 384, 0.05, (-10.0, -10.0), 0.0536),
    "depot.yaml": (604, 307, 0.05, (0.0, 0.0), 0.9679),
    "warehouse.yaml": (1006, 1674, 0.03, (-15.1, -25.0), 0.8446),
}


@pytest.mark.real
@pytest.mark.parametrize("name", REAL)
def test_real_maps_are_read(data: Path, name: str) -> None:
    width, height, resolution, origin, free = REAL[name]
    grid = read_map(data / "maps" / name)
    assert grid.blocked.shape == (height, width)
    assert (grid.resolution, grid.origin, grid.rotation) == (resolution, origin, 0.0)
    assert 1 - grid.blocked.mean() == pytest.approx(free, abs=1e-4)
    # A robot has most of its room in one piece.
    sizes = np.bincount(grid.components(0.2).ravel())[1:]
    assert sizes.max() > 0.95 * sizes.sum()
