"""Joining the parts of long commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from itinera.runs.gather import Gathering

File: TypeAlias = str | PathLike[str]


def gather(
    parts: Sequence[File], out: File, *, overwrite: bool = False, progress: Callable[[int], None] | None = None
) -> Gathering:
    """Join the parts that `shard` made of a run, a study, fastest times, joined paths or a season of Hearth.

    The result has the bytes of the same command without shard. Nothing is written unless every shard is there once, all
    are of one plan (command, settings, seed, inputs by digest, protocol, version), and the records of each are those
    that it was written with; else one BadFile names every problem and the command that mends it.

    >>> import itinera
    >>> itinera.gather(["preds.1-of-2.jsonl", "preds.2-of-2.jsonl"], "preds.jsonl").records  # doctest: +SKIP
    192

    parts: the files or folders, in any order.
    overwrite: replace an existing `out`.
    progress: called with 1 after each part was verified.
    """
    from itinera.formats.io import check_outputs
    from itinera.runs.gather import gather

    given = [parts] if isinstance(parts, (str, PathLike)) else list(parts)
    check_outputs([out], given)
    return gather([Path(part) for part in given], Path(out), overwrite=overwrite, progress=progress)
