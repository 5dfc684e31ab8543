"""Building of a Hearth season: houses in worker processes, each with its files, then the folder of the season.

Every finished house is kept in a folder of its own, so an interrupted build resumes with the next house. The season's
file, `season.json`, is written last.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from itinera.errors import BadArgument, BadFile
from itinera.formats.decoding import decode
from itinera.formats.hearth_season import SEASON_FILE, SplitPart, assemble, assemble_worlds, write_part
from itinera.formats.io import atomic_write, read_bytes
from itinera.formats.provenance import sidecar_path, write_sidecar
from itinera.hearth import season as seasons
from itinera.hearth.season import Season
from itinera.records.provenance import Provenance, digest
from itinera.runs.resume import ResumableWriter, plan_fingerprint
from itinera.runs.workers import parallel_map

if TYPE_CHECKING:
    from itinera.builders.hearth import HouseTasks
    from itinera.formats.vlnce import DensePath
    from itinera.planners.motion.geodesic_follower import FollowedPath

HOUSE_FILE = "house.json"  # written last, so a folder that has it is complete
HOUSES = ".houses"


@dataclass(frozen=True)
class SeasonConfig:
    """The parameters of a season's build."""

    season: Season
    out: Path
    houses: int
    splits: tuple[str, ...] = seasons.SPLITS
    radius: float = 0.10  # metres, of the robot on the ground
    sealed: bool = False
    scenes: bool = False

    @property
    def answers(self) -> Path:
        """The folder beside the season's with the answers that a sealed season withholds."""
        return self.out.with_name(f"{self.out.name}-answers")

    @property
    def house_folder(self) -> Path:
        """The folder of finished houses; they contain the answers, so it is not in a folder to be published."""
        return (self.answers if self.sealed else self.out) / HOUSES

    @property
    def indices(self) -> tuple[int, ...]:
        return seasons.house_indices(self.houses, self.splits)

    def part(self, index: int) -> Path:
        """The folder of a house."""
        return self.house_folder / self.season.house_id(index)

    def describe(self) -> dict[str, Any]:
        """Everything that decides the content of the season's folder; never the seed of a secret season."""
        return {
            "hearth": seasons.VERSION,
            "season": self.season.name,
            "seed": None if self.season.commitment else self.season.seed,
            "commitment": self.season.commitment or None,
            "houses": self.houses,
            "splits": list(self.splits),
            "robot_radius": self.radius,
            "sealed": self.sealed,
            "scenes": self.scenes,
        }


@dataclass(frozen=True)
class SeasonBuild:
    """A built season and its counts."""

    folder: Path
    name: str
    houses: int
    splits: Mapping[str, Mapping[str, int]]  # counts by split: houses, paths, instructions, object_goals, pointnav
    answers: Path | None  # the folder of withheld answers of a sealed season
    record: Mapping[str, Any]  # the content of season.json


