"""Named subsets of a split: drawing one, and estimating the full split from its scores."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from itinera.api.scoring import input_paths, load_split, read_scores
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.analysis.extrapolation import Extrapolation
    from itinera.records import ScoreTable
    from itinera.tasks import Split
    from itinera.tasks.subset import Subset

File: TypeAlias = str | PathLike[str]


def sample_episodes(
    tasks: Split | File,
    size: int,
    *,
    by: Sequence[str] = ("scene", "length"),
    seed: int = 0,
    reference: ScoreTable | File | None = None,
    out: File | None = None,
    command_words: Sequence[str] = (),
) -> Subset:
    """A stratified random sample of a split, with its digest and its stated error for the full split.

    by: what the strata are made of, "scene", "length" (of the reference paths, in three classes), both or none.
    seed: the same split, size, strata and seed give the same episodes.
    reference: scores of an agent on the whole split, for the error to expect of an agent like that one.
    out: a file for the subset, which `run`, `score` and `compare` take as `episodes`.

    `Subset.worst_half_width` is the most that the 95 % interval of a rate's mean over the full split extends to either
    side; `Subset.half_widths` are those of an agent like the reference, by metric.

    >>> import itinera
    >>> subset = itinera.sample_episodes("R2R_val_unseen.json", 200, out="subset.json")  # doctest: +SKIP
    >>> subset.digest, subset.worst_half_width  # doctest: +SKIP
    >>> scores = itinera.score("preds.json", "R2R_val_unseen.json", "connectivity/", episodes="subset.json")
    ... # doctest: +SKIP
    """
    from itinera.analysis.sampling import draw_subset

    split = load_split(tasks)
    strata = (by,) if isinstance(by, str) else tuple(by)
    known = None if reference is None else _load_scores(reference)
    subset = draw_subset(split, size, by=strata, seed=seed, reference=known)
    if out is not None:
        from itinera.formats.io import check_outputs
        from itinera.formats.subsets import write_subset
        from itinera.records.provenance import make_provenance

        check_outputs([out], [tasks, reference])
        used = input_paths({"tasks": tasks, "reference": reference})
        write_subset(Path(out), subset, make_provenance(used, command_words, seed=seed))
    return subset


def estimate_split(
    scores: ScoreTable | File,
    subset: Subset | File,
    *,
    references: Sequence[ScoreTable | File] | ScoreTable | File = (),
    level: float = 0.95,
) -> Extrapolation:
    """The means over the full split, estimated from the scores of a subset. `print` shows the table.

    Each metric has two intervals: of the mean over the full split, whose chance is which episodes were drawn, and of
    that over other scenes, whose chance is which scenes the split has.

    references: scores of other agents on the whole split, by the same suite, as control variates: the more alike an
        agent finds the same episodes easy, the more precise the estimate.

    >>> import itinera
    >>> print(itinera.estimate_split("mine-200.jsonl", "subset.json", references="baseline.jsonl"))  # doctest: +SKIP
    """
    from itinera.analysis.extrapolation import extrapolate
    from itinera.formats.subsets import read_subset
    from itinera.records import ScoreTable

    drawn = read_subset(Path(subset)) if isinstance(subset, (str, PathLike)) else subset
    listed = [references] if isinstance(references, (str, PathLike, ScoreTable)) else list(references)
    return extrapolate(_load_scores(scores), drawn, [_load_scores(one) for one in listed], level=level)


def _load_scores(scores: ScoreTable | File) -> ScoreTable:
    """Scores as given, or those of a bundle, under the name of its file."""
    from dataclasses import replace

    from itinera.records import ScoreTable

    if isinstance(scores, (str, PathLike)):
        return replace(read_scores(scores), source=Path(scores).name)
    if not isinstance(scores, ScoreTable):
        raise BadArgument(f"Scores are a ScoreTable or the path of a bundle, not {type(scores).__name__}.")
    return scores
