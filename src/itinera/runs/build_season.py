"""Building of a Hearth season: houses in worker processes, each with its files, then the folder of the season.

Every finished house is kept in a folder of its own with the digests of its files, so an interrupted build resumes with
the next house, and a house that was damaged is built again. The season's file, `season.json`, is written last.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from itinera.errors import BadArgument, BadFile
from itinera.formats.decoding import decode
from itinera.formats.hearth_season import SEASON_FILE, SplitPart, assemble, assemble_worlds, write_part
from itinera.formats.io import read_bytes
from itinera.formats.native import Header, header_line, read_header
from itinera.formats.parts import PART_FILE
from itinera.formats.provenance import sidecar_path, write_sidecar
from itinera.formats.writing import atomic_write, is_draft, sync_folder
from itinera.hearth import season as seasons
from itinera.hearth.season import Season
from itinera.records.provenance import Provenance, digest
from itinera.records.shards import Shard, digest_bytes, plan_part
from itinera.runs.engines import Engine, open_engine
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.engines.shipping import pack, unpack
from itinera.runs.resume import ResumableWriter, plan_fingerprint, shard_fingerprint

if TYPE_CHECKING:
    from itinera.builders.hearth import HouseTasks
    from itinera.formats.vlnce import DensePath
    from itinera.hearth.language.generate import Language
    from itinera.planners.motion.geodesic_follower import FollowedPath

HOUSE_FILE = "house.json"  # written last, so a folder that has it is complete
HOUSES = ".houses"
_log = logging.getLogger("itinera")
SEALED_SPLIT = "test"


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
    languages: tuple[Language, ...] = ("en",)  # of RxR's instructions
    faults: float = 0.0  # probability per word
    shard: Shard | None = None

    def __post_init__(self) -> None:
        if self.sealed and not self.season.sealing_key:
            raise BadArgument("A sealed season needs a secret: everybody can build the answers of a public seed.")

    @property
    def answers(self) -> Path:
        """The folder beside the season's with the answers that a sealed season withholds."""
        return self.out.with_name(f"{self.out.name}-answers")

    @property
    def secret_file(self) -> Path:
        """The file of the secret that a build draws for a sealed season."""
        return self.answers / "secret.txt"

    @property
    def house_folder(self) -> Path:
        """The folder of finished houses; they contain the answers, so it is not in a folder to be published."""
        return (self.answers if self.sealed else self.out) / HOUSES

    @property
    def indices(self) -> tuple[int, ...]:
        return seasons.house_indices(self.houses, self.splits)

    @property
    def own_indices(self) -> tuple[int, ...]:
        """The indices of the houses to build: those of the shard, or all."""
        if self.shard is None:
            return self.indices
        block = self.shard.block(len(self.indices))
        return self.indices[block.start : block.stop]

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
            "languages": list(self.languages),
            "faults": self.faults,
        }


@dataclass(frozen=True)
class SeasonBuild:
    """A built season and its counts."""

    folder: Path
    name: str
    houses: int
    splits: Mapping[str, Mapping[str, int]]  # counts by split: houses, paths, instructions, object_goals, pointnav
    answers: Path | None  # the folder of withheld answers of a sealed season
    record: Mapping[str, Any] = field(repr=False)  # the content of season.json, with a checksum of every file


