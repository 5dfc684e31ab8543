"""Every file format by name, recognition of a format by content, and one reader for each kind of file.

Start with `read_tasks`, `read_predictions` and `read_worlds`; each imports only the module of the format it found.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from itinera.errors import BadArgument, BadFile, Fault, validate_choice
from itinera.formats.io import open_stream
from itinera.records import Predictions
from itinera.tasks import PROTOCOLS, Protocol, Split, Tour
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.formats.io import Member

logger = logging.getLogger("itinera")

Kind = Literal[
    "tasks",
    "predictions",
    "tours",
    "references",
    "targets",
    "worlds",
    "rooms",
    "objects",
    "times",
    "maps",
    "trials",
    "action probabilities",
    "map recordings",
    "scores",
    "subset",
    "live sessions",
]


@dataclass(frozen=True)
class Head:
    """The beginning of a file, enough to recognize its format."""

    path: Path
    text: str

    @cached_property
    def keys(self) -> frozenset[str]:
        """The JSON keys that occur in the text."""
        return frozenset(re.findall(r'"([^"\\\s]{1,40})"\s*:', self.text))

    @cached_property
    def first_keys(self) -> frozenset[str]:
        """The keys of the first line only, for files of JSON lines."""
        return frozenset(re.findall(r'"([^"\\\s]{1,40})"\s*:', self.text.lstrip().split("\n", 1)[0]))

    def begins(self, pattern: str) -> bool:
        return re.match(r"\s*" + pattern, self.text) is not None

    def contains(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None


HEAD = 1 << 16
ARCHIVE = re.compile(r"\.(zip|tar|tar\.gz|tgz|tar\.xz)$")  # suffix of a file that contains others


def read_head(path: Path) -> Head:
    """The first 64 KiB of a file, decompressed."""
    with open_stream(path) as stream:
        return Head(path, stream.read(HEAD).decode("utf-8-sig", "replace"))


@dataclass(frozen=True)
class Format:
    """A file format: its name, the kind of its content, how to recognize it, and the functions that read and write it.

    Modules are imported on first use: scoring needs two or three of them, and importing all takes time.
    """

    name: str
    kind: Kind
    about: str
    recognizes: Callable[[Head], bool]
    module: str
    reader: str
    writer: str

    def read(self, path: Path) -> Any:
        return self._function(self.reader)(path)

    def write(self, path: Path, content: Any, *options: Any) -> None:
        self._function(self.writer)(path, content, *options)

    def _function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"itinera.formats.{self.module}"), name)
        return found


def _has(*keys: str, start: str = "") -> Callable[[Head], bool]:
    return lambda head: head.keys.issuperset(keys) and head.begins(start)


def _line(*keys: str) -> Callable[[Head], bool]:
    return lambda head: head.first_keys.issuperset(keys) and head.begins(r"\{")


def _native(kind: str) -> Callable[[Head], bool]:
    return lambda head: head.begins(r'\{\s*"itinera"\s*:\s*"' + kind + '"')


def _robot_log(rule: str) -> Callable[[Head], bool]:
    # These rules are tried last, so that the module is imported only where it may be needed.
    return lambda head: bool(getattr(import_module("itinera.formats.robot_logs"), rule)(head.text))


NAMED = r'"[^"]*"\s*:\s*'

# The first format that recognizes a file is taken, so the more specific formats come first.
FORMATS = (
    Format("native-predictions", "predictions", "Itinera predictions", _native("predictions"),
           "native_predictions", "read_predictions", "write_predictions"),
    Format("native-tasks", "tasks", "Itinera tasks", _native("tasks"), "native_tasks", "read_split", "write_split"),
    Format("times", "times", "fastest times", _native("times"), "fastest_times", "read_times", "write_times"),
    Format("trials", "trials", "trials of a skill study", _native("trials"), "trials", "read_trials", "write_trials"),
    Format(
        "action-probabilities", "action probabilities", "action probabilities of an agent in the trials of a study",
        _native("action-probabilities"),
        "action_probabilities", "read_action_probabilities", "write_action_probabilities",
    ),
    Format(
        "map-recordings", "map recordings", "maps that an agent held", _native("map-recordings"),
        "map_recordings", "read_map_recordings", "write_map_recordings",
    ),
    Format("scores", "scores", "a score bundle", _native("scores"), "bundles", "read_scores", "write_scores"),
    Format("subset", "subset", "a subset of a split, with its digest", _native("subset"),
           "subsets", "read_subset", "write_subset"),
    Format("soon-submission", "predictions", "SOON submissions",
           lambda head: head.begins(r"\[") and head.contains(r'"trajectory"\s*:\s*(\[\s*)?\{\s*"(path|obj_)'),
           "soon", "read_predictions", "write_predictions"),
    Format(
        "r2r-submission", "predictions", "R2R, R4R, REVERIE and NDH submissions",
        lambda head: "trajectory" in head.keys and bool(head.keys & {"instr_id", "inst_idx"}) and head.begins(r"\["),
        "r2r", "read_predictions", "write_predictions",
    ),
    Format("vlln", "predictions", "VL-LN's results with paths", _line("episode_id", "path", "action"),
           "vlln", "read_predictions", "write_predictions"),
    Format("omninavbench", "predictions", "OmniNavBench's result of one scenario",
           _has("scenario_id", "trajectory", "position", start=r"\{"),
           "omninavbench", "read_predictions", "write_predictions"),
    Format("ndh", "tasks", "CVDN's navigation from dialog history", _has("inst_idx", "end_panos", start=r"\["),
           "ndh", "read_split", "write_split"),
    Format("fgr2r", "tasks", "Fine-Grained R2R", _has("new_instructions", "path_id", start=r"\["),
           "fgr2r", "read_split", "write_split"),
    Format("reverie", "tasks", "REVERIE, both versions",
           _has("id", "instructions", "path", start=r"\["), "reverie", "read_split", "write_split"),
    Format("r2r", "tasks", "R2R, R4R and longer joins", _has("path_id", "instructions", "path", start=r"\["),
           "r2r", "read_split", "write_split"),
    Format("pointnav", "tasks", "Habitat's PointNav episodes",
           lambda head: _has("episodes", "start_position", start=r"\{")(head) and "instruction_text" not in head.keys,
           "pointnav", "read_split", "write_split"),
    Format("vlnce", "tasks", "VLN-CE and RxR-CE episodes", _has("episodes", "start_position", start=r"\{"),
           "vlnce", "read_split", "write_split"),
    Format("soon", "tasks", "SOON, as DUET reads it", _line("path_id", "path", "instructions", "scan"),
           "soon", "read_split", "write_split"),
    Format("rxr-followers", "predictions", "RxR's follower paths", _line("demonstration_id", "path"),
           "rxr", "read_followers", "write_followers"),
    Format("rxr", "tasks", "RxR's guide annotations",
           lambda head: _line("instruction_id")(head) and bool(head.first_keys & {"instruction", "timed_instruction"}),
           "rxr", "read_split", "write_split"),
    Format("rxr-ce-submission", "predictions", "RxR-Habitat submissions",
           lambda head: _line("instruction_id", "path")(head) and head.contains(r'"path"\s*:\s*\[\s*\['),
           "vlnce_predictions", "read_rxr_predictions", "write_rxr_predictions"),
    Format("rxr-submission", "predictions", "RxR submissions of node paths", _line("instruction_id", "path"),
           "rxr", "read_predictions", "write_predictions"),
    Format("vlnce-dense", "references", "VLN-CE's dense ground truth", _has("locations", "actions", start=r"\{"),
           "vlnce", "read_dense", "write_dense"),
    Format("ivln-ce-predictions", "predictions", "IVLN-CE's agent paths",
           _has("position", "phase", start=r"\{\s*" + NAMED + r"\["),
           "ivln", "read_predictions", "write_predictions"),
    Format("vlnce-submission", "predictions", "VLN-CE submissions",
           _has("position", "heading", start=r"\{\s*" + NAMED + r"\["),
           "vlnce_predictions", "read_predictions", "write_predictions"),
    Format("ivln-ce-targets", "targets", "IVLN-CE's target paths of whole tours",
           _has("position", "phase", start=r"\{\s*" + NAMED + r"\{"),
           "ivln", "read_all_references", "write_references"),
    Format("graphs", "worlds", "navigation graphs, one JSON file",
           lambda head: head.begins(r"\{\s*" + NAMED + r'\{\s*("frame"\s*:\s*"[^"]*"\s*,\s*)?"(nodes|edges)"\s*:'),
           "graphs", "read_worlds", "write_worlds"),
    Format("ivln-tours", "tours", "IVLN's tours, discrete and continuous",
           lambda head: head.begins(r"\{\s*" + NAMED + r"\{\s*" + NAMED + r"\[\s*\["),
           "ivln", "read_all_tours", "write_tours"),
    Format("positions", "predictions", "logged positions, CSV", lambda head: head.begins(r"episode_id\s*,"),
           "position_csv", "read_predictions", "write_predictions"),
    Format("rooms", "rooms", "room labels, CSV", lambda head: head.begins(r"scan\s*,\s*viewpoint"),
           "rooms", "read_table", "write_table"),
    Format("robot-csv", "predictions", "a robot's log of one episode, CSV", _robot_log("looks_like_csv"),
           "robot_logs", "read_csv", "write_csv"),
    Format("tum", "predictions", "a robot's log of one episode, TUM", _robot_log("looks_like_tum"),
           "robot_logs", "read_tum", "write_tum"),
)  # fmt: skip

ARCHIVES = (
    Format("connectivity", "worlds", "Matterport connectivity, folder or archive", lambda head: False,
           "matterport", "read_worlds", "write_worlds"),
    Format("robot-logs", "predictions", "robots' logs, CSV or TUM, folder or archive", lambda head: False,
           "robot_logs", "read_folder", "write_folder"),
    Format("bbox", "objects", "REVERIE's object boxes, folder or archive", lambda head: False,
           "reverie", "read_objects", "write_objects"),
    Format("case-files", "predictions", "case files of MapGPT and NavBench, folder or archive", lambda head: False,
           "case_files", "read_predictions", "write_predictions"),
    Format("omninavbench-results", "predictions", "OmniNavBench's results, folder or archive", lambda head: False,
           "omninavbench", "read_folder", "write_folder"),
)  # fmt: skip

# Folders with files in folders of their own, which no archive is read of.
FOLDERS = (
    Format("lerobot", "predictions", "a LeRobot dataset, folder", lambda head: False,
           "lerobot", "read_predictions", "write_predictions"),
)  # fmt: skip

_MAP_KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh")

# Two files each: recognized and checked, but neither converted nor read from a stream.
MAPS = (
    Format("ros-map", "maps", "a ROS map, YAML and picture",
           # Two of its keys are enough, so that a file without the others is told which are missing.
           lambda head: sum(head.contains(rf"(?m)^{key}\s*:") for key in _MAP_KEYS) >= 2,
           "rosmap", "read_map", ""),
)  # fmt: skip

# Answers, of which the host makes trajectories; only checked.
LIVE_LOGS = (
    Format("live-log", "live sessions", "the log of a live session", _native("live session"),
           "live_log", "read_live_log", ""),
)  # fmt: skip

RECOGNIZED = (*FORMATS, *MAPS, *LIVE_LOGS)  # of files, by their content
BY_NAME = {known.name: known for known in (*FORMATS, *ARCHIVES, *FOLDERS)}


def find_format(name: str, *, argument: str = "format") -> Format:
    """The format of this name; `argument` is what the caller calls it, for the message."""
    return BY_NAME[validate_choice(argument, name, BY_NAME)]


def detect(path: str | Path) -> Format:
    """The format of a file or folder, from its content."""
    path = Path(path)
    if os.path.isdir(path) or ARCHIVE.search(path.name):
        from itinera.formats.io import members
        from itinera.formats.matterport import SUFFIX

        if path.is_dir() and (path / "meta" / "info.json").is_file():
            return BY_NAME["lerobot"]
        if members(path, SUFFIX):
            return BY_NAME["connectivity"]
        if (members(path, ".csv") or members(path, ".tum")) and not members(path, ".json"):
            return BY_NAME["robot-logs"]
        found = members(path, ".json")
        if path.is_dir() and not found:
            problem = "is a folder without connectivity files, object boxes, results or logs."
            raise BadFile(str(path), [Fault("", problem, "Give a file, or another folder.")])
        return BY_NAME[_json_folder(found)]
    head = read_head(path)
    for known in RECOGNIZED:
        if known.recognizes(head):
            return known
    raise BadFile(str(path), [_unrecognized(head)])


def _json_folder(found: Mapping[str, Member]) -> str:
    """The name of the format of a folder of JSON files, by the names of the files or else by the first of them."""
    from itinera.formats.case_files import NAME
    from itinera.formats.omninavbench import OTHERS

    if any(NAME.fullmatch(name) for name in found):
        return "case-files"
    first = next((found[name] for name in sorted(found) if name not in OTHERS), None)
    if first is None:
        return "bbox"
    head = Head(Path(first.name), first.read()[:HEAD].decode("utf-8-sig", "replace"))
    return "omninavbench-results" if BY_NAME["omninavbench"].recognizes(head) else "bbox"


def _unrecognized(head: Head) -> Fault:
    if not head.text.strip():
        return Fault("", "is empty.", "Write or copy it again.")
    suffix = head.path.suffix.lower()
    if suffix in (".png", ".pgm", ".bmp", ".jpg", ".jpeg"):
        problem, remedy = "is an image.", "Give the .yaml file of a ROS map; itinera view draws images of floor plans."
        return Fault("", problem, remedy)
    if suffix in (".glb", ".gltf", ".obj", ".ply"):
        return Fault("", "is a scene.", "Give its folder as worlds (--worlds); itinera view draws it.")
    # The head may end inside a character, so the last few are not looked at.
    if "\0" in head.text or "\N{REPLACEMENT CHARACTER}" in head.text[:-4]:
        return Fault("", "is not UTF-8 text.", "Save the file as UTF-8; of binary files only gzip and xz are read.")
    return Fault("", "is in no known format.", f"Name its format: {', '.join(BY_NAME)}.")


def _require_kind(path: Path, kind: Kind, format: str | None) -> Format:
    found = find_format(format) if format is not None else detect(path)
    if found.kind != kind:
        problem = f"holds {found.about} ({found.kind}) where {kind} are expected."
        raise BadFile(str(path), [Fault("", problem, "Check the order of the files, or name the format.")])
    return found


def read_tasks(path: str | Path, *, format: str | None = None) -> Split:
    """The episodes of a tasks file in any format."""
    path = Path(path)
    split: Split = _require_kind(path, "tasks", format).read(path)
    return split


def read_predictions(
    path: str | Path, split: Split | None = None, *, format: str | None = None, episode: str | None = None
) -> Predictions:
    """The trajectories of a predictions file in any format, with the episode ids of the split.

    `episode` is the episode id of a robot log, which otherwise is the name of its file.
    """
    path = Path(path)
    found = _require_kind(path, "predictions", format)
    predictions: Predictions = found.read(path)
    if episode is not None:
        from itinera.formats.robot_logs import rename_episode

        predictions = rename_episode(predictions, episode)
    if found.name == "rxr-ce-submission" and split is not None:
        from itinera.formats.vlnce_predictions import to_episode_ids

        return to_episode_ids(predictions, split)
    return predictions


def read_worlds(path: str | Path) -> Mapping[str, World]:
    """The navigation graphs of a connectivity folder or archive, a JSON file of graphs, or a Hearth season."""
    path = Path(path)
    if os.path.exists(season_file(path)):
        path = path / "connectivity"
    is_graphs = os.path.isfile(path) and BY_NAME["graphs"].recognizes(read_head(path))
    worlds: Mapping[str, World] = BY_NAME["graphs" if is_graphs else "connectivity"].read(path)
    return worlds


def season_file(folder: Path) -> Path:
    """The file that describes a Hearth season; a folder without it is none."""
    return folder / "season.json"  # as in hearth_season.py, which is slow to import


def read_surfaces(path: str | Path, protocol: Protocol) -> Mapping[str, World] | None:
    """The worlds of a folder as surfaces for the robot of a protocol, each built on first access.

    The folder contains scene files, or is a Hearth season, whose houses are rebuilt unless their scenes are there.
    None if it is neither, or the protocol has no robot.
    """
    path = Path(path)
    radius, height = protocol.robot_radius, protocol.robot_height
    if not os.path.isdir(path) or radius is None or height is None:
        return None
    from itinera.formats import scenes

    if scenes.find_scenes(path):
        return scenes.read_worlds(path, radius=radius, height=height)
    from itinera.formats.hearth_season import season_houses

    houses = season_houses(path)
    if houses is None:
        return None
    from itinera.hearth.ground import ground_worlds

    return ground_worlds(houses, radius=radius, height=height)


def load_worlds(split: Split, path: str | Path | None, protocol: Protocol | None = None) -> Mapping[str, World]:
    """The worlds that a split's episodes are in: navigation graphs, or surfaces for continuous episodes.

    The robot is that of the protocol (by default the split's). Where the path contains no surfaces, or the protocol no
    robot, continuous episodes are measured by straight lines.
    """
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    if isinstance(split.episodes[0].start.place, str):
        if path is None:
            raise BadArgument(f"{split.name} needs navigation graphs: give their folder as worlds (--worlds).")
        return read_worlds(path)
    from itinera.worlds import Euclidean

    surfaces = None if path is None else read_surfaces(path, protocol or PROTOCOLS[split.protocol])
    if surfaces is not None:
        return surfaces
    logger.warning("Distances are straight lines: these continuous tasks come without walls.")
    if path is not None:
        logger.warning(f"{path} is not used: a navigation graph does not measure continuous positions.")
    return {world_id: World(world_id, Euclidean()) for world_id in split.world_ids}


def read_tours(path: str | Path, split: Split, *, format: str | None = None) -> tuple[Tour, ...]:
    """The tours of a file that visit the episodes of a split."""
    path = Path(path)
    _require_kind(path, "tours", format)
    from itinera.formats import ivln

    return ivln.read_tours(path, split.name)


def with_reference(split: Split, path: str | Path) -> Split:
    """The split with the dense reference paths of a file, VLN-CE's or IVLN-CE's."""
    from itinera.formats import ivln, vlnce

    path = Path(path)
    if detect(path).kind == "targets":
        return ivln.with_tour_references(split, ivln.read_references(path, split.name), str(path))
    _require_kind(path, "references", None)
    return vlnce.with_dense_reference(split, vlnce.read_dense(path), str(path))
