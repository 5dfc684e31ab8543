"""Intervention episodes on R2R val-unseen: every one is checked against its own filter, from the files themselves.

Nothing of the designs is used for the checks: headings are R2R's, steps are networkx's, boxes and rooms are read as the
files hold them.
"""

from __future__ import annotations

import ast
import csv
import gzip
import json
import math
import re
import tarfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import networkx
import pytest

from itinera.formats import fgr2r, matterport, reverie, rooms
from itinera.skills.registry import select_skills
from itinera.skills.trials import Study, design
from itinera.skills.truncation import Truncations, truncate
from itinera.tasks.trial import Trial

pytestmark = pytest.mark.real

# Degrees clockwise of where one faces: more than the first, up to the second.
RANGES = {
    "forward": [(-15, 15)],
    "right": [(15, 90)],
    "back right": [(90, 165)],
    "backward": [(165, 180), (-180, -165)],
    "back left": [(-165, -90)],
    "left": [(-90, -15)],
}
KEPT = {
    "stop": 4943,
    "direction-forward": 2399,
    "direction-right": 2722,
    "direction-back-right": 2051,
    "direction-backward": 4338,
    "direction-back-left": 2154,
    "direction-left": 2753,
    "object": 507,
    "room-1": 6212,
    "room-2": 11839,
    "room-within-2": 12605,
}


@dataclass(frozen=True)
class Files:
    """What the files say, as they say it."""

    paths: dict[str, Any]  # R2R records by path id
    graphs: dict[str, networkx.Graph]  # by scan, nodes with their "at"
    boxes: dict[str, dict[str, Any]]  # objects by viewpoint
    rooms: dict[str, str]  # room code by viewpoint


@pytest.fixture(scope="module")
def designed(data: Path) -> tuple[Truncations, Study]:
    split = fgr2r.read_split(data / "fgr2r" / "FGR2R_val_unseen.json.gz")
    graphs = matterport.read_worlds(data / "connectivity.tar.xz")
    objects = reverie.read_objects(data / "reverie" / "BBox.tar.xz")
    known = rooms.read_table(data / "rooms" / "viewpoint_rooms.csv.gz")
    worlds = {scan: replace(graphs[scan], objects=objects[scan], rooms=known[scan]) for scan in split.world_ids}
    truncations = truncate(split.episodes)
    return truncations, design(select_skills(KEPT), truncations.items, worlds, seed=1)


@pytest.fixture(scope="module")
def files(data: Path) -> Files:
    with gzip.open(data / "fgr2r" / "FGR2R_val_unseen.json.gz", "rt", encoding="utf-8") as stream:
        paths = {str(record["path_id"]): record for record in json.load(stream)}
    scans = {record["scan"] for record in paths.values()}
    with tarfile.open(data / "connectivity.tar.xz") as archive:
        graphs = {}
        for member in archive:
            scan = Path(member.name).name.removesuffix("_connectivity.json")
            if scan in scans:
                graphs[scan] = joined(json.load(archive.extractfile(member)))  # type: ignore[arg-type]
    with tarfile.open(data / "reverie" / "BBox.tar.xz") as archive:
        boxes: dict[str, dict[str, Any]] = {}
        for member in archive:
            if Path(member.name).name.split("_")[0] in scans:
                boxes |= json.load(archive.extractfile(member))  # type: ignore[arg-type]
    with gzip.open(data / "rooms" / "viewpoint_rooms.csv.gz", "rt", encoding="utf-8") as stream:
        codes = {row["viewpoint"]: row["room_code"] for row in csv.DictReader(stream)}
    return Files(paths, graphs, boxes, codes)


def joined(panoramas: list[dict[str, Any]]) -> networkx.Graph:
    graph = networkx.Graph()
    for here in panoramas:
        if here["included"]:
            graph.add_node(here["image_id"], at=(here["pose"][3], here["pose"][7], here["pose"][11]))
            for there, open_ in zip(panoramas, here["unobstructed"], strict=True):
                if open_ and there["included"]:
                    graph.add_edge(here["image_id"], there["image_id"])
    return graph


def bearing(graph: networkx.Graph, a: str, b: str) -> float:
    """R2R's heading from a to b, degrees clockwise from +y."""
    (x, y, _), (u, v, _) = graph.nodes[a]["at"], graph.nodes[b]["at"]
    return math.degrees(math.atan2(u - x, v - y))


def wrapped(degrees: float) -> float:
    return 180 - (180 - degrees) % 360


def interventions(study: Study, skill: str) -> list[Trial]:
    return [trial for trial in study.trials if trial.skill == skill and trial.arm == "intervention"]


def test_as_many_are_kept_as_ever_and_every_candidate_is_accounted_for(designed):
    truncations, study = designed
    assert truncations.counts.candidates == 4944  # interior nodes where a sub-instruction ends
    assert dict(truncations.counts.dropped) == {"words not found in the text": 1}
    assert {name: tally.kept for name, tally in study.filter_counts.items()} == KEPT
    for name, tally in study.filter_counts.items():
        assert tally.truncations == len(truncations.items) == 4943
        assert tally.kept == len(interventions(study, name))
        assert tally.candidates == tally.kept + sum(tally.dropped.values())


