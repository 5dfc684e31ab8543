"""Maps as ROS's map_server and Nav2 keep them: a short YAML file beside a picture of occupancy.

The picture's lower left corner lies at `origin`, turned by its yaw; darker is fuller unless `negate` says otherwise.
"""

from __future__ import annotations

import math
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
from itinera.worlds.grid import NARROWEST, WIDEST, Grid

if TYPE_CHECKING:
    from types import ModuleType

Unknown = Literal["blocked", "free"]
MODES = ("trinary", "scale", "raw")
KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh")
LARGEST = 1 << 16  # bytes of a YAML file; real ones have 150
_DEEPEST = 3
_EXAMPLE = "A map_server file says: image, resolution, origin [x, y, yaw], negate, occupied_thresh, free_thresh."


@dataclass(frozen=True)
class _Legend:
    """What the YAML file says of its picture."""

    image: Path
    resolution: float  # metres, the side of a pixel
    origin: tuple[float, float, float]  # metres, metres, radians: the low left corner in the map's frame
    negate: bool
    occupied_thresh: float
    free_thresh: float
    mode: str


def read_map(path: str | Path, *, unknown: Unknown = "blocked") -> Grid:
    """The grid of a map, from its YAML file.

    A cell is free if its occupancy is below `free_thresh` and blocked if above `occupied_thresh`. What lies between,
    or is unknown, is as `unknown` says. Occupancy is

    - *trinary*: how dark the mean of all channels is, alpha included, as map_server has it;
    - *scale*: how dark the mean of the colours is; unknown where not opaque;
    - *raw*: the value itself in percent, after `negate`; unknown above 100.
    """
    if unknown not in ("blocked", "free"):
        raise BadArgument(f'Unknown cells are either "blocked" or "free", not {unknown!r}.')
    path = Path(path)
    legend, picture = _read(path)
    occupancy = _occupancy(legend, picture)[::-1]
    # NaN, the unknown, is neither above nor below.
    blocked = occupancy > legend.occupied_thresh if unknown == "free" else ~(occupancy < legend.free_thresh)
    x, y, yaw = legend.origin
    return Grid(blocked, legend.resolution, origin=(x, y), rotation=yaw)


def _occupancy(legend: _Legend, picture: Picture) -> NDArray[np.float64]:
    """(height, width) from 0 to 1, the top row first; NaN where unknown."""
    grey, alpha, white = picture.grey, picture.alpha, picture.white
    if legend.mode == "trinary" and alpha is not None:
        channels = picture.colours.shape[2]
        grey = (channels * grey + alpha) / (channels + 1)
    if legend.negate:
        grey = white - grey
    if legend.mode == "raw":
        percent = np.round(grey * 255 / white)
        return np.where(percent <= 100, percent / 100, np.nan)
    occupancy = (white - grey) / white
    if legend.mode == "scale" and alpha is not None:
        return np.where(alpha == white, occupancy, np.nan)
    return occupancy


def _read(path: Path) -> tuple[_Legend, Picture]:
    """The legend and its picture, or everything that is wrong with both."""
    said, lines = _document(path)
    faults = list(_faults(said, lines, path))
    picture = None
    image = _image(said.get("image"), path)
    if isinstance(image, Path):
        try:
            picture = read_picture(image)
        except BadFile as error:
            if not faults:
                raise
            faults += [replace(fault, where=f"{image.name} {fault.where}".strip()) for fault in error.faults]
    if faults or not isinstance(image, Path) or picture is None:
        raise BadFile(str(path), faults)
    x, y, yaw = (_number(value) for value in said["origin"])
    resolution, occupied, free = (_number(said[key]) for key in ("resolution", "occupied_thresh", "free_thresh"))
    mode = str(said.get("mode", "trinary"))
    return _Legend(image, resolution, (x, y, yaw), bool(said["negate"]), occupied, free, mode), picture


