"""Figures of skill studies, after figures 2 to 8 of Behavioral Analysis of Vision-and-Language Navigation Agents.

Series differ by color, and by hatches and dashes for print. Start with `draw_all`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from itinera.reports.charts.datasets import DASHES, add_legend, figure_file
from itinera.skills.analysis import DEFAULT_CONFIG, AnalysisConfig
from itinera.skills.distributions import (
    Histogram,
    forward_baseline,
    object_error_histogram,
    responses_if_stopped,
    room_change_histogram,
    stop_probability_by_length,
    turn_histogram,
)
from itinera.skills.responses import SkillResponses
from itinera.skills.turning import RANGES
from itinera.stats import Interval
from itinera.worlds import Array, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIX = ".svg"
INKS = ("#0072B2", "#D55E00", "#4d4d4d")  # intervention, control, a third for comparison
FILLS = ("#0072B2", "#fbe3d5", "#ffffff")
HATCHES = ("", "/////", "....")
PANELS = ("left", "forward", "right", "back left", "backward", "back right")  # left to right, front to back
LABEL_ANGLES = {"left": -112, "forward": 180, "right": 112, "back left": -68, "backward": 0, "back right": 68}
# degrees to the left: radial labels are away from the bars, and from those of the next panel
DENSITY_GRID = np.arange(0, 30.001, 0.05)  # metres
TURN_BIN, MAX_NODES = 15.0, 24  # degrees; longer paths are counted with these


def draw_all(
    folder: Path,
    responses: Mapping[str, Mapping[str, SkillResponses]],
    worlds: Mapping[str, World],
    config: AnalysisConfig = DEFAULT_CONFIG,
) -> list[Path]:
    """Draw every figure for which the agents have responses; the files are named AGENT-FIGURE.svg."""
    drawn = []
    for agent, by_skill in responses.items():
        stem = re.sub(r"[^\w.-]+", "_", agent)

        def file(what: str, stem: str = stem) -> Path:
            drawn.append(folder / f"{stem}-{what}{SUFFIX}")
            return drawn[-1]

        if "stop" in by_skill:
            draw_stopping(stop_probability_by_length(by_skill["stop"], config), file("stopping"))
        directions = {name: of for name in PANELS if (of := by_skill.get(f"direction-{name.replace(' ', '-')}"))}
        if directions:
            draw_turning(directions, file("turning"))
        if "object" in by_skill:
            draw_objects(by_skill["object"], file("objects"))
        if "room-1" in by_skill:
            draw_room_changes(by_skill["room-1"], worlds, file("room-changes"))
        for what, prefix in (("rooms", "room-"), ("rooms-within", "room-within-")):
            found = {k: by_skill[f"{prefix}{k}"] for k in range(1, 9) if f"{prefix}{k}" in by_skill}
            found = {k: of for k, of in found.items() if of.skill.needs_rollout}
            if found:
                draw_room_distances(found, worlds, file(what), within=prefix == "room-within-")
    if any(name.startswith("direction-") for by_skill in responses.values() for name in by_skill):
        drawn.append(folder / f"directions{SUFFIX}")
        draw_directions(drawn[-1])
    return drawn


def draw_training(turns: Array, lengths: Array, path: str | Path) -> None:
    """Draw the turn angles (degrees) and the numbers of nodes of the paths of a split. After figure 2."""
    with figure_file(path, width=5.2, height=2.2) as figure:
        one, other = figure.subplots(1, 2)
        edges = np.arange(0, 180 + TURN_BIN, TURN_BIN)
        counts, _ = np.histogram(np.minimum(turns, 180), edges)
        one.bar(edges[:-1], counts / max(len(turns), 1), TURN_BIN, align="edge", **_bar(0))
        one.set_xticks(np.arange(0, 181, 45))
        one.set_xlabel("change of heading, degrees")
        one.set_ylabel("share of steps")
        numbers, counts = np.unique(np.minimum(lengths, MAX_NODES), return_counts=True)
        other.bar(numbers, counts / max(len(lengths), 1), 0.85, **_bar(1))
        other.set_xlabel("nodes of a path")
        other.set_ylabel("share of paths")
        for ax in (one, other):
            ax.grid(axis="x", visible=False)


def draw_stopping(found: Mapping[str, Mapping[int, Interval]], path: str | Path) -> None:
    """Draw the mean probability of STOP by path length in nodes, for each arm. After figure 3."""
    names = {"intervention": "stop instruction", "control": "no stop instruction", "ahead": "instruction continues"}
    arms = [arm for arm in names if found.get(arm)]
    lengths = sorted({length for arm in arms for length in found[arm]})
    with figure_file(path, width=max(4.6, 0.45 * len(lengths) + 1.2), height=2.4) as figure:
        ax = figure.subplots()
        for i, arm in enumerate(arms):
            at = [length + 0.28 * (i - (len(arms) - 1) / 2) for length in found[arm]]
            _error_bars(ax, at, list(found[arm].values()), i, 0.26)
        ax.set_ylim(0, 1.02)
        ax.set_xticks(lengths)
        ax.set_xlabel("path length, nodes")
        ax.set_ylabel("probability of STOP")
        ax.grid(axis="x", visible=False)
        _legend(figure, [names[arm] for arm in arms])


def _error_bars(ax: Axes, at: Sequence[float], found: Sequence[Interval], number: int, width: float) -> None:
    means = np.array([one.mean for one in found])
    # By rounding, the interval of a mean at its bound may exclude the mean.
    below = np.maximum(means - [one.low for one in found], 0)
    above = np.maximum([one.high for one in found] - means, 0)
    ax.bar(at, means, width, yerr=[below, above], error_kw={"elinewidth": 0.8, "ecolor": "black"}, **_bar(number))


def draw_directions(path: str | Path) -> None:
    """Draw the six directions relative to the heading. After figure 4."""
    with figure_file(path, width=2.9, height=2.9) as figure:
        ax = _compass(figure, (1, 1, 1))
        for i, (name, (low, high)) in enumerate(RANGES.items()):
            start, width = _sector(low, high)
            fill = {"facecolor": ("white", "#e3eef7")[i % 2], "edgecolor": "#707070", "hatch": ("", "///")[i % 2]}
            ax.bar(start, 1.0, width, align="edge", linewidth=0.7, **fill)
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
            ax.text(start + width / 2, 0.68, name.replace(" ", "\n"), ha="center", va="center", fontsize=8, bbox=box)
        ax.set_yticks([])
        ax.spines["polar"].set_visible(False)
        ax.grid(visible=False)


def draw_turning(found: Mapping[str, SkillResponses], path: str | Path) -> None:
    """Draw the action probability by direction, a panel per instructed direction. After figure 5."""
    with figure_file(path, width=6.3, height=4.9) as figure:
        for i, name in enumerate(PANELS):
            if name in found:
                arms = found[name].arms
                _rose(
                    _compass(figure, (2, 3, i + 1)),
                    name,
                    turn_histogram(arms["intervention"]),
                    turn_histogram(arms["control"]),
                )
        _legend(
            figure, ["with instruction", "without instruction", "instructed direction"], [_patch(0), _line(1), _arc()]
        )


def _rose(ax: Any, name: str, intervention: Histogram, control: Histogram) -> None:
    edges = np.radians(intervention.edges)
    top = 1.12 * max(intervention.shares.max(), control.shares.max(), 1e-6)
    ax.bar(edges[:-1], intervention.shares, np.diff(edges), align="edge", **_bar(0) | {"alpha": 0.75})
    # A closed outline, so that it differs from the bars without color.
    ax.plot(np.repeat(edges, 2)[1:-1], np.repeat(control.shares, 2), color=INKS[1], linestyle=DASHES[1], linewidth=1.3)
    start, width = _sector(*RANGES[name])
    around = np.linspace(start, start + width, 50)
    ax.plot(around, np.full(50, 1.06 * top), color="#009E73", linewidth=4, solid_capstyle="butt", clip_on=False)
    ax.set_ylim(0, top)
    ax.set_yticks([top / 2, top], [f"{top / 2:.2f}", f"{top:.2f}"], fontsize=6.5)
    ax.set_rlabel_position(LABEL_ANGLES[name])
    ax.set_title(
        f"{name}\nSTOP {_percent(intervention.stop_probability)}, without {_percent(control.stop_probability)}", pad=14
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def draw_objects(responses: SkillResponses, path: str | Path) -> None:
    """Draw the action probability by angle between candidate and object. After figure 6."""
    intervention, control = (object_error_histogram(responses.arms[arm]) for arm in ("intervention", "control"))
    ahead = object_error_histogram(forward_baseline(responses.arms["intervention"]))
    names = ["with instruction", "without instruction", "forward bias"]
    with figure_file(path, width=5.2, height=2.5) as figure:
        _side_by_side(figure.subplots(), [intervention, control, ahead], "degrees between candidate and object")
        _legend(figure, _with_stops(names, [intervention, control]))


def draw_room_changes(responses: SkillResponses, worlds: Mapping[str, World], path: str | Path) -> None:
    """Draw the action probability by how much closer to the room a candidate leads. After figure 7."""
    intervention, control = (room_change_histogram(responses.arms[arm], worlds) for arm in ("intervention", "control"))
    with figure_file(path, width=5.2, height=2.5) as figure:
        ax = figure.subplots()
        _side_by_side(ax, [intervention, control], "metres closer to the room")
        ax.axvline(0, color="black", linewidth=0.8)
        _legend(figure, _with_stops(["with instruction", "without instruction"], [intervention, control]))


def _with_stops(names: Sequence[str], histograms: Sequence[Histogram]) -> list[str]:
    shares = [f" (STOP {_percent(one.stop_probability)})" for one in histograms]
    return [name + share for name, share in zip(names, [*shares, *[""] * (len(names) - len(shares))], strict=True)]


def _side_by_side(ax: Axes, spreads: Sequence[Histogram], label: str) -> None:
    edges = spreads[0].edges
    slot = (edges[1] - edges[0]) * 0.92 / len(spreads)
    for i, spread in enumerate(spreads):
        ax.bar(edges[:-1] + (i + 0.5) * slot, spread.shares, slot * 0.95, **_bar(i))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel(label)
    ax.set_ylabel("share of probability")
    ax.grid(axis="x", visible=False)


def draw_room_distances(
    found: Mapping[int, SkillResponses], worlds: Mapping[str, World], path: str | Path, *, within: bool
) -> None:
    """Draw the final distance to the room, a ridge per number of steps to it. After figure 8."""
    with figure_file(path, width=4.6, height=max(0.62 * len(found) + 1.1, 2.2)) as figure:
        axes = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (steps, responses) in zip(axes, found.items(), strict=True):
            arms = responses.arms
            stopped = responses_if_stopped(responses, arms["intervention"], worlds)
            ridges = [arms["intervention"].response, arms["control"].response, stopped]
            _ridges(ax, ridges)
            ax.set_ylabel(f"{'≤ ' if within else ''}{steps}", rotation=0, ha="right", va="bottom")
        axes[-1].set_xlabel("final distance to the room, metres")
        axes[-1].set_xlim(0, 20)
        _legend(figure, ["with instruction", "without instruction", "immediate STOP"], [_patch(0), _line(1), _line(2)])
        figure.supylabel("steps to the room", fontsize=8.5)


def _ridges(ax: Axes, samples: Sequence[Array]) -> None:
    for i, sample in enumerate(samples):
        density = estimate_density(sample[np.isfinite(sample)])
        if i == 0:
            ax.fill_between(DENSITY_GRID, density, color=INKS[0], alpha=0.35, linewidth=0)
        ax.plot(DENSITY_GRID, density, color=INKS[i], linestyle=DASHES[i], linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)


def estimate_density(sample: Array) -> Array:
    """The density of distances at `DENSITY_GRID`: Gaussian kernels of Scott's bandwidth, at least 0.25 m."""
    step = DENSITY_GRID[1] - DENSITY_GRID[0]
    if not len(sample):
        return np.zeros_like(DENSITY_GRID)
    width = max(float(sample.std()) * len(sample) ** -0.2, 0.25)
    counts, _ = np.histogram(
        np.minimum(sample, DENSITY_GRID[-1]), np.append(DENSITY_GRID, DENSITY_GRID[-1] + step) - step / 2
    )
    reach = np.arange(-math.ceil(4 * width / step), math.ceil(4 * width / step) + 1) * step
    kernel = np.exp(-((reach / width) ** 2) / 2)
    spread = np.convolve(counts, kernel)[len(reach) // 2 :][: len(DENSITY_GRID)]
    return np.asarray(spread / (len(sample) * kernel.sum() * step))


def _compass(figure: Figure, place: tuple[int, int, int]) -> Any:
    """A polar plot: straight ahead at the top, left on the left."""
    ax: Any = figure.add_subplot(*place, projection="polar")
    ax.set_theta_zero_location("N")
    ax.set_xticks(np.radians(np.arange(0, 360, 45)), ["", *[""] * 7])
    return ax


def _sector(low: float, high: float) -> tuple[float, float]:
    """Start and width, in radians to the left, of a range of degrees to the right."""
    return math.radians(-high), math.radians((high - low) % 360)


def _bar(number: int) -> dict[str, Any]:
    return {"facecolor": FILLS[number], "edgecolor": INKS[number], "hatch": HATCHES[number], "linewidth": 0.6}


def _patch(number: int) -> Any:
    from matplotlib.patches import Patch

    return Patch(**_bar(number))


def _line(number: int) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INKS[number], linestyle=DASHES[number], linewidth=1.3)


def _arc() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="#009E73", linewidth=4, solid_capstyle="butt")


def _legend(figure: Figure, names: Sequence[str], keys: Sequence[Any] | None = None) -> None:
    handles = [_patch(i) for i in range(len(names))] if keys is None else keys
    add_legend(figure, handles, names)
