"""`itinera run --record maps`: the maps an agent holds, step by step, in a file beside the predictions."""

from __future__ import annotations

import numpy as np
import pytest

import itinera
import tiny
from itinera.errors import BadArgument, BadFile, ItineraError
from itinera.formats.map_recordings import maps_file, read_map_recordings
from itinera.formats.native_predictions import read_predictions
from itinera.formats.scenes import write_scene
from itinera.mapping.egocentric_map import EgocentricMaps
from itinera.records import Phase
from itinera.records.map_recording import MapRecorder, MapRecording
from scripted_agents import MapKeeper
from worlds.rooms import room

AGENT = "scripted_agents:MapKeeper"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Four episodes in a room, in two tours."""
    folder = tmp_path_factory.mktemp("ground")
    write_scene(folder / "scenes" / "house.glb", room(8, 6, boxes=[((2, 1, 0), (3, 5, 1.8))]))
    paths = [[[1.0, 0.0, -3.0], [6.0, 0.0, -3.0]], [[6.0, 0.0, -2.0], [1.0, 0.0, -5.0]]] * 2
    episodes = [tiny.ground_episode(k, "house", path) for k, path in enumerate(paths)]
    tasks = tiny.written(folder / "tasks.json", {"episodes": episodes})
    tours = tiny.written(folder / "tours.json", {"tasks": {"house": [["0", "1"], ["2", "3"]]}})
    return {"tasks": tasks, "worlds": folder / "scenes", "tours": tours, "seed": 5}


def content(path):
    """The files of a run, without the provenance in their headers."""
    return [file.read_text().splitlines()[1:] for file in (path, maps_file(path))]


def test_every_step_of_every_phase_has_the_map_held_there(files):
    predictions = itinera.run(MapKeeper(), record=("maps",), **files)
    phases = set()
    for trajectory in predictions:
        _, labels = trajectory.maps.decode()
        assert trajectory.maps.episode_id == trajectory.episode_id
        assert (trajectory.maps.cell, trajectory.maps.legend) == (0.5, ())
        for step, one in zip(trajectory.maps.steps, labels, strict=True):
            assert one[0, :2].tolist() == MapKeeper.mark(trajectory.places[step])
        recorded = [Phase.ACTING] * len(trajectory.places) if trajectory.phases is None else list(trajectory.phases)
        if recorded[-1] is Phase.GUIDED_TO_GOAL:
            recorded.pop()  # the end of the way to a goal is the beginning of the way to the next start
        assert trajectory.maps.steps == tuple(range(len(recorded)))
        phases.update(recorded)
    assert phases == set(Phase)


def test_the_files_are_the_same_for_any_number_of_workers_and_after_an_interruption(files, tmp_path):
    for workers in (0, 2):
        itinera.run(AGENT, record=["maps"], workers=workers, out=tmp_path / f"{workers}.jsonl", **files)
    assert content(tmp_path / "0.jsonl") == content(tmp_path / "2.jsonl")

    class Interrupted(Exception):
        pass

    def interrupt(score):
        if score.rollouts == 1:
            raise Interrupted

    out = tmp_path / "again.jsonl"
    with pytest.raises(Interrupted):
        itinera.run(AGENT, record="maps", workers=0, out=out, progress=interrupt, **files)
    assert not maps_file(out).exists()
    itinera.run(AGENT, record="maps", workers=0, out=out, **files)
    assert content(out) == content(tmp_path / "0.jsonl")
    assert [path.name for path in tmp_path.glob("again*")].count("again.maps.jsonl") == 1
    assert not list(tmp_path.glob("*.partial"))
    # The predictions are those of a run without maps, and the maps those of one in memory.
    itinera.run(AGENT, workers=0, out=tmp_path / "plain.jsonl", **files)
    assert (tmp_path / "plain.jsonl").read_text().splitlines()[1:] == content(out)[0]
    recorded = read_map_recordings(maps_file(out)).episodes
    for trajectory in itinera.run(AGENT, record="maps", workers=0, **files):
        assert recorded[trajectory.episode_id].content == trajectory.maps.content
    assert all(trajectory.maps is None for trajectory in read_predictions(out))


def test_a_run_that_was_killed_between_its_two_files_is_completed(files, tmp_path, monkeypatch):
    from itinera.runs.resume import ResumableWriter

    out, finish = tmp_path / "preds.jsonl", ResumableWriter.finish

    def die(self, **options):
        if self.result == out:
            raise KeyboardInterrupt
        finish(self, **options)

    with monkeypatch.context() as patched:
        patched.setattr(ResumableWriter, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            itinera.run(AGENT, record="maps", workers=0, out=out, **files)
    assert maps_file(out).exists()
    assert not out.exists()
    itinera.run(AGENT, record="maps", workers=0, out=out, **files)
    assert read_map_recordings(maps_file(out)).episodes.keys() == {"0", "1", "2", "3"}
    assert len(read_predictions(out)) == 4
    # Finished, it is not run again; without its maps it is refused.
    itinera.run(AGENT, record="maps", workers=0, out=out, **files)
    maps_file(out).unlink()
    with pytest.raises(BadArgument, match=r"maps \(.*\) are missing\. Make both again with --overwrite"):
        itinera.run(AGENT, record="maps", workers=0, out=out, **files)
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run(AGENT, workers=0, out=out, **files)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_agent_without_a_map_is_refused(files, tmp_path, workers):
    with pytest.raises(ItineraError, match="holds no map to record: it has no method held_map"):
        itinera.run("scripted_agents:Still", record="maps", workers=workers, **files)


def test_wrong_records_are_refused(files, tmp_path):
    with pytest.raises(BadArgument, match="record"):
        itinera.run(AGENT, record="films", **files)
    graphs = tiny.on_graphs(tmp_path)
    with pytest.raises(BadArgument, match="agents on the ground; protocol r2r is one of graphs"):
        itinera.run(AGENT, graphs.tasks, graphs.worlds, record="maps")


def test_a_map_of_the_wrong_shape_fails_the_episode(files):
    class Careless(MapKeeper):
        def held_map(self):
            return EgocentricMaps(np.zeros((3, 4), np.uint8), np.zeros((3, 4), np.uint16))

    ended = itinera.run(Careless(), record="maps", keep_going=True, **{**files, "tours": None})
    assert all("one square shape" in trajectory.notes["failed"] for trajectory in ended)


def test_recordings_are_decoded_as_they_were():
    rng = np.random.default_rng(0)
    recorder = MapRecorder()
    labels = rng.integers(0, 65536, (5, 8, 8)).astype(np.uint16)
    occupancy = rng.integers(0, 2, (5, 8, 8)).astype(np.uint8)
    for step in range(5):
        recorder.add(2 * step, occupancy[step], labels[step], cell=0.1, legend=(("void", (0, 0, 0)),))
    recorder.add(8, occupancy[0], labels[0], cell=0.1, legend=(("void", (0, 0, 0)),))  # a step is recorded once
    recording = recorder.finish("e", 9)
    assert recording.steps == (0, 2, 4, 6, 8)
    found = recording.decode()
    np.testing.assert_array_equal(found[0], occupancy)
    np.testing.assert_array_equal(found[1], labels)
    assert MapRecorder().finish("e", 9) is None
    with pytest.raises(BadArgument, match="must not change"):
        recorder.add(9, occupancy[0], labels[0], cell=0.2, legend=())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"content": b"nonsense"}, "not compressed by zlib"),
        ({"steps": (0, 1, 2)}, "not that of 3 maps of 2 x 2"),
        ({"steps": (0,)}, "not that of 1 maps of 2 x 2"),
        ({"size": 5000}, "too many or too large"),
    ],
)
def test_damaged_recordings_are_refused(changed, message):
    import zlib
    from dataclasses import replace

    whole = MapRecording("e", (0, 1), 2, 0.1, (), zlib.compress(bytes(24)))
    whole.decode()
    with pytest.raises(BadArgument, match=message):
        replace(whole, **changed).decode()


def test_faults_of_a_file_are_reported_together(tmp_path):
    line = '{"episode_id":"1","steps":[1,1],"size":2,"cell":0.1,"content":"eA=="}'
    (tmp_path / "a.maps.jsonl").write_text(f'{{"itinera":"map-recordings"}}\n{line}\n{line}\n')
    with pytest.raises(BadFile) as caught:
        read_map_recordings(tmp_path / "a.maps.jsonl")
    problems = str(caught.value)
    for expected in ("line 3: episode", "steps do not increase", "cannot be read"):
        assert expected in problems
