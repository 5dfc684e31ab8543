"""The pictures of the documentation that are drawn from small graphs.

python docs/pictures/draw.py         # writes the .svg files beside this script
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SCALE, MARGIN = 55, 45  # pixels per meter, and around the drawing

# A ring of rooms 2 m apart: the instruction leads around it from a to g; the shortcut is one step.
RING = {"a": (0, 0), "b": (0, 2), "c": (2, 2), "d": (4, 2), "e": (4, 0), "g": (2, 0)}
DOORS = ("ab", "bc", "cd", "de", "eg", "ga")


class Line(NamedTuple):
    """A path through the rooms, drawn beside the edges it follows."""

    rooms: str
    color: str
    label: str
    label_at: tuple[float, float]  # meters
    aside: float  # meters up and right, so that two paths along one edge are both visible


PATHS = (
    Line("abcdeg", "#00897b", "as described: SPL 20 %, nDTW 100 %", (0.0, 2.75), 0.12),
    Line("ag", "#e65100", "shortcut: SPL 100 %, nDTW 51 %", (0.0, -0.55), -0.12),
)


def draw_ring(paths: Sequence[Line]) -> str:
    """The ring with these paths, as SVG."""
    width, height = 4 * SCALE + 2 * MARGIN, 2 * SCALE + 3 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for a, b in DOORS:
        parts.append(f'<path d="M{at(RING[a])} L{at(RING[b])}" stroke="#bbb" stroke-width="6"/>')
    for path in paths:
        corners = " L".join(at((RING[room][0] + path.aside, RING[room][1] + path.aside)) for room in path.rooms)
        parts.append(f'<path d="M{corners}" fill="none" stroke="{path.color}" stroke-width="3" opacity="0.85"/>')
        x, y = at(path.label_at).split(",")
        parts.append(f'<text x="{x}" y="{y}" fill="{path.color}">{path.label}</text>')
    for room, spot in RING.items():
        x, y = at(spot).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="12" fill="white" stroke="#555" stroke-width="2"/>')
        parts.append(f'<text x="{x}" y="{float(y) + 4.5:g}" text-anchor="middle" fill="#222">{room}</text>')
    return "\n".join([*parts, "</svg>", ""])


def at(spot: tuple[float, float]) -> str:
    """Pixel coordinates of a point in meters; y points down in SVG."""
    x, y = spot
    return f"{MARGIN + SCALE * x:g},{1.6 * MARGIN + SCALE * (2 - y):g}"


PICTURES = {"following-or-arriving.svg": draw_ring(PATHS)}


if __name__ == "__main__":
    for name, drawing in PICTURES.items():
        Path(__file__).with_name(name).write_text(drawing, encoding="utf-8")
