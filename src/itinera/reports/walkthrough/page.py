"""A walk-through as one self-contained HTML page.

The page is `walkthrough.html` with its style sheet, scripts and data embedded; names and texts enter it as data, never
as markup.
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
from itinera.reports.walkthrough.data import Walkthrough

SUFFIX = ".html"
MAX_TITLE = 200  # characters; a browser tab shows fewer
SCRIPTS = ("geometry.js", "renderer.js", "overlay.js", "walkthrough.js")  # in the order they run


def check_page_path(path: str | Path) -> Path:
    """The path, if it ends in .html."""
    path = Path(path)
    if path.suffix != SUFFIX:
        raise BadArgument(f"A page's name ends in {SUFFIX}, not {path.suffix or 'nothing'!r}: {path}.")
    return path


def write_walkthrough_page(path: str | Path, walkthrough: Walkthrough) -> None:
    """Write the walk-through as a self-contained HTML file."""
    path = check_page_path(path)
    with atomic_write(path) as stream:
        stream.write(render_walkthrough(walkthrough).encode("utf-8"))


def render_walkthrough(walkthrough: Walkthrough) -> str:
    """The walk-through as HTML."""
    style, script = _asset("walkthrough.css"), "\n".join(_asset(name) for name in SCRIPTS)
    parts = {
        "policy": security_policy(style, script),
        "title": html.escape(strip_control(walkthrough.title[:MAX_TITLE])),
        "style": style,
        "script": script,
        # Without a "<" no string can end the script element that contains it.
        "data": msgspec.json.encode(walkthrough).decode("utf-8").replace("<", "\\u003c"),
    }
    # In one pass, so that inserted text is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("walkthrough.html"))


def _asset(name: str) -> str:
    return files("itinera.reports.walkthrough").joinpath(name).read_text(encoding="utf-8")
