"""A Hearth season as a folder in the formats of R2R, RxR, REVERIE and VLN-CE, assembled from one folder per house.

`write_part` writes the files of one house, `assemble` merges those of many, split by split and in the given order.
Parts are read back from their files, so a season has the same bytes however the work was divided.
"""

from __future__ import annotations

import io
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats import matterport, pointnav, r2r, reverie, rooms, rxr, vlnce
from itinera.formats.decoding import decode
from itinera.formats.io import FaultList, members, read_bytes
from itinera.formats.scene_descriptions import write_descriptions
from itinera.formats.writing import check_file_name, write_members
from itinera.hearth.season import SECRET_BYTES, SPLITS, VERSION
from itinera.tasks import Episode, Split
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.hearth.build import House
    from itinera.hearth.language.scene_description import SceneDescription

T = TypeVar("T")
SEASON_FILE = "season.json"  # the season's parameters, houses, counts and digests
MAX_SEASON_BYTES = 64 << 20  # of that file; a season of 90 houses has 0.1 MiB
_REMEDY = "Build the season again, or copy the file as it was written."
BOXES = "reverie/BBox.tar.gz"
DESCRIPTIONS = "scene_descriptions"
NEAR = 3.0  # metres; REVERIE lists the objects within this distance of a viewpoint


@dataclass(frozen=True, eq=False)
class SplitPart:
    """The episodes a house contributes to a split."""

    graph_episodes: tuple[Episode, ...]
    rxr_episodes: tuple[Episode, ...]  # with numeric ids and aligned words
    arrivals: Mapping[
        str, Sequence[tuple[str, float]]
    ]  # by the ids of those: each node, and the speaker's arrival time
    ground_episodes: tuple[Episode, ...]
    dense_paths: Mapping[str, vlnce.DensePath]  # by the ids of those: the expert's path
    pointnav: tuple[Episode, ...]
    object_goals: tuple[Episode, ...]  # REVERIE's kind


def split_files(split: str) -> dict[str, str]:
    """The files of a split in a season's folder, by kind."""
    return {
        "r2r": f"r2r/R2R_{split}.json",
        "rxr": f"rxr/rxr_{split}_guide.jsonl.gz",
        "traces": f"rxr/pose_traces/rxr_{split}.tar.gz",
        "vlnce": f"vlnce/{split}/{split}.json.gz",
        "dense": f"vlnce/{split}/{split}_gt.json.gz",
        "pointnav": f"pointnav/{split}/{split}.json.gz",
        "reverie": f"reverie/REVERIE_{split}.json",
    }


def scene_path(house_id: str) -> str:
    """The scene that a simulator should load, as named by an episode."""
    return f"hearth/{house_id}/{house_id}.glb"


def write_part(
    folder: Path,
    house: House,
    world: World,
    descriptions: Mapping[str, SceneDescription],
    splits: Mapping[str, SplitPart],
) -> None:
    """Write the files of one house."""
    check_file_name(world.id)
    matterport.write_worlds(folder / "connectivity", {world.id: world})
    rooms.write_house(folder / f"houses/{world.id}.house", world, plan=house.plan, items=house.objects)
    near = {node: tuple(thing for thing in seen if thing.distance <= NEAR) for node, seen in world.objects.items()}
    reverie.write_objects(folder / BOXES, {world.id: near})
    rooms.write_table(folder / "rooms.csv", {world.id: world.rooms})
    write_descriptions(folder / f"{DESCRIPTIONS}/{world.id}.json", world.id, descriptions)
    for name, part in splits.items():
        _write_split(folder, name, part)


def _write_split(folder: Path, name: str, part: SplitPart) -> None:
    to = {what: folder / file for what, file in split_files(name).items()}
    spoken = tuple(replace(episode, notes={"split": name}) for episode in part.rxr_episodes)
    traces = {f"{e.id:0>6}{rxr.GUIDE_TRACE}": _encode_trace(part.arrivals[e.id]) for e in spoken}
    r2r.write_split(to["r2r"], Split(name, part.graph_episodes))
    rxr.write_split(to["rxr"], Split(name, spoken))
    write_members(to["traces"], traces)
    reverie.write_split(to["reverie"], Split(name, part.object_goals))
    vlnce.write_split(to["vlnce"], Split(name, tuple(map(_as_ground_episode, part.ground_episodes)), protocol="r2r-ce"))
    vlnce.write_dense(to["dense"], part.dense_paths)
    pointnav.write_split(to["pointnav"], Split(name, tuple(map(_as_ground_episode, part.pointnav))))


