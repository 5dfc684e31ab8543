"""Journeys joined from short paths, against the straightforward way with networkx."""

from __future__ import annotations

import gzip
import itertools
import json
from typing import Any

import networkx
import numpy as np
import pytest

from itinera.builders.joining import JoinConfig, join_paths, preview_scene_paths
from itinera.errors import BadArgument, BadFile, GoalsWithheld
from itinera.formats import matterport, r2r
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import NavGraph, Pose
from text_worlds import STREET, episode, world


def path(path_id: str, nodes: str, *texts: str) -> list[Episode]:
    """The episodes of a path, one for each text; every letter is a node."""
    start = Pose(nodes[0], 0.5)
    return [
        Episode(f"{path_id}_{i}", "house", start, (nodes[-1],), tuple(nodes), Instruction(text), path_id)
        for i, text in enumerate(texts or (f"go {path_id}",))
    ]


def split(*paths: list[Episode]) -> Split:
    return Split("test", tuple(itertools.chain(*paths)))


STREETS = {"house": world(STREET)}  # a-b-c-d-e-f, 2 m apart


def journeys(of: Split, **options: Any) -> list[str]:
    return ["".join(j.path) for j in join_paths(of, STREETS, JoinConfig(**options))]


def test_paths_join_where_the_next_starts_near_the_end_and_the_way_between_is_walked():
    # 1 ends on c. 2 starts there; 3 starts on d, 2 m on; 4 on e, 4 m on, which is too far.
    of = split(path("1", "abc"), path("2", "cb"), path("3", "def"), path("4", "ef"))
    found = {j.part_ids: "".join(j.path) for j in join_paths(of, STREETS)}
    assert found == {("1", "2"): "abcb", ("1", "3"): "abcdef", ("2", "1"): "cbabc", ("2", "2"): "cbcb",
                     ("3", "4"): "defef", ("4", "4"): "efef"}  # fmt: skip


@pytest.mark.parametrize("parts", [2, 3, 4])
@pytest.mark.parametrize("options", [{}, {"round_trips": False}, {"max_paths": 3}, {"max_turn": 1.0}])
def test_a_preview_counts_the_joined_paths_and_shows_some_of_them(parts, options):
    of = split(path("1", "abc"), path("2", "cb"), path("3", "def"), path("4", "ef"), path("5", "cba"))
    config = JoinConfig(parts, **options)
    found = [j.part_ids for j in join_paths(of, STREETS, config)]
    count, examples = preview_scene_paths(of, "house", STREETS, config, examples=4)
    assert count == len(found)
    assert bool(found) <= len(examples) <= 4
    everything = {j.part_ids for j in join_paths(of, STREETS, JoinConfig(parts, **{**options, "max_paths": None}))}
    assert {j.part_ids for j in examples} <= everything


def test_a_preview_of_more_paths_than_anybody_can_write_needs_no_time():
    of = split(path("1", "abc"), path("2", "cba"), path("3", "bcd"))
    count, examples = preview_scene_paths(of, "house", STREETS, JoinConfig(200), examples=4)
    assert count > 2**53
    assert examples == []


def test_a_journey_tells_its_length_its_texts_and_the_shortest_way():
    of = split(path("1", "abc", "one ", "two"), path("2", "dc", "three"))
    only = next(j for j in join_paths(of, STREETS) if j.part_ids == ("1", "2"))
    assert only.path == tuple("abcdc")
    assert only.length == 2 * 2 + 2 + 2  # both paths and the way from c to d
    assert only.instructions == ("one three", "two three")  # R2R's own trailing space separates; others get one
    assert (only.shortest, only.shortest_length) == (("a", "b", "c"), 4.0)
    assert only.heading == 0.5


def test_the_stated_length_of_a_path_counts_where_it_is_stated():
    stated = Episode("1_0", "house", Pose("a"), ("b",), ("a", "b"), Instruction("x"), "1", stated_distance=2.04)
    found = next(join_paths(Split("t", (stated, *path("2", "bc"))), STREETS, JoinConfig(threshold=0.0)))
    assert found.length == 2.04 + 2.0


