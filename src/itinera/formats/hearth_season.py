"""A season of houses as a folder in everybody's formats, put together from a small folder for each house.

`write_part` leaves the files of one house, `assemble` joins those of many, split by split and in the order given. What
was written is read back here in between, so a season has the same bytes however the work was cut up.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from itinera.formats import matterport, pointnav, r2r, reverie, rooms, rxr, vlnce
from itinera.formats.io import members, write_members
from itinera.formats.scene_descriptions import write_sights
from itinera.tasks import Episode, Split
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.hearth.build import House
    from itinera.hearth.language.scene_description import Outlook

T = TypeVar("T")
ABOUT = "season.json"  # what the season is, and its houses
BOXES = "reverie/BBox.tar.gz"
NEAR = 3.0  # metres; REVERIE lists the objects no farther from a viewpoint


@dataclass(frozen=True, eq=False)
class SplitPart:
    """What a house gives to a split."""

    on_graph: tuple[Episode, ...]  # with their words aligned
    numbers: tuple[str, ...]  # their RxR instruction ids
    stays: Mapping[str, Sequence[tuple[str, float]]]  # by episode id: each node, and the second its speaker came there
    on_ground: tuple[Episode, ...]
    dense: Mapping[str, vlnce.DensePath]  # by the id of those
    points: tuple[Episode, ...]
    finds: tuple[Episode, ...]  # REVERIE's kind


def files_of(split: str) -> dict[str, str]:
    """Where the tasks of a split lie in a season's folder, by what they are."""
    return {
        "r2r": f"r2r/R2R_{split}.json",
        "rxr": f"rxr/rxr_{split}_guide.jsonl.gz",
        "traces": f"rxr/pose_traces/rxr_{split}.tar.gz",
        "vlnce": f"vlnce/{split}/{split}.json.gz",
        "dense": f"vlnce/{split}/{split}_gt.json.gz",
        "pointnav": f"pointnav/{split}/{split}.json.gz",
        "reverie": f"reverie/REVERIE_{split}.json",
    }


def scene_of(house_id: str) -> str:
    """The scene a simulator is to load, as an episode names it."""
    return f"hearth/{house_id}/{house_id}.glb"


def write_part(
    folder: Path, house: House, world: World, outlooks: Mapping[str, Outlook], splits: Mapping[str, SplitPart]
) -> None:
    """The files of one house."""
    matterport.write_worlds(folder / "connectivity", {world.id: world})
    rooms.write_house(folder / f"houses/{world.id}.house", world, plan=house.plan, items=house.items)
    near = {node: tuple(thing for thing in seen if thing.distance <= NEAR) for node, seen in world.objects.items()}
    reverie.write_objects(folder / BOXES, {world.id: near})
    rooms.write_table(folder / "rooms.csv", {world.id: world.rooms})
    write_sights(folder / f"sights/{world.id}.json", world.id, outlooks)
    for name, part in splits.items():
        _write_split(folder, name, part)


def _write_split(folder: Path, name: str, part: SplitPart) -> None:
    to = {what: folder / file for what, file in files_of(name).items()}
    numbered = list(zip(part.numbers, part.on_graph, strict=True))
    spoken = tuple(replace(episode, id=number, notes={"split": name}) for number, episode in numbered)
    traces = {f"{number:0>6}{rxr.GUIDE_TRACE}": _trace(part.stays[episode.id]) for number, episode in numbered}
    r2r.write_split(to["r2r"], Split(name, part.on_graph))
    rxr.write_split(to["rxr"], Split(name, spoken))
    write_members(to["traces"], traces)
    reverie.write_split(to["reverie"], Split(name, part.finds))
    vlnce.write_split(to["vlnce"], Split(name, tuple(map(_in_scene, part.on_ground)), protocol="r2r-ce"))
    vlnce.write_dense(to["dense"], part.dense)
    pointnav.write_split(to["pointnav"], Split(name, tuple(map(_in_scene, part.points))))