def _encode_trace(arrivals: Sequence[tuple[str, float]]) -> bytes:
    stream = io.BytesIO()
    nodes, times = zip(*arrivals, strict=True)
    np.savez_compressed(stream, pano=np.array(nodes), time=np.array(times, dtype=np.float64))
    return stream.getvalue()


def _as_ground_episode(episode: Episode) -> Episode:
    # Alignments refer to nodes, which continuous episodes do not have.
    return replace(episode, alignment=None, notes={**episode.notes, "scene_id": scene_path(episode.world_id)})


@dataclass(frozen=True)
class SplitCounts:
    """The size of a split."""

    houses: int
    paths: int
    instructions: int
    object_goals: int
    pointnav: int


def assemble(out: Path, parts: Sequence[Path], split: str, *, sealed: bool = False, by_id: bool = False) -> SplitCounts:
    """Write the tasks of a split from the folders of its houses; if sealed, without goals, references and word times.

    Episodes are in the order of the houses, or of their ids. PointNav goals are part of the question, not of the
    answer, and stay.
    """
    files = split_files(split)
    have = [part for part in parts if (part / files["r2r"]).exists()]

    def merge(what: str, read: Callable[[Path], Split]) -> Split:
        splits = [read(part / files[what]) for part in have]
        episodes = tuple(episode for one in splits for episode in one.episodes)
        if by_id:
            episodes = tuple(sorted(episodes, key=lambda episode: int(episode.id.partition("_")[0])))
        if sealed and what != "pointnav":
            episodes = tuple(map(_withhold_answer, episodes))
        return Split(split, episodes, protocol=splits[0].protocol if splits else "r2r")

    graph_split, spoken = merge("r2r", r2r.read_split), merge("rxr", rxr.read_split)
    on_ground, point_goals = merge("vlnce", vlnce.read_split), merge("pointnav", pointnav.read_split)
    object_goals = merge("reverie", reverie.read_split)
    r2r.write_split(out / files["r2r"], graph_split)
    rxr.write_split(out / files["rxr"], spoken)
    vlnce.write_split(out / files["vlnce"], on_ground)
    pointnav.write_split(out / files["pointnav"], point_goals)
    reverie.write_split(out / files["reverie"], object_goals)
    if not sealed:
        vlnce.write_dense(out / files["dense"], _merge(vlnce.read_dense(part / files["dense"]) for part in have))
        write_members(out / files["traces"], _merge(_read_members(part / files["traces"], ".npz") for part in have))
    routes = [episode for one in (graph_split, spoken, on_ground) for episode in one.episodes]
    paths = len({episode.path_id for episode in routes})
    return SplitCounts(
        houses=len({episode.world_id for episode in routes}),
        paths=paths,
        # The files of a sealed split share no path, and a path has one instruction.
        instructions=paths if by_id else len(graph_split.episodes),
        object_goals=len({episode.path_id for episode in object_goals.episodes}),
        pointnav=len(point_goals.episodes),
    )


def _withhold_answer(episode: Episode) -> Episode:
    notes = {name: value for name, value in episode.notes.items() if name != "objId"}
    return replace(episode, goals=(), reference=(), alignment=None, stated_distance=None, notes=notes)


