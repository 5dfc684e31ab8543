"""`--shard` and `itinera gather`: the bytes of the whole command, or an error that names every problem."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import crossing
import tiny
from itinera.formats import matterport, native_tasks, rooms
from itinera.formats.native import header_line, read_header
from itinera.formats.parts import read_part
from itinera.hearth import season as seasons
from itinera.records.shards import Shard, digest_bytes, part_path
from itinera.runs.resume import ResumableWriter
from itinera.tasks import Split

CLIENT = Path(__file__).parents[2] / "examples" / "client.py"
COUNTS = (1, 2, 5)
ROOM = [([1.0, 0.0, -3.0], [6.0, 0.0, -3.0]), ([6.0, 0.0, -2.0], [1.0, 0.0, -5.0])]


def run_words(files: tiny.Files, *more: object) -> list[object]:
    tasks = [tiny.path(k, *(("house", "abcdef"[k % 4 :]), ("hut", "pqrst"[k % 3 :]))[k % 2], 2) for k in range(6)]
    tiny.written(files.tasks, tasks)
    return ["run", *files.options, "--workers", 0, "--seed", 7, *more]


def graph_run(tmp_path: Path) -> list[object]:
    return run_words(tiny.on_graphs(tmp_path), "--agent", "scripted_agents:Wanderer")


def tours_run(tmp_path: Path) -> list[object]:
    files = tiny.on_graphs(tmp_path)
    given = ["--tours", files.tours, "--agent", "scripted_agents:Wanderer"]
    return ["run", *files.options, "--workers", 0, *given]


def remote_run(tmp_path: Path) -> list[object]:
    return run_words(tiny.on_graphs(tmp_path), "--agent-command", f"{sys.executable} {CLIENT}")


def scene(tmp_path: Path) -> list[object]:
    from itinera.formats.scenes import write_scene
    from worlds.rooms import room

    pytest.importorskip("trimesh")
    write_scene(tmp_path / "scenes" / "house.glb", room(8, 6, boxes=[((2, 1, 0), (3, 5, 1.8))]))
    ways = [*ROOM, *(way[::-1] for way in ROOM)]
    episodes = [tiny.ground_episode(k, "house", [*way]) for k, way in enumerate(ways)]
    return [tiny.written(tmp_path / "tasks.json", {"episodes": episodes}), "--worlds", tmp_path / "scenes"]


def ground_run(tmp_path: Path) -> list[object]:
    return ["run", "--agent", "random", "--workers", 0, "--tasks", *scene(tmp_path)]


def map_run(tmp_path: Path) -> list[object]:
    keeper = ["--agent", "scripted_agents:MapKeeper", "--record", "maps"]
    return ["run", *keeper, "--workers", 0, "--tasks", *scene(tmp_path)]


def fastest_times(tmp_path: Path) -> list[object]:
    return ["fastest-times", *scene(tmp_path), "--workers", 1]


def r4r(tmp_path: Path) -> list[object]:
    files = tiny.on_graphs(tmp_path)
    return ["build", "r4r", "--tasks", files.tasks, "--worlds", files.worlds]


def study(tmp_path: Path) -> list[object]:
    from cli.test_study import spoken
    from itinera import api

    matterport.write_worlds(tmp_path / "connectivity", crossing.WORLDS)
    rooms.write_table(tmp_path / "rooms.csv", {name: world.rooms for name, world in crossing.WORLDS.items()})
    episodes = tuple(spoken(world, "p", n) for world in crossing.SCENES for n in range(2))
    native_tasks.write_split(tmp_path / "tasks.jsonl", Split("val", episodes, protocol="rxr"))
    where = {"worlds": tmp_path / "connectivity", "rooms": tmp_path / "rooms.csv"}
    api.design_study(["stop", "direction"], tmp_path / "tasks.jsonl", out=tmp_path / "trials.jsonl", **where)
    given = ["--trials", tmp_path / "trials.jsonl", "--worlds", tmp_path / "connectivity", "--workers", 0]
    return ["study", "run", "--agent", "forward", *given]


def hearth(tmp_path: Path) -> list[object]:
    return ["build", "hearth", "--houses", 3, "--workers", 0]


WORK: dict[str, tuple[Callable[[Path], list[object]], str]] = {
    "run on graphs": (graph_run, "preds.jsonl"),
    "run packed": (graph_run, "preds.jsonl.gz"),
    "run on tours": (tours_run, "preds.jsonl"),
    "run of a remote agent": (remote_run, "preds.jsonl"),
    "run on the ground": (ground_run, "preds.jsonl"),
    "run with maps": (map_run, "preds.jsonl"),
    "fastest-times": (fastest_times, "times.jsonl"),
    "build r4r": (r4r, "R4R.json"),
    "study run": (study, "forward.jsonl"),
    "build hearth": (hearth, "hearth"),
}


@pytest.fixture(autouse=True)
def _few_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Houses as they are, but with few paths, which take most of the time."""
    few = {"train": {"train": 2, "val_seen": 2}, "val_unseen": {"val_unseen": 2}, "test": {"test": 2}}
    monkeypatch.setattr(seasons, "paths_per_split", lambda index: few[seasons.house_role(index)])


def content(folder: Path, name: str) -> dict[str, bytes]:
    """The files of a result, with its provenance and maps, but without parts."""
    stem = name.split(".")[0]
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
    return {path: data for path, data in found.items() if path.startswith(stem) and "-of-" not in path.split("/")[0]}


def make_shards(itinera: Any, words: Sequence[object], out: Path, count: int) -> list[Path]:
    for number in range(1, count + 1):
        done = itinera(*words, "--out", out, "--shard", f"{number}/{count}")
        assert done.code == 0, done.err
    return [part_path(out, Shard(number, count)) for number in range(1, count + 1)]


@pytest.mark.parametrize("kind", WORK)
def test_gathered_parts_have_the_bytes_of_the_whole_command(kind, itinera, tmp_path):
    make, name = WORK[kind]
    words, out = make(tmp_path), tmp_path / "made" / name
    done = itinera(*words, "--out", out)
    assert done.code == 0, done.err
    whole = content(out.parent, name)
    assert whole
    for count in COUNTS if kind != "build hearth" else (2,):
        shutil.rmtree(out.parent)
        parts = make_shards(itinera, words, out, count)
        assert len(parts) == count
        done = itinera("gather", *reversed(parts), "--out", out)
        assert done.code == 0, done.err
        assert content(out.parent, name) == whole
        again = itinera(*words, "--out", out)  # the gathered file is that of the command, so it is complete
        assert again.code == 0, again.err
        assert content(out.parent, name) == whole
