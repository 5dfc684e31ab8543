"""A replay as a recording for the Rerun viewer (.rrd), one time step per step. Needs the extra `viewer`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.writing import atomic_write
from itinera.reports.charts.datasets import COLORS
from itinera.reports.replay.data import Replay, ReplayEpisode, ReplayTrajectory, SceneMap, Track

SUFFIX = ".rrd"
STOREY_HEIGHT = 3.0  # metres drawn between two storeys
TIMELINE = "step"
GREY, INK, BLACK = (138, 160, 181), (85, 82, 77), (0, 0, 0)


def write_recording(path: str | Path, replay: Replay) -> None:
    """Write all episodes as a recording: graphs and walls, reference paths, goals and trajectories, step by step."""
    path = Path(path)
    if path.suffix != SUFFIX:
        raise BadArgument(f"A recording's name ends in {SUFFIX}, not {path.suffix or 'nothing'!r}: {path}.")
    try:
        import rerun
    except ImportError:
        raise MissingExtra("Recordings", "rerun-sdk", "viewer") from None
    stream = rerun.RecordingStream("itinera", recording_id=f"itinera {replay.title[:60]}")
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        stream.save(str(draft))
        for number, scene in enumerate(replay.scenes):
            _log_scene(rerun, stream, f"scene_{number}", scene)
        begin = 0
        for episode in replay.episodes:
            begin += _log_episode(rerun, stream, episode, begin)
        stream.flush()
        stream.disconnect()
        content = draft.read_bytes()
    with atomic_write(path) as out:
        out.write(content)


def _log_scene(rerun: Any, stream: Any, name: str, scene: SceneMap) -> None:
    nodes = _points(scene.nodes)
    edges = [[nodes[a], nodes[b]] for a, b in zip(scene.edges[::2], scene.edges[1::2], strict=True)]
    stream.log(f"{name}/graph", rerun.LineStrips3D(edges, colors=[GREY]), static=True)
    walls = [
        [(x / 100, y / 100, STOREY_HEIGHT * storey) for x, y in zip(ring[::2], ring[1::2], strict=True)]
        for storey, level in enumerate(scene.storeys)
        for drawing in level.drawings
        if not drawing.fill
        for ring in drawing.outlines
    ]
    stream.log(f"{name}/walls", rerun.LineStrips3D(walls, colors=[INK]), static=True)


def _log_episode(rerun: Any, stream: Any, episode: ReplayEpisode, begin: int) -> int:
    """Log an episode from a step on; return its number of steps."""
    stream.set_time(TIMELINE, sequence=begin)
    text = "".join(word.text for word in episode.instruction)
    stream.log("instruction", rerun.TextDocument(f"{episode.id}\n\n{text}"))
    stream.log("reference", rerun.LineStrips3D([_points(episode.reference)], colors=[BLACK]))
    stream.log("goals", rerun.Points3D(_points(episode.goals), colors=[BLACK], radii=[0.15]))
    for trajectory in episode.trajectories:
        stream.set_time(TIMELINE, sequence=begin)
        _log_trajectory(rerun, stream, f"agent_{trajectory.agent + 1}", trajectory, begin)
    return max((len(trajectory.track) for trajectory in episode.trajectories), default=1)


def _log_trajectory(rerun: Any, stream: Any, name: str, trajectory: ReplayTrajectory, begin: int) -> None:
    """Log the whole path at the start of the episode, and the body's position at each step."""
    color, points = _rgb(COLORS[trajectory.agent % len(COLORS)]), _points(trajectory.track)
    stream.log(f"{name}/path", rerun.LineStrips3D([points], colors=[color]))
    for step, point in enumerate(points):
        stream.set_time(TIMELINE, sequence=begin + step)
        stream.log(f"{name}/body", rerun.Points3D([point], colors=[color], radii=[0.2]))


def _rgb(color: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


def _points(track: Track) -> list[tuple[float, float, float]]:
    return [
        (x / 100, y / 100, STOREY_HEIGHT * storey) for x, y, storey in zip(track.x, track.y, track.storey, strict=True)
    ]
