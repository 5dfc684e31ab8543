"""A season's folder: what houses leave behind is put together in their order, and a sealed split tells no answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cottage
from itinera.errors import BadArgument, BadFile
from itinera.formats import matterport, pointnav, r2r, reverie, rooms, rxr, vlnce
from itinera.formats.hearth_season import (
    SplitCounts,
    SplitPart,
    assemble,
    assemble_worlds,
    draw_secret,
    read_secret,
    season_houses,
    split_files,
    write_part,
)
from itinera.formats.scene_descriptions import read_descriptions
from itinera.hearth.language.scene_description import SceneDescription
from itinera.tasks import Alignment, Episode, Instruction
from itinera.worlds import NavGraph, Pose, VisibleObject, World

WORDS = Alignment(("Go", "on."), np.array([0, 2]), np.array([1, 3]), np.array([0.0, 0.5]), np.array([0.4, 1.0]))
STAYS = (("a", 0.0), ("b", 0.2), ("c", 0.5), ("d", 0.7))


def seen(name: str, distance: float) -> VisibleObject:
    return VisibleObject("2", name, np.array([7]), np.array([[1.0, 2, 3, 4]]), heading=0.0, distance=distance)


def world(name: str) -> World:
    objects = {node: (seen("coffee table", 2.0), seen("bed", 3.5)) for node in "abcd"}
    return replace(cottage.world(), id=name, objects=objects)


def part(name: str, path_id: int) -> SplitPart:
    """One path with two instructions, from one end of the cottage to the other."""
    graph = world(name).space
    assert isinstance(graph, NavGraph)
    path = tuple("abcd")
    told = [
        Episode(
            f"{path_id}_{i}", name, Pose("a", 1.0), path[-1:], path, Instruction("Go on."), str(path_id), WORDS, 9.5
        )
        for i in range(2)
    ]
    numbers = tuple(str(2 * path_id + i) for i in range(2))
    floor = graph.positions - (0.0, 0.0, 1.5)
    grounded = [
        replace(episode, id=number, start=Pose(floor[0], 1.0), goals=floor[-1:], reference=floor)
        for episode, number in zip(told, numbers, strict=True)
    ]
    point = Episode(str(path_id), name, Pose(floor[0], 0.5), floor[1:2], (), Instruction(""), stated_distance=4.0)
    dense = vlnce.DensePath(floor, np.array([1, 1, 1, 0]), 3)
    finds = tuple(replace(e, notes={"id": str(path_id), "objId": 2}, stated_distance=None) for e in told)
    spoken = tuple(replace(e, id=number) for e, number in zip(told, numbers, strict=True))
    arrivals = dict.fromkeys(numbers, STAYS)
    return SplitPart(tuple(told), spoken, arrivals, tuple(grounded), dict.fromkeys(numbers, dense), (point,), finds)


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The folders of three houses; the middle one has nothing for the split "test"."""
    folders = [tmp_path / name for name in ("hut", "barn", "attic")]
    for k, folder in enumerate(folders):
        split = "train" if folder.name == "barn" else "test"
        place = world(folder.name)
        descriptions = {node: SceneDescription(node, room.label, (), (), ()) for node, room in place.rooms.items()}
        write_part(folder, cottage.house(), place, descriptions, {split: part(folder.name, k)})
    return folders


