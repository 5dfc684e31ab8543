"""The work behind `itinera build hearth`: houses made one by one in several processes, kept, then put together.

Each house is a task of its own, and every finished one is kept, so a build that was stopped goes on where it was.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.errors import BadArgument
from itinera.formats.hearth_season import ABOUT
from itinera.runs.process_map import in_processes

if TYPE_CHECKING:
    from itinera.builders.hearth import Tasks
    from itinera.formats.hearth_season import SplitPart
    from itinera.hearth.season import Season
    from itinera.planners.motion.geodesic_follower import Trail

MADE = "made.json"  # written last, so a folder that has it is whole
HOMES = ".homes"


@dataclass(frozen=True)
class Order:
    """What is to be built."""

    season: Season
    out: Path
    houses: int
    splits: tuple[str, ...]
    radius: float = 0.10  # metres, of the robot on the ground
    sealed: bool = False
    scenes: bool = False

    @property
    def answers(self) -> Path:
        """The folder beside the season's with what a sealed season withholds."""
        return self.out.with_name(f"{self.out.name}-answers")

    @property
    def kept(self) -> Path:
        """Where finished houses are kept; they know the answers, so not in a folder that is to be published."""
        return (self.answers if self.sealed else self.out) / HOMES

    @property
    def indices(self) -> tuple[int, ...]:
        from itinera.hearth.season import indices_of

        return indices_of(self.houses, self.splits)

    def part(self, index: int) -> Path:
        return self.kept / self.season.house_id(index)

    def told(self) -> dict[str, Any]:
        """The order as a season's file tells it: everything that decides what is in the folder."""
        from itinera.hearth.season import VERSION

        return {
            "hearth": VERSION,
            "season": self.season.name,
            "seed": None if self.season.commitment else self.season.seed,
            "commitment": self.season.commitment or None,
            "houses": self.houses,
            "splits": list(self.splits),
            "robot_radius": self.radius,
            "sealed": self.sealed,
            "scenes": self.scenes,
        }


