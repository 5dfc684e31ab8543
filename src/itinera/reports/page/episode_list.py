"""All episodes of a benchmark as JSON for the list on the page, which filters, sorts and paginates them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.breakdown import KINDS, classify_failures, path_lengths
from itinera.reports.markup import Markup, display_name, join, tag
from itinera.worlds import Array


def episode_list(benchmark: BenchmarkResults, name: str, replays: Mapping[str, str]) -> Markup:
    """The element that holds the list, and its data."""
    encoded = msgspec.json.encode(_list_data(benchmark, replays)).decode()
    # Nothing is unescaped within a script element, so nothing may look like its end.
    data = Markup(encoded.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
    return join(
        tag("div", tag("p", "The list of episodes needs JavaScript.", class_="noscript"), id=name, class_="list"),
        tag("script", data, type="application/json", data_list=name),
    )


def _list_data(benchmark: BenchmarkResults, replays: Mapping[str, str]) -> dict[str, Any]:
    table, lengths = benchmark.tables[0], path_lengths(benchmark)
    ids = [display_name(episode_id) for episode_id in table.episode_ids]
    return {
        "agents": benchmark.names,
        "kinds": ["succeeded", *KINDS],
        "ids": ids,
        "scenes": [display_name(scene, max_chars=24) for scene in benchmark.scene_ids],
        "scene": benchmark.scenes.tolist(),
        "length": None if lengths is None else _rounded(lengths, 1),
        "error": [_rounded(benchmark.first_run(i)["NE"], 2) for i in range(len(benchmark.names))]
        if "NE" in benchmark.columns
        else None,
        "outcome": [_outcomes(benchmark, agent) for agent in range(len(benchmark.names))],
        "replays": {i: replays[e] for i, e in enumerate(table.episode_ids) if e in replays},
    }


def _rounded(values: Array, digits: int) -> list[float | None]:
    return [x if np.isfinite(x) else None for x in np.round(values, digits).tolist()]


def _outcomes(benchmark: BenchmarkResults, agent: int) -> list[int] | None:
    """(episodes,) index of the kind of each, 0 for success; None without SR."""
    found = classify_failures(benchmark, agent)
    if found is None:
        return None
    numbers = np.zeros(benchmark.episodes, dtype=np.int64)
    for kind, rows in found.kinds.items():
        numbers[rows] = 1 + KINDS.index(kind)
    return list(map(int, numbers))