def _document(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """What the file says by key, and the line of each key."""
    content = read_bytes(path, limit=LARGEST)
    if content[:2] in (b"P2", b"P5", b"\x89P", b"BM", b"\xff\xd8"):
        remedy = "Give the .yaml file beside it, or read it as a floor plan, by its metres per pixel."
        raise BadFile(str(path), [Fault("", "is a picture, not the YAML file of a map.", remedy)])
    yaml = _need_yaml()
    try:
        text = content.decode("utf-8-sig")
        _refuse_riddles(yaml, path, text)
        tree, said = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except UnicodeDecodeError:
        raise BadFile(str(path), [Fault("", "is not UTF-8 text.", _EXAMPLE)]) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise BadFile(str(path), [_not_yaml(error)]) from None
    if not isinstance(said, dict):
        raise BadFile(str(path), [Fault("", "holds no keys and values.", _EXAMPLE)])
    lines: dict[str, int] = {}
    for key, _ in tree.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            fault = Fault(f"line {line}", "is said a second time.", "Keep one of the two.", name)
            raise BadFile(str(path), [fault])
        lines[name] = line
    return said, lines


def _need_yaml() -> ModuleType:
    try:
        return import_module("yaml")
    except ImportError:
        raise MissingExtra("ROS maps", "PyYAML", "maps") from None


def _refuse_riddles(yaml: ModuleType, path: Path, text: str) -> None:
    """Refuse what no map needs and what a few lines can make endless: aliases, and lists in lists in lists."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise BadFile(str(path), [Fault(where, "refers to another part of the file.", "Write the value out.")])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise BadFile(str(path), [Fault(where, "holds lists within lists within lists.", _EXAMPLE)])


def _not_yaml(error: Exception) -> Fault:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}" if mark is not None else ""
    return Fault(where, f"is not YAML ({getattr(error, 'problem', None) or error}).", _EXAMPLE)


def _faults(said: dict[str, Any], lines: dict[str, int], path: Path) -> Iterator[Fault]:
    for key in KEYS:
        if said.get(key) is None:
            yield Fault("", "is missing.", _EXAMPLE, key)
    for key, (problem, remedy) in _problems(said, path):
        yield Fault(f"line {lines[key]}" if key in lines else "", problem, remedy, key)


def _problems(said: dict[str, Any], path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Key, problem and remedy of every value that cannot be meant."""
    given = {key: value for key, value in said.items() if value is not None}
    image = _image(given.get("image"), path)
    if "image" in given and not isinstance(image, Path):
        yield "image", image
    if "resolution" in given and not NARROWEST <= _number(given["resolution"]) <= WIDEST:
        remedy = "Give the metres of a pixel's side; most maps have 0.05."
        yield "resolution", (f"is {given['resolution']!r}, not between {NARROWEST:g} and {WIDEST:g} metres.", remedy)
    if "origin" in given and not _is_pose(given["origin"]):
        problem = f"is {given['origin']!r}, not three finite numbers."
        yield "origin", (problem, "Give x, y in metres and yaw in radians of the lower left corner: [0.0, 0.0, 0.0].")
    if "negate" in given and given["negate"] not in (0, 1):
        yield "negate", (f"is {given['negate']!r}, not 0 or 1.", "0: dark is occupied; 1: light is.")
    if given.get("mode", "trinary") not in MODES:
        yield "mode", (f"is {given['mode']!r}, none of {', '.join(MODES)}.", "Leave it out for trinary.")
    yield from _thresholds(given)


def _thresholds(given: dict[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    names = [name for name in ("free_thresh", "occupied_thresh") if name in given]
    for name in names:
        if not 0 <= _number(given[name]) <= 1:
            yield name, (f"is {given[name]!r}, not between 0 and 1.", "Most maps have 0.196 and 0.65.")
    if len(names) == 2 and _number(given["free_thresh"]) > _number(given["occupied_thresh"]):
        problem = f"is {given['free_thresh']}, above occupied_thresh, {given['occupied_thresh']}."
        yield "free_thresh", (problem, "Free is what is below free_thresh: exchange the two.")


def _image(said: object, path: Path) -> Path | tuple[str, str]:
    """Where the picture lies, or what is wrong with the name: it must be in the folder of the YAML file or below."""
    if not isinstance(said, str) or not said.strip() or "\0" in said:
        return f"is {said!r}, not the name of a file.", "Name the picture beside the YAML file."
    remedy = "Put the picture beside the YAML file and give its name."
    if PurePosixPath(said).is_absolute() or PureWindowsPath(said).drive or ".." in Path(said).parts:
        return f"is {said!r}, which may lie outside the folder of the map and is not opened.", remedy
    found = path.parent / said
    # Installed maps are often links, file by file, into the folder they were made in.
    homes = {path.parent.resolve(), path.resolve().parent}
    if not any(found.resolve().is_relative_to(home) for home in homes):
        return f"is {said!r}, a link that leads out of the folder of the map and is not followed.", remedy
    return found


def _is_pose(said: object) -> bool:
    return isinstance(said, list) and len(said) == 3 and all(math.isfinite(_number(value)) for value in said)


def _number(said: object) -> float:
    """The number said, NaN if it is none."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return math.nan
    try:
        return float(said)  # YAML 1.1 takes 5e-2 for a word
    except (ValueError, OverflowError):
        return math.nan