def finished(order: Order) -> dict[str, Any] | None:
    """What the season's file tells, if it is of this very order and all its files are still there."""
    import msgspec

    file = order.out / ABOUT
    try:
        about: dict[str, Any] = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        same = about["order"] == order.told() and all((order.out / name).exists() for name in about["files"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    return about if same else None


def build(order: Order, workers: int, done: Callable[[int], None] = lambda n: None) -> dict[str, Any]:
    """Make what is missing, put the season together, and return what its file tells."""
    _claim(order)
    missing = [index for index in order.indices if not _is_made(order, index)]
    done(len(order.indices) - len(missing))
    for _ in in_processes(partial(make_home, order), missing, workers=min(workers, len(missing))):
        done(1)
    return _put_together(order)


def _claim(order: Order) -> None:
    """Make sure that the folder is ours, and sweep what was left half done."""
    out = order.out
    if out.exists() and not out.is_dir():
        raise BadArgument(f"{out} is a file. A season fills a folder.")
    ours = (out / ABOUT).exists() or (out / HOMES).exists() or order.kept.exists()
    if out.is_dir() and any(out.iterdir()) and not ours:
        raise BadArgument(f"{out} holds something else. Give a new folder, or that of a season.")
    if order.sealed and (out / HOMES).exists():
        # Of an earlier season that was not sealed.
        shutil.rmtree(out / HOMES)
    for draft in order.kept.glob("*.part") if order.kept.exists() else ():
        shutil.rmtree(draft, ignore_errors=True)


def _is_made(order: Order, index: int) -> bool:
    part = order.part(index)
    drawn = not order.scenes or all(file.exists() for file in _scenes(part, part.name))
    return drawn and _is_kept(order, index)


def _is_kept(order: Order, index: int) -> bool:
    try:
        return (order.part(index) / MADE).read_bytes() == _key(order, index)
    except OSError:
        return False


def _key(order: Order, index: int) -> bytes:
    """What a kept house depends on."""
    import msgspec

    from itinera.hearth.season import VERSION

    # The seed of a secret season stands in its private folder only.
    key = {"hearth": VERSION, "seed": str(order.season.seed), "index": index, "robot_radius": order.radius}
    return msgspec.json.encode(key)


def _scenes(folder: Path, house_id: str) -> tuple[Path, Path]:
    scene = folder / f"scenes/hearth/{house_id}/{house_id}.glb"
    return scene, scene.with_suffix(".obj")


def make_home(order: Order, index: int) -> None:
    """Build a house with its tasks, and its scenes if they are wanted, and keep the files."""
    from itinera.formats.scenes import write_scene
    from itinera.hearth.build import build_house

    part = order.part(index)
    if not _is_kept(order, index):
        _keep_tasks(order, index)
    if order.scenes:
        mesh = build_house(order.season.seed, index, id=part.name).mesh
        for file in _scenes(part, part.name):
            write_scene(file, mesh)


def _keep_tasks(order: Order, index: int) -> None:
    """Nothing is seen of a house until all its files are there."""
    from itinera.builders.hearth import build_home, tasks_of
    from itinera.formats.hearth_season import write_part
    from itinera.formats.io import atomic_write
    from itinera.hearth.season import paths_of

    part = order.part(index)
    home = build_home(order.season.seed, index, id=part.name, radius=order.radius)
    tasks = tasks_of(home, paths_of(index))
    draft = part.with_name(f"{part.name}.{uuid.uuid4().hex}.part")
    files = {split: _as_files(told) for split, told in tasks.items()}
    write_part(draft, home.house, home.world, home.outlooks, files)
    with atomic_write(draft / MADE) as stream:
        stream.write(_key(order, index))
    shutil.rmtree(part, ignore_errors=True)
    draft.replace(part)


def _as_files(tasks: Tasks) -> SplitPart:
    from itinera.builders.hearth import number_of
    from itinera.formats.hearth_season import SplitPart

    return SplitPart(
        on_graph=tasks.on_graph,
        numbers=tuple(map(number_of, tasks.on_graph)),
        stays=tasks.stays,
        on_ground=tasks.on_ground,
        dense={name: _dense(trail) for name, trail in tasks.trails.items()},
        points=tasks.points,
        finds=tasks.finds,
    )


def _dense(trail: Trail) -> Any:
    import numpy as np

    from itinera.formats.vlnce import DensePath

    moved = np.ones(len(trail.positions), dtype=bool)
    moved[1:] = (trail.positions[1:] != trail.positions[:-1]).any(axis=1)
    forward = int(np.count_nonzero(trail.actions == 1))
    return DensePath(trail.positions[moved].round(4), trail.actions.astype(np.int64), forward)


def _put_together(order: Order) -> dict[str, Any]:
    import msgspec

    from itinera.formats import hearth_season as files
    from itinera.formats.io import atomic_write

    _sweep(order)
    parts = [order.part(index) for index in order.indices]
    files.assemble_places(order.out, parts)
    counted = {
        split: files.assemble(order.out, parts, split, sealed=order.sealed and split == "test")
        for split in order.splits
    }
    if order.sealed and "test" in order.splits:
        files.assemble(order.answers, parts, "test")
    for part in parts if order.scenes else ():
        for made, wanted in zip(_scenes(part, part.name), _scenes(order.out, part.name), strict=True):
            with atomic_write(wanted) as stream:
                stream.write(made.read_bytes())
    about = {
        "itinera": "season",
        "order": order.told(),
        "houses": _houses(order),
        "splits": {split: asdict(count) for split, count in counted.items()},
        "files": _digests(order),
    }
    with atomic_write(order.out / ABOUT) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n")
    return about


def _houses(order: Order) -> dict[str, list[str]]:
    """The ids of the houses by what they are for."""
    from itinera.hearth.season import HOUSES, role_of

    told: dict[str, list[str]] = {role: [] for role in HOUSES}
    for index in order.indices:
        told[role_of(index)].append(order.season.house_id(index))
    return told


def _digests(order: Order) -> dict[str, str]:
    from itinera.formats.provenance import sidecar_of
    from itinera.records.provenance import digest

    found = (file.relative_to(order.out) for file in order.out.rglob("*") if file.is_file())
    names = sorted(name.as_posix() for name in found if name.parts[0] not in (HOMES, ABOUT, sidecar_of(ABOUT).name))
    return {name: digest(order.out / name) for name in names}


def _sweep(order: Order) -> None:
    """Remove the files of an earlier season in this folder: a smaller one must not keep houses of a larger."""
    import msgspec

    about = order.out / ABOUT
    try:
        old: Mapping[str, Any] = msgspec.json.decode(about.read_bytes(), type=dict[str, Any])
        names = list(old["files"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return
    about.unlink()
    for name in names:
        file = order.out / name
        # A name that leads out of the folder was not written by us.
        if ".." not in Path(name).parts and not Path(name).is_absolute():
            file.unlink(missing_ok=True)