def test_a_threshold_of_zero_joins_only_where_paths_meet():
    assert journeys(split(path("1", "ab"), path("2", "bc"), path("3", "cd")), threshold=0.0) == ["abc", "bcd"]


def test_round_trips_can_be_left_out():
    of = split(path("1", "abc"), path("2", "cba"), path("3", "cde"))
    assert "abcba" in journeys(of, threshold=0.0)
    kept = journeys(of, threshold=0.0, round_trips=False)
    assert kept == ["abcde"]


def test_sharp_turns_at_the_joint_can_be_left_out():
    of = split(path("1", "abc"), path("2", "cba"), path("3", "cde"))
    assert journeys(of, threshold=0.0, max_turn=np.radians(90)) == ["abcde"]


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_every_chain_of_joining_paths_is_a_journey_in_order(parts):
    of = split(path("1", "ab"), path("2", "bc"), path("3", "cb"), path("4", "ba"))
    ends = {"1": "ab", "2": "bc", "3": "cb", "4": "ba"}
    expected = [
        chain
        for chain in itertools.product("1234", repeat=parts)
        if all(ends[a][-1] == ends[b][0] for a, b in itertools.pairwise(chain))
    ]
    found = [j.part_ids for j in join_paths(of, STREETS, JoinConfig(parts, threshold=0.0))]
    assert found == expected


def test_a_sample_is_drawn_from_all_journeys_each_at_most_once_and_by_seed():
    of = split(path("1", "ab"), path("2", "bc"), path("3", "cb"), path("4", "ba"))
    every = [j.part_ids for j in join_paths(of, STREETS, JoinConfig(4, threshold=0.0))]
    drawn = [[j.part_ids for j in join_paths(of, STREETS, JoinConfig(4, 0.0, max_paths=5, seed=s))] for s in range(60)]
    assert all(len(set(some)) == 5 and some == sorted(some) for some in drawn)
    assert set(itertools.chain(*drawn)) == set(every)
    assert drawn[7] == [j.part_ids for j in join_paths(of, STREETS, JoinConfig(4, 0.0, max_paths=5, seed=7))]


def test_texts_can_be_a_sample_of_the_combinations():
    of = split(path("1", "ab", *"pqr"), path("2", "bc", *"xyz"))
    every, some = (
        next(join_paths(of, STREETS, JoinConfig(threshold=0.0, max_instructions=n))).instructions for n in (None, 4)
    )
    assert every == tuple(f"{a} {b}" for a in "pqr" for b in "xyz")
    assert len(some) == 4
    assert set(some) <= set(every)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (path("1", "ac"), "no edge joins a and c"),
        (path("1", "az"), "node z is not in the graph"),
    ],
)
def test_a_path_that_leaves_the_graph_is_refused(broken, said):
    with pytest.raises(BadFile, match=said):
        list(join_paths(split(broken, path("2", "bc")), STREETS))


def test_a_split_without_goals_is_refused():
    hidden = Episode("1_0", "house", Pose("a"), (), (), Instruction("x"), "1")
    with pytest.raises(GoalsWithheld, match="goals withheld: 1 of 1"):
        list(join_paths(Split("hidden", (hidden,)), STREETS))


@pytest.mark.parametrize(
    "wrong", [{"parts": 1}, {"threshold": -1.0}, {"threshold": float("nan")}, {"max_paths": 0}, {"max_instructions": 0}]
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadArgument):
        JoinConfig(**wrong)


def test_an_unknown_world_and_an_episode_without_a_path_id_are_handled():
    alone = Split("t", (episode("x", "ab"), episode("y", "bc")))
    assert [j.part_ids for j in join_paths(alone, STREETS, JoinConfig(threshold=0.0))] == [("x", "y")]
    with pytest.raises(BadFile, match="world house is not among the worlds"):
        list(join_paths(alone, {}))


