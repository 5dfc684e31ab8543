"""Tours through the paths of a scene."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.builders.tours import TourConfig, tour_scene
from itinera.errors import BadArgument, BadFile, GoalsWithheld
from itinera.formats import matterport, r2r
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Euclidean, Pose, World
from text_worlds import STREET, world


def path(path_id: str, nodes: str, instructions: int = 1) -> list[Episode]:
    return [
        Episode(f"{path_id}_{i}", "house", Pose(nodes[0]), (nodes[-1],), tuple(nodes), Instruction("go"), path_id)
        for i in range(instructions)
    ]


def split(*paths: list[Episode]) -> Split:
    return Split("test", tuple(episode for episodes in paths for episode in episodes))


STREETS = {"house": world(STREET)}  # a-b-c-d-e-f, 2 m apart
TWO_STREETS = {"house": world("a-b-c   d-e-f")}


def test_paths_follow_one_another_where_they_meet():
    # 2 ends where 3 starts, 3 where 1 starts: nobody is led anywhere.
    (found,) = tour_scene(split(path("1", "cd"), path("2", "ab"), path("3", "bc")), "house", STREETS)
    assert found.path_ids == ("2", "3", "1")
    assert found.found.cost == found.found.bound == 0.0
    assert found.found.proven
    assert found.tours == (("2_0", "3_0", "1_0"),)


def test_hidden_goals_are_toured_from_start_to_start():
    hidden = [Episode(f"{n}_0", "house", Pose(n), (), (), Instruction("go"), n) for n in "cfab"]
    with pytest.raises(GoalsWithheld, match="start-to-start"):
        tour_scene(Split("hidden", tuple(hidden)), "house", STREETS)
    (found,) = tour_scene(Split("hidden", tuple(hidden)), "house", STREETS, TourConfig(order="start-to-start"))
    assert found.path_ids in (("a", "b", "c", "f"), ("f", "c", "b", "a"))
    assert found.found.cost == 10.0


def test_there_are_as_many_tours_as_every_path_has_instructions_and_none_is_asked_twice():
    (found,) = tour_scene(split(path("1", "ab", 4), path("2", "bc", 3)), "house", STREETS)
    assert len(found.tours) == 3
    asked = [name for tour in found.tours for name in tour]
    assert len(set(asked)) == 6
    assert {name for name in asked if name.startswith("2")} == {"2_0", "2_1", "2_2"}
    (fewer,) = tour_scene(split(path("1", "ab", 4), path("2", "bc", 3)), "house", STREETS, TourConfig(tours=2))
    assert len(fewer.tours) == 2


def test_the_seed_says_which_instruction_is_asked_in_which_tour():
    of = split(path("1", "ab", 3), path("2", "bc", 3))
    drawn = {tour_scene(of, "house", STREETS, TourConfig(seed=seed))[0].tours for seed in range(20)}
    assert len(drawn) > 5
    assert tour_scene(of, "house", STREETS, TourConfig(seed=3))[0].tours in drawn


def test_what_cannot_be_reached_is_another_tour_and_a_path_alone_none():
    of = split(path("1", "ab"), path("2", "de"), path("3", "bc"), path("4", "ef"))
    found = tour_scene(of, "house", TWO_STREETS)
    assert [group.path_ids for group in found] == [("1", "3"), ("2", "4")]
    lonely = split(path("1", "ab"), path("2", "de"), path("3", "bc"))
    assert [group.path_ids for group in tour_scene(lonely, "house", TWO_STREETS)] == [("1", "3")]
    kept = tour_scene(lonely, "house", TWO_STREETS, TourConfig(single=True))
    assert [group.path_ids for group in kept] == [("1", "3"), ("2",)]
    assert kept[1].tours == (("2_0",),)


def test_paths_on_the_ground_are_toured_by_the_distances_of_their_space():
    def leg(name: str, start: float, end: float) -> Episode:
        points = np.array([[start, 0.0, 0.0], [end, 0.0, 0.0]])
        return Episode(name, "hall", Pose(points[0]), points[1:], points, Instruction("go"), name)

    worlds = {"hall": World("hall", Euclidean())}
    of = Split("ground", (leg("x", 5.0, 6.0), leg("y", 0.0, 2.0), leg("z", 2.5, 4.0)))
    (found,) = tour_scene(of, "hall", worlds)
    assert found.path_ids == ("y", "z", "x")
    assert found.found.cost == pytest.approx(0.5 + 1.0)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadArgument, match=r"tours must be ≥ 1 \(got 0\)"):
        TourConfig(tours=0)
    with pytest.raises(BadFile, match="world house is not among the worlds"):
        tour_scene(split(path("1", "ab")), "house", {})


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "scenes", "episodes", "tours", "mean", "least", "most", "spread", "cost"),
    [
        pytest.param("train", 61, 14025, 183, 76.6, 2, 99, 28.4, 13358.9, marks=pytest.mark.slow),
        ("val_seen", 53, 1011, 159, 6.4, 2, 11, 2.1, 2231.8),
        ("val_unseen", 11, 2349, 33, 71.2, 6, 100, 34.0, 1823.1),
    ],
)
def test_ir2r_comes_out_in_every_cell_of_table_1(data, name, scenes, episodes, tours, mean, least, most, spread, cost):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    of = r2r.read_split(data / f"r2r/R2R_{name}.json.gz")
    groups = [group for world_id in of.world_ids for group in tour_scene(of, world_id, worlds)]
    lengths = np.array([len(tour) for group in groups for tour in group.tours])
    assert len({group.world_id for group in groups}) == scenes
    assert (lengths.sum(), len(lengths)) == (episodes, tours)
    assert round(float(lengths.mean()), 1) == mean
    assert (lengths.min(), lengths.max()) == (least, most)
    assert round(float(lengths.std()), 1) == spread
    assert all(group.found.proven for group in groups)
    assert sum(group.found.cost for group in groups) <= cost + 0.05
