"""Adopting the metric rows that other systems save instead of trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from itinera.api.scoring import load_protocol, load_split
from itinera.errors import validate_choice

if TYPE_CHECKING:
    from itinera.formats.episode_selection import Selection
    from itinera.metrics.adoption import Adoption, Duplicates, Missing
    from itinera.tasks import Protocol, Split

File: TypeAlias = str | PathLike[str]


def adopt(
    files: File | Sequence[File],
    tasks: Split | File,
    *,
    columns: Mapping[str, str] | None = None,
    id_column: str | None = None,
    missing: Missing = "fail",
    duplicates: Duplicates = "fail",
    episodes: Selection | None = None,
    protocol: str | Protocol | None = None,
    out: File | None = None,
    command_words: Sequence[str] = (),
) -> Adoption:
    """The metric rows of a system as scores marked "claimed", checked against the episodes of the tasks.

    Reads the files that StreamVLN, InternNav, NaVILA, NaVid, Uni-NaVid, ETPNav, VLN-CE and EVT-Bench write, and any
    JSON lines, JSON or CSV with an episode id and metrics. `compare`, `report` and `power` read the result.

    files: a file, a folder, a glob pattern or several of them: together they are one system.
    columns: our metric for columns of other names, such as {"reached": "SR"}; id_column names that of the episode's id.
    missing: "fail", "zero" (an episode without a row is a failure) or "drop" (the scores are of a part of the split).
    duplicates: "fail", or which of several rows of an episode counts: "first" or "last".
    episodes: the part of the split that the files answer, as for `score`.
    out: a file for the score bundle.

    >>> import itinera
    >>> adopted = itinera.adopt("stats_ep_ckpt_0_val_unseen_r0_w1.json", "val_unseen.json.gz")  # doctest: +SKIP
    >>> print(adopted), adopted.scores["SPL"], adopted.missing  # doctest: +SKIP
    """
    from itinera.formats.bundles import write_scores
    from itinera.formats.episode_selection import select_part
    from itinera.formats.io import check_outputs
    from itinera.formats.metric_rows import list_files, read_metric_rows
    from itinera.metrics.adoption import adopt_rows
    from itinera.records.provenance import make_provenance

    validate_choice("missing", missing, ("fail", "zero", "drop"))
    validate_choice("duplicates", duplicates, ("fail", "first", "last"))
    sources = [files] if isinstance(files, (str, PathLike)) else list(files)
    check_outputs([out], [*sources, tasks])
    split = load_split(tasks)
    if episodes is not None:
        split = select_part(split, episodes)
    found = read_metric_rows([Path(one) for one in sources], columns=columns, id_column=id_column)
    adopted = adopt_rows(
        found,
        split,
        protocol=load_protocol(protocol, split),
        source=", ".join(str(one) for one in sources),
        missing=missing,
        duplicates=duplicates,
    )
    if out is not None:
        paths = list_files([Path(one) for one in sources])
        inputs = {f"rows {number}" if len(paths) > 1 else "rows": path for number, path in enumerate(paths, start=1)}
        tasks_path = Path(tasks) if isinstance(tasks, (str, PathLike)) else None
        provenance = make_provenance({**inputs, "tasks": tasks_path}, command_words)
        adopted = replace(adopted, scores=replace(adopted.scores, provenance=provenance))
        write_scores(Path(out), adopted.scores)
    return adopted
