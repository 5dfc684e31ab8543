"""ROS maps (map_server, Nav2): a short YAML file and an image of occupancy.

The lower left corner of the image is at `origin`, rotated by its yaw; dark is occupied unless `negate` is set.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault, MissingExtra
from itinera.formats.io import read_bytes
from itinera.formats.map_images import Picture, read_picture
from itinera.worlds.grid import MAX_RESOLUTION, MIN_RESOLUTION, Grid

if TYPE_CHECKING:
    from types import ModuleType

Unknown = Literal["blocked", "free"]
MODES = ("trinary", "scale", "raw")
KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh")
MAX_BYTES = 1 << 14  # of a YAML file; real ones have 150, and parsing takes 40 µs per byte
_MAX_DEPTH = 3
_EXAMPLE = "A map_server file has image, resolution, origin [x, y, yaw], negate, occupied_thresh and free_thresh."


@dataclass(frozen=True)
class _Legend:
    """The contents of the YAML file."""

    image: Path
    resolution: float  # metres, the side of a pixel
    origin: tuple[float, float, float]  # metres, metres, radians: the lower left corner in the map's frame
    negate: bool
    occupied_thresh: float
    free_thresh: float
    mode: str


def read_map(path: str | Path, *, unknown: Unknown = "blocked") -> Grid:
    """The occupancy grid of a map, from its YAML file.

    A cell is free if its occupancy is below `free_thresh` and blocked if it is above `occupied_thresh`. Cells between
    the thresholds, and unknown cells, are blocked or free as `unknown` says. Occupancy is, by mode,

    - *trinary*: the darkness of the mean of all channels including alpha, as in map_server;
    - *scale*: the darkness of the mean of the colors; unknown where not opaque;
    - *raw*: the value itself in percent, after `negate`; unknown above 100.
    """
    if unknown not in ("blocked", "free"):
        raise BadArgument(f'unknown must be "blocked" or "free", not {unknown!r}.')
    path = Path(path)
    legend, picture = _read(path)
    blocked = picture.classify(lambda band: _is_blocked(legend, band, unknown))
    x, y, yaw = legend.origin
    return Grid(blocked[::-1], legend.resolution, origin=(x, y), rotation=yaw)


def find_unknown_cells(path: str | Path) -> NDArray[np.bool_]:
    """(rows, columns) the cells of a map, from its YAML file, that are neither free nor occupied.

    The lowest row comes first, as in a `Grid`.
    """
    legend, picture = _read(Path(path))
    free = picture.classify(lambda band: ~_is_blocked(legend, band, "blocked"))
    occupied = picture.classify(lambda band: _is_blocked(legend, band, "free"))
    return ~(free | occupied)[::-1]


def _is_blocked(legend: _Legend, picture: Picture, unknown: Unknown) -> NDArray[np.bool_]:
    occupancy = _occupancy(legend, picture)
    # Unknown cells are NaN, which is neither above nor below.
    return occupancy > legend.occupied_thresh if unknown == "free" else ~(occupancy < legend.free_thresh)


def _occupancy(legend: _Legend, picture: Picture) -> NDArray[np.float64]:
    """(height, width) from 0 to 1, the top row first; NaN where unknown."""
    gray, alpha, white = picture.gray, picture.alpha, picture.white
    if legend.mode == "trinary" and alpha is not None:
        channels = picture.colors.shape[2]
        gray = (channels * gray + alpha) / (channels + 1)
    if legend.negate:
        gray = white - gray
    if legend.mode == "raw":
        percent = np.round(gray * 255 / white)
        return np.where(percent <= 100, percent / 100, np.nan)
    occupancy = (white - gray) / white
    if legend.mode == "scale" and alpha is not None:
        return np.where(alpha == white, occupancy, np.nan)
    return occupancy


def _read(path: Path) -> tuple[_Legend, Picture]:
    """The legend and its image; raises BadFile with every problem of both."""
    values, lines = _document(path)
    faults = list(_faults(values, lines, path))
    picture = None
    image = _image(values.get("image"), path)
    if isinstance(image, Path) and not os.path.exists(image):
        problem = f"is {values['image']!r}, and there is no such file in the folder of the map."
        where = f"line {lines['image']}"
        faults.append(Fault(where, problem, "Put the image beside the YAML file, or correct its name.", "image"))
    elif isinstance(image, Path):
        try:
            picture = read_picture(image)
        except BadFile as error:
            if not faults:
                raise
            faults += [replace(fault, where=f"{image.name} {fault.where}".strip()) for fault in error.faults]
    if faults or not isinstance(image, Path) or picture is None:
        raise BadFile(str(path), faults)
    x, y, yaw = (_number(value) for value in values["origin"])
    resolution, occupied, free = (_number(values[key]) for key in ("resolution", "occupied_thresh", "free_thresh"))
    mode = str(values.get("mode", "trinary"))
    return _Legend(image, resolution, (x, y, yaw), bool(values["negate"]), occupied, free, mode), picture


def _document(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of the file by key, and the line of each key."""
    content = read_bytes(path, limit=MAX_BYTES)
    if content[:2] in (b"P2", b"P5", b"\x89P", b"BM", b"\xff\xd8"):
        remedy = "Give the .yaml file beside it, or read it as a floor plan with its metres per pixel."
        raise BadFile(str(path), [Fault("", "is an image, not the YAML file of a map.", remedy)])
    yaml = _need_yaml()
    try:
        text = content.decode("utf-8-sig")
        _refuse_aliases(yaml, path, text)
        tree, values = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except UnicodeDecodeError:
        raise BadFile(str(path), [Fault("", "is not UTF-8 text.", _EXAMPLE)]) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise BadFile(str(path), [_not_yaml(error)]) from None
    if not isinstance(values, dict):
        raise BadFile(str(path), [Fault("", "contains no keys and values.", _EXAMPLE)])
    lines: dict[str, int] = {}
    for key, _ in tree.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            fault = Fault(f"line {line}", "occurs a second time.", "Keep one of the two.", name)
            raise BadFile(str(path), [fault])
        lines[name] = line
    return values, lines


