"""A simulated power cut: unfinished work that is cut off, filled with zeros or changed is detected every time.

The records before the damage are used again, and the result has the same bytes as without it.
"""

from __future__ import annotations

import logging
import shutil

import numpy as np
import pytest

import crossing
import itinera
import scripted_agents
import tiny
from cli.test_study import spoken
from itinera.errors import BadFile
from itinera.formats import matterport, native_tasks
from itinera.runs import build_season
from itinera.runs.build_season import SeasonConfig
from itinera.runs.resume import ResumableWriter
from itinera.tasks import Split

DISCARDED = "are incomplete or damaged and are discarded"


def zero(content: bytes, begin: int, end: int) -> bytes:
    return content[:begin] + bytes(end - begin) + content[end:]


def flip(content: bytes, position: int, bit: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 1 << bit]) + content[position + 1 :]


def damages(content: bytes, ends: list[int], *, count: int) -> list[bytes]:
    """Cuts and zeroed tails at the end of every frame and a byte before and after it, and `count` random ones of each
    kind, also holes of zeros and bits that are changed."""
    rng = np.random.default_rng(18)
    size = len(content)
    places = {min(max(end + shift, 0), size) for end in (0, *ends) for shift in (-1, 0, 1)}
    places |= set(rng.integers(0, size, count).tolist())
    found = [content[:place] for place in places]
    found += [zero(content, place, size) for place in places]
    found += [content + bytes(1000), b"", bytes(1 << 20)]
    for begin in rng.integers(0, size, count).tolist():
        found.append(zero(content, begin, min(size, begin + int(rng.integers(1, 600)))))
        found.append(flip(content, begin, int(rng.integers(8))))
    return found


# The writer that all commands use


def write_records(path, *, count=6):
    """The ends of the header and of all records, and the content of a file of unfinished work."""
    ends = []
    with ResumableWriter(path, "0123456789abcdef" * 2) as work:
        ends.append(work.path.stat().st_size)
        for number in range(count):
            work.add(number, bytes([97 + number]) * 40 + b"\n", note=[number] if number % 2 else None)
            ends.append(work.path.stat().st_size)
    return ends, work.path.read_bytes()


def resume(path, count=6):
    """The records that could be used, after the rest was made again and the result was written."""
    with ResumableWriter(path, "0123456789abcdef" * 2) as work:
        used = list(work)
        for number in range(count):
            if number not in work:
                work.add(number, bytes([97 + number]) * 40 + b"\n", note=[number] if number % 2 else None)
        assert work.notes == {number: [number] for number in range(1, count, 2)}
        work.finish()
    return used


def test_every_damage_of_unfinished_work_is_detected(tmp_path, caplog):
    path = tmp_path / "out.txt"
    ends, content = write_records(path)
    whole = b"".join(bytes([97 + number]) * 40 + b"\n" for number in range(6))
    for damaged in damages(content, ends, count=150):
        path.unlink(missing_ok=True)
        path.with_name("out.txt.partial").write_bytes(damaged)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "itinera"):
            used = resume(path)
        same = next((k for k, (a, b) in enumerate(zip(damaged, content, strict=False)) if a != b), len(damaged))
        assert used == list(range(sum(end <= same for end in ends[1:])))  # all records before the first changed byte
        loses = damaged[:same] not in [content[:end] for end in ends] or len(damaged) > same
        # A header that was cut off is no loss: nothing was done yet.
        assert (DISCARDED in caplog.text) == (loses and not content[: ends[0]].startswith(damaged))
        assert path.read_bytes() == whole
        assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]


def test_every_changed_bit_is_detected(tmp_path):
    path = tmp_path / "out.txt"
    ends, content = write_records(path, count=2)
    for position in range(len(content)):
        for bit in range(8):
            path.unlink(missing_ok=True)
            path.with_name("out.txt.partial").write_bytes(flip(content, position, bit))
            assert resume(path, 2) == list(range(sum(end <= position for end in ends[1:])))


# Every command


@pytest.fixture
def files(tmp_path):
    return tiny.on_graphs(tmp_path)


def run(files, out):
    itinera.run(scripted_agents.Wanderer(), files.tasks, files.worlds, out=out, workers=0)


def build_r4r(files, out):
    itinera.build_r4r(files.tasks, files.worlds, out)


def build_tours(files, out):
    itinera.build_tours(files.tasks, files.worlds, out)


def run_study(files, out):
    folder = files.folder / "study"
    if not folder.exists():
        matterport.write_worlds(folder / "connectivity", crossing.WORLDS)
        episodes = [spoken(world, "p", n) for world in crossing.SCENES for n in range(2)]
        native_tasks.write_split(folder / "tasks.jsonl", Split("val", tuple(episodes), protocol="rxr"))
        itinera.design_study(["stop"], folder / "tasks.jsonl", folder / "connectivity", out=folder / "trials.jsonl")
    itinera.run_study("uniform", folder / "trials.jsonl", folder / "connectivity", out=out, workers=0)


def plan_times(files, out):
    from cli.test_fastest_times import HALL, tasks_in
    from itinera.formats.scenes import write_scene
    from worlds.rooms import room

    folder = files.folder / "ground"
    if not folder.exists():
        write_scene(folder / "scenes" / "hall.glb", room(4, 3))
        tasks_in(folder, hall=HALL)
    itinera.fastest_times(folder / "tasks.json", folder / "scenes", out=out, workers=1)


