"""Every episode of a contest as data for the page's own list, which filters, sorts and turns pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from itinera.reports.breakdown import KINDS, failures, way_lengths
from itinera.reports.markup import Markup, join, named, tag
from itinera.reports.page.contest import Contest
from itinera.worlds import Array


def episode_list(contest: Contest, name: str, replays: Mapping[str, str]) -> Markup:
    """A place for the list, and what it is made from."""
    told = msgspec.json.encode(_told(contest, replays)).decode()
    # Within a script nothing is unescaped, so nothing may look like its end.
    data = Markup(told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
    return join(
        tag("div", tag("p", "The list of episodes needs JavaScript.", class_="noscript"), id=name, class_="list"),
        tag("script", data, type="application/json", data_list=name),
    )


def _told(contest: Contest, replays: Mapping[str, str]) -> dict[str, Any]:
    table, lengths = contest.tables[0], way_lengths(contest)
    ids = [named(episode_id) for episode_id in table.episode_ids]
    return {
        "agents": contest.names,
        "kinds": ["succeeded", *KINDS],
        "ids": ids,
        "scenes": [named(scene, longest=24) for scene in contest.scene_ids],
        "scene": contest.scenes.tolist(),
        "length": None if lengths is None else _rounded(lengths, 1),
        "error": [_rounded(t["NE"], 2) for t in contest.tables] if "NE" in contest.columns else None,
        "outcome": [_outcomes(contest, agent) for agent in range(len(contest.names))],
        "replays": {i: replays[e] for i, e in enumerate(table.episode_ids) if e in replays},
    }


def _rounded(values: Array, digits: int) -> list[float | None]:
    return [x if np.isfinite(x) else None for x in np.round(values, digits).tolist()]


def _outcomes(contest: Contest, agent: int) -> list[int] | None:
    """(episodes,) the number of the kind of each, 0 for success."""
    found = failures(contest, agent)
    if found is None:
        return None
    numbers = np.zeros(contest.episodes, dtype=np.int64)
    for kind, rows in found.kinds.items():
        numbers[rows] = 1 + KINDS.index(kind)
    return list(map(int, numbers))
