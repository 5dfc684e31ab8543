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
    from itinera.formats.scenes import write_scene
    from worlds.rooms import room

    pytest.importorskip("trimesh")
    write_scene(tmp_path / "scenes" / "hall.glb", room(4, 3))
    ways = [([0.5, 0.0, -1.5], [1.5, 0.0, -1.5]), ([0.6, 0.0, -2.5], [1.5, 0.0, -1.5])]
    episodes = [tiny.ground_episode(k, "hall", [*way]) for k, way in enumerate(ways)]
    tasks = tiny.written(tmp_path / "tasks.json", {"episodes": episodes})
    return ["fastest-times", tasks, "--worlds", tmp_path / "scenes", "--workers", 1]


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


def house(tmp_path: Path) -> list[object]:
    return ["build", "hearth", "--houses", 3, "--splits", "val_unseen", "--workers", 0]


def hearth(tmp_path: Path) -> list[object]:
    return ["build", "hearth", "--houses", 3, "--workers", 0]


WORK: dict[str, tuple[Callable[[Path], list[object]], str]] = {
    "run on graphs": (graph_run, "preds.jsonl"),
    "run packed": (graph_run, "preds.jsonl.gz"),
    "run on tours": (tours_run, "preds.jsonl"),
    "run of a remote agent": (remote_run, "preds.jsonl"),
    "run on the ground": (ground_run, "preds.jsonl"),
    "run with maps": (map_run, "preds.jsonl"),
    "build r4r": (r4r, "R4R.json"),
    "study run": (study, "forward.jsonl"),
    "build hearth": (house, "hearth"),
    "fastest-times": (fastest_times, "times.jsonl"),
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
    counts = {"build hearth": (2,), "fastest-times": (2,)}.get(kind, COUNTS)
    require_same_bytes(itinera, make(tmp_path), tmp_path / "made" / name, counts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["build hearth", "fastest-times"])
def test_long_work_in_five_shards_has_the_same_bytes(kind, itinera, tmp_path):
    make, name = (hearth, "hearth") if kind == "build hearth" else WORK[kind]
    require_same_bytes(itinera, make(tmp_path), tmp_path / "made" / name, (5,))


def require_same_bytes(itinera: Any, words: Sequence[object], out: Path, counts: Sequence[int]) -> None:
    done = itinera(*words, "--out", out)
    assert done.code == 0, done.err
    whole = content(out.parent, out.name)
    assert whole
    for count in counts:
        shutil.rmtree(out.parent)
        parts = make_shards(itinera, words, out, count)
        assert len(parts) == count
        done = itinera("gather", *reversed(parts), "--out", out)
        assert done.code == 0, done.err
        assert content(out.parent, out.name) == whole
        again = itinera(*words, "--out", out)  # the gathered file is that of the command, so it is complete
        assert again.code == 0, again.err
        assert content(out.parent, out.name) == whole


@pytest.fixture
def parts(itinera: Any, tmp_path: Path) -> tuple[list[object], Path, list[Path]]:
    """The words of a run, its output, and the parts of its three shards."""
    words, out = graph_run(tmp_path), tmp_path / "preds.jsonl"
    return words, out, make_shards(itinera, words, out, 3)


def refused(itinera: Any, out: Path, parts: Sequence[Path]) -> str:
    done = itinera("gather", *parts, "--out", out)
    assert (done.code, out.exists()) == (1, False)
    return done.err


def test_no_episode_is_lost_in_silence_whatever_part_is_missing_or_cut(itinera, parts):
    """A released evaluation merged its shards without counting them, and lost a sixth of the episodes."""
    words, out, files = parts
    whole = [file.read_bytes() for file in files]
    for lost in range(3):
        told = refused(itinera, out, files[:lost] + files[lost + 1 :])
        assert f"shard {lost + 1}/3 is missing." in told
        assert f"--shard {lost + 1}/3" in told
        assert f"Run: itinera run {words[1]}" in told
        for line in range(1, len(whole[lost].splitlines())):
            lines = whole[lost].splitlines(keepends=True)
            files[lost].write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
            assert "the records are not those that were written" in refused(itinera, out, files)
        files[lost].write_bytes(whole[lost])
    assert itinera("gather", *files, "--out", out).code == 0


def forge(part: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the records of a part, and its digest with them."""
    header = read_header(part)
    lines = change(part.read_bytes().splitlines(keepends=True)[1:])
    header.shard = header.shard and type(header.shard)(
        **{**header.shard.__dict__, "digest": digest_bytes(b"".join(lines))}
    )
    part.write_bytes(header_line(header) + b"".join(lines))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines[:-1], "has 3 records, but shard 2/3 of 12 has 4."),
        (lambda lines: [*lines[:-1], lines[0]], "not those of the full list"),
        (lambda lines: lines[::-1], "not those of the full list"),
        (lambda lines: [b"{}\n", *lines[1:]], "line 2"),
    ],
)
def test_a_part_whose_digest_was_forged_too_is_refused(itinera, parts, change, told):
    _, out, files = parts
    forge(files[1], change)
    assert told in refused(itinera, out, files)


def test_a_part_of_a_million_shards_is_answered_at_once(itinera, parts):
    _, out, files = parts
    header = read_header(files[0])
    header.shard = header.shard and type(header.shard)(**{**header.shard.__dict__, "count": 1_000_000})
    files[0].write_bytes(header_line(header))
    told = refused(itinera, out, files[:1])
    assert "shard 2/1000000 is missing" in told
    assert len(told.splitlines()) < 100
    header.shard = type(header.shard)(**{**header.shard.__dict__, "number": 0})
    files[0].write_bytes(header_line(header))
    assert "is not possible: shard 0 of 1000000" in refused(itinera, out, files[:1])


def test_parts_whose_headers_differ_in_anything_else_are_refused(itinera, parts):
    _, out, files = parts
    header, _, lines = files[1].read_bytes().partition(b"\n")
    files[1].write_bytes(header.replace(b'"success_radius":3.0', b'"success_radius":9.0') + b"\n" + lines)
    assert header != files[1].read_bytes().partition(b"\n")[0]
    assert "the digest of the header is" in refused(itinera, out, files)


def test_every_problem_is_named_with_the_command_that_mends_it(itinera, parts, tmp_path):
    words, out, files = parts
    other = tmp_path / "other.jsonl"
    assert itinera(*words, "--seed", 8, "--out", other, "--shard", "2/3").code == 0
    told = refused(itinera, out, [files[0], part_path(other, Shard(2, 3)), files[2], tmp_path / "absent.jsonl"])
    assert re.search(r"other\.2-of-3\.jsonl: seed is 8, but 7 in 2 other parts\.", told)
    assert re.search(r"Run: itinera run .*--shard 2/3 --overwrite", told)
    assert "absent.jsonl: there is no such file." in told
    told = refused(itinera, out, [files[0], part_path(other, Shard(2, 3))])
    assert ("seed is 8" in told or "seed is 7" in told, "shard 3/3 is missing" in told) == (True, True)
    told = refused(itinera, out, [files[0], files[0], files[1]])
    assert "shard 1/3 is given 2 times" in told
    assert "shard 3/3 is missing" in told


def test_parts_of_other_inputs_versions_counts_and_commands_are_refused_by_name(itinera, parts, tmp_path, monkeypatch):
    words, out, files = parts
    assert itinera(*words, "--out", out, "--shard", "2/2").code == 0
    told = refused(itinera, out, [files[0], part_path(out, Shard(2, 2)), files[2]])
    assert "the number of shards is 2, but 3 in 2 other parts" in told
    monkeypatch.setattr("itinera.records.provenance.itinera_version", lambda: "9.9")
    assert itinera(*words, "--out", out, "--shard", "2/3", "--overwrite").code == 0
    assert "version is 9.9, but" in refused(itinera, out, files)
    monkeypatch.undo()
    tasks = Path(str(words[words.index("--tasks") + 1]))
    tasks.write_bytes(tasks.read_bytes() + b" ")
    assert itinera(*words, "--out", out, "--shard", "2/3", "--overwrite").code == 0
    assert "digest of tasks is" in refused(itinera, out, files)
    study_words = study(tmp_path / "study") if (tmp_path / "study").mkdir() is None else []
    assert itinera(*study_words, "--out", tmp_path / "s.jsonl", "--shard", "2/3").code == 0
    told = refused(itinera, out, [files[0], tmp_path / "s.2-of-3.jsonl", files[2]])
    assert "the command is itinera study run, but itinera run in 2 other parts" in told


def test_what_is_no_part_and_what_exists_is_refused(itinera, parts):
    words, out, files = parts
    assert itinera("gather", *files, "--out", out).code == 0
    done = itinera("gather", *files, "--out", out)
    assert (done.code, "exists already" in done.err) == (2, True)
    assert "is not a part of anything" in itinera("gather", out, "--out", out.with_name("b.jsonl")).err
    assert "would be overwritten" in itinera("gather", *files, "--out", files[0]).err
    for wrong in ("0/3", "4/3", "3", "a/b", "1/9999999"):
        done = itinera(*words, "--out", out, "--shard", wrong)
        assert (done.code, "such as 3/16" in done.err) == (2, True)


def test_an_interrupted_shard_resumes_and_gather_says_that_it_is_unfinished(itinera, parts, monkeypatch):
    words, out, files = parts
    whole = files[1].read_bytes()
    files[1].unlink()
    add, count = ResumableWriter.add, [0]

    def interrupted(self: ResumableWriter, *arguments: Any, **more: Any) -> None:
        count[0] += 1
        if count[0] > 2:
            raise KeyboardInterrupt
        add(self, *arguments, **more)

    monkeypatch.setattr(ResumableWriter, "add", interrupted)
    assert itinera(*words, "--out", out, "--shard", "2/3").code == 130
    monkeypatch.setattr(ResumableWriter, "add", add)
    assert "shard 2/3 is missing, and unfinished" in refused(itinera, out, [files[0], files[2]])
    done = itinera(*words, "--out", out, "--shard", "2/3")
    assert (done.code, files[1].read_bytes()) == (0, whole)
    assert "of 4 rollouts exist already; resuming." in done.err


def test_shards_of_a_part_of_the_split_compose(itinera, tmp_path):
    words, out = [*graph_run(tmp_path), "--episodes", "scan=hut", "--max-episodes", 5], tmp_path / "preds.jsonl"
    assert itinera(*words, "--out", out).code == 0
    whole = out.read_bytes()
    out.unlink()
    files = make_shards(itinera, words, out, 2)
    assert itinera("gather", *files, "--out", out).code == 0
    assert out.read_bytes() == whole
    other = make_shards(itinera, graph_run(tmp_path), tmp_path / "all.jsonl", 2)
    out.unlink()
    told = refused(itinera, out, [files[0], other[1]])
    assert "episodes is None, but" in told
    assert "max_episodes is None, but 5" in told


def test_a_part_is_checked_and_repeated_like_a_whole_file(itinera, parts):
    _, _, files = parts
    done = itinera("check", files[1])
    assert (done.code, "part 2 of 3 of itinera run" in done.out, "4 trajectories" in done.out) == (0, True, True)
    content = files[1].read_bytes()
    files[1].write_bytes(content.replace(b"go to", b"run to") if b"go to" in content else content[:-2] + b" }\n")
    done = itinera("check", files[1])
    assert (done.code, "the records are not those that were written" in done.err) == (1, True)


def test_a_part_of_a_season_is_verified_house_by_house(itinera, tmp_path):
    out = tmp_path / "hearth"
    parts = make_shards(itinera, house(tmp_path), out, 2)
    done = itinera("check", parts[1])
    assert (done.code, "part 2 of 2 of itinera build hearth" in done.out) == (0, True)
    graph = next((parts[1] / ".houses").rglob("*.house"))
    (graph.parent / "more").write_bytes(b"")
    assert "has other files than its record names" in refused(itinera, out, parts)
    (graph.parent / "more").unlink()
    graph.write_bytes(graph.read_bytes() + b" ")
    told = refused(itinera, out, parts)
    assert "is missing, incomplete or damaged" in told
    assert "itinera build hearth" in told
    (out / "season.json").parent.mkdir()
    (out / "season.json").write_bytes(b"another season")
    done = itinera("gather", *parts, "--out", out)
    assert (done.code, "exists already" in done.err) == (2, True)
    done = itinera("build", "hearth", "--out", out, "--houses", 3, "--sealed", "--shard", "1/2")
    assert (done.code, "where its secret stays" in done.err) == (2, True)


def test_python_gathers_what_python_made(tmp_path):
    import itinera

    files = tiny.on_graphs(tmp_path)
    out = tmp_path / "preds.jsonl"
    whole = itinera.run("random", files.tasks, files.worlds, seed=3, workers=0, out=tmp_path / "whole.jsonl")
    for number in (1, 2):
        part = itinera.run("random", files.tasks, files.worlds, seed=3, workers=0, out=out, shard=f"{number}/2")
        assert len(part) == len(read_part(tmp_path / f"preds.{number}-of-2.jsonl").plan.block)
    with pytest.raises(itinera.errors.BadFile, match='with shard="2/2"'):
        itinera.gather([tmp_path / "preds.1-of-2.jsonl"], out)
    found = itinera.gather([tmp_path / "preds.1-of-2.jsonl", tmp_path / "preds.2-of-2.jsonl"], out)
    assert (found.records, found.command, len(whole)) == (5, "run", 5)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert json.loads(out.read_bytes().splitlines()[0]).get("shard") is None