def test_every_trial_walks_a_part_of_its_path_and_is_told_the_start_of_its_instruction(designed, files):
    _, study = designed
    known = {trial.id: trial for trial in study.trials}
    for trial in study.trials:
        path_id, number = trial.source.split("_")
        record = files.paths[path_id]
        nodes = list(trial.episode.reference)
        assert 2 <= len(nodes) < len(record["path"])
        assert nodes == record["path"][: len(nodes)]
        control = known[trial.control_id or trial.id]
        assert (control.arm, list(control.episode.reference)) == ("control", nodes)
        said = record["instructions"][int(number)].strip()
        assert said.startswith(control.episode.instruction.text.rstrip("."))
        if trial.arm == "intervention":
            assert trial.episode.instruction.text.startswith(control.episode.instruction.text + " ")
        assert trial.episode.instruction.text.endswith(".")


def test_every_text_is_cut_where_the_sub_instruction_is(designed, files):
    truncations, _ = designed
    wrong = 0
    for one in truncations.items:
        path_id, number = one.source.id.split("_")
        record = files.paths[path_id]
        chunks = ast.literal_eval(record["new_instructions"])[int(number)]
        views = record["chunk_view"][int(number)]
        led = next(k for k, (_, last) in enumerate(views) if last == len(one.nodes)) + 1
        tokens = [token for chunk in chunks[:led] for token in re.findall(r"[a-z0-9]+", " ".join(chunk).lower())]
        words = re.findall(r"[a-z0-9]+", one.text.lower())
        # Lemmas begin as their words do, but for a few like "is" and "went", and contractions are spelt out.
        wrong += abs(len(tokens) - len(words)) > 3 or words[-1][0] != tokens[-1][0]
        beyond = next(k for k, (_, last) in enumerate(views) if last > len(one.nodes))
        assert one.edges_ahead == views[beyond][1] - len(one.nodes) > 0
        assert len(one.text_ahead) > len(one.text)
    assert wrong <= 0.003 * len(truncations.items)


@pytest.mark.parametrize("direction", RANGES)
def test_every_direction_has_a_neighbour_there_and_two_elsewhere(designed, files, direction):
    for trial in interventions(designed[1], f"direction-{direction.replace(' ', '-')}"):
        graph = files.graphs[trial.episode.world_id]
        *_, before, at = trial.episode.reference
        facing = 30 * round(bearing(graph, before, at) / 30)
        degrees = {node: wrapped(bearing(graph, at, node) - facing) for node in graph[at]}
        inside = {n for n, turn in degrees.items() if any(low < turn <= high for low, high in RANGES[direction])}
        assert inside == set(trial.target["nodes"])
        assert len(inside) >= 1
        assert len(degrees) - len(inside) >= 2


def test_every_object_is_in_sight_with_a_neighbour_within_15_degrees(designed, files):
    for trial in interventions(designed[1], "object"):
        graph = files.graphs[trial.episode.world_id]
        at = trial.episode.reference[-1]
        nodes = {node for node in graph[at] if abs(wrapped(bearing(graph, at, node) - told(trial))) < 15}
        assert nodes == set(trial.target["nodes"])
        assert nodes
        assert len(graph[at]) >= 2
        seen = [object_bearing(thing) for thing in files.boxes[at].values() if thing["bbox2d"]]
        assert min(abs(wrapped(turn - told(trial))) for turn in seen) < 1e-6
        assert f"Walk towards the {trial.target['object']}." in trial.episode.instruction.text
        assert trial.target["object"] not in {"door", "window", "wall", "floor", "objects", "misc", "lighting"}


def told(trial: Trial) -> float:
    """Where a trial says that its object is, degrees clockwise from +y."""
    return 90 - math.degrees(trial.target["heading"])


def object_bearing(thing: dict[str, Any]) -> float:
    turns = [
        math.radians(30 * (view % 12)) + math.atan((x + w / 2 - 320) / 415.692193817)
        for view, (x, _, w, _) in zip(thing["visible_pos"], thing["bbox2d"], strict=True)
    ]
    return math.degrees(math.atan2(sum(map(math.sin, turns)), sum(map(math.cos, turns))))


@pytest.mark.parametrize("skill", ["room-1", "room-2", "room-within-2"])
def test_every_room_asked_for_is_another_kind_so_many_steps_away(designed, files, skill):
    steps = int(skill[-1])
    asked: dict[tuple[str, str], set[str]] = {}
    for trial in interventions(designed[1], skill):
        asked.setdefault((trial.source, trial.episode.reference[-1]), set()).add(trial.target["room"])
        graph, at = files.graphs[trial.episode.world_id], trial.episode.reference[-1]
        hops = networkx.single_source_shortest_path_length(graph, at, cutoff=steps)
        near = [n for n, away in hops.items() if (1 <= away <= steps if "within" in skill else away == steps)]
        assert trial.target["room"] in {files.rooms[node] for node in near} - {files.rooms[at], "-", "z", "Z"}
        if skill == "room-1":
            assert set(trial.target["nodes"]) == {n for n in near if files.rooms[n] == trial.target["room"]}
    assert len(asked) == designed[1].filter_counts[skill].truncations_kept


def test_nothing_that_the_filters_let_through_is_missing(designed, files):
    truncations, _ = designed
    counts: Counter[str] = Counter()
    for one in truncations.items:
        graph, (before, at) = files.graphs[one.source.world_id], one.nodes[-2:]
        facing = 30 * round(bearing(graph, before, at) / 30)
        turns = [wrapped(bearing(graph, at, node) - facing) for node in graph[at]]
        for direction, parts in RANGES.items():
            inside = sum(any(low < turn <= high for low, high in parts) for turn in turns)
            counts[f"direction-{direction.replace(' ', '-')}"] += inside >= 1 and len(turns) - inside >= 2
        counts["room-1"] += len({files.rooms[node] for node in graph[at]} - {files.rooms[at], "-", "z", "Z"})
    assert counts == {name: KEPT[name] for name in counts}
