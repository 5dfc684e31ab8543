"""Replays as pictures and films: what is where on them, when."""

from __future__ import annotations

import sys

import msgspec
import numpy as np
import pytest

from itinera.errors import BadArgument, MissingExtra
from itinera.records import Predictions, Trajectory
from itinera.reports.charts.datasets import COLOURS
from itinera.reports.replay.data import duration
from itinera.reports.replay.pictures import Painter, met_at, step_at, write_gif, write_mp4, write_picture
from itinera.reports.replay.recording import write_recording
from reports.replays_of import replay

images = pytest.importorskip("PIL.Image")


def pixels(image, colour: str) -> int:
    wanted = np.array(list(bytes.fromhex(colour[1:])))
    return int((np.abs(np.asarray(image).astype(int) - wanted).max(axis=2) < 12).sum())


def test_the_walk_grows_with_time():
    painter = Painter(replay(), width=600)
    grown = [pixels(painter.paint(0, time), COLOURS[0]) for time in (0, 1, 2)]
    assert grown[0] < grown[1] < grown[2]


def test_the_first_agents_storey_is_shown():
    painter = Painter(replay(), width=600)
    below, above = (np.asarray(painter.paint(0, time)) for time in (0, duration(replay().tasks[0])))
    # The kitchen reaches where upstairs is nothing.
    assert below.shape == above.shape
    assert (below != above).mean() > 0.05


def test_words_are_marked_where_they_are_said():
    painter = Painter(replay(), width=600)
    assert pixels(painter.paint(0, 0), "#ffdf80") > 3 * pixels(painter.paint(0, 3), "#ffdf80") > 0


def test_time_tells_the_place_reached():
    attempt = replay().tasks[0].attempts[0]
    assert [step_at(attempt, time) for time in (0, 0.9, 1, 99)] == [0, 0, 1, 3]
    timed = msgspec.structs.replace(attempt, clock=[0.0, 1.5, 4.0, 4.5])
    assert [step_at(timed, time) for time in (0, 1.4, 1.5, 4.2, 99)] == [0, 0, 1, 2, 3]
    assert [met_at(attempt, step) for step in (0, 2)] == [(0, 0), (2, 2)]
    assert met_at(msgspec.structs.replace(attempt, pairs=[]), 2) == (-1, -1)


def test_a_picture_is_of_the_end(tmp_path):
    write_picture(tmp_path / "end.png", replay(), width=600)
    with images.open(tmp_path / "end.png") as picture:
        assert picture.size[0] == 600
        assert (np.asarray(picture) == np.asarray(Painter(replay(), width=600).paint(0, 5))).all()


def test_a_gif_moves_and_keeps_to_its_length(tmp_path):
    write_gif(tmp_path / "film.gif", replay(), width=320, most=40)
    with images.open(tmp_path / "film.gif") as film:
        assert 4 <= film.n_frames <= 40


def test_an_mp4_has_a_frame_for_every_moment(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    import imageio.v2 as imageio

    write_mp4(tmp_path / "film.mp4", replay(), width=320, most=30)
    with imageio.get_reader(tmp_path / "film.mp4") as film:
        assert film.count_frames() >= 20


def test_words_and_names_without_end_are_cut():
    long = "w" * 10_000
    walks = {long: Predictions.from_trajectories("a.jsonl", (Trajectory("e1", tuple("abcd")),))}
    shown = msgspec.structs.replace(replay(walks=walks), title=long)
    assert Painter(shown, width=400).paint(0, 0).size[0] == 400


def test_what_cannot_be_written_is_refused(tmp_path, monkeypatch):
    for write in (write_picture, write_gif, write_mp4, write_recording):
        with pytest.raises(BadArgument, match="end"):
            write(tmp_path / "film.avi", replay())
    monkeypatch.setitem(sys.modules, "imageio.v2", None)
    with pytest.raises(MissingExtra, match=r"itinera\[video\]"):
        write_mp4(tmp_path / "film.mp4", replay())
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtra, match=r"itinera\[viewer\]"):
        write_recording(tmp_path / "film.rrd", replay())
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"itinera\[maps\]"):
        write_picture(tmp_path / "film.png", replay())


def test_a_recording_is_written(tmp_path):
    pytest.importorskip("rerun")
    write_recording(tmp_path / "walk.rrd", replay())
    assert (tmp_path / "walk.rrd").read_bytes()[:3] == b"RRF"
