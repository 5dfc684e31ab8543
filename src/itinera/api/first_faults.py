"""First faults: the clause of its instruction at which a failed trajectory departs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from itinera.api.scoring import load_predictions, load_protocol, load_split, load_worlds_for

if TYPE_CHECKING:
    from itinera.formats.episode_selection import Selection
    from itinera.records import Predictions
    from itinera.skills.first_faults import FirstFaults
    from itinera.tasks import Protocol, Split
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]


def first_faults(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    alignment: File | None = None,
    tolerance: float = 3.0,
    episodes: Selection | None = None,
    protocol: str | Protocol | None = None,
    format: str | None = None,
    name: str = "",
    out: File | None = None,
) -> FirstFaults:
    """Where failed trajectories depart from their instructions, and the fault rate of each kind of clause.

    A trajectory departs where it first gets farther than `tolerance` metres from the rest of its reference path; the
    clause that leads on from the last reference place it visited is at fault. Kinds of clauses are stop, stairs, turn,
    door, room, object, straight and other. Intervals take scenes as the sample.

    tasks: episodes whose words are aligned with places: Fine-Grained R2R, RxR with `alignment` (its pose traces), or
        tasks of a Hearth season given as `worlds`.
    episodes: the part of the split to look at, as for `score`.
    name: of the agent in tables and reports. Default: the name of the predictions file.
    out: a JSON file, which `report` reads.

    >>> import itinera
    >>> faults = itinera.first_faults("preds.json", "hearth/rxr/rxr_val_unseen_guide.jsonl.gz", "hearth")
    ... # doctest: +SKIP
    >>> print(faults, faults["217_0"].sentence)  # doctest: +SKIP
    """
    import msgspec

    from itinera.formats.episode_selection import select_part
    from itinera.formats.io import check_outputs
    from itinera.formats.writing import atomic_write
    from itinera.reports.replay.inputs import align_words
    from itinera.skills.first_faults import find_first_faults

    check_outputs([out], [predictions, tasks, worlds, alignment])
    split = load_split(tasks)
    if episodes is not None:
        split = select_part(split, episodes)
    folder = Path(worlds) if isinstance(worlds, (str, PathLike)) else None
    split = align_words(split, traces=None if alignment is None else Path(alignment), folder=folder)
    loaded = load_predictions(predictions, split, format=format)
    rules = load_protocol(protocol, split)
    found = find_first_faults(
        loaded,
        split,
        load_worlds_for(worlds, split, rules),
        protocol=rules,
        tolerance=tolerance,
        agent=name or Path(loaded.source).name.split(".")[0],
    )
    if out is not None:
        with atomic_write(Path(out)) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=1))
    return found
