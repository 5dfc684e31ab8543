"""Continuous trajectories on the graph: "Beyond the Nav-Graph" (Krantz et al. 2020), supplementary section 7.1.

VLN-CE's expert traces are converted to nodes of Matterport's graph and scored against R2R's references, and ten of the
conversions are drawn as in the paper's figure 5: from the most faithful to the least, in ten different houses.

    ITINERA_DATA=… python recipes/continuous_to_graph.py --out demo/continuous_to_graph

Expected: mean nDTW 0.866 (val-seen) and 0.887 (val-unseen), to 0.001. The expert stays within half a meter of every
waypoint, so the difference from 1 is the loss of the conversion: nodes beside the path that are nearer than the next
one. 12 of the 2617 episodes (four paths) end on another storey, as in the last picture.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from itinera.errors import MissingExtra
from itinera.formats import matterport, r2r, vlnce
from itinera.metrics import score
from itinera.records import Predictions, ScoreTable, Trajectory
from itinera.records.snapping import snap_predictions
from itinera.records.tables import TextTable
from itinera.stats import interval
from itinera.tasks import Episode, Split
from itinera.worlds import Array, NavGraph, World

SPLITS = ("val_seen", "val_unseen")
METRICS = {"nDTW": (0, 1), "CLS": (0, 1), "SR": (0, 1), "SPL": (0, 1), "NE": (0, np.inf)}  # with their ranges
PICTURES = 10


@dataclass(frozen=True)
class Conversion:
    """A trajectory on the ground and on the graph, with the reference path."""

    episode: Episode
    graph: NavGraph
    trajectory: Array  # (n, 3) meters
    nodes: tuple[str, ...]
    ndtw: float


def convert(data: Path, name: str, worlds: Mapping[str, World]) -> tuple[ScoreTable, list[Conversion]]:
    """The scores of a split's traces on the graph, and the traces themselves."""
    folder = data / "vlnce" / "R2R_VLNCE_v1-3_preprocessed"
    split = vlnce.read_split(folder / f"{name}.json.gz")
    dense = vlnce.read_dense(folder / f"{name}_gt.json.gz")
    tasks_on_graph = on_graph(split, r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz"))
    traces = Predictions.from_trajectories(
        "expert traces", tuple(Trajectory(e.id, dense[e.id].positions) for e in split.episodes)
    )
    starts = {episode.id: str(episode.start.place) for episode in tasks_on_graph.episodes}
    snapped = snap_predictions(traces, split, worlds, starts=starts)
    table = score(snapped, tasks_on_graph, worlds)
    return table, [
        Conversion(
            episode, worlds[episode.world_id].space, dense[episode.id].positions, snapped_trajectory.places, float(ndtw)
        )
        for episode, snapped_trajectory, ndtw in zip(
            tasks_on_graph.episodes, snapped.trajectories, table.values["nDTW"], strict=True
        )
    ]


def on_graph(continuous: Split, discrete: Split) -> Split:
    """R2R's paths with the ids of VLN-CE's episodes."""
    paths = {episode.path_id: episode for episode in discrete.episodes}
    episodes = tuple(replace(paths[e.path_id], id=e.id) for e in continuous.episodes)
    return Split(f"{continuous.name} on the graph", episodes)


def select(conversions: Sequence[Conversion], count: int) -> list[Conversion]:
    """Conversions evenly spread from the most faithful to the least, each from another house."""
    ranked = sorted(conversions, key=lambda c: (-c.ndtw, c.episode.id))
    picked: list[Conversion] = []
    for place in np.linspace(0, len(ranked) - 1, count).round().astype(int):
        houses = {c.episode.world_id for c in picked}
        near = sorted(range(len(ranked)), key=lambda i: abs(i - place))
        picked.append(next(ranked[i] for i in near if ranked[i].episode.world_id not in houses))
    return picked


def draw(conversions: Sequence[Conversion], folder: Path) -> list[Path]:
    """A picture of each conversion, and one of them all."""
    try:
        import matplotlib as mpl

        mpl.use("agg")
        import matplotlib.pyplot as plt
    except ModuleNotFoundError:
        raise MissingExtra("Pictures", "matplotlib", "figures") from None
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for i, conversion in enumerate(conversions):
        figure, axes = plt.subplots(figsize=(6.4, 6.4), layout="constrained")
        panel(axes, conversion)
        legend(figure, axes)
        files.append(folder / f"{i:02}_{conversion.episode.world_id}_{conversion.episode.id}.png")
        figure.savefig(files[-1], dpi=150)
        plt.close(figure)
    columns = -(-len(conversions) // 2)
    figure, grid = plt.subplots(2, columns, figsize=(4.2 * columns, 9.4), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(h_pad=0.12)
    for axes, conversion in zip(grid.flat, conversions, strict=False):
        panel(axes, conversion)
    for axes in list(grid.flat)[len(conversions) :]:
        axes.set_axis_off()
    legend(figure, grid.flat[0])
    files.append(folder / "conversions.png")
    figure.savefig(files[-1], dpi=110)
    plt.close(figure)
    return files


ORANGE, BLUE, GREY, INK = "#e69f00", "#0072b2", "#b8b8b8", "#333333"
MARGIN = 2.4  # meters around the trajectory
STOREY = 1.6  # meters above or below the trajectory's nodes that are drawn


def panel(axes: Any, conversion: Conversion) -> None:
    """The house from above: graph (thin), trajectory (orange), the same on nodes (blue); darker is earlier."""
    from matplotlib.colors import LinearSegmentedColormap

    graph, trajectory = conversion.graph, conversion.trajectory
    nodes = graph.positions[graph.locate(conversion.nodes)]
    reference = graph.positions[graph.locate(list(conversion.episode.reference))]
    shown = np.concatenate([trajectory[:, :2], nodes[:, :2], reference[:, :2]])
    low, high = shown.min(axis=0) - MARGIN, shown.max(axis=0) + MARGIN
    heights = nodes[:, 2].min() - STOREY, nodes[:, 2].max() + STOREY
    level = (graph.positions[:, 2] > heights[0]) & (graph.positions[:, 2] < heights[1])
    edges = graph.edges[level[graph.edges].all(axis=1)]
    axes.plot(*graph.positions[edges][:, :, :2].transpose(2, 1, 0), color=GREY, linewidth=0.8, zorder=1)
    axes.scatter(*graph.positions[level][:, :2].T, marker="^", s=18, color=GREY, linewidths=0, zorder=2)
    axes.scatter(*reference[:, :2].T, s=190, facecolors="none", edgecolors=INK, linewidths=1.0, zorder=3)
    axes.plot(*nodes[:, :2].T, color=BLUE, linewidth=3.0, alpha=0.45, zorder=4)
    axes.plot(*trajectory[:, :2].T, color=ORANGE, linewidth=1.6, zorder=5)
    for points, marker, size, dark, pale, layer in (
        (trajectory, "o", 20, "#5c2e00", "#ffdf9e", 6),
        (nodes, "^", 80, "#00264d", "#a6d3f2", 7),
    ):
        colors = LinearSegmentedColormap.from_list("time", [dark, pale])(np.linspace(0, 1, len(points)))
        axes.scatter(
            *points[:, :2].T, marker=marker, s=size, c=colors, edgecolors="white", linewidths=0.4, zorder=layer
        )
    label(axes, "start", trajectory[0], trajectory[0] - trajectory[min(4, len(trajectory) - 1)])
    label(axes, "end", trajectory[-1], trajectory[-1] - trajectory[max(-5, -len(trajectory))])
    square(axes, low, high)
    title = f"{conversion.episode.world_id}, nDTW {conversion.ndtw:.2f}"
    if abs(nodes[-1, 2] - reference[-1, 2]) > STOREY:
        title += ", on another storey"
    axes.set_title(title, fontsize=11, color=INK)


def label(axes: Any, text: str, at: Array, away: Array) -> None:
    """A word beside a point, on the side away from the trajectory."""
    from matplotlib.patheffects import withStroke

    x, y = 20 * away[:2] / max(float(np.linalg.norm(away[:2])), 1e-9)
    halo = [withStroke(linewidth=3, foreground="white")]
    axes.annotate(
        text, at[:2], (x, y), textcoords="offset points", ha="right" if x < -6 else "left" if x > 6 else "center",
        va="center", color=INK, fontsize=10, zorder=9, path_effects=halo,
    )  # fmt: skip


def square(axes: Any, low: Array, high: Array) -> None:
    """A square view with a scale instead of axes."""
    middle, half = (low + high) / 2, (high - low).max() / 2
    axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), aspect="equal")
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color(GREY)
    x, y = middle - half * 0.94
    axes.plot([x, x + 2], [y, y], color=INK, linewidth=2, zorder=9)
    axes.text(x + 1, y + half * 0.02, "2 m", ha="center", va="bottom", color=INK, fontsize=9, zorder=9)


def legend(figure: Any, axes: Any) -> None:
    from matplotlib.lines import Line2D

    kinds = [
        Line2D([], [], color=ORANGE, marker="o", markersize=5, markerfacecolor="#8a4a00", markeredgecolor="white",
               label="trajectory in the continuous world"),
        Line2D([], [], color=BLUE, alpha=0.8, linewidth=3, marker="^", markersize=9, markeredgecolor="white",
               label="the same on the graph (darker is earlier)"),
        Line2D([], [], linestyle="", marker="o", markersize=12, markerfacecolor="none", markeredgecolor=INK,
               label="R2R's reference"),
        Line2D([], [], color=GREY, linewidth=0.8, marker="^", markersize=4, label="graph"),
    ]  # fmt: skip
    wide = figure.get_size_inches()[0] > 10
    figure.legend(
        handles=kinds, loc="outside lower center", ncols=4 if wide else 2, frameon=False, fontsize=11 if wide else 9
    )


def main(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo/continuous_to_graph"),
) -> None:
    place = os.environ.get("ITINERA_DATA")
    if not place:
        print("Needs the data pack: set ITINERA_DATA to its folder.")
        return
    worlds = matterport.read_worlds(Path(place) / "connectivity.tar.xz")
    rows, conversions = [], []
    for name in SPLITS:
        table, found = convert(Path(place), name, worlds)
        conversions += found
        means = [interval(table.values[m], clusters=table.world_ids, bounds=b) for m, b in METRICS.items()]
        same = np.mean([tuple(map(str, c.episode.reference)) == c.nodes for c in found])
        cells = [f"{mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]" for mean in means]
        rows.append((name, str(len(table)), *cells, f"{100 * same:.1f} %"))
    grid = TextTable(("expert traces on the graph", "episodes", *METRICS, "exactly the reference"), tuple(rows))
    print(grid)
    print("Intervals are over scenes (95 %); NE in meters along the graph. The paper prints no such numbers.")
    for file in draw(select(conversions, PICTURES), out):
        print(file)


if __name__ == "__main__":
    typer.run(main)
