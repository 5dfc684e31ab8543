"""Agents on what all of them solved: the same episodes for all, with the house's intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.reports.intersection import Intersection, MetricMeans, intersect
from itinera.stats import interval, mean_over_joint
from itinera.tasks.fastest_times import ReferenceRobot
from reports.example_tables import table

SCENES = "aabbcc"
SOLVED = {"one": [1, 1, 1, 0, 1, 1], "two": [1, 1, 0, 1, 1, 1]}
FAST = {"one": [0.9, 0.8, 0.7, 0, 0.9, 0.6], "two": [0.5, 0.4, 0, 0.9, 0.7, 0.6]}
TABLES = [table(SCENES, SR=SOLVED[name], SCT=FAST[name]) for name in ("one", "two")]


def means(found: tuple[MetricMeans, ...]) -> dict[str, list[float]]:
    return {mean.column.name: [round(i.mean, 6) for i in mean.intervals] for mean in found}


def compared(*tables) -> Intersection:
    return intersect(["one", "two"], tables)


def test_the_intersection_is_over_what_every_agent_solved() -> None:
    found = compared(*TABLES)
    assert (found.episodes, found.solved, found.scenes) == (6, 4, 3)
    assert means(found.all_episodes) == {"SCT": [0.65, 0.516667], "SR": [0.833333, 0.833333]}
    assert means(found.solved_by_all) == {"SCT∩": [0.8, 0.55]}
    joint = mean_over_joint([FAST["one"], FAST["two"]], [SOLVED["one"], SOLVED["two"]])
    assert means(found.solved_by_all)["SCT∩"] == joint.round(6).tolist()


def test_intervals_take_scenes_as_the_sample() -> None:
    shared = compared(*TABLES).solved_by_all[0].intervals[0]
    by_hand = interval([0.9, 0.8, 0.9, 0.6], clusters=list("aacc"), bounds=(0.0, 1.0))
    assert (shared.low, shared.high, shared.method) == (by_hand.low, by_hand.high, by_hand.method)


def test_episodes_are_paired_by_id_and_what_one_agent_lacks_is_left_out_of_all() -> None:
    mixed = table(SCENES[::-1], episode_ids=[f"e{i}" for i in range(6)][::-1], SR=SOLVED["two"][::-1],
                  SCT=[0.6, math.nan, 0.9, 0, 0.4, 0.5])  # fmt: skip
    found = compared(TABLES[0], mixed)
    (sct,) = found.solved_by_all
    assert (found.solved, sct.episodes) == (4, 3)
    assert means(found.solved_by_all) == {"SCT∩": [round((0.9 + 0.8 + 0.6) / 3, 6), 0.5]}


def test_where_nobody_solved_the_same_it_is_undefined() -> None:
    found = compared(table("ab", SR=[1, 0], SPL=[1, 0]), table("ab", SR=[0, 1], SPL=[0, 1]))
    assert found.solved == 0
    assert found.solved_by_all[0].intervals == ()
    assert found.to_table().rows[0][-1] == "undefined"


def test_agents_that_move_in_their_own_ways_share_a_table_and_other_rules_do_not() -> None:
    one = table(SCENES, protocol="pointnav", SR=SOLVED["one"])
    drives = replace(one, protocol=replace(one.protocol, drive="unicycle-6", step_size=0.5))
    assert compared(one, drives).solved == 5
    with pytest.raises(BadArgument, match="Results of different protocols cannot be compared"):
        compared(one, replace(one, protocol=replace(one.protocol, success_radius=1.0)))
    with pytest.raises(BadArgument, match="Score both with the same suite"):
        compared(one, replace(one, fingerprint="of another robot"))


def test_without_success_nobody_knows() -> None:
    with pytest.raises(BadArgument, match=r"does not measure the success rate \(SR\)"):
        compared(*[table("ab", SPL=[1, 0])] * 2)


def test_the_grid_has_a_row_per_agent_and_tells_the_robot() -> None:
    grid = compared(*(replace(t, robot=ReferenceRobot(goal_radius=0.2)) for t in TABLES)).to_table()
    assert grid.headings == ("agent", "SCT % ↑", "SR % ↑", "SCT∩ % ↑")
    assert [row[0] for row in grid.rows] == ["one", "two"]
    assert grid.rows[1][3].startswith("55.0 [")
    assert "6 episodes in 3 scenes, 4 solved by every agent" in grid.title
    told = "a unicycle robot of radius 0.2 m at 0.25 m/s and 10 °/s, within 0.2 m of the goal"
    assert grid.title.endswith(f"fastest times of {told}")


def test_plain_values_are_fractions() -> None:
    told = compared(*TABLES).to_dict()
    assert told["solved_by_all"] == 4
    held = told["metrics"]["SCT∩"]  # type: ignore[index]
    assert held["episodes"] == 4
    assert np.isclose(held["means"]["two"]["mean"], 0.55)
