"""A replay as a recording for the Rerun viewer (.rrd): paths in the plane, a moment for every step. Needs `viewer`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.io import atomic_write
from itinera.reports.charts.datasets import COLOURS
from itinera.reports.replay.data import Attempt, Place, Replay, Task, Track

ENDING = ".rrd"
RISE = 3.0  # metres drawn between two storeys
TIMELINE = "step"
GREY, INK, BLACK = (138, 160, 181), (85, 82, 77), (0, 0, 0)


def write_recording(path: str | Path, replay: Replay) -> None:
    """All episodes as a recording: the graph and walls of each place, references, goals and walks, step by step."""
    path = Path(path)
    if path.suffix != ENDING:
        raise BadArgument(f"A recording's name ends in {ENDING}, not {path.suffix or 'nothing'!r}: {path}.")
    try:
        import rerun
    except ImportError:
        raise MissingExtra("Recordings", "rerun-sdk", "viewer") from None
    stream = rerun.RecordingStream("itinera", recording_id=f"itinera {replay.title[:60]}")
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        stream.save(str(draft))
        for number, place in enumerate(replay.places):
            _log_place(rerun, stream, f"place_{number}", place)
        begin = 0
        for task in replay.tasks:
            begin += _log_task(rerun, stream, replay, task, begin)
        stream.flush()
        stream.disconnect()
        content = draft.read_bytes()
    with atomic_write(path) as out:
        out.write(content)


def _log_place(rerun: Any, stream: Any, name: str, place: Place) -> None:
    nodes = _points(place.nodes)
    edges = [[nodes[a], nodes[b]] for a, b in zip(place.edges[::2], place.edges[1::2], strict=True)]
    stream.log(f"{name}/graph", rerun.LineStrips3D(edges, colors=[GREY]), static=True)
    walls = [
        [(x / 100, y / 100, RISE * storey) for x, y in zip(ring[::2], ring[1::2], strict=True)]
        for storey, level in enumerate(place.storeys)
        for drawing in level.drawings
        if not drawing.fill
        for ring in drawing.outlines
    ]
    stream.log(f"{name}/walls", rerun.LineStrips3D(walls, colors=[INK]), static=True)


def _log_task(rerun: Any, stream: Any, replay: Replay, task: Task, begin: int) -> int:
    """Log an episode from a step on; how many steps it takes."""
    stream.set_time(TIMELINE, sequence=begin)
    text = "".join(word.text for word in task.words)
    stream.log("instruction", rerun.TextDocument(f"{task.id}\n\n{text}"))
    stream.log("reference", rerun.LineStrips3D([_points(task.reference)], colors=[BLACK]))
    stream.log("goals", rerun.Points3D(_points(task.goals), colors=[BLACK], radii=[0.15]))
    for attempt in task.attempts:
        stream.set_time(TIMELINE, sequence=begin)
        _log_walk(rerun, stream, f"agent_{attempt.agent + 1}", attempt, begin)
    return max((len(attempt.track) for attempt in task.attempts), default=1)


def _log_walk(rerun: Any, stream: Any, name: str, attempt: Attempt, begin: int) -> None:
    """The whole path when the episode begins, and the body where it is at each step."""
    colour, points = _rgb(COLOURS[attempt.agent % len(COLOURS)]), _points(attempt.track)
    stream.log(f"{name}/path", rerun.LineStrips3D([points], colors=[colour]))
    for step, point in enumerate(points):
        stream.set_time(TIMELINE, sequence=begin + step)
        stream.log(f"{name}/body", rerun.Points3D([point], colors=[colour], radii=[0.2]))


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def _points(track: Track) -> list[tuple[float, float, float]]:
    return [(x / 100, y / 100, RISE * storey) for x, y, storey in zip(track.x, track.y, track.storey, strict=True)]
