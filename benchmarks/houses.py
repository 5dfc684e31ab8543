"""The cost of a Hearth house: CPU seconds for the house, its annotations and its tasks, and memory, by house.

Kernels are compiled first, on a house that is not counted. Targets: the house in 2 s, all of it in 8 s and 400 MB.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import build_annotated_house, build_house_graph, build_tasks

HOUSES = (0, 7, 14, 21, 28, 35, 42)
PATHS = 77  # of a house of the train split


def main() -> None:
    build_tasks(build_annotated_house(1, 1), {"train": 2})
    rows = []
    for house in HOUSES:
        marks = [time.process_time()]
        built, graph = build_house_graph(1, house)
        marks.append(time.process_time())
        annotated = build_annotated_house(1, house)
        marks.append(time.process_time())
        build_tasks(annotated, {"train": PATHS})
        marks.append(time.process_time())
        spent = np.diff(marks)
        rows.append((house, len(built.mesh.faces), len(graph.nodes), spent[0], spent[1] - spent[0], spent[2]))
    table = Table("house", "triangles", "viewpoints", "house, s", "annotations, s", f"{PATHS} paths, s", "all, s")
    for house, triangles, nodes, *spent in rows:
        table.add_row(f"{house}", f"{triangles:,}", f"{nodes}", *(f"{s:.2f}" for s in (*spent, sum(spent))))
    middle = np.median(np.array(rows)[:, 1:], axis=0)
    table.add_row("median", *(f"{n:,.0f}" for n in middle[:2]), *(f"{s:.2f}" for s in (*middle[2:], middle[2:].sum())))
    console = Console()
    console.print(table)
    console.print(f"Peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB.")


if __name__ == "__main__":
    main()
