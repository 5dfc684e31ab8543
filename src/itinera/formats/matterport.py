"""Matterport connectivity: the navigation graphs of the 90 scans, from a folder or an archive.

One `{scan}_connectivity.json` per scan: a list of panoramas with pose, `included` and `unobstructed`. An edge joins two
included panoramas that are unobstructed from each other; a panorama without edges stays a node.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import all_finite, decode_list
from itinera.formats.io import FaultList, Member, members, read_bytes
from itinera.formats.writing import write_members
from itinera.worlds import Array, NavGraph, World

SUFFIX = "_connectivity.json"
Positions: TypeAlias = Literal["pose", "panorama"]

# Panorama positions of the licensed .house files lie beside the connectivity poses by this constant, in the camera's
# own frame. The first release of R4R used them, so its published counts need them.
PANORAMA_OFFSET = (-0.01291, 0.03317, -0.01065)


class Panorama(msgspec.Struct, omit_defaults=True):
    """One entry of a connectivity file."""

    image_id: str
    pose: list[float]  # 16 numbers, row-major camera-to-world
    included: bool
    unobstructed: list[bool]
    height: float = 0.0
    visible: list[bool] = []


class Connectivity(Mapping[str, World]):
    """The worlds of a connectivity folder or archive by scan, each read on first access."""

    def __init__(self, path: str | Path, *, positions: Positions = "pose", visible: bool = False) -> None:
        self.path = Path(path)
        if not os.path.exists(self.path):
            raise BadFile(str(path), [Fault("", "there is no such file or folder.", "Give the connectivity folder.")])
        found = members(self.path, SUFFIX)
        self._files = {name.removesuffix(SUFFIX): member for name, member in found.items()}
        if not self._files:
            problem = f"contains no file that ends in {SUFFIX}."
            raise BadFile(
                str(path), [Fault("", problem, "Give Matterport's connectivity folder, or an archive of it.")]
            )
        self._positions: Positions = positions
        self._visible = visible
        self._read: dict[str, World] = {}

    def __getitem__(self, scan: str) -> World:
        if scan not in self._read:
            self._read[scan] = World(scan, _graph(self._files[scan], self._positions, self._visible))
        return self._read[scan]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_worlds(path: str | Path, *, positions: Positions = "pose", visible: bool = False) -> Connectivity:
    """The worlds of a connectivity folder, .zip or .tar archive.

    `positions="pose"` takes each node's position from its pose; `"panorama"` adds the constant camera-frame offset
    that turns poses into the panorama positions of the licensed files. `visible=True` also reads which nodes are
    visible from which.
    """
    return Connectivity(path, positions=positions, visible=visible)


def read_scan(path: str | Path, *, positions: Positions = "pose", visible: bool = False) -> World:
    """The world of one connectivity file, named after it; see `read_worlds`."""
    path = Path(path)
    member = Member(str(path), lambda: read_bytes(path))
    return World(path.name.removesuffix(SUFFIX).removesuffix(".json"), _graph(member, positions, visible))


def _graph(member: Member, positions: Positions, visible: bool) -> NavGraph:
    # `visible` is half of the file and not needed for movement: skipping it halves the time.
    panoramas: Sequence[_Panorama] = decode_list(member.read(), _VisiblePanorama if visible else _Panorama, member.name)
    faults = FaultList(member.name)
    for i, panorama in enumerate(panoramas):
        faults += _faults(i, panorama, len(panoramas))
    faults += _repeated(panoramas)
    faults.raise_any()
    kept = [i for i, p in enumerate(panoramas) if p.included]
    joined = _flags([p.unobstructed for p in panoramas], kept)
    # An edge is one that both its ends list; in the official files they always agree.
    edges = np.argwhere(np.triu(joined & joined.T, k=1))
    poses = np.array([panoramas[i].pose for i in kept], dtype=np.float64).reshape(-1, 4, 4)
    in_sight = _flags([p.visible for p in panoramas if isinstance(p, _VisiblePanorama)], kept) if visible else None
    return NavGraph(tuple(panoramas[i].image_id for i in kept), _places(poses, positions), edges, in_sight)


class _Panorama(msgspec.Struct):
    image_id: str
    pose: list[float]
    included: bool
    unobstructed: list[bool]


class _VisiblePanorama(_Panorama):
    visible: list[bool]


def _flags(rows: list[list[bool]], kept: list[int]) -> NDArray[np.bool_]:
    """(kept, kept) the flags between the panoramas that are kept."""
    # A bool is an int of 0 or 1, and bytes of such are a numpy array of bool already.
    flags = np.frombuffer(b"".join(map(bytes, rows)), dtype=bool).reshape(len(rows), len(rows))
    return flags[np.ix_(kept, kept)] if kept else np.zeros((0, 0), dtype=bool)


def _places(poses: Array, positions: Positions) -> Array:
    places = poses[:, :3, 3]
    if positions == "panorama":
        places = places + poses[:, :3, :3] @ np.array(PANORAMA_OFFSET)
    return places


def _faults(i: int, panorama: _Panorama, count: int) -> Iterator[Fault]:
    where = f"record {i}"
    if len(panorama.pose) != 16 or not all_finite(panorama.pose):
        yield Fault(where, "must hold 16 finite numbers.", "Take the official file.", "pose")
    if len(panorama.unobstructed) != count:
        problem = f"has {len(panorama.unobstructed)} entries for {count} panoramas."
        yield Fault(where, problem, "Take the official file.", "unobstructed")
    if isinstance(panorama, _VisiblePanorama) and len(panorama.visible) != count:
        problem = f"has {len(panorama.visible)} entries for {count} panoramas."
        yield Fault(where, problem, "Take the official file.", "visible")


def _repeated(panoramas: Sequence[_Panorama]) -> Iterator[Fault]:
    seen: set[str] = set()
    for i, panorama in enumerate(panoramas):
        if panorama.image_id in seen:
            yield Fault(f"record {i}", f"{panorama.image_id} is given twice.", "Ids must be distinct.", "image_id")
        seen.add(panorama.image_id)


def write_worlds(path: str | Path, worlds: Mapping[str, World]) -> None:
    """Write graph worlds as connectivity files in a folder or archive.

    Heights are 0, and `visible` equals `unobstructed` where a graph has no visibility.
    """
    content = {f"{scan}{SUFFIX}": msgspec.json.encode(_panoramas(world)) for scan, world in worlds.items()}
    content["scans.txt"] = "".join(f"{scan}\n" for scan in worlds).encode()
    write_members(Path(path), content)


def _panoramas(world: World) -> list[Panorama]:
    graph = world.space
    if not isinstance(graph, NavGraph):
        raise BadFile(world.id, [Fault("", "is not a navigation graph, the only content of a connectivity file.")])
    written = []
    for i, node in enumerate(graph.nodes):
        pose = np.eye(4)
        pose[:3, 3] = graph.positions[i]
        joined = graph.adjacency[i].tolist()
        in_sight = joined if graph.visible is None else graph.visible[i].tolist()
        written.append(Panorama(node, pose.ravel().tolist(), True, joined, 0.0, in_sight))
    return written
