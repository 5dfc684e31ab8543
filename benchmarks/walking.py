"""How fast does one walk? Steps a CPU second on the graph of a Hearth house, beside the plain rules.

`make bench` runs this. The twin follows Matterport's rules one by one, as agents do that sweep the views at every step.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

import panoramas  # noqa: E402
from itinera.builders.hearth import build_place  # noqa: E402
from itinera.formats.features import read_features, write_features  # noqa: E402
from itinera.seeding import generator  # noqa: E402
from itinera.simulators.candidates import graph_candidates  # noqa: E402
from itinera.simulators.graph import GraphSimulator  # noqa: E402
from itinera.simulators.view_features import ViewSource, rendered_views  # noqa: E402
from itinera.worlds import NavGraph, Pose, World  # noqa: E402
from timing import cpu  # noqa: E402

STEPS, TWIN_STEPS = 100_000, 300
WIDE = 2048  # numbers that ResNet's features have for a view


def steps(world: World, views: ViewSource | None) -> float:
    """Steps a second, choices at random, every observation made."""
    walk = GraphSimulator(views)
    start = Pose(_graph(world).nodes[0])
    choices = generator(0, "choices").integers(0, 1 << 20, STEPS).tolist()

    def stroll() -> None:
        candidates = walk.reset(world, start).candidates
        for choice in choices:
            assert candidates is not None
            candidates = walk.step(1 + choice % len(candidates.nodes)).candidates

    stroll()  # the views of every node are at hand
    return STEPS / cpu(stroll, 5)


def twin_steps(world: World) -> float:
    """Steps a second of the plain rules."""
    graph = _graph(world)
    simulator = panoramas.Simulator(graph)
    choices = generator(0, "choices").integers(0, 1 << 20, TWIN_STEPS).tolist()

    def stroll() -> None:
        simulator.new_episode(graph.nodes[0], 0.0, 0.0)
        for choice in choices:
            found = panoramas.candidates(simulator)
            panoramas.choose(simulator, found[choice % len(found)])

    return TWIN_STEPS / cpu(stroll, 2)


def _graph(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space


def main() -> None:
    house, graph = build_place(1, 0)
    world = World(house.id, graph)
    twin = twin_steps(world)
    drawn = rendered_views({world.id: world}, {world.id: house.mesh})
    drawn.at(world.id, graph.nodes[0])  # compiled
    rng = generator(0, "features")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "features.tsv"
        random = ((world.id, node, rng.random((36, WIDE), dtype=np.float32)) for node in graph.nodes)
        write_features(file, random)
        rows = [
            ("graph, no features", steps(world, None), "≥ 100,000/s"),
            ("graph, rendered summaries", steps(world, drawn), "≥ 20,000/s"),
            (f"graph, {WIDE:,} features a view from a file", steps(world, read_features(file)), "≥ 20,000/s"),
            ("graph, the plain rules", twin, ""),
        ]
    table = Table("what", "steps / CPU second", "to the plain rules", "wanted", title="Walking")
    for what, rate, wanted in rows:
        table.add_row(what, f"{rate:,.0f}", f"{rate / twin:,.0f}×", wanted)
    console = Console(width=110)
    console.print(table)
    fresh = rendered_views({world.id: world}, {world.id: house.mesh})
    tables = cpu(lambda: graph_candidates(graph), 5)
    summaries = cpu(lambda: fresh.at(world.id, graph.nodes[0]), 1)
    console.print(f"{len(graph.nodes)} nodes: ways in {1000 * tables:.1f} ms, rendered views in {summaries:.2f} s.")


if __name__ == "__main__":
    main()
