"""Data sets in numbers, worked by hand on a street and a crossing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.analysis.datasets import (
    SummaryStatistics,
    count_turn_sectors,
    count_words,
    describe,
    describe_tours,
    overlap_fractions,
    split_words,
    straight_fraction,
    turn_angles,
)
from itinera.errors import BadFile
from itinera.formats import matterport, r2r
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Euclidean, NavGraph, Pose, Ragged, World
from text_worlds import STREET, graphs, walks_in, world

WORLDS = {
    "house": world(STREET),  # a-b-c-d-e-f, 2 m apart
    "hut": world(STREET, "hut"),
}


def path(path_id: str, nodes: str, *texts: str, scene: str = "house") -> list[Episode]:
    """The episodes of a path, one for each text; every letter is a node."""
    return [
        Episode(f"{path_id}_{i}", scene, Pose(nodes[0]), (nodes[-1],), tuple(nodes), Instruction(text), path_id)
        for i, text in enumerate(texts or ("go",))
    ]


def split(*paths: list[Episode], tours: tuple[Tour, ...] = ()) -> Split:
    return Split("drawn", tuple(episode for episodes in paths for episode in episodes), tours)


def test_paths_and_instructions_are_counted_apart():
    found = describe(split(path("1", "abc", "go on", "Go, on!", "stop"), path("2", "de")), WORLDS)
    assert (found.scenes, found.paths, found.withheld, found.instructions) == (1, 2, 0, 4)
    assert found.instructions_per_path.tolist() == [3, 1]
    assert found.words.tolist() == [2, 2, 1, 1]
    assert found.vocabulary == 3  # go, on, stop


def test_lengths_are_walked_and_distances_are_not():
    # There and back again: 6 m of way to a goal 2 m away; and a straight one of 4 m.
    found = describe(split(path("1", "abcb", "x", "y"), path("2", "def")), WORLDS)
    assert found.lengths.tolist() == [6.0, 4.0]
    assert found.distances.tolist() == [2.0, 4.0]
    assert found.edges.tolist() == [3, 2]
    assert SummaryStatistics.from_values(found.lengths) == SummaryStatistics(5.0, 1.0, 4.0, 6.0)
    assert SummaryStatistics.from_values(found.lengths, found.instructions_per_path).mean == pytest.approx(
        16 / 3
    )  # 6, 6, 4


def test_equal_path_ids_in_two_scenes_are_two_paths():
    found = describe(split(path("1", "abc"), path("1", "cd", scene="hut")), WORLDS)
    assert (found.scenes, found.paths) == (2, 2)
    assert found.lengths.tolist() == [4.0, 2.0]


def test_values_stand_in_the_order_of_the_file_when_scenes_alternate():
    mixed = split(path("1", "ab"), path("2", "abc", scene="hut"), path("3", "abcd"), path("4", "abcde", scene="hut"))
    assert describe(mixed, WORLDS).edges.tolist() == [1, 2, 3, 4]


def test_the_nearest_of_several_goals_counts():
    episode = Episode("1", "house", Pose("a"), ("f", "c"), tuple("abcdef"), Instruction("go"))
    assert describe(Split("drawn", (episode,)), WORLDS).distances.tolist() == [4.0]


def test_paths_whose_goal_is_withheld_are_counted_but_not_measured():
    hidden = Episode("9_0", "house", Pose("a"), (), (), Instruction("find it"), "9")
    found = describe(split([hidden], path("1", "abc")), WORLDS)
    assert (found.paths, found.withheld, found.lengths.tolist()) == (2, 1, [4.0])
    assert found.words.tolist() == [2, 1]
    nothing = describe(split([hidden]), WORLDS)
    assert (nothing.withheld, len(nothing.lengths), len(nothing.turns)) == (1, 0, 0)
    assert SummaryStatistics.from_values(nothing.lengths) is None


def test_stated_distances_are_told_where_they_are_stated():
    stating = Episode("1", "house", Pose("a"), ("b",), ("a", "b"), Instruction("go"), stated_distance=2.5)
    found = describe(split([stating], path("2", "cd")), WORLDS).stated
    assert found[0] == 2.5
    assert math.isnan(found[1])


def test_a_goal_no_way_leads_to_is_infinitely_far():
    apart = NavGraph.from_edges({"a": (0, 0, 0), "b": (1, 0, 0), "c": (9, 0, 0)}, [("a", "b")])
    lost = Episode("1", "house", Pose("a"), ("c",), ("a", "b"), Instruction("go"))
    found = SummaryStatistics.from_values(describe(Split("drawn", (lost,)), {"house": World("house", apart)}).distances)
    assert found == SummaryStatistics(math.inf, math.inf, math.inf, math.inf)


def test_overlap_is_the_share_of_a_paths_places_that_other_paths_visit():
    # Of a, b, c only c is on another path; of c, d, c: c is; f stands alone; the hut's a and b are other places.
    found = describe(
        split(path("1", "abc", "x", "y"), path("2", "cdc"), path("3", "f"), path("4", "ab", scene="hut")), WORLDS
    )
    assert found.overlaps.tolist() == [pytest.approx(1 / 3), 0.5, 0.0, 0.0]


@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=5), min_size=1, max_size=5))
def test_overlap_equals_that_of_sets(rows):
    expected = [
        len(set(row) & set().union(*(other for j, other in enumerate(rows) if j != i))) / len(set(row))
        for i, row in enumerate(rows)
    ]
    assert overlap_fractions(Ragged.from_rows(rows, dtype=np.int64)).tolist() == pytest.approx(expected)


def test_turns_are_told_from_move_to_move_left_positive():
    # East, north (left), north (straight on), west (left), east (back).
    corners = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [2, 4, 1], [0, 4, 1], [2, 4, 1]], dtype=float)
    turns = turn_angles(Ragged.from_rows([corners, corners[:2]]))
    assert np.degrees(turns) == pytest.approx([90, 0, 90, 180])
    assert straight_fraction(turns) == 0.25
    assert count_turn_sectors(turns, sectors=4).tolist() == [1, 2, 1, 0]


def test_places_stood_on_and_stairs_straight_up_turn_nowhere():
    climb = np.array([[0, 0, 0], [2, 0, 0], [2, 0, 0], [2, 0, 3], [2, 2, 3]], dtype=float)
    assert len(turn_angles(Ragged.from_rows([climb]))) == 0
    assert math.isnan(straight_fraction(np.empty(0)))


def test_a_turn_of_fifteen_degrees_still_goes_straight_on():
    assert straight_fraction(np.radians([15.0, -15.0, 16.0, -40.0])) == 0.5


@given(st.data())
def test_turns_of_a_way_back_are_those_of_the_way_there_mirrored(data):
    graph = data.draw(graphs(connected=True))
    walk = graph.positions[graph.locate(data.draw(walks_in(graph)))]
    there, back = turn_angles(Ragged.from_rows([walk])), turn_angles(Ragged.from_rows([walk[::-1]]))
    assert np.all((-np.pi < there) & (there <= np.pi))
    # Turning round is neither left nor right.
    assert np.cos(back[::-1]) == pytest.approx(np.cos(there), abs=1e-9)
    assert np.sin(back[::-1]) == pytest.approx(-np.sin(there), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Walk past the sofa. ", ["walk", "past", "the", "sofa"]),
        ("door.Turn,left", ["door", "turn", "left"]),
        ("don’t stop - don't!", ["don't", "stop", "don't"]),
        ("the 'red' T-shaped room ' ", ["the", "red", "t", "shaped", "room"]),
        ("सोफे के पास, रुकें।", ["सोफे", "के", "पास", "रुकें"]),
        (" .\n", []),
    ],
)
def test_words_stand_between_white_space_and_punctuation(text, words):
    assert split_words(text) == words
    counts, vocabulary = count_words([text, text])
    assert (counts.tolist(), vocabulary) == ([len(words)] * 2, len(set(words)))


def test_tours_are_told_by_their_lengths():
    tours = (Tour("0", "house", ("1_0", "2_0")), Tour("1", "house", ("1_1",)), Tour("2", "hut", ("3_0",)))
    toured = split(path("1", "abc", "x", "y"), path("2", "cd"), path("3", "ab", scene="hut"), tours=tours)
    found = describe_tours(toured)
    assert (found.scenes, found.episodes, found.lengths.tolist(), found.per_scene) == (2, 4, [2, 1, 1], 1.5)
    spread = SummaryStatistics.from_values(found.lengths)
    assert (spread.mean, spread.min, spread.max) == (pytest.approx(4 / 3), 1, 2)
    assert spread.sd == pytest.approx(math.sqrt(2 / 9))  # of the population
    assert describe(toured, WORLDS).tours.episodes == 4
    assert describe_tours(split(path("1", "abc"))) is None


def test_open_ground_is_described_in_straight_lines():
    points = np.array([[0.0, 0, 0], [3, 0, 0], [3, 4, 0]])
    episodes = tuple(Episode(n, "lawn", Pose(points[0]), points[-1:], points, Instruction("go")) for n in ("1", "2"))
    found = describe(Split("ground", episodes), {"lawn": World("lawn", Euclidean())})
    assert (found.lengths.tolist(), found.distances.tolist()) == ([7.0, 7.0], [5.0, 5.0])
    assert found.overlaps.tolist() == [1.0, 1.0]
    assert np.degrees(found.turns) == pytest.approx([90, 90])


def test_every_path_that_leaves_its_graph_is_named():
    with pytest.raises(BadFile) as error:
        describe(split(path("1", "axc"), path("2", "ab"), path("3", "yz")), WORLDS)
    assert [fault.where for fault in error.value.faults] == ['path "1"', 'path "3"']
    assert "node x is not in world house" in str(error.value)


def test_a_world_that_is_not_given_is_named():
    with pytest.raises(BadFile, match="world cave is missing"):
        describe(split(path("1", "ab", scene="cave")), WORLDS)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "counts", "length", "distance"),
    [
        ("train", (61, 4675, 14039), 9.91, 9.91),
        ("val_seen", (56, 340, 1021), 10.19, 10.19),
        ("val_unseen", (11, 783, 2349), 9.50, 9.48),
    ],
)
def test_r2r_is_as_stay_on_the_path_tells(data, name, counts, length, distance):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    found = describe(r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz"), worlds)
    assert (found.scenes, found.paths, found.instructions) == counts
    assert found.lengths.mean() == pytest.approx(length, abs=0.005)
    assert found.distances.mean() == pytest.approx(distance, abs=0.005)
    assert found.edges.max() == 6  # "the largest path in the dataset has only 6 edges"
