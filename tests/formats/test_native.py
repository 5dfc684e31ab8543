"""Our own files: everything comes back, and what was tampered with does not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.formats import bundles, native, native_predictions, native_tasks
from itinera.records import (
    ActionLog,
    Column,
    Ending,
    EpisodeInfo,
    Phase,
    Predictions,
    Provenance,
    Rollout,
    ScoreTable,
    TourTable,
    Trajectory,
)
from itinera.tasks import PROTOCOLS, Alignment, Instruction, Split, Tour
from itinera.worlds import Pose
from text_worlds import episode
from tiny import written

TOLD = Provenance("0.1.0", ("itinera", "score", "p.json"), 7, {"tasks": "t.json"}, {"tasks": "00ff"})

ON_GRAPH = Trajectory(
    "1_0",
    ("a", "b", "b"),
    headings=np.array([0.1, math.pi, -2.5]),
    elevations=np.array([0.0, 0.5, -0.5]),
    actions=np.array([1, 2]),
    collided=np.array([True, False]),
    followed=np.array([False, True]),
    times=np.array([0.0, 0.25, 1e9]),
    phases=(Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_START),
    ending=Ending.OUT_OF_STEPS,
    action_log=ActionLog((("a", "b"), ("stop",)), (np.array([0.25, 0.75]), np.array([1.0]))),
    notes={"predObjId": 3, "more": {"deep": [1, None]}},
)
ON_GROUND = Trajectory("2", np.array([[0.1, 0.2, 0.3], [1e-300, -5.0, 7.25]]), ending=Ending.FAILED)


def same(some: Any, other: Any) -> bool:
    """Equal through and through, arrays and NaN included."""
    if is_dataclass(some):
        return type(some) is type(other) and all(
            same(getattr(some, field.name), getattr(other, field.name)) for field in fields(some)
        )
    if isinstance(some, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(some, other, equal_nan=np.asarray(some).dtype.kind == "f"))
    if isinstance(some, Mapping):
        return some.keys() == other.keys() and all(same(some[key], other[key]) for key in some)
    if isinstance(some, list | tuple):
        return len(some) == len(other) and all(map(same, some, other))
    return bool(some == other)


@pytest.mark.parametrize("name", ["walks.jsonl", "walks.jsonl.gz"])
def test_walks_come_back_whole(tmp_path: Path, name: str) -> None:
    walks = (Rollout("tour", (ON_GRAPH, replace(ON_GRAPH, episode_id="1_1"))), Rollout("2", (ON_GROUND,)))
    native_predictions.write_predictions(tmp_path / name, Predictions("x", walks, PROTOCOLS["rxr-ce"], TOLD))
    read = native_predictions.read_predictions(tmp_path / name)
    assert same((read.protocol, read.provenance, read.rollouts), (PROTOCOLS["rxr-ce"], TOLD, walks))


@pytest.mark.parametrize("ending", Ending)
def test_every_ending_comes_back(tmp_path: Path, ending: Ending) -> None:
    walks = Predictions.from_trajectories("x", [Trajectory("1", ("a",), ending=ending)])
    native_predictions.write_predictions(tmp_path / "walks.jsonl", walks)
    assert native_predictions.read_predictions(tmp_path / "walks.jsonl")["1"].ending is ending


def test_walks_that_say_nothing_of_their_steps_are_written_as_ever(tmp_path: Path) -> None:
    walks = Predictions.from_trajectories("x", [Trajectory("1", ("a", "b"))])
    native_predictions.write_predictions(tmp_path / "walks.jsonl", walks)
    line = (tmp_path / "walks.jsonl").read_text().splitlines()[1]
    assert json.loads(line)["trajectories"] == [{"episode_id": "1", "places": ["a", "b"]}]
    (read,) = native_predictions.read_predictions(tmp_path / "walks.jsonl")
    assert (read.collided, read.followed) == (None, None)


@pytest.mark.parametrize("field", ["collided", "followed"])
def test_flags_are_one_per_action(tmp_path: Path, field: str) -> None:
    def read(flags: str) -> Predictions:
        record = f'{{"episode_id": "1", "places": ["a", "b"], "{field}": {flags}}}'
        file = tmp_path / "walks.jsonl"
        file.write_text(f'{{"itinera": "predictions"}}\n{{"tour_id": "1", "trajectories": [{record}]}}\n')
        return native_predictions.read_predictions(file)

    assert getattr(read("[true]")["1"], field).tolist() == [True]
    with pytest.raises(BadFile, match=rf"{field}: has 2 entries for 2 places; one fewer is expected"):
        read("[true, false]")
    with pytest.raises(BadFile, match=field):
        read("[1]")


TASK = episode(
    "1_0",
    ("a", "b", "c"),
    start=Pose("a", 1.25, -0.5),
    instruction=Instruction("géh!", "de"),
    path_id="1",
    alignment=Alignment(
        ("géh", "!"), np.array([0, -1]), np.array([2, -1]), np.array([0.5, np.nan]), np.array([1.0, np.nan])
    ),
    stated_distance=4.25,
    notes={"x": [1, 2]},
)


def test_tasks_come_back_with_tours_and_alignment(tmp_path: Path) -> None:
    withheld = episode("3_0", ("a",), goals=())
    withheld = replace(withheld, reference=())
    split = Split("val", (TASK, replace(TASK, id="2_0", alignment=None), withheld), protocol="rxr")
    split = split.with_tours((Tour("t", "house", ("2_0", "1_0")),))
    native_tasks.write_split(tmp_path / "tasks.jsonl", split, TOLD)
    read = native_tasks.read_split(tmp_path / "tasks.jsonl")
    assert (read.name, read.protocol, read.tours) == ("val", "rxr", split.tours)
    for before, after in zip(split.episodes, read.episodes, strict=True):
        assert same(before, after)
    assert read.episodes[2].goals_withheld
    header = native.read_header(tmp_path / "tasks.jsonl")
    assert same(header.provenance, TOLD)


def test_tasks_on_the_ground_come_back(tmp_path: Path) -> None:
    path = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    native_tasks.write_split(tmp_path / "tasks.jsonl", Split("val", (episode("1", path),), protocol="r2r-ce"))
    (read,) = native_tasks.read_split(tmp_path / "tasks.jsonl").episodes
    assert np.asarray(read.start.place).tolist() == [0.0, 1.0, 2.0]
    assert np.asarray(read.reference).tolist() == path.tolist()
    assert np.asarray(read.goals).tolist() == [[3.0, 4.0, 5.0]]


SCORES = ScoreTable(
    episode_ids=("1_0", "1_1", "2_0"),
    world_ids=("house", "house", "hut"),
    path_ids=("1", "1", "2"),
    columns=(Column("SR"), Column("NE", "m", "lower")),
    values={"SR": np.array([1.0, np.nan, 0.0]), "NE": np.array([0.1 + 0.2, 3.0, np.inf])},
    suite="paper",
    fingerprint="f00d",
    protocol=PROTOCOLS["r2r"],
    missing=np.array([False, False, True]),
    tours=TourTable(
        ("0", "1"),
        ("house", "hut"),
        (Column("t-nDTW"),),
        {"t-nDTW": np.array([0.5, np.nan])},
        {"t-nDTW": np.array([2.0, 1.0])},
    ),
    provenance=TOLD,
    source="p.json",
    episode_info=EpisodeInfo(
        np.array([4.0, np.inf, 2.5]), np.array([5.0, np.nan, 3.0]), ("0", "0", ""), np.array([0, 1, -1])
    ),
)


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.gz"])
def test_scores_come_back_with_what_is_infinite_and_what_undefined(tmp_path: Path, name: str) -> None:
    bundles.write_scores(tmp_path / name, SCORES)
    assert same(bundles.read_scores(tmp_path / name), SCORES)


def test_scores_without_tours_or_missing_walks_say_nothing_of_them(tmp_path: Path) -> None:
    table = replace(SCORES, tours=None, missing=np.zeros(3, dtype=bool))
    bundles.write_scores(tmp_path / "b.jsonl", table)
    assert same(bundles.read_scores(tmp_path / "b.jsonl"), table)
    assert "missing" not in (tmp_path / "b.jsonl").read_text()


def test_equal_scores_make_equal_bundles(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        bundles.write_scores(tmp_path / name, SCORES)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


TAMPERED = {
    "a value": ('"SR":1.0', '"SR":0.0'),
    "a row taken out": ("\n{", "\n\n{"),
    "the suite": ('"suite":"paper"', '"suite":"hamt"'),
    "the fingerprint": ("f00d", "beef"),
    "the radius": ('"success_radius":3.0', '"success_radius":5.0'),
    "an input": ("t.json", "u.json"),
}


@pytest.mark.parametrize(("before", "after"), TAMPERED.values(), ids=TAMPERED.keys())
def test_a_tampered_bundle_is_refused(tmp_path: Path, before: str, after: str) -> None:
    bundles.write_scores(tmp_path / "b.jsonl", SCORES)
    text = (tmp_path / "b.jsonl").read_text()
    assert before in text
    written(tmp_path / "b.jsonl", text.replace(before, after, 1))
    with pytest.raises(BadFile, match=r"b\.jsonl: .*") as caught:
        bundles.read_scores(tmp_path / "b.jsonl")
    assert "changed or cut short" in str(caught.value) or "line 2: the JSON ends too soon" in str(caught.value)


def test_a_bundle_cut_short_at_a_line_is_refused(tmp_path: Path) -> None:
    bundles.write_scores(tmp_path / "b.jsonl", SCORES)
    lines = (tmp_path / "b.jsonl").read_text().splitlines(keepends=True)
    written(tmp_path / "b.jsonl", "".join(lines[:-1]))
    with pytest.raises(BadFile, match=r"changed or cut short.\n  Score again with --out"):
        bundles.read_scores(tmp_path / "b.jsonl")


WALKS, TASKS = '{"itinera": "predictions"}\n', '{"itinera": "tasks", "judged_by": "r2r"}\n'


def walk(**fields: Any) -> str:
    record = {"tour_id": "1", "trajectories": [{"episode_id": "1_0", "places": ["a", "b"], **fields}]}
    return WALKS + json.dumps(record)


def task(*lines: dict[str, Any], **fields: Any) -> str:
    record = {"id": "1_0", "world_id": "house", "start": "a", "goals": ["b"], "reference": ["a", "b"], **fields}
    return TASKS + "".join(json.dumps(line) + "\n" for line in (record, *lines))


FAULTY: dict[str, tuple[str, str]] = {
    "no header": ('{"tour_id": "1"}\n', "line 1: Object missing required field `itinera`"),
    "another header": ('{"itinera": "songs"}\n', "line 1, field itinera: Invalid enum value 'songs'"),
    "newer": ('{"itinera": "predictions", "format": 2}\n', "line 1, field format: is of format 2, but this version"),
    "another kind": ('{"itinera": "scores"}\n', "line 1, field itinera: this file contains scores, not"),
    "two bad lines": (WALKS + '{"tour_id": 1}\n[]\n', "line 3: Expected `object`, got `array`"),
    "mixed places": (walk(places=["a", [0, 0, 0]]), 'line 2 (episode "1_0"), field places: must be node ids or'),
    "no places": (walk(places=[]), "field places: must be node ids or positions, at least one"),
    "flat positions": (walk(places=[[0, 0]]), "Expected `array` of length 3"),
    "few headings": (walk(headings=[0]), "field headings: has 1 entries for 2 places"),
    "many actions": (walk(actions=[1, 1]), "field actions: has 2 entries for 2 places; one fewer is expected"),
    "absurd action": (walk(actions=[10**30]), "field trajectories[0].actions[0]: "),
    "unknown phase": (walk(phases=["flying", "acting"]), "Invalid enum value 'flying'"),
    "no start": (task(start=""), "line 2: has no id or no start"),
    "no id": (task(id=""), "line 2: has no id or no start"),
    "repeated id": (task({"id": "1_0", "world_id": "w", "start": "a"}), "line 3, field id: 1_0 is also the id of line"),
    "mixed task": (task(goals=[[0, 0, 0]]), "line 2: mixes node ids and positions"),
    "goal without way": (task(reference=[]), "line 2: has only one of goals and reference"),
    "short alignment": (task(alignment={"words": ["a", "b"], "first": [0], "last": [0]}), "lists of different lengths"),
    "alignment outside": (task(alignment={"words": ["a"], "first": [0], "last": [2]}), "points outside the reference"),
    "absurd alignment": (task(alignment={"words": ["a"], "first": [0], "last": [10**30]}), "line 2, field alignment.l"),
    "unknown protocol": (TASKS.replace("r2r", "r3r"), "line 1, field judged_by: r3r is not a known protocol"),
    "tour elsewhere": (task({"tour_id": "t", "world_id": "hut", "episode_ids": ["1_0"]}), "is in world house, not hut"),
    "tour of nothing": (task({"tour_id": "t", "world_id": "house", "episode_ids": ["9"]}), 'episode "9" is not in'),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), FAULTY.values(), ids=FAULTY.keys())
def test_faulty_files_are_told_by_line_and_field(tmp_path: Path, content: str, said: str) -> None:
    path = written(tmp_path / "f.jsonl", content)
    with pytest.raises(BadFile) as caught:
        (native_tasks.read_split if content.startswith(TASKS[:19]) else native_predictions.read_predictions)(path)
    assert said in str(caught.value)


def test_a_bundle_without_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="line 1, field protocol: is missing"):
        bundles.read_scores(written(tmp_path / "f.jsonl", '{"itinera": "scores"}\n'))


def test_weights_of_episodes_come_back(tmp_path: Path) -> None:
    table = replace(SCORES, weights={"SR": np.array([3.0, 0.0, 7.5])})
    bundles.write_scores(tmp_path / "scores.jsonl", table)
    read = bundles.read_scores(tmp_path / "scores.jsonl")
    assert same(read.weights, table.weights)
    assert read.mean("SR") == table.mean("SR") == pytest.approx(3 / 10.5)
    bundles.write_scores(tmp_path / "plain.jsonl", SCORES)
    assert bundles.read_scores(tmp_path / "plain.jsonl").weights == {}
