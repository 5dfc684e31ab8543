"""`itinera view` end to end."""

from __future__ import annotations

import pytest

matplotlib = pytest.importorskip("matplotlib")


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
    # Neither blank nor noise.
    assert picture[..., :3].std() > 0.05


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("kitchen", "--plan"), "'kitchen' is not a house. Give an index, such as 7"),
        (("-1", "--plan"), "No such option"),
        (("hearth-x-1", "--plan"), "is not a house"),
        (("1",), "Choose one of --plan and --inside"),
        (("1", "--plan", "--inside"), "Choose one of --plan and --inside"),
        (("1", "--plan", "--season", "-3"), "seed must be ≥ 0 (got -3)"),
        (("hearth-1-001", "--plan", "--season", "2"), "is a house of season 1, not of season 2 (--season)"),
        (("1", "--inside", "--paths", "2"), "paths (--paths) is a number of paths to draw on the floor plan"),
        (("1", "--plan", "--paths", "-2"), "paths (--paths) is a number of paths"),
        (("1", "--plan", "--out", "a.svg"), "ends in .png, not '.svg'"),
    ],
)
def test_a_wrong_call_is_told(itinera, tmp_path, arguments, said):
    given = arguments if "--out" in arguments else (*arguments, "--out", tmp_path / "a.png")
    done = itinera("view", *given)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "a.png").exists()