def _need_yaml() -> ModuleType:
    try:
        return import_module("yaml")
    except ImportError:
        raise MissingExtra("ROS maps", "PyYAML", "maps") from None


def _refuse_aliases(yaml: ModuleType, path: Path, text: str) -> None:
    """Refuse aliases and deep nesting, which no map needs and with which a few lines can expand without end."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise BadFile(str(path), [Fault(where, "is an alias of another part of the file.", "Write the value out.")])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise BadFile(str(path), [Fault(where, "is nested too deeply.", _EXAMPLE)])


def _not_yaml(error: Exception) -> Fault:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}" if mark is not None else ""
    return Fault(where, f"is not YAML ({getattr(error, 'problem', None) or error}).", _EXAMPLE)


def _faults(values: dict[str, Any], lines: dict[str, int], path: Path) -> Iterator[Fault]:
    for key in KEYS:
        if values.get(key) is None:
            yield Fault("", "is missing.", _EXAMPLE, key)
    for key, (problem, remedy) in _problems(values, path):
        yield Fault(f"line {lines[key]}" if key in lines else "", problem, remedy, key)


def _problems(values: dict[str, Any], path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Key, problem and remedy of every invalid value."""
    present = {key: value for key, value in values.items() if value is not None}
    image = _image(present.get("image"), path)
    if "image" in present and not isinstance(image, Path):
        yield "image", image
    if "resolution" in present and not MIN_RESOLUTION <= _number(present["resolution"]) <= MAX_RESOLUTION:
        remedy = "Give the metres per pixel; most maps have 0.05."
        yield (
            "resolution",
            (f"is {present['resolution']!r}, not between {MIN_RESOLUTION:g} and {MAX_RESOLUTION:g} metres.", remedy),
        )
    if "origin" in present and not _is_pose(present["origin"]):
        problem = f"is {present['origin']!r}, not three finite numbers."
        yield "origin", (problem, "Give x, y in metres and yaw in radians of the lower left corner: [0.0, 0.0, 0.0].")
    if "negate" in present and present["negate"] not in (0, 1):
        yield "negate", (f"is {present['negate']!r}, not 0 or 1.", "0: dark is occupied; 1: light is occupied.")
    if present.get("mode", "trinary") not in MODES:
        yield "mode", (f"is {present['mode']!r}, not one of {', '.join(MODES)}.", "Leave it out for trinary.")
    yield from _thresholds(present)


def _thresholds(present: dict[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    names = [name for name in ("free_thresh", "occupied_thresh") if name in present]
    for name in names:
        if not 0 <= _number(present[name]) <= 1:
            yield name, (f"is {present[name]!r}, not between 0 and 1.", "Most maps have 0.196 and 0.65.")
    if len(names) == 2 and _number(present["free_thresh"]) > _number(present["occupied_thresh"]):
        problem = f"is {present['free_thresh']}, above occupied_thresh, {present['occupied_thresh']}."
        yield "free_thresh", (problem, "Cells below free_thresh are free: exchange the two.")


def _image(values: object, path: Path) -> Path | tuple[str, str]:
    """The path of the image, or problem and remedy: it must be in the folder of the YAML file or below."""
    if not isinstance(values, str) or not values.strip() or "\0" in values:
        return f"is {values!r}, not the name of a file.", "Give the name of the image beside the YAML file."
    remedy = "Put the image beside the YAML file and give its name."
    if PurePosixPath(values).is_absolute() or PureWindowsPath(values).drive or ".." in Path(values).parts:
        return f"is {values!r}, which may be outside the folder of the map and is not opened.", remedy
    found = path.parent / values
    # Installed maps are often links, file by file, to the folder of their source.
    homes = {path.parent.resolve(), path.resolve().parent}
    if not any(found.resolve().is_relative_to(home) for home in homes):
        return f"is {values!r}, a link out of the folder of the map, which is not followed.", remedy
    return found


def _is_pose(values: object) -> bool:
    return isinstance(values, list) and len(values) == 3 and all(math.isfinite(_number(value)) for value in values)


def _number(values: object) -> float:
    """The value as a number; NaN if it is not one."""
    if isinstance(values, bool) or not isinstance(values, int | float | str):
        return math.nan
    try:
        return float(values)  # YAML 1.1 reads 5e-2 as a string
    except (ValueError, OverflowError):
        return math.nan