def _merge(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {name: value for part in parts for name, value in part.items()}


def _read_members(archive: Path, suffix: str) -> dict[str, bytes]:
    return {name: member.read() for name, member in members(archive, suffix).items()}


def assemble_worlds(out: Path, parts: Sequence[Path]) -> None:
    """Write the graphs, rooms and objects of the houses, in the order of their folders."""
    graphs = _merge(matterport.read_worlds(part / "connectivity", visible=True) for part in parts)
    matterport.write_worlds(out / "connectivity", graphs)
    rooms.write_table(out / "rooms.csv", _merge(rooms.read_table(part / "rooms.csv") for part in parts))
    write_members(out / BOXES, _merge(_read_members(part / BOXES, ".json") for part in parts))
    for folder, suffix in (("houses", ".house"), (DESCRIPTIONS, ".json")):
        write_members(out / folder, _merge(_read_members(part / folder, suffix) for part in parts))


def draw_secret(path: Path) -> bytes:
    """32 random bytes, written to a new file that only its owner may read, as hexadecimal digits."""
    secret = secrets.token_bytes(SECRET_BYTES)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Never over an existing file: a season whose secret is lost can be neither finished nor verified.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(secret.hex().encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})."
        raise BadFile(str(path), [Fault("", problem, "Check the folder's permissions and the space left.")]) from None
    return secret


def read_secret(path: Path) -> bytes:
    """The bytes of a secret file: 64 hexadecimal digits, as `draw_secret` writes them."""
    text = read_bytes(path, limit=1 << 20).strip()
    if re.fullmatch(rb"[0-9a-f]{%d}" % (2 * SECRET_BYTES), text) is None:
        problem = f"is not a secret of {SECRET_BYTES} random bytes ({2 * SECRET_BYTES} hexadecimal digits)."
        remedy = "A text of your own could be guessed. Omit secret (--secret): the build draws one."
        raise BadFile(str(path), [Fault("", problem, remedy)])
    return bytes.fromhex(text.decode())


class _Config(msgspec.Struct):
    seed: int | None  # None if it is secret
    hearth: int | None = None  # the version of the generator
    commitment: str | None = None
    splits: list[str] = []
    robot_radius: float = 0.10


class _Season(msgspec.Struct):
    config: _Config
    houses: dict[str, list[str]]  # ids by role


_HOUSE_INDEX = re.compile(r".+-(\d{1,9})")


@dataclass(frozen=True)
class SeasonDescription:
    """What a season's file says about its houses and tasks."""

    seed: int | None  # None if it is secret
    commitment: str  # SHA-256 of the secret; empty for a public seed
    houses: Mapping[str, int]  # index by id
    splits: tuple[str, ...]
    robot_radius: float  # metres, of the robot of continuous tasks


def check_version(file: Path, version: int | None) -> None:
    """Raise BadFile for a season whose houses another version of the generator made."""
    if version not in (None, VERSION):
        problem = (
            f"was built by version {version} of the generator; this is version {VERSION}, which makes other houses."
        )
        raise BadFile(str(file), [Fault("", problem, "Build the season again (itinera build hearth).")])


def read_season(folder: Path) -> SeasonDescription:
    """The description of a built season, from its folder."""
    file = folder / SEASON_FILE
    season = decode(read_bytes(file, limit=MAX_SEASON_BYTES), _Season, str(file))
    check_version(file, season.config.hearth)
    config, faults = season.config, FaultList(str(file))
    if config.seed is not None and not 0 <= config.seed < 1 << 128:
        faults.append(Fault("", "must be at least 0, and below 2 to the 128.", _REMEDY, "config.seed"))
    houses: dict[str, int] = {}
    for name in chain.from_iterable(season.houses.values()):
        index = _HOUSE_INDEX.fullmatch(name)
        if index is None:
            faults.append(Fault("", f"{name[:40]!r} does not end in the index of a house.", _REMEDY, "houses"))
        else:
            houses[name] = int(index[1])
    faults += [
        Fault("", f"{split[:40]!r} is not a split.", _REMEDY, "config.splits")
        for split in config.splits
        if split not in SPLITS
    ]
    faults.raise_any()
    return SeasonDescription(config.seed, config.commitment or "", houses, tuple(config.splits), config.robot_radius)


def season_houses(folder: Path) -> dict[str, tuple[int, int]] | None:
    """The seed and index of every house of a season, by id; None if the folder is no season or its seed is secret."""
    if not os.path.exists(folder / SEASON_FILE):
        return None
    season = read_season(folder)
    return None if season.seed is None else {name: (season.seed, index) for name, index in season.houses.items()}