def test_tasks_are_joined_in_the_order_of_the_houses(tmp_path, parts):
    assert assemble(tmp_path / "out", parts, "test") == SplitCounts(
        houses=2, paths=2, instructions=4, object_goals=2, pointnav=2
    )
    told = {what: tmp_path / "out" / file for what, file in split_files("test").items()}
    assert [e.id for e in r2r.read_split(told["r2r"]).episodes] == ["0_0", "0_1", "2_0", "2_1"]
    assert r2r.read_split(told["r2r"]).world_ids == ("hut", "attic")
    assert [e.id for e in vlnce.read_split(told["vlnce"]).episodes] == ["0", "1", "4", "5"]
    assert list(vlnce.read_dense(told["dense"])) == ["0", "1", "4", "5"]
    assert [e.id for e in pointnav.read_split(told["pointnav"]).episodes] == ["0", "2"]
    assert [(e.id, e.notes["objId"]) for e in reverie.read_split(told["reverie"]).episodes[-2:]] == [
        ("2_0", 2),
        ("2_1", 2),
    ]
    spoken = rxr.with_alignment(rxr.read_split(told["rxr"]), told["traces"]).episodes[-1]
    assert spoken.alignment is not None
    assert (spoken.alignment.first.tolist(), spoken.alignment.last.tolist()) == ([0, 2], [1, 3])


def test_a_sealed_split_tells_neither_goal_nor_way(tmp_path, parts):
    assemble(tmp_path / "out", parts, "test", sealed=True)
    told = {what: tmp_path / "out" / file for what, file in split_files("test").items()}
    for form in (r2r, rxr, vlnce, reverie):
        hidden = form.read_split(told[form.__name__.rpartition(".")[2]])
        assert hidden.withheld_goals == len(hidden.episodes) == 4
        assert all(e.stated_distance is None and not len(e.reference) for e in hidden.episodes)
        assert all("objId" not in e.notes and e.alignment is None for e in hidden.episodes)
    assert not told["dense"].exists()
    assert not told["traces"].exists()
    assert pointnav.read_split(told["pointnav"]).withheld_goals == 0


def test_the_episodes_of_a_sealed_split_are_in_the_order_of_their_ids(tmp_path, parts):
    assemble(tmp_path / "out", parts[::-1], "test", sealed=True, by_id=True)
    told = {what: tmp_path / "out" / file for what, file in split_files("test").items()}
    assert [e.id for e in r2r.read_split(told["r2r"]).episodes] == ["0_0", "0_1", "2_0", "2_1"]
    assert [e.id for e in vlnce.read_split(told["vlnce"]).episodes] == ["0", "1", "4", "5"]


def test_a_secret_is_random_and_for_its_owner_only(tmp_path):
    secret = draw_secret(tmp_path / "answers/secret.txt")
    assert len(secret) == 32
    assert read_secret(tmp_path / "answers/secret.txt") == secret
    assert (tmp_path / "answers/secret.txt").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "answers").stat().st_mode & 0o777 == 0o700
    assert draw_secret(tmp_path / "other.txt") != secret


def test_a_secret_is_never_overwritten(tmp_path):
    draw_secret(tmp_path / "secret.txt")
    before = (tmp_path / "secret.txt").read_bytes()
    with pytest.raises(BadFile, match="cannot be written"):
        draw_secret(tmp_path / "secret.txt")
    assert (tmp_path / "secret.txt").read_bytes() == before


@pytest.mark.parametrize("text", ["", "abc", "correct horse battery staple, and more of it", "g" * 64, "0" * 63])
def test_a_text_of_ones_own_is_no_secret(tmp_path, text):
    (tmp_path / "secret.txt").write_text(text)
    with pytest.raises(BadFile, match="is not a secret of 32 random bytes"):
        read_secret(tmp_path / "secret.txt")


def test_a_split_that_no_house_gives_to_is_empty(tmp_path, parts):
    assert assemble(tmp_path / "out", parts, "val_seen") == SplitCounts(0, 0, 0, 0, 0)
    assert r2r.read_split(tmp_path / "out" / split_files("val_seen")["r2r"]).episodes == ()