COMMANDS = {"run": run, "study run": run_study, "build r4r": build_r4r, "build tours": build_tours}


def cut_power(command, files, monkeypatch, caplog, *, count):
    """Damage the unfinished work of a command in many ways; the result must not change."""
    out = files.folder / "out" / "result"
    saved: list[bytes] = []
    discard = ResumableWriter.discard
    with monkeypatch.context() as patched:
        patched.setattr(ResumableWriter, "discard", lambda work: saved.append(work.path.read_bytes()) or discard(work))
        command(files, out)
    content, whole = saved[-1], {file.name: file.read_bytes() for file in out.parent.iterdir()}
    for damaged in damages(content, [content.index(b"\n") + 1, len(content)], count=count):
        shutil.rmtree(out.parent)
        out.parent.mkdir()
        out.with_name("result.partial").write_bytes(damaged)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "itinera"):
            command(files, out)
        assert {file.name: file.read_bytes() for file in out.parent.iterdir()} == whole
        assert DISCARDED in caplog.text or content.startswith(damaged)  # the end of a record, or within the header


@pytest.mark.parametrize("name", COMMANDS)
def test_a_power_cut_changes_no_result(name, files, monkeypatch, caplog):
    cut_power(COMMANDS[name], files, monkeypatch, caplog, count=6)


def test_a_power_cut_changes_no_fastest_time(files, monkeypatch, caplog):
    pytest.importorskip("trimesh")
    cut_power(plan_times, files, monkeypatch, caplog, count=1)


# Seasons


def test_a_damaged_house_is_not_used(season, tmp_path):
    config = SeasonConfig(build_season.seasons.public_season(1), tmp_path / "hearth", 3, ("val_unseen",))
    shutil.copytree(season, config.out)
    part = config.part(1)
    assert build_season.is_built(config, 1)
    for file in sorted(file for file in part.rglob("*") if file.is_file()):
        content = file.read_bytes()
        middle = len(content) // 2
        for damaged in (b"", content[:middle], bytes(len(content)), zero(content, middle, len(content)),
                        flip(content, middle, 3), flip(content, len(content) - 1, 0)):  # fmt: skip
            file.write_bytes(damaged)
            assert not build_season.is_built(config, 1), file
        file.unlink()
        assert not build_season.is_built(config, 1), file
        file.write_bytes(content)
    assert build_season.is_built(config, 1)


def test_a_season_with_a_damaged_house_is_built_with_the_same_bytes(season, tmp_path, caplog):
    out = tmp_path / "hearth"
    shutil.copytree(season, out)
    (out / "season.json").unlink()
    house = out / ".houses/hearth-1-001/houses/hearth-1-001.house"
    house.write_bytes(bytes(house.stat().st_size))
    with caplog.at_level(logging.WARNING, "itinera"):
        itinera.build_hearth(out, houses=3, splits=["val_unseen"], workers=1)
    assert "1 of 3 houses are incomplete or damaged and are built again." in caplog.text
    assert read_tree(out) == read_tree(season)


def test_a_finished_season_with_a_damaged_file_is_assembled_again(season, tmp_path):
    out = tmp_path / "hearth"
    shutil.copytree(season, out)
    for name in ("rooms.csv", "houses/hearth-1-001.house"):
        (out / name).write_bytes(bytes((out / name).stat().st_size))
        itinera.build_hearth(out, houses=3, splits=["val_unseen"], workers=1)
        assert read_tree(out) == read_tree(season)


def read_tree(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# Training


@pytest.fixture
def training(tmp_path):
    """A training run, its result, and a checkpoint of it."""
    pytest.importorskip("torch")
    from training.test_train_agent import train

    class Stop(Exception):
        pass

    def stop(steps):
        done.append(steps)
        if len(done) == 5:
            raise Stop

    done: list[int] = []
    out = tmp_path / "agent.safetensors"
    with pytest.MonkeyPatch.context() as patched:
        from itinera.training import train_agent

        schedule = train_agent.Schedule
        patched.setattr(train_agent, "Schedule", lambda *args, **more: schedule(*args, **more, checkpoint_every=2))
        train(out, steps=6)
        whole = out.read_bytes()
        out.unlink()
        with pytest.raises(Stop):
            train(out, steps=6, progress=stop)
        checkpoint = out.with_name("agent.safetensors.partial").read_bytes()
        yield lambda: train(out, steps=6), out, whole, checkpoint


def test_a_damaged_checkpoint_is_detected_and_training_ends_with_the_same_bytes(training, caplog):
    from itinera.training.trainer import read_checkpoint

    train, out, whole, checkpoint = training
    partial = out.with_name("agent.safetensors.partial")
    header = 8 + int.from_bytes(checkpoint[:8], "little")
    for number, damaged in enumerate(damages(checkpoint, [8, header, len(checkpoint)], count=100)):
        partial.write_bytes(damaged)
        if damaged == checkpoint:
            continue
        with pytest.raises(BadFile):
            read_checkpoint(partial)
        if number % 60 == 0:
            caplog.clear()
            out.unlink(missing_ok=True)
            train()
            assert "Training starts from the beginning" in caplog.text
            assert out.read_bytes() == whole
    out.unlink()
    partial.write_bytes(checkpoint)
    train()
    assert out.read_bytes() == whole
    assert sorted(file.name for file in out.parent.iterdir()) == [out.name]
