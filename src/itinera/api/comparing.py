"""Comparisons of systems with one run or several, and power analyses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from itinera.api.scoring import read_scores
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.episode_selection import Selection
    from itinera.records import ScoreTable
    from itinera.reports.comparison import Comparison
    from itinera.reports.intersection import Intersection
    from itinera.reports.power_analysis import PowerAnalysis

File: TypeAlias = str | PathLike[str]
Results: TypeAlias = "Mapping[str, ScoreTable | File | Sequence[ScoreTable | File]] | Sequence[ScoreTable | File]"
logger = logging.getLogger("itinera")


def compare(
    results: Results,
    *,
    best_of: Mapping[str, int] | None = None,
    metrics: Sequence[str] | None = None,
    episodes: Selection | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """The comparison of results on the same episodes: each later result minus the first. `print` shows the table.

    Differences have intervals clustered by scene, a permutation test over scenes and P(better), the probability to be
    better on an episode. Systems that share a letter do not differ significantly. Raises BadArgument unless protocol,
    suite and episodes are the same.

    results: score tables or bundles by name, or a list of them, named by their files. A list under a name has the runs
        of that system (training seeds, repeated evaluations): its mean over runs is compared, with intervals over runs
        and scenes.
    best_of: systems whose only result is the best of so many runs; means, differences and letters are corrected by the
        gain that this brings if their runs vary as those of the other systems do.
    metrics: those to compare, in this order; by default all.
    episodes: the part to compare: ids, a file of ids, "scan=NAME" or "/regex/"; a list joins several.
    seed: of the permutation test, if there are too many scenes to enumerate all permutations.

    >>> import itinera
    >>> from itinera.records import ScoreTable
    >>> scenes = ["a", "a", "b", "b", "c", "c"]
    >>> mine = ScoreTable.from_values({"SR": [1, 1, 1, 0, 1, 1]}, world_ids=scenes)
    >>> other = ScoreTable.from_values({"SR": [0, 1, 1, 0, 0, 1]}, world_ids=scenes)
    >>> found = itinera.compare({"other": other, "mine": mine})
    >>> found
    Comparison(other, mine: 1 metric, 6 episodes in 3 scenes)
    >>> round(found["SR"].differences[0].interval.mean, 3)
    0.333

    >>> again = ScoreTable.from_values({"SR": [1, 1, 0, 0, 1, 1]}, world_ids=scenes)
    >>> print(itinera.compare({"other": other, "mine": [mine, again]})["SR"].variations[1].means)
    (0.8333333333333334, 0.6666666666666666)
    """
    from itinera.reports.comparison import compare

    names, tables = _read_systems(results, episodes, metrics)
    return compare(names, tables, best_of=best_of, seed=seed, level=level)


def compare_solved(
    results: Results,
    *,
    episodes: Selection | None = None,
    level: float = 0.95,
) -> Intersection:
    """The means over all episodes, and over the episodes that every agent solved: SCT, SPL, SR, SCT∩ and SPL∩.

    Protocols may differ in how the agent moves, and in nothing else. See `compare` for `results` and `episodes`.

    >>> import itinera
    >>> print(itinera.compare_solved(["slow.jsonl", "fast.jsonl"]))  # doctest: +SKIP
    """
    from itinera.reports.intersection import intersect

    names, tables = _read_systems(results, episodes)
    if any(table.runs for table in tables):
        raise BadArgument("Episodes that all agents solved are those of one run: give one result per agent.")
    found = intersect(names, tables, level=level)
    if not found.solved:
        logger.warning("No episode was solved by every agent: SCT∩ and SPL∩ are undefined.")
    return found


def power(
    *scores: ScoreTable | File | Sequence[ScoreTable | File],
    metric: str = "SR",
    difference: float = 0.02,
    rate: float = 0.5,
    icc: float = 0.05,
    correlation: float | None = None,
    episodes_per_scene: float = 200.0,
    scenes: int | None = None,
    runs: int | None = None,
    run_sd: float | None = None,
    power: float = 0.8,
) -> PowerAnalysis:
    """How many episodes, in how many scenes, detect a difference between two systems.

    Standard deviation, scene effect and correlation are estimated from one or two score tables, or computed from
    `rate`, `icc` and `correlation`.

    >>> import itinera
    >>> itinera.power(difference=0.05, rate=0.5, icc=0.05, correlation=0.5, episodes_per_scene=213).scenes
    45

    difference: the difference to detect, as a fraction; 0.02 is two points.
    icc: the share of the variance between scenes. correlation: of both systems on one episode; None: separate scenes.
    runs: of each system, whose means over runs are compared; by default as many as the score tables have (a list of
        tables has the runs of a system), else 1. run_sd: the standard deviation between runs, as a fraction.
    scenes: if given, the smallest difference that this many scenes detect is computed too, and
        the number of runs that detect `difference` in them.
    power: the probability of detecting the difference.
    """
    from dataclasses import replace

    from itinera.reports.power_analysis import analyze_power, estimate_design
    from itinera.stats import ComparisonDesign

    if scores:
        names, tables = _read_systems({f"system {k}": one for k, one in enumerate(scores, 1)})
        design = estimate_design(names, tables, metric)
    else:
        design = ComparisonDesign.from_success_rate(rate, icc=icc, correlation=correlation)
    design = replace(
        design, runs=design.runs if runs is None else runs, run_sd=design.run_sd if run_sd is None else run_sd
    )
    return analyze_power(design, difference, episodes_per_scene=episodes_per_scene, scenes=scenes, power=power)


def select_rows(table: ScoreTable, episodes: Selection | None) -> ScoreTable:
    """The rows that a selection names."""
    if episodes is None:
        return table
    from itinera.formats.episode_selection import label_selection, select_ids

    name = table.source or "this result"
    ids = select_ids(episodes, table.episode_ids, table.world_ids, name)
    return table.select(ids, selection=label_selection(episodes))


def _read_systems(
    results: Results, episodes: Selection | None = None, metrics: Sequence[str] | None = None
) -> tuple[list[str], list[ScoreTable]]:
    """The names and score tables of systems, the mean of its runs for each; bundles are read, and rows selected."""
    from itinera.records import ScoreTable
    from itinera.records.runs import average_runs

    names: list[str] = []
    tables = []
    systems = group_results(results)
    for name, runs in systems:
        for one in runs:
            if not isinstance(one, (ScoreTable, str, PathLike)):
                raise BadArgument(
                    f"results must be ScoreTables or bundles of `itinera score --out`; {name} is "
                    f"{type(one).__name__}. Score predictions first: itinera.score(predictions, tasks, worlds)."
                )
        read = [one if isinstance(one, ScoreTable) else read_scores(one) for one in runs]
        table = average_runs(name, [select_rows(one, episodes) for one in read])
        tables.append(table if metrics is None else table.choose(metrics))
        names.append(name)
    if len(set(names)) < len(names):
        paths = [
            str(runs[0]) if isinstance(runs[0], (str, PathLike)) else name for name, runs in group_results(results)
        ]
        names = [f"{name} ({k})" if paths.count(name) > 1 else name for k, name in enumerate(paths, start=1)]
    return names, tables


def read_system(name: str, scores: ScoreTable | File | Sequence[ScoreTable | File]) -> ScoreTable:
    """The score table of a system, the mean of its runs if there are several."""
    _, (table,) = _read_systems({name: scores})
    return table


def group_results(results: Any) -> list[tuple[str, list[Any]]]:
    """Results with their names: keys of a mapping, whose values may be lists of runs; stems of files, sources of score
    tables."""
    from itinera.records import ScoreTable

    if isinstance(results, Mapping) and not isinstance(results, ScoreTable):
        groups = [(str(name), list(one) if isinstance(one, (list, tuple)) else [one]) for name, one in results.items()]
        for name, runs in groups:
            if not runs:
                raise BadArgument(f"{name} has no results. Give a score table or bundle for each of its runs.")
        return groups
    items = list(results) if isinstance(results, (list, tuple)) else [results]
    if any(isinstance(one, (list, tuple)) for one in items):
        raise BadArgument('Runs of a system need its name: give a mapping such as {"mine": [scores1, scores2]}.')
    return [(name_result(one, k), [one]) for k, one in enumerate(items, start=1)]


def name_results(results: Any) -> list[tuple[str, Any]]:
    """Each result with its name; a name occurs as often as it has results."""
    return [(name, one) for name, many in group_results(results) for one in many]


def name_result(result: Any, number: int) -> str:
    source = result if isinstance(result, (str, PathLike)) else getattr(result, "source", "")
    return Path(source).name.split(".")[0] if source else f"result {number}"
