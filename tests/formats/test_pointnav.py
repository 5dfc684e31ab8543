"""PointNav files: our frame, the way back, and every fault named."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import POINT

from itinera.errors import BadArgument, BadFile
from itinera.formats import native_tasks, vlnce
from itinera.formats.pointnav import RADIUS, read_split, write_split
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose
from tiny import written

HALF = math.sqrt(0.5)


def episodes(path: Path, *records: Any) -> Path:
    return written(path, {"episodes": records})


def test_an_episode_stands_in_our_frame(tmp_path: Path) -> None:
    turned = POINT | {"start_rotation": [0.0, HALF, 0.0, HALF]}  # Habitat's quarter turn to the left
    split = read_split(episodes(tmp_path / "val.json.gz", turned))
    assert (split.name, split.protocol) == ("val", "pointnav")
    (episode,) = split.episodes
    assert (episode.id, episode.world_id, episode.instruction.text) == ("4", "house", "")
    assert np.asarray(episode.start.place).tolist() == [0.0, 1.0, 0.5]
    assert episode.start.heading == pytest.approx(math.pi)
    assert np.asarray(episode.goals).tolist() == [[3.0, 1.0, 0.5]]
    assert len(episode.reference) == 0
    assert episode.stated_distance == 3.5


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    named = POINT | {"episode_id": "007", "scene_id": "gibson/Hut.glb", "info": {"difficulty": "easy"}}
    before = episodes(tmp_path / "a.json", POINT, named, POINT | {"episode_id": "b", "info": None})
    write_split(tmp_path / "b.json", read_split(before))
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads(before.read_text())


def test_goals_without_a_radius_get_habitats(tmp_path: Path) -> None:
    episode = Episode("1", "house", Pose(np.zeros(3), 0.0), np.ones((1, 3)), (), Instruction(""))
    write_split(tmp_path / "a.json", Split("s", (episode,)))
    (record,) = json.loads((tmp_path / "a.json").read_text())["episodes"]
    assert record["goals"] == [{"position": [1.0, 1.0, -1.0], "radius": RADIUS}]
    assert (record["scene_id"], record["info"], record["shortest_paths"]) == ("house.glb", None, None)


def test_a_split_that_hides_its_goals_is_no_pointnav(tmp_path: Path) -> None:
    episode = Episode("1", "house", Pose(np.zeros(3), 0.0), (), (), Instruction("Go."))
    with pytest.raises(BadArgument, match='Episode "1" has no goal'):
        write_split(tmp_path / "a.json", Split("s", (episode,)))


@pytest.mark.parametrize("other", [vlnce, native_tasks])
def test_a_task_without_a_reference_is_not_written_where_one_belongs(tmp_path: Path, other: Any) -> None:
    split = read_split(episodes(tmp_path / "a.json", POINT))
    with pytest.raises(BadArgument, match="has a goal but no reference path"):
        other.write_split(tmp_path / "b.json", split)
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start_position": [1.0, 2.0]}, "record 0, field start_position"),
        ({"start_rotation": [0.0, 0.0, 0.0, 0.0]}, "must turn about the vertical axis only"),
        ({"start_rotation": [HALF, 0.0, 0.0, HALF]}, 'record 0 ("4"), field start_rotation'),
        ({"scene_id": ""}, "names no scene"),
        ({"goals": []}, "field goals: is empty"),
        ({"goals": None}, "field goals"),
        ({"goals": [{"radius": 0.2}]}, "position"),
        ({"info": {"geodesic_distance": "far"}}, "must be a number of metres"),
        ({"episode_id": None}, "field episode_id"),
    ],
)
def test_a_bad_episode_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_split(episodes(tmp_path / "a.json", POINT | change))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "Expected `object`"),
        ("{}", "episodes"),
        ('{"episodes": {}}', "Expected `array`"),
        (json.dumps({"episodes": [POINT, POINT]}), "4 is also the id of record 0"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_split(written(tmp_path / "a.json", text))
    assert said in str(error.value)