def build_season(
    config: SeasonConfig,
    *,
    workers: int | None = None,
    engine: str | Engine = PROCESSES,
    provenance: Provenance,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SeasonBuild:
    """Build the missing houses, then write the season's folder. Finished houses are reused, also by `overwrite`."""
    _check_folder(config)
    advance = progress or (lambda count: None)
    with _open(config, overwrite=overwrite) as work:
        if work.finished:
            advance(len(config.own_indices))
            return _describe_build(config, _read_record(config) or {})
        try:
            _clean_houses(config)
            missing = [index for index in config.own_indices if not is_built(config, index)]
            if damaged := sum(_is_damaged(config.part(index)) for index in missing):
                _log.warning("%d of %d houses are incomplete or damaged and are built again.", damaged, config.houses)
            advance(len(config.own_indices) - len(missing))
            with open_engine(engine, workers) as running:
                build = partial(build_part if running.shares_files else build_packed, config)
                with closing(running.map(build, missing)) as built:
                    for number, packed in built:
                        if not running.shares_files:
                            _unpack_house(config, missing[number], packed or b"")
                        work.add(missing[number], b"")
                        advance(1)
        finally:
            _clean_houses(config)
        if config.shard is not None:
            _finish_part(config, work, provenance)
            return _describe_build(config, {})
        record = _assemble(config)
        write_sidecar(config.out / SEASON_FILE, provenance, plan=work.plan)
        work.discard()
    return _describe_build(config, record)


@contextmanager
def _open(config: SeasonConfig, *, overwrite: bool) -> Iterator[ResumableWriter]:
    """The writer of the season's file. A finished season with missing or changed files is assembled again."""
    plan = plan_fingerprint(sorted(config.describe().items(), key=str))
    if config.shard is not None:
        plan = shard_fingerprint(plan, config.shard)
        same = _recorded_part(config) == plan
        damaged = same and not all(is_built(config, index) for index in config.own_indices)
        with ResumableWriter(config.out / PART_FILE, plan, overwrite=overwrite, update=damaged) as work:
            yield work
        return
    record = _read_record(config)
    same = record is not None and record["config"] == config.describe()
    damaged = same and record is not None and not _has_files(config.out, record["files"])
    with ResumableWriter(config.out / SEASON_FILE, plan, overwrite=overwrite or damaged) as work:
        yield work


def _recorded_part(config: SeasonConfig) -> str:
    """The fingerprint of the part in the folder; empty if there is none."""
    try:
        return read_header(config.out / PART_FILE).plan
    except BadFile:
        return ""


def _finish_part(config: SeasonConfig, work: ResumableWriter, provenance: Provenance) -> None:
    """Write what the folder states as a part; the digest is that of the houses' records, which have their files'."""
    plan = plan_fingerprint(sorted(config.describe().items(), key=str))
    ids = ((config.season.house_id(index),) for index in config.indices)
    settings = {"version": provenance.version, **config.describe()}
    part = plan_part("build hearth", config.shard, ids, plan, settings, total=len(config.indices))
    assert part is not None
    part = replace(part, digest=digest_bytes(house_records(config)))
    header = Header(
        itinera="season-part", provenance=provenance, plan=work.plan, settings=config.describe(), shard=part
    )
    with atomic_write(config.out / PART_FILE) as stream:
        stream.write(header_line(header))
    work.discard()


def house_records(config: SeasonConfig) -> bytes:
    """The content of the files that describe the houses of a part, in order."""
    return b"".join((config.part(index) / HOUSE_FILE).read_bytes() + b"\n" for index in config.own_indices)


def _describe_build(config: SeasonConfig, record: Mapping[str, Any]) -> SeasonBuild:
    return SeasonBuild(
        config.out,
        config.season.name,
        len(config.own_indices),
        record.get("splits", {}),
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
    partial_part = out / f"{PART_FILE}.partial"
    marks = (out / SEASON_FILE, out / HOUSES, out / PART_FILE, partial_file, partial_part, config.house_folder)
    if out.is_dir() and any(out.iterdir()) and not any(mark.exists() for mark in marks):
        raise BadArgument(f"{out} contains other files. Give a new folder, or that of a season.")


def _clean_houses(config: SeasonConfig) -> None:
    """Remove unfinished houses, and the finished ones of an earlier build that was not sealed."""
    if config.sealed and (config.out / HOUSES).exists():
        shutil.rmtree(config.out / HOUSES)
    for unfinished in config.house_folder.glob("*.part") if config.house_folder.exists() else ():
        shutil.rmtree(unfinished, ignore_errors=True)


class _HouseRecord(msgspec.Struct):
    """The content of HOUSE_FILE: everything that decides the files of a house, and their digests."""

    hearth: int
    seed: str  # that of a secret season is written to its private folder only
    index: int
    robot_radius: float
    sealed: bool = False  # whether its tasks are those of a sealed split
    languages: tuple[str, ...] = ("en",)
    faults: float = 0.0
    files: dict[str, str] = {}  # name -> digest


def is_built(config: SeasonConfig, index: int) -> bool:
    """Whether the house was built with this configuration, and is as it was then."""
    part = config.part(index)
    names = {file.relative_to(part).as_posix() for file in _scene_files(part, part.name)} if config.scenes else set()
    record = read_house(part)
    return record is not None and _has_tasks(config, index) and names <= record.files.keys()


def _has_tasks(config: SeasonConfig, index: int) -> bool:
    record = read_house(config.part(index))
    described = None if record is None else msgspec.structs.replace(record, files={})
    return described == _describe_house(config, index) and not _is_damaged(config.part(index))


def _is_damaged(part: Path) -> bool:
    """Whether a house's folder is not as it was when the house was finished."""
    record = read_house(part)
    return part.exists() and (record is None or not record.files or not _has_files(part, record.files))


def read_house(part: Path) -> _HouseRecord | None:
    """The record of a house's folder; None if there is none, or it is damaged."""
    try:
        return msgspec.json.decode((part / HOUSE_FILE).read_bytes(), type=_HouseRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _describe_house(config: SeasonConfig, index: int) -> _HouseRecord:
    sealed = config.sealed and SEALED_SPLIT in seasons.paths_per_split(index)
    words = config.languages, config.faults
    return _HouseRecord(seasons.VERSION, str(config.season.seed), index, config.radius, sealed, *words)


def _write_house(config: SeasonConfig, index: int, folder: Path) -> None:
    """Write the record of a house whose files are in the folder."""
    files = digest_files(folder, HOUSE_FILE)
    with atomic_write(folder / HOUSE_FILE) as stream:
        stream.write(msgspec.json.encode(msgspec.structs.replace(_describe_house(config, index), files=files)))


def _has_files(folder: Path, digests: Mapping[str, str]) -> bool:
    """Whether the folder has files with these digests."""
    return all((folder / name).is_file() and digest(folder / name) == known for name, known in digests.items())


def digest_files(folder: Path, *skipped: str) -> dict[str, str]:
    """The digests of a folder's files, by name, without the skipped ones and drafts of writes that were killed."""
    files = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file() and not is_draft(file))
    names = sorted(name.as_posix() for name in files if name.parts[0] not in skipped)
    return {name: digest(folder / name) for name in names}


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
        _write_house(config, index, part)


def build_packed(config: SeasonConfig, index: int) -> bytes:
    """Build a house on a machine that does not see the season's folder; its own folder as an archive."""
    with tempfile.TemporaryDirectory() as folder:
        here = replace(config, out=Path(folder) / "season")
        build_part(here, index)
        return pack(here.part(index))


def _unpack_house(config: SeasonConfig, index: int, packed: bytes) -> None:
    """Write a house that another machine built; its folder appears when all of its files are complete."""
    part = config.part(index)
    unfinished = part.with_name(f"{part.name}.{uuid.uuid4().hex}.part")
    unpacked = unpack(packed, unfinished)
    shutil.rmtree(part, ignore_errors=True)
    unpacked.replace(part)
    unfinished.rmdir()
    sync_folder(part.parent)


def _build_tasks(config: SeasonConfig, index: int) -> None:
    """Write the files of a house; its folder appears when all of them are complete."""
    from itinera.builders.hearth import build_annotated_house, build_tasks
    from itinera.builders.sealed_tasks import build_sealed_tasks

    part = config.part(index)
    annotated = build_annotated_house(config.season.seed, index, id=part.name, radius=config.radius)
    counts = seasons.paths_per_split(index)
    if config.sealed and SEALED_SPLIT in counts:
        # No house of the sealed split is in another one, so no other task of the season is in its rooms.
        (count,) = counts.values()
        tasks = {SEALED_SPLIT: build_sealed_tasks(annotated, count, config.season.sealing_key, faults=config.faults)}
    else:
        tasks = build_tasks(annotated, counts, languages=config.languages, faults=config.faults)
    unfinished = part.with_name(f"{part.name}.{uuid.uuid4().hex}.part")
    splits = {split: _as_part(house_tasks) for split, house_tasks in tasks.items()}
    write_part(unfinished, annotated.house, annotated.world, annotated.descriptions, splits)
    _write_house(config, index, unfinished)
    shutil.rmtree(part, ignore_errors=True)
    unfinished.replace(part)
    sync_folder(part.parent)


def _as_part(tasks: HouseTasks) -> SplitPart:
    return SplitPart(
        graph_episodes=tasks.graph_episodes,
        rxr_episodes=tasks.rxr_episodes,
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
    counts = {}
    for split in config.splits:
        sealed = config.sealed and split == SEALED_SPLIT
        counts[split] = assemble(config.out, parts, split, sealed=sealed, by_id=sealed)
        if sealed:
            assemble(config.answers, parts, split, by_id=True)
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
    return digest_files(config.out, *own)


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