def test_places_are_put_together_with_rooms_and_near_objects(tmp_path, parts):
    assemble_worlds(tmp_path / "out", parts)
    worlds = matterport.read_worlds(tmp_path / "out/connectivity")
    assert set(worlds) == {"hut", "barn", "attic"}
    assert (tmp_path / "out/connectivity/scans.txt").read_text().split() == ["hut", "barn", "attic"]
    assert rooms.read_table(tmp_path / "out/rooms.csv")["barn"] == cottage.world().rooms
    assert read_descriptions(tmp_path / "out/scene_descriptions")["barn"]["a"].room == "k"
    assert rooms.read_house(tmp_path / "out/houses/barn.house") == cottage.world().rooms
    objects = reverie.read_objects(tmp_path / "out/reverie/BBox.tar.gz")["attic"]["a"]
    assert [thing.name for thing in objects] == ["coffee table"]  # the bed is farther than REVERIE looks


def test_the_same_parts_give_the_same_bytes(tmp_path, parts):
    for name in ("once", "again"):
        assemble(tmp_path / name, parts, "test")
        assemble_worlds(tmp_path / name, parts)
    once = sorted(file for file in (tmp_path / "once").rglob("*") if file.is_file())
    assert len(once) > 10
    for file in once:
        assert file.read_bytes() == (tmp_path / "again" / file.relative_to(tmp_path / "once")).read_bytes()


SEASON = {"itinera": "season", "config": {"seed": 1}, "houses": {"train": ["hearth-1-002"], "test": ["hearth-1-013"]}}


def season(folder: Path, text: str) -> dict[str, tuple[int, int]] | None:
    (folder / "season.json").write_text(text)
    return season_houses(folder)


def test_the_houses_of_a_season_are_its_seed_and_their_indices(tmp_path: Path) -> None:
    assert season_houses(tmp_path) is None
    assert season(tmp_path, json.dumps(SEASON)) == {"hearth-1-002": (1, 2), "hearth-1-013": (1, 13)}
    assert season(tmp_path, json.dumps(SEASON | {"config": {"seed": None}})) is None


def test_a_season_of_version_1_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="built by version 1 of the generator") as refused:
        season(tmp_path, json.dumps(SEASON | {"config": {"seed": 1, "hearth": 1}}))
    assert "Build the season again (itinera build hearth)." in str(refused.value)
    assert season(tmp_path, json.dumps(SEASON | {"config": {"seed": 1, "hearth": 2}})) is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"config": None}, "config: Expected `object`, got `null`"),
        ({"config": {"seed": "1"}}, "config.seed: Expected `int | null`, got `str`"),
        ({"config": {"seed": 1.5}}, "config.seed: Expected `int | null`, got `float`"),
        ({"config": {"seed": -1}}, "config.seed: must be at least 0"),
        ({"config": {"seed": 2**200}}, "config.seed: "),
        ({"config": {}}, "missing required field `seed`"),
        ({"houses": ["hearth-1-002"]}, "houses: Expected `object`, got `array`"),
        ({"houses": {"train": "hearth-1-002"}}, "Expected `array`, got `str`"),
        ({"houses": {"train": [1]}}, "Expected `str`, got `int`"),
        ({"houses": {"train": ["hearth"]}}, "houses: 'hearth' does not end in the index of a house"),
        ({"houses": {"train": ["hearth-1-" + "9" * 5000]}}, "does not end in the index of a house"),
        ({"houses": {"train": ["hearth-1-x"]}}, "does not end in the index of a house"),
        ({"houses": {"train": ["-1"]}}, "does not end in the index of a house"),
    ],
)
def test_a_hostile_season_file_is_refused(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(BadFile) as error:
        season(tmp_path, json.dumps(SEASON | changes))
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["", "[", "[]", '"x"', "{}", "[" * 100_000, '{"config":{"seed":' + "9" * 5000 + "}}"])
def test_a_season_file_that_is_no_such_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadFile):
        season(tmp_path, text)


def test_a_house_whose_id_is_no_file_name_is_not_written(tmp_path: Path) -> None:
    odd = replace(world("hut"), id="../hut")
    with pytest.raises(BadArgument, match="cannot be the name of a file"):
        write_part(tmp_path / "part", None, odd, {}, {})  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
