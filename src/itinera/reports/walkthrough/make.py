"""The walk-through of a house with its navigation graph and episodes. Start with `make_walkthrough`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.reports.replay.words import split_instruction
from itinera.reports.storeys import RoomLabel, floor_heights, label_rooms
from itinera.reports.walkthrough.data import (
    Storey,
    Walkthrough,
    WalkthroughEpisode,
    WalkthroughGraph,
    WalkthroughRoom,
)
from itinera.reports.walkthrough.light import MOODS, pack_light
from itinera.reports.walkthrough.mesh import BufferWriter, pack_mesh, pack_textures
from itinera.tasks import Episode
from itinera.worlds import Array, NavGraph

if TYPE_CHECKING:
    from itinera.hearth.build import House

CUT = 2.2  # metres above the floor at which a storey is cut open: above the doors
BELOW_CEILING = 0.15  # metres that a cut stays below the ceiling


def make_walkthrough(
    house: House,
    graph: NavGraph,
    episodes: Mapping[str, Sequence[Episode]] | None = None,
    *,
    title: str = "",
    moods: Sequence[str] = MOODS,
) -> Walkthrough:
    """The walk-through of a house; `episodes` by the name of the data set or split they belong to.

    Episodes of other worlds are left out. `moods` are those of the light that is baked, a few seconds each.
    """
    storeys = _storeys(house)
    writer = BufferWriter()
    mesh = pack_mesh(house.mesh, [storey.cut for storey in storeys], writer)
    textures = pack_textures(house.mesh, writer)
    light = pack_light(house.mesh, moods, writer)
    return Walkthrough(
        title=title or house.id,
        eye_height=EYE_HEIGHT,
        buffer=writer.encode(),
        mesh=mesh,
        textures=textures,
        light=light,
        storeys=storeys,
        rooms=_rooms(house, graph),
        graph=_graph(graph),
        episodes=[
            _episode(group, episode, graph)
            for group, some in (episodes or {}).items()
            for episode in some
            if episode.world_id == house.id
        ],
    )


def _storeys(house: House) -> list[Storey]:
    floors, count = floor_heights(house.plan).tolist(), house.plan.storeys
    storeys = []
    for k, floor in enumerate(floors):
        lowest = min(room.floor + room.height for room in house.plan.rooms if room.storey == k)
        name = "ground floor" if k == 0 and count > 1 else f"storey {k + 1}"
        storeys.append(Storey(name, round(floor, 4), round(min(floor + CUT, lowest - BELOW_CEILING), 4)))
    return storeys


def _rooms(house: House, graph: NavGraph) -> list[WalkthroughRoom]:
    """The rooms, storey by storey; those of one name are numbered."""
    labels: dict[int, RoomLabel] = {}
    for storey in range(house.plan.storeys):
        here = [room for room in house.plan.rooms if room.storey == storey]
        labels |= {room.index: label for room, label in zip(here, label_rooms(house.plan, storey), strict=True)}
    owners = locate_rooms(house.plan, graph.positions - np.array([0.0, 0.0, EYE_HEIGHT]))
    texts = [labels[room.index].text for room in house.plan.rooms]
    rooms = []
    for room in house.plan.rooms:
        label = labels[room.index]
        number = f" {texts[: room.index + 1].count(label.text)}" if texts.count(label.text) > 1 else ""
        viewpoint, heading = _best_view(room.outline, np.flatnonzero(owners == room.index), graph)
        rooms.append(
            WalkthroughRoom(
                name=label.text + number,
                storey=room.storey,
                outline=room.outline.round(3).ravel().tolist(),
                floor=round(float(room.floor), 4),
                x=round(float(label.position[0]), 3),
                y=round(float(label.position[1]), 3),
                width=round(label.width, 3),
                viewpoint=viewpoint,
                heading=heading,
            )
        )
    return rooms


def _best_view(outline: Array, inside: NDArray[np.int64], graph: NavGraph) -> tuple[int, float]:
    """The viewpoint of a room that is farthest from its middle, and the heading to that; -1 without viewpoints."""
    if not len(inside):
        return -1, 0.0
    middle = (outline.min(axis=0) + outline.max(axis=0)) / 2
    away = middle - graph.positions[inside, :2]
    best = int(np.argmax(np.hypot(*away.T).round(3)))
    return int(inside[best]), round(math.atan2(away[best, 1], away[best, 0]), 4)


def _graph(graph: NavGraph) -> WalkthroughGraph:
    x, y, z = (graph.positions - np.array([0.0, 0.0, EYE_HEIGHT])).round(3).T.tolist()
    return WalkthroughGraph(list(graph.nodes), x, y, z, graph.edges.ravel().tolist())


def _episode(group: str, episode: Episode, graph: NavGraph) -> WalkthroughEpisode:
    path = [int(node) for node in graph.locate(episode.reference)] if len(episode.reference) else []
    return WalkthroughEpisode(
        id=episode.id,
        group=group,
        language=episode.instruction.language,
        instruction=split_instruction(episode),
        start=int(graph.locate([str(episode.start.place)])[0]),
        heading=round(float(episode.start.heading or 0.0), 4),
        path=path,
    )
