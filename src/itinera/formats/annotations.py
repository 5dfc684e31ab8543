"""What a skill study needs besides tasks and graphs: rooms, objects, and words aligned with places.

A Hearth season contains all three; for Matterport scans they come from REVERIE's boxes, a table of rooms, and RxR's
pose traces or Fine-Grained R2R.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from itinera.errors import BadArgument
from itinera.formats import catalog
from itinera.tasks import Split
from itinera.worlds import World
from itinera.worlds.lazy import LazyMapping

TRACES = "pose_traces"


@dataclass(frozen=True)
class WorldFiles:
    """The files that navigation graphs and their annotations are read from."""

    worlds: Path
    objects: Path | None = None  # REVERIE's BBox folder or archive
    rooms: Path | None = None  # a table of rooms, CSV

    @property
    def is_season(self) -> bool:
        return os.path.exists(catalog.season_file(self.worlds))

    @property
    def boxes(self) -> Path | None:
        """The boxes of objects: the file given, or that of the season."""
        from itinera.formats.hearth_season import BOXES

        return self.objects or (self.worlds / BOXES if self.is_season else None)

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files that are read, by role; the file of a season stands for all its others."""
        worlds = catalog.season_file(self.worlds) if self.is_season else self.worlds
        return {"worlds": worlds, "objects": self.objects, "rooms": self.rooms}

    def read(self, *, objects: bool) -> Mapping[str, World]:
        """The graphs with their rooms and, with `objects`, their objects, as far as there are files of them."""
        from itinera.formats.rooms import read_table

        worlds = catalog.read_worlds(self.worlds)
        table = self.rooms or (self.worlds / "rooms.csv" if self.is_season else None)
        rooms = {} if table is None else read_table(table)
        furnished = add_objects(worlds, self.boxes) if objects and self.boxes is not None else worlds
        return LazyMapping(furnished, lambda world_id: replace(furnished[world_id], rooms=rooms.get(world_id, {})))


def add_objects(worlds: Mapping[str, World], boxes: Path) -> Mapping[str, World]:
    """The worlds with the objects of REVERIE's BBox folder or archive, read on access."""
    from itinera.formats.reverie import read_objects

    visible = read_objects(boxes)
    return LazyMapping(worlds, lambda world_id: replace(worlds[world_id], objects=visible.get(world_id, {})))


def read_aligned_tasks(tasks: Path, traces: Path | None = None) -> Split:
    """The tasks with their words aligned with places.

    Fine-Grained R2R and our own tasks contain the alignment; an RxR guide file needs its pose traces, which a Hearth
    season keeps in a folder beside it.
    """
    from itinera.formats.rxr import with_alignment

    format = catalog.detect(tasks)
    split = catalog.read_tasks(tasks)
    if format.name != "rxr":
        if traces is not None:
            raise BadArgument(
                f"--alignment (alignment=) is for RxR guide files; {tasks} is in the format {format.name}."
            )
        require_alignment(split, str(tasks))
        return split
    traces = traces or _find_traces(tasks)
    if traces is None:
        raise BadArgument(
            "RxR's words are aligned with places by its pose traces: give their folder as --alignment (alignment=)."
        )
    return with_alignment(split, traces)


def require_alignment(split: Split, source: str) -> None:
    """Raise BadArgument if no episode of the split has its words aligned with places."""
    if all(episode.alignment is None for episode in split.episodes):
        raise BadArgument(
            f"The words of {source} are not aligned with places. Give Fine-Grained R2R, an RxR guide file with its "
            "pose traces (--alignment, alignment=), or the rxr file of a Hearth season."
        )


def _find_traces(tasks: Path) -> Path | None:
    """The pose traces in the folder beside a guide file."""
    found = (
        path for path in sorted((tasks.parent / TRACES).glob("*")) if tasks.name.startswith(path.name.split(".")[0])
    )
    return next(found, None)