def build_season(
    config: SeasonConfig,
    *,
    workers: int,
    provenance: Provenance,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SeasonBuild:
    """Build the missing houses, then write the season's folder. Finished houses are reused, also by `overwrite`."""
    _check_folder(config)
    advance = progress or (lambda count: None)
    with _open(config, overwrite=overwrite) as work:
        if work.finished:
            advance(len(config.indices))
            return _describe_build(config, _read_record(config) or {})
        _clean_houses(config)
        missing = [index for index in config.indices if not _is_built(config, index)]
        advance(len(config.indices) - len(missing))
        jobs = parallel_map(partial(build_part, config), missing, workers=min(workers, len(missing)))
        for number, _ in jobs:
            work.add(missing[number], b"")
            advance(1)
        record = _assemble(config)
        write_sidecar(config.out / SEASON_FILE, provenance, plan=work.plan)
        work.discard()
    return _describe_build(config, record)


@contextmanager
def _open(config: SeasonConfig, *, overwrite: bool) -> Iterator[ResumableWriter]:
    """The writer of the season's file. A finished season that lacks a file is assembled again."""
    plan = plan_fingerprint(sorted(config.describe().items(), key=str))
    record = _read_record(config)
    damaged = record is not None and not all((config.out / name).exists() for name in record["files"])
    same = record is not None and record["config"] == config.describe()
    with ResumableWriter(config.out / SEASON_FILE, plan, overwrite=overwrite or (same and damaged)) as work:
        yield work


def _describe_build(config: SeasonConfig, record: Mapping[str, Any]) -> SeasonBuild:
    return SeasonBuild(
        config.out,
        config.season.name,
        len(config.indices),
        record["splits"],
        config.answers if config.sealed else None,
        record,
    )


def _read_record(config: SeasonConfig) -> dict[str, Any] | None:
    """The content of the folder's season file; None if there is none, or it is not the file of a season."""
    file = config.out / SEASON_FILE
    try:
        data = read_bytes(file)
        decode(data, _Record, str(file))  # checks what is used of it
        return decode(data, dict[str, Any], str(file))
    except BadFile:
        return None


class _Record(msgspec.Struct):
    config: dict[str, Any]
    splits: dict[str, dict[str, int]]
    files: dict[str, str]


def _check_folder(config: SeasonConfig) -> None:
    """Raise BadArgument if the folder contains anything but a season."""
    out = config.out
    if out.exists() and not out.is_dir():
        raise BadArgument(f"{out} is a file. A season needs a folder.")
    partial_file = out / f"{SEASON_FILE}.partial"
    marks = (out / SEASON_FILE, out / HOUSES, partial_file, config.house_folder)
    if out.is_dir() and any(out.iterdir()) and not any(mark.exists() for mark in marks):
        raise BadArgument(f"{out} contains other files. Give a new folder, or that of a season.")


def _clean_houses(config: SeasonConfig) -> None:
    """Remove unfinished houses, and the finished ones of an earlier build that was not sealed."""
    if config.sealed and (config.out / HOUSES).exists():
        shutil.rmtree(config.out / HOUSES)
    for unfinished in config.house_folder.glob("*.part") if config.house_folder.exists() else ():
        shutil.rmtree(unfinished, ignore_errors=True)


def _is_built(config: SeasonConfig, index: int) -> bool:
    part = config.part(index)
    has_scenes = not config.scenes or all(file.exists() for file in _scene_files(part, part.name))
    return has_scenes and _has_tasks(config, index)


def _has_tasks(config: SeasonConfig, index: int) -> bool:
    try:
        return (config.part(index) / HOUSE_FILE).read_bytes() == _house_key(config, index)
    except OSError:
        return False


def _house_key(config: SeasonConfig, index: int) -> bytes:
    """Everything that decides the files of a house."""
    # The seed of a secret season is written to its private folder only.
    key = {
        "hearth": seasons.VERSION,
        "seed": str(config.season.seed),
        "index": index,
        "robot_radius": config.radius,
    }
    return msgspec.json.encode(key)


def _scene_files(folder: Path, house_id: str) -> tuple[Path, Path]:
    scene = folder / f"scenes/hearth/{house_id}/{house_id}.glb"
    return scene, scene.with_suffix(".obj")


def build_part(config: SeasonConfig, index: int) -> None:
    """Build a house with its tasks, and its scene files if configured, into its folder."""
    from itinera.formats.scenes import write_scene
    from itinera.hearth.build import build_house

    part = config.part(index)
    if not _has_tasks(config, index):
        _build_tasks(config, index)
    if config.scenes:
        mesh = build_house(config.season.seed, index, id=part.name).mesh
        for file in _scene_files(part, part.name):
            write_scene(file, mesh)


def _build_tasks(config: SeasonConfig, index: int) -> None:
    """Write the files of a house; its folder appears when all of them are complete."""
    from itinera.builders.hearth import build_annotated_house, build_tasks

    part = config.part(index)
    annotated = build_annotated_house(config.season.seed, index, id=part.name, radius=config.radius)
    tasks = build_tasks(annotated, seasons.paths_per_split(index))
    unfinished = part.with_name(f"{part.name}.{uuid.uuid4().hex}.part")
    splits = {split: _as_part(house_tasks) for split, house_tasks in tasks.items()}
    write_part(unfinished, annotated.house, annotated.world, annotated.descriptions, splits)
    with atomic_write(unfinished / HOUSE_FILE) as stream:
        stream.write(_house_key(config, index))
    shutil.rmtree(part, ignore_errors=True)
    unfinished.replace(part)


def _as_part(tasks: HouseTasks) -> SplitPart:
    from itinera.builders.hearth import numeric_id

    return SplitPart(
        graph_episodes=tasks.graph_episodes,
        numeric_ids=tuple(map(numeric_id, tasks.graph_episodes)),
        arrivals=tasks.arrivals,
        ground_episodes=tasks.ground_episodes,
        dense_paths={name: _dense_path(trail) for name, trail in tasks.expert_trails.items()},
        pointnav=tasks.pointnav,
        object_goals=tasks.object_goals,
    )


def _dense_path(trail: FollowedPath) -> DensePath:
    import numpy as np

    from itinera.formats.vlnce import DensePath

    moved = np.ones(len(trail.positions), dtype=bool)
    moved[1:] = (trail.positions[1:] != trail.positions[:-1]).any(axis=1)
    forward = int(np.count_nonzero(trail.actions == 1))
    return DensePath(trail.positions[moved].round(4), trail.actions.astype(np.int64), forward)


def _assemble(config: SeasonConfig) -> dict[str, Any]:
    """Write the season's files from those of its houses; returns the content of season.json."""
    _remove_earlier_files(config)
    parts = [config.part(index) for index in config.indices]
    assemble_worlds(config.out, parts)
    counts = {
        split: assemble(config.out, parts, split, sealed=config.sealed and split == "test") for split in config.splits
    }
    if config.sealed and "test" in config.splits:
        assemble(config.answers, parts, "test")
    for part in parts if config.scenes else ():
        for source, target in zip(_scene_files(part, part.name), _scene_files(config.out, part.name), strict=True):
            with atomic_write(target) as stream:
                stream.write(source.read_bytes())
    record = {
        "itinera": "season",
        "config": config.describe(),
        "houses": _house_ids(config),
        "splits": {split: asdict(count) for split, count in counts.items()},
        "files": _digests(config),
    }
    with atomic_write(config.out / SEASON_FILE) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _house_ids(config: SeasonConfig) -> dict[str, list[str]]:
    """The ids of the houses by role."""
    ids: dict[str, list[str]] = {role: [] for role in seasons.HOUSES_PER_ROLE}
    for index in config.indices:
        ids[seasons.house_role(index)].append(config.season.house_id(index))
    return ids


def _digests(config: SeasonConfig) -> dict[str, str]:
    own = (HOUSES, SEASON_FILE, f"{SEASON_FILE}.partial", sidecar_path(SEASON_FILE).name)
    files = (file.relative_to(config.out) for file in config.out.rglob("*") if file.is_file())
    names = sorted(name.as_posix() for name in files if name.parts[0] not in own)
    return {name: digest(config.out / name) for name in names}


def _remove_earlier_files(config: SeasonConfig) -> None:
    """Remove the files of an earlier season in this folder: a smaller one must not keep houses of a larger one."""
    record = _read_record(config)
    if record is None:
        return
    (config.out / SEASON_FILE).unlink()
    sidecar_path(config.out / SEASON_FILE).unlink(missing_ok=True)
    for name in record["files"]:
        # A name outside the folder was not written by a build.
        if "\0" not in name and ".." not in Path(name).parts and not Path(name).is_absolute():
            (config.out / name).unlink(missing_ok=True)