def _trace(stays: Sequence[tuple[str, float]]) -> bytes:
    stream = io.BytesIO()
    nodes, times = zip(*stays, strict=True)
    np.savez_compressed(stream, pano=np.array(nodes), time=np.array(times, dtype=np.float64))
    return stream.getvalue()


def _in_scene(episode: Episode) -> Episode:
    # Words are aligned with nodes, which are left behind here.
    return replace(episode, alignment=None, notes={**episode.notes, "scene_id": scene_of(episode.world_id)})


@dataclass(frozen=True)
class Counted:
    """How much a split holds."""

    houses: int
    paths: int
    instructions: int
    finds: int  # objects to find
    points: int


def assemble(out: Path, parts: Sequence[Path], split: str, *, sealed: bool = False) -> Counted:
    """The tasks of a split from the folders of its houses, in their order; sealed, without goals and references.

    A PointNav goal is what is asked, not the answer, and stays.
    """
    files = files_of(split)
    have = [part for part in parts if (part / files["r2r"]).exists()]

    def joined(what: str, read: Callable[[Path], Split]) -> Split:
        splits = [read(part / files[what]) for part in have]
        episodes = tuple(episode for one in splits for episode in one.episodes)
        kept = tuple(map(_withheld, episodes)) if sealed and what != "pointnav" else episodes
        return Split(split, kept, protocol=splits[0].protocol if splits else "r2r")

    told = joined("r2r", r2r.read_split)
    points = joined("pointnav", pointnav.read_split)
    finds = joined("reverie", reverie.read_split)
    r2r.write_split(out / files["r2r"], told)
    rxr.write_split(out / files["rxr"], joined("rxr", rxr.read_split))
    vlnce.write_split(out / files["vlnce"], joined("vlnce", vlnce.read_split))
    pointnav.write_split(out / files["pointnav"], points)
    reverie.write_split(out / files["reverie"], finds)
    if not sealed:
        vlnce.write_dense(out / files["dense"], _merged(vlnce.read_dense(part / files["dense"]) for part in have))
        write_members(out / files["traces"], _merged(_contents(part / files["traces"], ".npz") for part in have))
    paths, objects = (len({episode.path_id for episode in one.episodes}) for one in (told, finds))
    return Counted(len(told.world_ids), paths, len(told.episodes), objects, len(points.episodes))


def _withheld(episode: Episode) -> Episode:
    notes = {name: value for name, value in episode.notes.items() if name != "objId"}
    return replace(episode, goals=(), reference=(), stated_distance=None, notes=notes)


def _merged(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {name: value for part in parts for name, value in part.items()}


def _contents(archive: Path, suffix: str) -> dict[str, bytes]:
    return {name: member.read() for name, member in members(archive, suffix).items()}


def assemble_places(out: Path, parts: Sequence[Path]) -> None:
    """The graphs, rooms and objects of the houses, in the order of their folders."""
    graphs = _merged(matterport.read_worlds(part / "connectivity", visible=True) for part in parts)
    matterport.write_worlds(out / "connectivity", graphs)
    rooms.write_table(out / "rooms.csv", _merged(rooms.read_table(part / "rooms.csv") for part in parts))
    write_members(out / BOXES, _merged(_contents(part / BOXES, ".json") for part in parts))
    for folder, suffix in (("houses", ".house"), ("sights", ".json")):
        write_members(out / folder, _merged(_contents(part / folder, suffix) for part in parts))


def houses_of(folder: Path) -> dict[str, tuple[int, int]] | None:
    """The seed and number of every house of a season, by id; None if the folder is no season or its seed is secret."""
    try:
        about: dict[str, Any] = msgspec.json.decode((folder / ABOUT).read_bytes(), type=dict[str, Any])
        seed, ids = about["order"]["seed"], about["houses"].values()
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    if seed is None:
        return None
    return {name: (int(seed), int(name.rsplit("-", 1)[1])) for names in ids for name in names}
