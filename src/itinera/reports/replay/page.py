"""A replay as one page that needs nothing else: open it from disk, send it by mail, print it.

The page is `replay.html` with its style, its script and the data inside; words reach it as data only, never as markup.
"""

from __future__ import annotations

import html
import re
from importlib.resources import files
from pathlib import Path

import msgspec

from itinera.errors import BadArgument
from itinera.formats.io import atomic_write
from itinera.reports.replay.data import Replay

ENDING = ".html"
LONGEST_TITLE = 200  # characters; a tab shows fewer


def write_page(path: str | Path, replay: Replay) -> None:
    """The replay as a self-contained HTML file."""
    path = Path(path)
    if path.suffix != ENDING:
        raise BadArgument(f"A page's name ends in {ENDING}, not {path.suffix or 'nothing'!r}: {path}.")
    with atomic_write(path) as stream:
        stream.write(page_of(replay).encode("utf-8"))


def page_of(replay: Replay) -> str:
    """The page itself."""
    parts = {
        "title": html.escape(replay.title[:LONGEST_TITLE]),
        "style": _asset("replay.css"),
        "script": _asset("replay.js"),
        "data": _embedded(replay),
    }
    # All at once, so that nothing put in is looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("replay.html"))


def _asset(name: str) -> str:
    return files("itinera.reports.replay").joinpath(name).read_text(encoding="utf-8")


def _embedded(replay: Replay) -> str:
    # Without a "<" no string can end the script element it stands in.
    return msgspec.json.encode(replay).decode("utf-8").replace("<", "\\u003c")
