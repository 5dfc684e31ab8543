"""Replays written in any of their formats, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from itinera.errors import BadArgument
from itinera.reports.replay.data import Replay
from itinera.reports.replay.images import write_gif, write_image, write_mp4
from itinera.reports.replay.page import write_replay_page
from itinera.reports.replay.recording import write_recording

WRITERS: MappingProxyType[str, Callable[[Path, Replay], None]] = MappingProxyType(
    {
        ".html": write_replay_page,
        ".png": write_image,
        ".gif": write_gif,
        ".mp4": write_mp4,
        ".rrd": write_recording,
    }
)


def check_replay_path(path: Path) -> None:
    """Raise BadArgument unless a replay can be written to a file of this name."""
    if path.suffix not in WRITERS:
        raise BadArgument(f"{path} must end in one of {', '.join(WRITERS)}.")


def write_replay(path: Path, replay: Replay) -> None:
    """Write the replay as a page (.html), image (.png), video (.gif, .mp4) or Rerun recording (.rrd)."""
    check_replay_path(path)
    WRITERS[path.suffix](path, replay)
