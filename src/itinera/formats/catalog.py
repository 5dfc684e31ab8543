"""Every format by name, how to tell one from another by looking inside, and one way to read each kind of thing.

Names are used at the command line only; programs call the modules themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.io import open_stream
from itinera.records import Predictions
from itinera.tasks import Split, Tour
from itinera.worlds import World

Kind = Literal[
    "tasks",
    "walks",
    "tours",
    "references",
    "targets",
    "worlds",
    "rooms",
    "objects",
    "times",
    "maps",
    "trials",
    "leanings",
    "scores",
]


@dataclass(frozen=True)
class Head:
    """The beginning of a file, enough to recognise it."""

    path: Path
    text: str

    @cached_property
    def keys(self) -> frozenset[str]:
        """The JSON keys that occur in it."""
        return frozenset(re.findall(r'"([^"\\\s]{1,40})"\s*:', self.text))

    @cached_property
    def first_keys(self) -> frozenset[str]:
        """The keys of the first line only, for files of JSON lines."""
        return frozenset(re.findall(r'"([^"\\\s]{1,40})"\s*:', self.text.lstrip().split("\n", 1)[0]))

    def begins(self, pattern: str) -> bool:
        return re.match(r"\s*" + pattern, self.text) is not None

    def holds(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None


HEAD = 1 << 16
ARCHIVE = re.compile(r"\.(zip|tar|tar\.gz|tgz|tar\.xz)$")  # ends the name of a file that holds others


def look_inside(path: Path) -> Head:
    """The first 64 KiB of a file, decompressed."""
    with open_stream(path) as stream:
        return Head(path, stream.read(HEAD).decode("utf-8-sig", "replace"))


@dataclass(frozen=True)
class Format:
    """A format by name: what it holds, how it is recognised, and which functions of which module read and write it.

    Modules are imported when first needed: a score needs two or three of them, and all take a while to load.
    """

    name: str
    kind: Kind
    about: str
    recognises: Callable[[Head], bool]
    module: str
    reader: str
    writer: str

    def read(self, path: Path) -> Any:
        return self._function(self.reader)(path)

    def write(self, path: Path, content: Any) -> None:
        self._function(self.writer)(path, content)

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
    # Asked last of all, so that the module is loaded only where it may be needed.
    return lambda head: bool(getattr(import_module("itinera.formats.robot_logs"), rule)(head.text))


NAMED = r'"[^"]*"\s*:\s*'

# The first that recognises a file is its format, so what is more special stands first.
FORMATS = (
    Format("native-walks", "walks", "our walks", _native("walks"), "native_predictions", "read_walks", "write_walks"),
    Format("native-tasks", "tasks", "our tasks", _native("tasks"), "native_tasks", "read_split", "write_split"),
    Format("times", "times", "fastest times", _native("times"), "fastest_times", "read_times", "write_times"),
    Format("trials", "trials", "trials of a skill study", _native("trials"), "trials", "read_trials", "write_trials"),
    Format("leanings", "leanings", "what an agent leaned to in trials", _native("leanings"),
           "action_logs", "read_leanings", "write_leanings"),
    Format("scores", "scores", "a result bundle", _native("scores"), "bundles", "read_scores", "write_scores"),
    Format(
        "r2r-submission", "walks", "R2R, R4R, REVERIE and NDH submissions",
        lambda head: "trajectory" in head.keys and bool(head.keys & {"instr_id", "inst_idx"}) and head.begins(r"\["),
        "r2r", "read_walks", "write_walks",
    ),
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
    Format("rxr-followers", "walks", "RxR's follower paths", _line("demonstration_id", "path"),
           "rxr", "read_followers", "write_followers"),
    Format("rxr", "tasks", "RxR's guide annotations",
           lambda head: _line("instruction_id")(head) and bool(head.first_keys & {"instruction", "timed_instruction"}),
           "rxr", "read_split", "write_split"),
    Format("rxr-ce-submission", "walks", "RxR-Habitat submissions",
           lambda head: _line("instruction_id", "path")(head) and head.holds(r'"path"\s*:\s*\[\s*\['),
           "vlnce_predictions", "read_rxr_walks", "write_rxr_walks"),
    Format("rxr-submission", "walks", "RxR submissions of node paths", _line("instruction_id", "path"),
           "rxr", "read_walks", "write_walks"),
    Format("vlnce-dense", "references", "VLN-CE's dense ground truth", _has("locations", "actions", start=r"\{"),
           "vlnce", "read_dense", "write_dense"),
    Format("ivln-ce-walks", "walks", "IVLN-CE's agent paths", _has("position", "phase", start=r"\{\s*" + NAMED + r"\["),
           "ivln", "read_walks", "write_walks"),
    Format("vlnce-submission", "walks", "VLN-CE submissions",
           _has("position", "heading", start=r"\{\s*" + NAMED + r"\["),
           "vlnce_predictions", "read_walks", "write_walks"),
    Format("ivln-ce-targets", "targets", "IVLN-CE's target paths of whole tours",
           _has("position", "phase", start=r"\{\s*" + NAMED + r"\{"),
           "ivln", "read_all_references", "write_references"),
    Format("graphs", "worlds", "navigation graphs, one JSON file",
           lambda head: head.begins(r"\{\s*" + NAMED + r'\{\s*("frame"\s*:\s*"[^"]*"\s*,\s*)?"(nodes|edges)"\s*:'),
           "graphs", "read_worlds", "write_worlds"),
    Format("ivln-tours", "tours", "IVLN's tours, discrete and continuous",
           lambda head: head.begins(r"\{\s*" + NAMED + r"\{\s*" + NAMED + r"\[\s*\["),
           "ivln", "read_all_tours", "write_tours"),
    Format("positions", "walks", "logged positions, CSV", lambda head: head.begins(r"episode_id\s*,"),
           "position_csv", "read_walks", "write_walks"),
    Format("rooms", "rooms", "room labels, CSV", lambda head: head.begins(r"scan\s*,\s*viewpoint"),
           "rooms", "read_table", "write_table"),
    Format("robot-csv", "walks", "a robot's log of one episode, CSV", _robot_log("looks_like_csv"),
           "robot_logs", "read_csv", "write_csv"),
    Format("tum", "walks", "a robot's log of one episode, TUM", _robot_log("looks_like_tum"),
           "robot_logs", "read_tum", "write_tum"),
)  # fmt: skip

ARCHIVES = (
    Format("connectivity", "worlds", "Matterport connectivity, folder or archive", lambda head: False,
           "matterport", "read_worlds", "write_worlds"),
    Format("robot-logs", "walks", "robots' logs, CSV or TUM, folder or archive", lambda head: False,
           "robot_logs", "read_folder", "write_folder"),
    Format("bbox", "objects", "REVERIE's object boxes, folder or archive", lambda head: False,
           "reverie", "read_objects", "write_objects"),
)  # fmt: skip

# Two files each, so they are recognised and checked, but neither converted nor read from a stream.
MAPS = (
    Format("ros-map", "maps", "a ROS map, YAML and picture",
           lambda head: head.holds(r"(?m)^image\s*:") and head.holds(r"(?m)^resolution\s*:"), "rosmap", "read_map", ""),
)  # fmt: skip

BY_NAME = {known.name: known for known in (*FORMATS, *ARCHIVES)}


def named(name: str) -> Format:
    """The format of this name."""
    if name not in BY_NAME:
        from difflib import get_close_matches

        near = get_close_matches(name, BY_NAME, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadArgument(f"There is no format {name!r}; there are {', '.join(BY_NAME)}.{hint}")
    return BY_NAME[name]


def detect(path: str | Path) -> Format:
    """The format of a file or folder, from its content."""
    path = Path(path)
    if path.is_dir() or ARCHIVE.search(path.name):
        from itinera.formats.io import members
        from itinera.formats.matterport import SUFFIX

        if members(path, SUFFIX):
            return BY_NAME["connectivity"]
        if (members(path, ".csv") or members(path, ".tum")) and not members(path, ".json"):
            return BY_NAME["robot-logs"]
        if path.is_dir() and not members(path, ".json"):
            problem = "is a folder that holds neither connectivity nor objects nor logs."
            raise BadFile(str(path), [Fault("", problem, "Give a file, or the folder meant.")])
        return BY_NAME["bbox"]
    head = look_inside(path)
    for known in (*FORMATS, *MAPS):
        if known.recognises(head):
            return known
    raise BadFile(str(path), [_unrecognised(head)])


def _unrecognised(head: Head) -> Fault:
    if not head.text.strip():
        return Fault("", "is empty.", "Write or copy it again.")
    # A head may end within a character, so its last few do not tell.
    if "\0" in head.text or "\N{REPLACEMENT CHARACTER}" in head.text[:-4]:
        return Fault("", "is not UTF-8 text.", "Save the file as UTF-8; of binary files only gzip and xz are read.")
    return Fault("", "is in no format known here.", f"Name its format with --format: {', '.join(BY_NAME)}.")


def _of_kind(path: Path, kind: Kind, format: str | None) -> Format:
    found = named(format) if format is not None else detect(path)
    if found.kind != kind:
        problem = f"holds {found.about} ({found.kind}) where {kind} are expected."
        raise BadFile(str(path), [Fault("", problem, "Check the order of the files given, or name it with --format.")])
    return found


def read_tasks(path: str | Path, *, format: str | None = None) -> Split:
    """The split of any tasks file."""
    path = Path(path)
    split: Split = _of_kind(path, "tasks", format).read(path)
    return split


def read_predictions(
    path: str | Path, split: Split | None = None, *, format: str | None = None, episode: str | None = None
) -> Predictions:
    """The walks of any predictions file, named as the split names its episodes; `episode` names the only one."""
    path = Path(path)
    found = _of_kind(path, "walks", format)
    predictions: Predictions = found.read(path)
    if episode is not None:
        from itinera.formats.robot_logs import renamed

        predictions = renamed(predictions, episode)
    if found.name == "rxr-ce-submission" and split is not None:
        from itinera.formats.vlnce_predictions import by_episode_ids

        return by_episode_ids(predictions, split)
    return predictions


def read_worlds(path: str | Path) -> Mapping[str, World]:
    """The worlds of a connectivity folder or archive, or of a file of graphs."""
    path = Path(path)
    is_graphs = path.is_file() and BY_NAME["graphs"].recognises(look_inside(path))
    worlds: Mapping[str, World] = BY_NAME["graphs" if is_graphs else "connectivity"].read(path)
    return worlds


def read_tours(path: str | Path, split: Split, *, format: str | None = None) -> tuple[Tour, ...]:
    """The tours through a split."""
    path = Path(path)
    _of_kind(path, "tours", format)
    from itinera.formats import ivln

    return ivln.read_tours(path, split.name)


def with_reference(split: Split, path: str | Path) -> Split:
    """The split with the dense reference paths of a file."""
    from itinera.formats import ivln, vlnce

    path = Path(path)
    if detect(path).kind == "targets":
        return ivln.with_tour_references(split, ivln.read_references(path, split.name), str(path))
    _of_kind(path, "references", None)
    return vlnce.with_dense_reference(split, vlnce.read_dense(path), str(path))
