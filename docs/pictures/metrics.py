"""The pictures of the page on metrics: one path beside its reference, and the quantities each metric uses.

python docs/pictures/metrics.py      # writes the .svg files beside this script
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from itinera.metrics import score
from itinera.metrics.alignment import align_places
from itinera.metrics.matching import match
from itinera.records import Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Euclidean, Pose, World

Spot = tuple[float, float]  # meters

SCALE = 60  # pixels per meter
TEAL, ORANGE, GREY, BLACK = "#00796b", "#bf4a00", "#767676", "#222"

REFERENCE: tuple[Spot, ...] = ((0, 0), (2, 0), (4, 0), (4, 2), (4, 4))
PATH: tuple[Spot, ...] = ((0, 0), (1.4, 0.9), (2.8, 1.4), (3.3, 3.2), (1.8, 4.4))
RADIUS = 3.0
# The second episode of a tour begins at the goal of the first.
ONWARD: tuple[Spot, ...] = ((5.5, 4), (7.5, 4), (7.5, 2), (7.5, 0))
SECOND_PATH: tuple[Spot, ...] = ((5.5, 4), (6.9, 3.4), (6.8, 1.8), (7.2, 0.4))
# Seconds: how long two robots take, and the bounds of the fastest time.
TIMES = {"stops to turn": 17.0, "drives curves": 14.5}
FASTEST = (12.5, 13.0)


# The scores of both paths.


def episode(name: str, reference: Sequence[Spot]) -> Episode:
    places = np.array([(*spot, 0.0) for spot in reference], dtype=float)
    return Episode(name, "yard", Pose(places[0]), (places[-1],), places, Instruction("Along the wall, then left."))


def trajectory(name: str, places: Sequence[Spot]) -> Trajectory:
    return Trajectory(name, np.array([(*spot, 0.0) for spot in places], dtype=float))


YARD = {"yard": World("yard", Euclidean())}
TASK, NEXT = episode("1", REFERENCE), episode("2", ONWARD)
PREDICTIONS = Predictions.from_trajectories("paths", (trajectory("1", PATH), trajectory("2", SECOND_PATH)))
SPLIT = Split("yard", (TASK, NEXT), (Tour("0", "yard", ("1", "2")),))
TABLE = score(PREDICTIONS, SPLIT, YARD)
ATTEMPTS = next(iter(match(PREDICTIONS, SPLIT, YARD)))


def value(metric: str) -> float:
    return float(TABLE[metric][0])


# Drawing: elements of SVG from coordinates in meters.


def at(spot: Spot) -> tuple[float, float]:
    return 40 + SCALE * spot[0], 30 + SCALE * (5 - spot[1])


def line(a: Spot, b: Spot, colour: str, *, width: float = 2, dashes: str = "") -> str:
    (x0, y0), (x1, y1) = at(a), at(b)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{x0:g},{y0:g} L{x1:g},{y1:g}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def path(places: Sequence[Spot], colour: str, name: str, *, dashes: str = "", numbered: bool = True) -> Iterable[str]:
    """A path with its places, the k-th of them labeled with its name and number."""
    for a, b in pairwise(places):
        yield line(a, b, colour, width=3, dashes=dashes)
    for k, spot in enumerate(places, start=1):
        x, y = at(spot)
        yield f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>'
        if numbered:
            aside, up = (-0.48, -0.03) if name == "p" else (0, -0.35) if spot[1] == 0 else (0.15, -0.08)
            yield text((spot[0] + aside, spot[1] + up), f"{name}{k}", colour)


def text(spot: Spot, words: str, colour: str = BLACK, *, bold: bool = False) -> str:
    x, y = at(spot)
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{weight}>{words}</text>'


def drawing(
    parts: Iterable[str], words: Sequence[str], *, wide: float = 8.6, high: float = 5.6, above: float = 0
) -> str:
    """A picture of this size in meters, with lines of text to the right of the drawing."""
    width, height, top = 80 + SCALE * wide, 40 + SCALE * (high + above), -SCALE * above
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:g} {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="sans-serif" font-size="14">'
    )
    told = (text((5.0, 4.6 - 0.42 * k), words_of_line) for k, words_of_line in enumerate(words))
    white = f'<rect y="{top:g}" width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([head, white, *parts, *told, "</svg>", ""])


def both() -> Iterable[str]:
    yield from path(REFERENCE, GREY, "q", dashes="9 5")
    yield from path(PATH, TEAL, "p")


# The pictures.


def reaching() -> str:
    goal, nearest = REFERENCE[-1], min(PATH, key=lambda spot: np.hypot(spot[0] - 4, spot[1] - 4))
    x, y = at(goal)
    parts = [
        f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS * SCALE:g}" fill="{ORANGE}" fill-opacity="0.08" stroke="{ORANGE}" '
        'stroke-dasharray="2 4"/>',
        *path(PATH, TEAL, "p"),
        line(PATH[-1], goal, ORANGE, dashes="5 4"),
        line(nearest, goal, ORANGE, dashes="5 4"),
        f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="{ORANGE}"/>',
        line(goal, (4 + RADIUS * 0.8, 4 + RADIUS * 0.6), ORANGE, width=1),
        text((4.2, 3.75), "goal", ORANGE, bold=True),
        text((2.6, 4.35), "NE", ORANGE, bold=True),
        text((3.75, 3.3), "ONE", ORANGE, bold=True),
        text((5.2, 5.15), "r", ORANGE, bold=True),
    ]
    words = [
        text((5.0, 0.8), f"NE = {value('NE'):.2f} m, from the end of the path"),
        text((5.0, 0.4), f"ONE = {value('ONE'):.2f} m, from its nearest place"),
        text((5.0, 0.0), f"both ≤ r = {RADIUS:g} m: SR = {value('SR'):g}, OSR = {value('OSR'):g}"),
    ]
    return drawing([*parts, *words], [], wide=9.6, above=2)


def efficiency() -> str:
    parts = [
        *path(PATH, TEAL, "p"),
        line(REFERENCE[0], REFERENCE[-1], ORANGE, dashes="5 4", width=3),
        text((2.35, 2.6), "L", ORANGE, bold=True),
        text((4.15, 3.95), "goal", ORANGE, bold=True),
    ]
    shortest = float(ATTEMPTS.shortest[0])
    words = [
        f"L = {shortest:.2f} m, the shortest path",
        f"PL = {value('PL'):.2f} m, length of the path",
        f"SPL = SR · L / max(PL, L) = {value('SPL'):.2f}",
    ]
    return drawing(parts, words)


def alignment() -> str:
    pairs = align_places(ATTEMPTS)[0].tolist()
    parts = [*(line(PATH[i], REFERENCE[j], ORANGE, width=1.5) for i, j in pairs), *both()]
    words = [
        "DTW adds the thin lines, the least",
        f"sum that keeps both orders: {value('DTW'):.2f} m",
        f"nDTW = exp(−{value('DTW'):.2f} / (3 · 5)) = {value('nDTW'):.2f}",
    ]
    return drawing(parts, words)


def coverage() -> str:
    gaps = np.array([[np.hypot(p[0] - q[0], p[1] - q[1]) for p in PATH] for q in REFERENCE])
    nearest = gaps.argmin(axis=1).tolist()
    parts = [*(line(PATH[i], q, ORANGE, width=1.5) for i, q in zip(nearest, REFERENCE, strict=True)), *both()]
    words = [
        "PC: how near is the path",
        f"to each place of the reference? {value('PC'):.2f}",
        f"LS: has it the expected length? {value('LS'):.2f}",
        f"CLS = PC · LS = {value('CLS'):.2f}",
    ]
    return drawing(parts, words)


def touring() -> str:
    assert TABLE.tours is not None
    parts = [
        *path(REFERENCE, GREY, "q", dashes="9 5", numbered=False),
        *path(ONWARD, GREY, "q", dashes="9 5", numbered=False),
        *path(PATH, TEAL, "p", numbered=False),
        *path(SECOND_PATH, TEAL, "p", numbered=False),
        line(PATH[-1], REFERENCE[-1], ORANGE, dashes="2 5", width=3),
        line(REFERENCE[-1], ONWARD[0], ORANGE, dashes="2 5", width=3),
        text((0, 1.2), "episode 1", TEAL, bold=True),
        text((5.6, 4.2), "episode 2", TEAL, bold=True),
        text((2.1, 4.55), "guided to the goal", ORANGE),
        text((4.15, 3.7), "to next start", ORANGE),
    ]
    sums = " + ".join(f"{cost:.2f}" for cost in TABLE["DTW"])
    words = f"t-nDTW = exp(−({sums}) / (3 · (5 + 4))) = {float(TABLE.tours['t-nDTW'][0]):.2f}; guidance does not count"
    return drawing([*parts, text((0, -0.55), words)], [], high=5.9)


def timing() -> str:
    """Bars of seconds: the fastest time between its bounds, and two robots that took longer."""
    second = 22  # pixels
    low, high = FASTEST
    parts = [
        f'<rect x="{150 + second * low:g}" y="20" width="{second * (high - low):g}" height="150" fill="{ORANGE}" '
        'fill-opacity="0.35"/>',
        f'<text x="{150 + second * high + 6:g}" y="34" fill="{ORANGE}">T, {low:g} to {high:g} s</text>',
    ]
    for k, (name, taken) in enumerate(TIMES.items()):
        y = 50 + 60 * k
        parts += [
            f'<text x="140" y="{y + 24}" text-anchor="end" fill="{BLACK}">{name}</text>',
            f'<rect x="150" y="{y}" width="{second * taken:g}" height="38" fill="{TEAL}" fill-opacity="0.8"/>',
            f'<text x="160" y="{y + 24}" fill="white">C = {taken:g} s</text>',
            f'<text x="{158 + second * taken:g}" y="{y + 24}" fill="{BLACK}">SCT = {high:g} / {taken:g} = '
            f"{high / taken:.2f}, at least {low / taken:.2f}</text>",
        ]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 190" width="760" height="190" '
        'font-family="sans-serif" font-size="14">'
    )
    return "\n".join([head, '<rect width="760" height="190" fill="white"/>', *parts, "</svg>", ""])


PICTURES = {
    "reaching.svg": reaching(),
    "efficiency.svg": efficiency(),
    "alignment.svg": alignment(),
    "coverage.svg": coverage(),
    "touring.svg": touring(),
    "timing.svg": timing(),
}


if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        Path(__file__).with_name(name).write_text(drawn, encoding="utf-8")
