"""What several verbs ask for: tasks, walks, worlds and tours, read by whatever format they turn out to be."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.cli.output import remark
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.records import Predictions, Provenance
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World


@dataclass(frozen=True)
class Inputs:
    """Everything a score is made from."""

    predictions: Predictions
    split: Split
    worlds: Mapping[str, World]
    protocol: Protocol


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if it is allowed."""
    if value not in allowed:
        from difflib import get_close_matches

        near = get_close_matches(value, allowed, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadArgument(f"{option} must be one of {', '.join(allowed)}, not {value!r}.{hint}")
    return value


def gather(
    predictions: Path,
    tasks: Path,
    worlds: Path | None,
    *,
    format: str | None = None,
    tours: Path | None = None,
    reference: Path | None = None,
    protocol: str | None = None,
    episode: str | None = None,
) -> Inputs:
    """The inputs of a score, read and made to fit one another."""
    spare_blas()
    from itinera.formats import catalog
    from itinera.tasks import PROTOCOLS

    split = catalog.read_tasks(tasks)
    if reference is not None:
        split = catalog.with_reference(split, reference)
    if tours is not None:
        split = split.with_tours(catalog.read_tours(tours, split), str(tours))
    read = catalog.read_predictions(predictions, split, format=format, episode=episode)
    if split.tours:
        split = _asked(split, read)
    if protocol is not None:
        judged = PROTOCOLS[one_of("--protocol", protocol, tuple(PROTOCOLS))]
    else:
        judged = read.protocol or PROTOCOLS[split.protocol]
    return Inputs(read, split, worlds_of(split, worlds, judged), judged)


def spare_blas() -> None:
    """Load numba without its look for matrix routines, which imports all of scipy.linalg: a quarter of a cold score.

    None of our kernels multiplies matrices, and nobody else's run in the process of a command.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def _asked(split: Split, predictions: Predictions) -> Split:
    """The episodes of the tours, and of the others those that were answered: tours leave out what they cannot reach."""
    toured = {name for tour in split.tours for name in tour.episode_ids}
    kept = toured | {t.episode_id for t in predictions.trajectories}
    return replace(split, episodes=tuple(e for e in split.episodes if e.id in kept))


def worlds_of(split: Split, path: Path | None, protocol: Protocol | None = None) -> Mapping[str, World]:
    """The worlds of a split's episodes: graphs from the path given, and for tasks on the ground surfaces.

    The robot is that of the protocol, the tasks' own if none is given. Where the path holds no places to stand on, or
    the protocol tells of no robot, the ground is open space.
    """
    if not split.episodes:
        raise BadArgument(f"{split.name} holds no episodes.")
    if not isinstance(split.episodes[0].start.place, str):
        from itinera.tasks import PROTOCOLS
        from itinera.worlds import Euclidean, World

        grounds = None if path is None else read_grounds(path, protocol or PROTOCOLS[split.protocol])
        if grounds is not None:
            return grounds
        remark("Distances are straight lines: walls are not known for these continuous tasks.")
        if path is not None:
            remark(f"{path} is not used: a navigation graph does not measure positions on the ground.")
        return {world_id: World(world_id, Euclidean()) for world_id in split.world_ids}
    if path is None:
        raise BadArgument("These tasks are walked on navigation graphs: give their folder with --worlds.")
    return read_graphs(path)


def read_graphs(path: Path) -> Mapping[str, World]:
    """The navigation graphs of a folder or archive, or those of a season of Hearth."""
    from itinera.formats.catalog import read_worlds

    return read_worlds(path / "connectivity" if season_file(path).exists() else path)


def season_file(folder: Path) -> Path:
    """The file that tells what a season of Hearth is; a folder without it is none."""
    from itinera.formats.hearth_season import ABOUT

    return folder / ABOUT


def read_grounds(path: Path, protocol: Protocol) -> Mapping[str, World] | None:
    """The worlds of a folder as a protocol's robot can walk them, each made when it is first asked for.

    The folder holds scenes, or it is a season of Hearth, whose houses are built again unless their scenes are there.
    None if it is neither, or the protocol tells of no robot.
    """
    radius, height = protocol.robot_radius, protocol.robot_height
    if not path.is_dir() or radius is None or height is None:
        return None
    from itinera.formats import scenes

    if scenes.scenes_in(path):
        return scenes.read_worlds(path, radius=radius, height=height)
    from itinera.formats.hearth_season import houses_of

    houses = houses_of(path)
    if houses is None:
        return None
    from itinera.builders.hearth import ground_worlds

    return ground_worlds(houses, radius=radius, height=height)


def provenance_of(inputs: Mapping[str, Path | None], command: list[str]) -> Provenance:
    """The provenance of a result made from these files."""
    from itinera.records.provenance import Provenance, digest, itinera_version

    given = {role: path for role, path in inputs.items() if path is not None}
    return Provenance(
        version=itinera_version(),
        command=("itinera", *command),
        inputs={role: str(path) for role, path in given.items()},
        digests={role: digest(path) for role, path in given.items()},
    )
