"""Files of subsets: what is written is read, and what was changed is refused."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from examples import EXAMPLES

from itinera.analysis.sampling import draw_subset
from itinera.errors import BadFile
from itinera.formats.episode_selection import label_selection, read_episode_ids, select_part
from itinera.formats.subsets import read_subset, write_subset
from itinera.tasks import Split
from small_split import make_scores, make_split
from tiny import written

SPLIT = make_split()


@pytest.fixture
def file(tmp_path):
    write_subset(tmp_path / "subset.json", draw_subset(SPLIT, 50, reference=make_scores(SPLIT, 1)))
    return tmp_path / "subset.json"


def test_a_subset_is_read_as_it_was_written(file):
    drawn = draw_subset(SPLIT, 50, reference=make_scores(SPLIT, 1))
    assert asdict(read_subset(file)) == asdict(drawn)
    assert read_episode_ids(file) == drawn.ids


def test_a_subset_selects_its_episodes_and_names_itself(file):
    part = select_part(SPLIT, file)
    assert set(part.by_id) == set(read_subset(file).ids)
    assert part.part.name == label_selection(file) == read_subset(file).label
    assert part.part.digest == read_subset(file).digest
    assert len(select_part(part, file)) == 50  # the subset of itself


@pytest.mark.parametrize(
    "other",
    [Split("small", SPLIT.episodes[:-1]), Split("moved", tuple(make_split(instructions=2)))],
    ids=["an episode less", "other episodes"],
)
def test_a_subset_of_another_split_is_refused_by_digest(file, other):
    with pytest.raises(BadFile, match=r"split_digest: is a subset of small, .*, a split of 204 episodes \(digest"):
        select_part(other, file)


def test_the_same_ids_in_other_scenes_are_another_split(file):
    from dataclasses import replace

    moved = Split("small", tuple(replace(one, world_id=f"new {one.world_id}") for one in SPLIT))
    with pytest.raises(BadFile, match="and small is another"):
        select_part(moved, file)


def changed(**fields):
    return json.loads(EXAMPLES["subset"]) | fields


STRATUM = changed()["strata"][0]
FAULTS = {
    "another id": (changed(ids=["1_0", "1_1"]), "ids: does not list the ids of its strata"),
    "twice": (changed(ids=["1_0", "1_0"]), "ids: does not list"),
    "digest": (changed(digest="0" * 16), "digest: has the digest 0000000000000000, but its ids have"),
    "total": (changed(episodes=4), "do not add up to 4 episodes"),
    "newer": (changed(format=9), "is of format 9, but this version reads up to 1"),
    "too many drawn": (changed(strata=[STRATUM | {"paths": 1}]), "has other paths or episodes than its sample"),
    "too few paths": (
        changed(
            ids=["1_0"], digest="8e4f2a5e6d0f51d5", strata=[STRATUM | {"sample": [{"episodes": 2, "ids": ["1_0"]}]}]
        ),
        "has one sampled path of several",
    ),
    "too few episodes": (
        changed(strata=[STRATUM | {"sample": [{"episodes": 1, "ids": ["1_0", "2_0"]}, {"episodes": 2, "ids": ["3"]}]}]),
        "has a path with more ids than episodes",
    ),
}


@pytest.mark.parametrize(("content", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_changed_file_is_refused(tmp_path, content, message):
    with pytest.raises(BadFile, match=message):
        read_subset(written(tmp_path / "subset.json", content))