def straightforward(records: list[dict[str, Any]], graph: NavGraph, threshold: float = 3.0) -> list[dict[str, Any]]:
    """R4R of one scan as one would first write it."""
    net = networkx.Graph()
    for a, b in graph.edges:
        weight = float(np.linalg.norm(graph.positions[a] - graph.positions[b]))
        net.add_edge(graph.nodes[a], graph.nodes[b], weight=weight)
    joined = []
    for a, b in itertools.product(records, repeat=2):
        gap, way = networkx.single_source_dijkstra(net, a["path"][-1], b["path"][0], weight="weight")
        if gap > threshold:
            continue
        shortest_length, shortest = networkx.single_source_dijkstra(net, a["path"][0], b["path"][-1], weight="weight")
        joined.append(
            {
                "first_path_id": a["path_id"],
                "second_path_id": b["path_id"],
                "path": a["path"][:-1] + way + b["path"][1:],
                "instructions": [x + y for x in a["instructions"] for y in b["instructions"]],
                "heading": a["heading"],
                "distance": a["distance"] + gap + b["distance"],
                "shortest_path": shortest,
                "shortest_path_distance": shortest_length,
            }
        )
    return joined


@pytest.mark.real
def test_the_official_r4r_val_seen_comes_out_record_by_record(data):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    found = list(join_paths(r2r.read_split(data / "r2r/R2R_val_seen.json.gz"), worlds))
    official = json.loads(gzip.decompress((data / "r4r/R4R_val_seen.json.gz").read_bytes()))
    by_parts = {j.part_ids: j for j in found}
    assert len(found) == len(by_parts) == len(official) == 115
    for record in official:
        journey = by_parts[str(record["first_path_id"]), str(record["second_path_id"])]
        assert journey.world_id == record["scan"]
        assert list(journey.path) == record["path"]
        assert list(journey.instructions) == record["instructions"]
        assert list(journey.shortest) == record["shortest_path"]
        assert journey.length == pytest.approx(record["distance"], abs=1e-9)
        assert journey.shortest_length == pytest.approx(record["shortest_path_distance"], abs=1e-9)


@pytest.mark.real
@pytest.mark.parametrize(
    ("positions", "name", "paths", "texts", "length"),
    [
        ("panorama", "train", 25930, 233613, 20.5902),
        ("panorama", "val_seen", 115, 1035, 20.3605),
        ("panorama", "val_unseen", 5018, 45162, 20.2221),
        ("pose", "train", 25921, 233532, None),
        ("pose", "val_seen", 115, 1035, None),
        ("pose", "val_unseen", 5026, 45234, None),
    ],
)
def test_the_published_counts_come_out(data, positions, name, paths, texts, length):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz", positions=positions)
    found = list(join_paths(r2r.read_split(data / f"r2r/R2R_{name}.json.gz"), worlds))
    assert len(found) == paths
    assert sum(len(j.instructions) for j in found) == texts
    if length is not None:
        assert np.mean([j.length for j in found]) == pytest.approx(length, abs=1e-3)


@pytest.mark.real
def test_a_scan_joined_the_straightforward_way_gives_the_same(data):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    records = json.loads(gzip.decompress((data / "r2r/R2R_val_unseen.json.gz").read_bytes()))
    scan = "X7HyMhZNoso"
    mine = [record for record in records if record["scan"] == scan][:25]
    ids = {str(record["path_id"]) for record in mine}
    whole = r2r.read_split(data / "r2r/R2R_val_unseen.json.gz")
    few = Split("few", tuple(e for e in whole.episodes if e.path_id in ids))
    found = list(join_paths(few, worlds))
    graph = worlds[scan].space
    assert isinstance(graph, NavGraph)
    expected = straightforward(mine, graph)
    assert len(expected) > 20
    assert [j.part_ids for j in found] == [(str(r["first_path_id"]), str(r["second_path_id"])) for r in expected]
    assert [list(j.path) for j in found] == [r["path"] for r in expected]
