"""Export of a Hearth season for other simulators: its houses in worker processes, then its tasks and a manifest.

The manifest, `export.json`, lists the files with their digests and is written last. The same season and options give
the same bytes with any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadArgument
from itinera.formats import matterport
from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes
from itinera.formats.provenance import sidecar_path, write_sidecar
from itinera.formats.scene_export import tasks
from itinera.formats.scene_export.panoramas import KINDS
from itinera.formats.writing import atomic_write
from itinera.hearth.build import House, build_house
from itinera.records.provenance import Provenance, digest
from itinera.runs.engines.processes import parallel_map

MANIFEST = "export.json"
Files = Iterator[tuple[str, bytes]]


@dataclass(frozen=True)
class ExportConfig:
    """The parameters of an export."""

    season: Path
    out: Path
    format: str  # one of FORMATS
    houses: Mapping[str, tuple[int, int]]  # seed and index by id
    splits: tuple[str, ...]
    robot_radius: float  # metres, of the robot of the season's tasks
    images: tuple[str, ...] = KINDS  # of panoramas
    appearance: str = "day"  # of the images, see rendering.appearance.parse_appearance


@dataclass(frozen=True)
class HouseExport:
    """The files of an exported house."""

    id: str
    files: Mapping[str, str]  # digest by name
    size: int  # bytes
    seconds: float  # of one core, with building the house


@dataclass(frozen=True)
class SeasonExport:
    """An exported season."""

    folder: Path
    format: str
    houses: tuple[HouseExport, ...]
    files: int
    size: int  # bytes, of all files
    record: Mapping[str, Any]  # the content of export.json


def export_season(
    config: ExportConfig,
    *,
    workers: int,
    provenance: Provenance,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SeasonExport:
    """Write the houses and tasks of a season in a format of another simulator."""
    advance = progress or (lambda count: None)
    _clear(config, overwrite=overwrite)
    _write_manifest(config, {})  # marks the folder as ours, should the export be interrupted
    houses: dict[str, HouseExport] = {}
    jobs = parallel_map(partial(export_house, config), list(config.houses), workers=min(workers, len(config.houses)))
    with closing(jobs) as done:
        for _, exported in done:
            houses[exported.id] = exported
            advance(1)
    ordered = tuple(houses[name] for name in config.houses)
    files = dict(chain.from_iterable(house.files.items() for house in ordered))
    size = sum(house.size for house in ordered)
    for name, content in FORMATS[config.format].shared(config):
        size += _write(config.out, name, content)
        files[name] = digest(config.out / name)
    record = _write_manifest(config, files)
    write_sidecar(config.out / MANIFEST, provenance)
    return SeasonExport(config.out, config.format, ordered, len(files), size, record)


def export_house(config: ExportConfig, house_id: str) -> HouseExport:
    """Build one house of the season and write its files."""
    started = time.process_time()
    seed, index = config.houses[house_id]
    house = build_house(seed, index, id=house_id)
    files, size = {}, 0
    for name, content in FORMATS[config.format].house(house, config):
        size += _write(config.out, name, content)
        files[name] = digest(config.out / name)
    return HouseExport(house_id, files, size, time.process_time() - started)


def _write(folder: Path, name: str, content: bytes) -> int:
    """Write a file of the export; the number of bytes on disk."""
    with atomic_write(folder / name) as stream:
        stream.write(content)
    return (folder / name).stat().st_size


class _Manifest(msgspec.Struct):
    format: str
    files: dict[str, str]


def _clear(config: ExportConfig, *, overwrite: bool) -> None:
    """Refuse a folder with other files; remove the files of an earlier export if they may be replaced."""
    out, manifest = config.out, config.out / MANIFEST
    if out.exists() and not out.is_dir():
        raise BadArgument(f"{out} is a file. An export needs a folder.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not manifest.exists():
        raise BadArgument(f"{out} contains other files. Give a new folder, or that of an export.")
    if not overwrite:
        raise BadArgument(f"{out} contains an export. Give another folder, or overwrite it (--overwrite).")
    for name in decode(read_bytes(manifest), _Manifest, str(manifest)).files:
        found = (out / name).resolve()
        if found.is_relative_to(out.resolve()) and found.is_file():
            found.unlink()
    sidecar_path(manifest).unlink(missing_ok=True)


def _write_manifest(config: ExportConfig, files: Mapping[str, str]) -> Mapping[str, Any]:
    record = {
        "itinera": "export",
        "format": config.format,
        "houses": list(config.houses),
        "splits": list(config.splits),
        "robot_radius": config.robot_radius,
        **({"images": list(config.images), "appearance": config.appearance} if config.format == "matterport" else {}),
        "files": dict(sorted(files.items())),
    }
    with atomic_write(config.out / MANIFEST) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=1))
    return record


@dataclass(frozen=True)
class ExportFormat:
    """A format: the files of a house, and those that all houses share."""

    about: str
    house: Callable[[House, ExportConfig], Files]
    shared: Callable[[ExportConfig], Files]


def _gltf_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.gltf import encode_glb
    from itinera.formats.scene_export.parts import split_house

    yield f"scenes/{house.id}.glb", encode_glb(split_house(house))


def _habitat_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.habitat import encode_scene
    from itinera.formats.scene_export.parts import split_house

    yield from encode_scene(house, split_house(house)).items()


def _usd_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.materials import texture_names, texture_png
    from itinera.formats.scene_export.parts import split_house
    from itinera.formats.scene_export.usd import encode_usda

    parts = split_house(house)
    yield f"scenes/{house.id}.usda", encode_usda(house.id, parts, textures="../textures")
    for name in texture_names(parts):
        yield f"textures/{name}.png", texture_png(name)


def _mjcf_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.mjcf import encode_mjcf

    yield f"scenes/{house.id}.xml", encode_mjcf(house)


def _ros_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.ros import encode_maps

    for name, content in encode_maps(house).items():
        yield f"maps/{house.id}/{name}", content


def _matterport_house(house: House, config: ExportConfig) -> Files:
    from itinera.formats.scene_export.panoramas import orient_poses, render_images
    from itinera.hearth.viewpoints import EYE_HEIGHT
    from itinera.rendering.appearance import parse_appearance
    from itinera.rendering.rasterizer import Rasterizer
    from itinera.worlds import NavGraph

    file = config.season / "connectivity" / f"{house.id}{matterport.SUFFIX}"
    yield f"connectivity/{file.name}", orient_poses(read_bytes(file), height=EYE_HEIGHT)
    record = read_bytes(config.season / "houses" / f"{house.id}.house")
    yield f"v1/scans/{house.id}/house_segmentations/{house.id}.house", record
    graph = matterport.read_scan(file).space
    assert isinstance(graph, NavGraph)
    if config.images:
        raster = Rasterizer(house.mesh, appearance=parse_appearance(config.appearance))
        yield from render_images(house.id, graph, raster, config.images)


def _plain_tasks(up: str, scene: str, config: ExportConfig) -> Files:
    return tasks.plain_tasks(config.season, config.splits, config.houses, up=up, scene=scene)


def _habitat_shared(config: ExportConfig) -> Files:
    from itinera.formats.scene_export.habitat import encode_dataset

    yield from encode_dataset(config.robot_radius).items()
    yield from tasks.habitat_tasks(config.season, config.splits, config.houses)


def _matterport_shared(config: ExportConfig) -> Files:
    yield "connectivity/scans.txt", "".join(f"{house}\n" for house in config.houses).encode()
    yield from tasks.graph_tasks(config.season, config.splits, config.houses)


FORMATS: Mapping[str, ExportFormat] = {
    "gltf": ExportFormat(
        "glTF 2.0 (.glb) with PBR materials", _gltf_house, partial(_plain_tasks, "y", "scenes/{id}.glb")
    ),
    "habitat": ExportFormat("Habitat scene dataset", _habitat_house, _habitat_shared),
    "usd": ExportFormat("USD with colliders (Isaac)", _usd_house, partial(_plain_tasks, "z", "scenes/{id}.usda")),
    "mjcf": ExportFormat("MuJoCo models", _mjcf_house, partial(_plain_tasks, "z", "scenes/{id}.xml")),
    "ros": ExportFormat("ROS maps with rooms", _ros_house, partial(_plain_tasks, "z", "maps/{id}")),
    "matterport": ExportFormat("Matterport's layout with panorama images", _matterport_house, _matterport_shared),
}
