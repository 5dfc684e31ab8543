"""Maps in replays: found beside the predictions, painted, and only those of the same run."""

from __future__ import annotations

import base64
import io
import logging
from dataclasses import replace

import numpy as np
import pytest

from itinera.formats.map_recordings import MapRecordings, maps_file, write_map_recordings
from itinera.formats.native import Header, header_line
from itinera.formats.native_predictions import encode_rollout, read_predictions
from itinera.records import Predictions
from itinera.records.map_recording import MapRecorder, MapRecording
from itinera.reports.replay import held_maps
from itinera.reports.replay.held_maps import draw_maps, find_maps
from reports.example_replays import make_predictions, replay

LEGEND = (("void", (0, 0, 0)), ("sofa", (255, 168, 1)), ("bed", (7, 153, 146)))


def recording(episode_id: str = "e1", steps: int = 4) -> MapRecording:
    """Maps of 4 x 4 cells: at step k the cell (0, k) has a sofa, and (3, 3) something without a label."""
    recorder = MapRecorder()
    for step in range(steps):
        labels = np.zeros((4, 4), np.uint16)
        labels[0, step % 4] = 1
        occupancy = (labels > 0).astype(np.uint8)
        occupancy[3, 3] = 1
        recorder.add(step, occupancy, labels, cell=0.5, legend=LEGEND)
    found = recorder.finish(episode_id, steps)
    assert found is not None
    return found


def pixels(image: str) -> np.ndarray:
    image_module = pytest.importorskip("PIL.Image")
    return np.asarray(image_module.open(io.BytesIO(base64.b64decode(image))))


def test_maps_become_pictures_with_their_legend():
    drawn = draw_maps(recording(), 10)
    assert (drawn.size, drawn.width) == (4, 200)
    assert drawn.legend == [("sofa", "#ffa801")]
    assert [frame.step for frame in drawn.frames] == [0, 1, 2, 3]
    image = pixels(drawn.frames[2].image)
    assert image[0, 2].tolist() == [255, 168, 1, 255]
    assert image[3, 3, 3] == 255
    assert image[..., 3].astype(bool).sum() == 2


def test_long_episodes_show_some_of_their_maps():
    assert [frame.step for frame in draw_maps(recording(steps=9), 3).frames] == [0, 4, 8]


def test_each_trajectory_has_its_own_maps(monkeypatch):
    shown = replay(maps={"strays": {"e1": recording()}})
    of_first = {trajectory.agent: trajectory.maps for trajectory in shown.episodes[0].trajectories}
    assert of_first[0] is None
    assert len(of_first[1].frames) == 4
    assert all(trajectory.maps is None for trajectory in shown.episodes[1].trajectories)
    monkeypatch.setattr(held_maps, "MAX_MAPS", 2)
    fewer = replay(maps={"strays": {"e1": recording()}})
    assert len(fewer.episodes[0].trajectories[1].maps.frames) == 2


def test_maps_are_found_in_trajectories_or_beside_their_file(tmp_path, caplog):
    (rollout,) = make_predictions()["follows"].rollouts
    with_map = replace(rollout, trajectories=(replace(rollout.trajectories[0], maps=recording()),))
    assert find_maps(Predictions("", (with_map,))).keys() == {"e1"}
    assert find_maps(Predictions("nowhere.jsonl", (rollout,))) == {}
    out = tmp_path / "preds.jsonl"
    header = header_line(Header(itinera="predictions", plan="p"))
    out.write_bytes(header + encode_rollout(rollout) + b"\n")
    assert find_maps(read_predictions(out)) == {}
    write_map_recordings(maps_file(out), MapRecordings({"e1": recording()}, plan="p"))
    assert find_maps(read_predictions(out)).keys() == {"e1"}
    write_map_recordings(maps_file(out), MapRecordings({"e1": recording()}, plan="q"))
    with caplog.at_level(logging.WARNING, "itinera"):
        assert find_maps(read_predictions(out)) == {}
    assert "are of another run" in caplog.text


def test_replays_without_maps_are_as_before():
    assert all(trajectory.maps is None for episode in replay().episodes for trajectory in episode.trajectories)
