"""The functions of `import itinera`: everything the command line can do, in one call each.

Arguments are objects or paths: tasks, worlds, predictions and scores may be given as read, or as the file they are in.
Every function imports what it needs when called, so that the package loads quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.metrics.suites import Suite
    from itinera.records import Predictions, ScoreTable
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World

__all__ = ["read_predictions", "read_tasks", "read_worlds", "score"]

File: TypeAlias = str | PathLike[str]


def read_tasks(path: File, *, tours: File | None = None, reference: File | None = None) -> Split:
    """The episodes of a file in any format we know, found out by looking inside.

    `tours` adds the tours of another file, `reference` replaces reference paths by VLN-CE's dense ground truth.
    """
    from itinera.formats import catalog

    split = catalog.read_tasks(Path(path))
    if reference is not None:
        split = catalog.with_reference(split, Path(reference))
    return split if tours is None else split.with_tours(catalog.read_tours(Path(tours), split), str(tours))


def read_worlds(path: File) -> Mapping[str, World]:
    """The worlds of a connectivity folder or archive, a JSON file of graphs, or a season of Hearth, by id."""
    from itinera.formats import catalog

    return catalog.read_worlds(Path(path))


def read_predictions(path: File, tasks: Split | File | None = None, *, format: str | None = None) -> Predictions:
    """The trajectories of a file in any format we know.

    Some formats name instructions instead of episodes; `tasks` tells which episodes those are.
    """
    raise NotImplementedError


def score(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | File | None = None,
    *,
    suite: str | Suite | None = None,
    protocol: str | Protocol | None = None,
    missing: Literal["fail", "zero"] = "fail",
    repeats: Literal["keep", "drop"] = "keep",
) -> ScoreTable:
    """Every metric of a suite, a row per episode."""
    raise NotImplementedError


def _split(tasks: Split | File) -> Split:
    """Tasks as given, or read from their file."""
    from itinera.tasks import Split

    if isinstance(tasks, Split):
        return tasks
    if isinstance(tasks, (str, PathLike)):
        return read_tasks(tasks)
    raise BadArgument(f"tasks must be a Split or the path of a file, not {type(tasks).__name__}. See read_tasks.")
