"""Is SPL still admissible? The study of "Beyond the Nav-Graph" (Krantz et al. 2020), supplementary section 7.2.

The references of VLN-CE are shortest paths on Matterport's navigation graph, not on the ground, so who follows them
walks farther than need be and loses SPL. The paper's oracle, which takes the shortest way through all waypoints, keeps
0.968 over all paths and 0.959 on val-unseen. Here is the same oracle for several readings of "through".

    ITINERA_DATA=… python recipes/admissible_spl.py

Expected, to 0.001: through the waypoints themselves 0.933 / 0.934 / 0.919 (train / val-seen / val-unseen); the expert
traces of VLN-CE, which pass within 0.5 m, 0.975 / 0.963 (val-seen / val-unseen; the pack has no traces of train).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from itinera.analysis.admissibility import Admissibility, admissibility, oracle_walks, trace_walks
from itinera.formats import matterport, r2r, vlnce
from itinera.reports.tables import Grid, drawn
from itinera.stats import Interval, interval
from itinera.tasks import Episode, Split
from itinera.worlds import Euclidean, World

SPLITS = ("train", "val_seen", "val_unseen")
TRACED = ("val_seen", "val_unseen")
RADII = (0.0, 0.1, 0.15, 0.2, 0.25, 0.5)  # metres around each waypoint
PRINTED = {"all": 0.968, "val_unseen": 0.959}
ON_GRAPHS = ("r2r/R2R_val_seen", "r2r/R2R_val_unseen", "r4r/R4R_val_seen")


def continuous(folder: Path) -> tuple[Grid, Mapping[str, Sequence[float]]]:
    """A row per reading, and for the readings by radius the mean SPL of each column."""
    splits = {name: vlnce.read_split(folder / f"{name}.json.gz") for name in SPLITS}
    worlds = {world_id: World(world_id, Euclidean()) for split in splits.values() for world_id in split.world_ids}
    together = replace(splits["train"], name="all", episodes=tuple(e for s in splits.values() for e in _apart(s)))
    splits |= {"all": together}
    rows: list[tuple[str, ...]] = []
    means: dict[str, list[float]] = {name: [] for name in splits}
    for radius in RADII:
        found = {name: studied(split, worlds, radius) for name, split in splits.items()}
        for name, outcome in found.items():
            means[name].append(outcome.mean.mean)
        reading = f"within {radius:g} m of the waypoints" if radius else "through the waypoints"
        rows.append((reading, *(told(found[name].mean) for name in splits)))
    rows.append(("VLN-CE's expert traces", *(traced(folder, name, splits, worlds) for name in splits)))
    rows.append(("printed", *(f"{PRINTED[name]:.3f}" if name in PRINTED else "–" for name in splits)))
    return Grid(("SPL of the oracle", *splits), tuple(rows)), means


def _apart(split: Split) -> tuple[Episode, ...]:
    """The episodes under names that differ between splits."""
    return tuple(replace(e, id=f"{split.name}/{e.id}", path_id=f"{split.name}/{e.path_id}") for e in split.episodes)


def studied(split: Split, worlds: Mapping[str, World], radius: float) -> Admissibility:
    return admissibility(oracle_walks(split, worlds, radius=radius), split, worlds)


def traced(folder: Path, name: str, splits: Mapping[str, Split], worlds: Mapping[str, World]) -> str:
    if name not in TRACED:
        return "–"
    dense = vlnce.read_dense(folder / f"{name}_gt.json.gz")
    walks = trace_walks(splits[name], {episode_id: way.positions for episode_id, way in dense.items()})
    return told(admissibility(walks, splits[name], worlds).mean)


def told(mean: Interval) -> str:
    return f"{mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]"


def least_radius(means: Sequence[float], printed: float) -> float:
    """The radius at which the bound on SPL reaches a printed value, between those tried."""
    return float(np.interp(printed, means, RADII))


def on_graphs(folder: Path) -> Grid:
    """The same oracle on navigation graphs, where ways are measured and nothing is left to reading."""
    worlds = matterport.read_worlds(folder / "connectivity.tar.xz")
    rows = []
    for name in ON_GRAPHS:
        found = studied(r2r.read_split(folder / f"{name}.json.gz"), worlds, 0.0)
        below = interval(found.spl < 1 - 1e-9, clusters=found.world_ids).mean
        rows.append((name.split("/")[1], told(found.mean), f"{found.detour:.3f}", f"{100 * below:.1f} %"))
    return Grid(("on the graph", "SPL of the oracle", "metres walked / needed", "episodes below 1"), tuple(rows))


def main() -> None:
    place = os.environ.get("ITINERA_DATA")
    if not place:
        print("Needs the data pack: set ITINERA_DATA to its folder.")
        return
    data = Path(place)
    console = Console(width=None if sys.stdout.isatty() else 160)
    table, means = continuous(data / "vlnce" / "R2R_VLNCE_v1-3_preprocessed")
    console.print(drawn(table))
    radii = {name: least_radius(means[name], printed) for name, printed in PRINTED.items()}
    exact = {name: means[name][0] for name in PRINTED}
    print(
        "Intervals are over scenes (95 %). SPL compares with the geodesic distance the episodes state. The ways by\n"
        "radius are straight lines from waypoint to waypoint and know no walls. No oracle in the houses walks less,\n"
        "so these rows are upper bounds; the traces were walked in the houses.\n"
        f"The printed {PRINTED['all']} (all) and {PRINTED['val_unseen']} (val-unseen) lie above the bounds"
        f" {exact['all']:.3f} and {exact['val_unseen']:.3f} for ways\n"
        "through the waypoints themselves. If the paper had these episodes and distances, its oracle was let off with\n"
        f"passing near: within {radii['all']:.2f} m at least for the one number and {radii['val_unseen']:.2f} m for the"
        " other, as read off the\n"
        "bounds with the printed values in hand; the paper states no tolerance. VLN-CE's expert, whose traces pass\n"
        "within 0.5 m of every waypoint, keeps less than 0.005 more on val-unseen than is printed. For all paths it\n"
        "cannot be said: the pack has no traces of train, and its episodes are of version 1-3, later than the paper.\n"
    )
    console.print(drawn(on_graphs(data)))
    print(
        "R2R's references are shortest paths but for eight in val-unseen; R4R's are not meant to be, and SPL takes\n"
        "nearly half from whoever follows them: there it is not admissible."
    )


if __name__ == "__main__":
    main()
