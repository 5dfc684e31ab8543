"""A replay as one self-contained HTML page.

The page is `replay.html` with its style sheet, script and data embedded; names and texts enter it as data, never as
markup.
"""

from __future__ import annotations

import html
import re
from importlib.resources import files
from pathlib import Path

import msgspec

from itinera.errors import BadArgument
from itinera.formats.writing import atomic_write
from itinera.reports.markup import security_policy, strip_control
from itinera.reports.replay.data import Replay

SUFFIX = ".html"
MAX_TITLE = 200  # characters; a browser tab shows fewer


def write_replay_page(path: str | Path, replay: Replay) -> None:
    """Write the replay as a self-contained HTML file."""
    path = Path(path)
    if path.suffix != SUFFIX:
        raise BadArgument(f"A page's name ends in {SUFFIX}, not {path.suffix or 'nothing'!r}: {path}.")
    with atomic_write(path) as stream:
        stream.write(render_replay(replay).encode("utf-8"))


def render_replay(replay: Replay) -> str:
    """The replay as HTML."""
    style, script = _asset("replay.css"), _asset("replay.js")
    parts = {
        "policy": security_policy(style, script, images="data:"),
        "title": html.escape(strip_control(replay.title[:MAX_TITLE])),
        "style": style,
        "script": script,
        "data": _embedded(replay),
    }
    # In one pass, so that inserted text is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("replay.html"))


def _asset(name: str) -> str:
    return files("itinera.reports.replay").joinpath(name).read_text(encoding="utf-8")


def _embedded(replay: Replay) -> str:
    # Without a "<" no string can end the script element that contains it.
    return msgspec.json.encode(replay).decode("utf-8").replace("<", "\\u003c")
