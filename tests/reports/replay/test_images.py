"""Replays as images and videos: what is where on them, when."""

from __future__ import annotations

import sys

import msgspec
import numpy as np
import pytest

from itinera.errors import BadArgument, MissingExtra
from itinera.records import Predictions, Trajectory
from itinera.reports.charts.datasets import COLORS
from itinera.reports.replay.data import duration
from itinera.reports.replay.images import Painter, find_aligned, find_step, write_gif, write_image, write_mp4
from itinera.reports.replay.recording import write_recording
from reports.example_replays import replay

images = pytest.importorskip("PIL.Image")


def pixels(image, color: str) -> int:
    wanted = np.array(list(bytes.fromhex(color[1:])))
    return int((np.abs(np.asarray(image).astype(int) - wanted).max(axis=2) < 12).sum())


def test_the_trajectory_grows_with_time():
    painter = Painter(replay(), width=600)
    grown = [pixels(painter.paint(0, time), COLORS[0]) for time in (0, 1, 2)]
    assert grown[0] < grown[1] < grown[2]


def test_the_first_agents_storey_is_shown():
    painter = Painter(replay(), width=600)
    below, above = (np.asarray(painter.paint(0, time)) for time in (0, duration(replay().episodes[0])))
    # The kitchen reaches where upstairs is nothing.
    assert below.shape == above.shape
    assert (below != above).mean() > 0.05


def test_words_are_highlighted_along_the_path():
    painter = Painter(replay(), width=600)
    assert pixels(painter.paint(0, 0), "#ffdf80") > 3 * pixels(painter.paint(0, 3), "#ffdf80") > 0


def test_a_time_has_its_step():
    trajectory = replay().episodes[0].trajectories[0]
    assert [find_step(trajectory, time) for time in (0, 0.9, 1, 99)] == [0, 0, 1, 3]
    timed = msgspec.structs.replace(trajectory, times=[0.0, 1.5, 4.0, 4.5])
    assert [find_step(timed, time) for time in (0, 1.4, 1.5, 4.2, 99)] == [0, 0, 1, 2, 3]
    assert [find_aligned(trajectory, step) for step in (0, 2)] == [(0, 0), (2, 2)]
    assert find_aligned(msgspec.structs.replace(trajectory, alignment=[]), 2) == (-1, -1)


def test_an_image_is_of_the_end(tmp_path):
    write_image(tmp_path / "end.png", replay(), width=600)
    with images.open(tmp_path / "end.png") as picture:
        assert picture.size[0] == 600
        assert (np.asarray(picture) == np.asarray(Painter(replay(), width=600).paint(0, 5))).all()


def test_a_gif_moves_and_keeps_to_its_length(tmp_path):
    write_gif(tmp_path / "video.gif", replay(), width=320, max_frames=40)
    with images.open(tmp_path / "video.gif") as video:
        assert 4 <= video.n_frames <= 40


def test_an_mp4_has_as_many_frames(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    import imageio.v2 as imageio

    write_mp4(tmp_path / "video.mp4", replay(), width=320, max_frames=30)
    with imageio.get_reader(tmp_path / "video.mp4") as video:
        assert video.count_frames() >= 20


def test_words_and_names_without_end_are_cut():
    long = "w" * 10_000
    walks = {long: Predictions.from_trajectories("a.jsonl", (Trajectory("e1", tuple("abcd")),))}
    shown = msgspec.structs.replace(replay(predictions=walks), title=long)
    assert Painter(shown, width=400).paint(0, 0).size[0] == 400


def test_what_cannot_be_written_is_refused(tmp_path, monkeypatch):
    for write in (write_image, write_gif, write_mp4, write_recording):
        with pytest.raises(BadArgument, match="end"):
            write(tmp_path / "video.avi", replay())
    monkeypatch.setitem(sys.modules, "imageio.v2", None)
    with pytest.raises(MissingExtra, match=r"itinera\[video\]"):
        write_mp4(tmp_path / "video.mp4", replay())
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtra, match=r"itinera\[viewer\]"):
        write_recording(tmp_path / "video.rrd", replay())
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"itinera\[maps\]"):
        write_image(tmp_path / "video.png", replay())


def test_a_recording_is_written(tmp_path):
    pytest.importorskip("rerun")
    write_recording(tmp_path / "walk.rrd", replay())
    assert (tmp_path / "walk.rrd").read_bytes()[:3] == b"RRF"
