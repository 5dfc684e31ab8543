"""The maps that agents held, as pictures in a replay."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from itinera.errors import BadFile
from itinera.formats.map_recordings import maps_file, read_map_recordings
from itinera.formats.native import read_header
from itinera.records import Predictions
from itinera.records.map_colors import color_label, paint_map
from itinera.records.map_recording import MapRecording
from itinera.rendering.png import encode_png
from itinera.reports.replay.data import HeldMaps, ReplayFrame

MAX_MAPS = 4000  # of a replay; each takes half a kilobyte

logger = logging.getLogger("itinera")


def find_maps(predictions: Predictions) -> dict[str, MapRecording]:
    """The recorded maps of predictions by episode: their own, or those in the file beside theirs."""
    found = {one.episode_id: one.maps for one in predictions.trajectories if one.maps is not None}
    if found or not predictions.source:
        return found
    source = Path(predictions.source)
    file = maps_file(source)
    if not (source.is_file() and file.is_file()):
        return {}
    try:
        plan = read_header(source).plan
    except BadFile:  # predictions in another format, which have no maps
        return {}
    recordings = read_map_recordings(file)
    if recordings.plan != plan:
        logger.warning(f"The maps in {file} are of another run than {source} and are not shown.")
        return {}
    return dict(recordings.episodes)


def draw_maps(recording: MapRecording, limit: int) -> HeldMaps:
    """The maps of an episode as pictures, at most `limit` of them, evenly spread over its steps."""
    occupancy, labels = recording.decode()
    count = len(recording)
    chosen = np.unique(np.linspace(0, count - 1, min(count, max(limit, 1))).round().astype(np.int64)).tolist()
    frames = []
    for k in chosen:
        picture = paint_map(occupancy[k], labels[k], recording.legend)
        frames.append(ReplayFrame(recording.steps[k], base64.b64encode(encode_png(picture)).decode("ascii")))
    present = [label for label in np.unique(labels[chosen]).tolist() if 0 < label < len(recording.legend)]
    legend = [(recording.legend[label][0], _hex(color_label(label, recording.legend))) for label in present]
    return HeldMaps(recording.size, round(100 * recording.cell * recording.size), legend, frames)


def _hex(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def share_maps(recordings: Mapping[str, Mapping[str, MapRecording]]) -> int:
    """The number of maps that each trajectory may show."""
    return MAX_MAPS // max(1, sum(map(len, recordings.values())))
