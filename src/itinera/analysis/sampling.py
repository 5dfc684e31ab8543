"""Drawing a named subset: a stratified random sample of a split's episodes, with the error to expect of its means.

Strata are scenes, classes of path length, or both; every stratum gets its share of the sample. Within a stratum paths
are drawn first, so that the several instructions of one path seldom meet; some paths have two episodes drawn, which
shows how much those differ. `extrapolation.py` estimates the mean of the split from the scores of such a subset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, validate_choice
from itinera.records import ScoreTable
from itinera.seeding import generator
from itinera.stats.finite_population import SampleDesign, expected_error, worst_error
from itinera.tasks import Episode, Split
from itinera.tasks.subset import SampledPath, Stratum, Subset, digest_episodes

STRATIFIERS = ("scene", "length")
NORMAL_QUANTILE = 1.959964  # of 97.5 %
LENGTH_CLASSES = 3
# Second episodes of a path, where paths have several: they show the variance within paths, of which only the share of
# the paths that is sampled counts, and otherwise tell less than an episode of another path.
_DOUBLED = 0.03  # of the sample
_FEWEST_DOUBLED = 5


@dataclass
class _Group:
    """A stratum in the making: the episodes of its paths, by path."""

    scene: str
    names: list[str]
    paths: list[list[str]]

    @property
    def size(self) -> int:
        return sum(map(len, self.paths))


def draw_subset(
    split: Split, size: int, *, by: Sequence[str] = STRATIFIERS, seed: int = 0, reference: ScoreTable | None = None
) -> Subset:
    """A stratified random sample of `size` episodes of a split, with its stated error.

    Strata that would get fewer than two episodes are joined with a neighbor, of the same scene if there is one. The
    stated error is the half-width of the 95 % interval of the full split's mean: at most, for any agent and any metric
    between 0 and 1; and with the scores of a reference agent on the whole split, for an agent like that one.
    """
    for name in by:
        validate_choice("by", name, STRATIFIERS)
    if not 2 <= size <= len(split):
        raise BadArgument(
            f"size (--size) must be between 2 and {len(split)}, the episodes of {split.name}, not {size}."
        )
    groups = _join_small(_group(split, by), size / len(split))
    counts = _apportion([group.size for group in groups], size)
    doubled = _count_doubled(groups, size)
    seconds = _apportion(counts, doubled) if doubled else [0] * len(groups)
    strata = tuple(_draw(*one, seed) for one in zip(groups, counts, seconds, strict=True))
    ids, scenes = [episode.id for episode in split], [episode.world_id for episode in split]
    subset = Subset(
        split=split.name,
        total=len(split),
        split_digest=digest_episodes(ids, scenes),
        by=tuple(by),
        seed=seed,
        strata=strata,
        scenes={scene: len(rows) for scene, rows in split.rows_by_world.items()},
        worst_half_width=0.0,
    )
    design = make_design(subset)
    subset = replace(subset, worst_half_width=NORMAL_QUANTILE * worst_error(design))
    if reference is None:
        return subset
    return replace(subset, half_widths=_expect(groups, design, subset, reference), reference=reference.source)


def make_design(subset: Subset) -> SampleDesign:
    """The design of a subset, its episodes in the order of `Subset.ids`."""
    sampled = [path for stratum in subset.strata for path in stratum.sample]
    return SampleDesign(
        paths=np.repeat(np.arange(len(sampled)), [len(path.ids) for path in sampled]),
        strata=np.repeat(np.arange(len(subset.strata)), [len(stratum.sample) for stratum in subset.strata]),
        path_sizes=np.array([path.episodes for path in sampled]),
        stratum_paths=np.array([stratum.paths for stratum in subset.strata]),
        stratum_sizes=np.array([stratum.episodes for stratum in subset.strata]),
    )


def require_whole(subset: Subset, table: ScoreTable, role: str) -> None:
    """Refuse scores that are not of the whole split that a subset was drawn from."""
    if digest_episodes(table.episode_ids, table.world_ids) != subset.split_digest:
        raise BadArgument(
            f"{role} {table.source or 'scores'} ({len(table):,} episodes) must cover the {subset.total:,} episodes of "
            f"{subset.split} (digest {subset.split_digest}), each once."
        )


def main_metrics(table: ScoreTable) -> list[str]:
    """The metrics whose mean a subset can tell: fractions and errors in meters, finite for every episode."""
    chosen = [one.name for one in table.columns if not one.unit or (one.unit == "m" and one.better == "lower")]
    weighted = set(table.weights)
    return [name for name in chosen if name not in weighted and np.isfinite(table[name]).all()]


def _group(split: Split, by: Sequence[str]) -> list[_Group]:
    """The paths of the split by stratum, in the order of scene and length."""
    lengths = _lengths(split) if "length" in by else np.zeros(len(split))
    classes = _classify(lengths)
    found: dict[tuple[str, int], dict[tuple[str, str], list[str]]] = {}
    for episode, number in zip(split, classes.tolist(), strict=True):
        scene = episode.world_id if "scene" in by else ""
        paths = found.setdefault((scene, number), {})
        path = episode.path_id or f"\0{episode.id}"
        paths.setdefault((episode.world_id, path), []).append(episode.id)
    names = _class_names(lengths, classes) if "length" in by else {0: ""}
    return [
        _Group(scene, [", ".join(filter(None, (scene, names[number]))) or "all"], list(found[scene, number].values()))
        for scene, number in sorted(found)
    ]


def _lengths(split: Split) -> NDArray[np.float64]:
    """The length of every reference path: edges on graphs, meters on the ground; without one, start to goal."""
    return np.array([_length(split, episode) for episode in split])


def _length(split: Split, episode: Episode) -> float:
    places: Any = episode.reference
    if len(places) < 2 and not isinstance(episode.start.place, str) and len(episode.goals):
        gaps = np.asarray(episode.goals, dtype=np.float64) - np.asarray(episode.start.place)
        return float(np.linalg.norm(gaps, axis=1).min())
    if not len(places):
        raise BadArgument(f"Episode {episode.id!r} of {split.name} has no reference path: draw by scene (--by scene).")
    if isinstance(places[0], str):
        return float(len(places) - 1)
    return float(np.linalg.norm(np.diff(np.asarray(places, dtype=np.float64), axis=0), axis=1).sum())


def _classify(lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    edges = np.quantile(lengths, np.arange(1, LENGTH_CLASSES) / LENGTH_CLASSES)
    return np.searchsorted(edges, lengths, side="left")


def _class_names(lengths: NDArray[np.float64], classes: NDArray[np.int64]) -> Mapping[int, str]:
    ends = {int(one): (lengths[classes == one].min(), lengths[classes == one].max()) for one in np.unique(classes)}
    return {one: f"length {low:.3g} – {high:.3g}" for one, (low, high) in ends.items()}


def _join_small(groups: list[_Group], share: float) -> list[_Group]:
    """The groups, joined until each gets at least two episodes."""
    groups = list(groups)
    while len(groups) > 1:
        number = min(range(len(groups)), key=lambda i: groups[i].size)
        small = groups[number]
        if small.size * share >= 2:
            break
        beside = [i for i in (number - 1, number + 1) if 0 <= i < len(groups)]
        other = min(beside, key=lambda i: (groups[i].scene != small.scene, groups[i].size))
        first, second = groups[min(number, other)], groups[max(number, other)]
        joined = _Group(first.scene, first.names + second.names, first.paths + second.paths)
        groups[min(number, other) : max(number, other) + 1] = [joined]
    return groups


def _apportion(sizes: Sequence[int], total: int) -> list[int]:
    """`total` divided in proportion to the sizes, by largest remainders."""
    exact = np.array(sizes) * (total / sum(sizes))
    counts = np.floor(exact + 1e-9).astype(int)
    for i in np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]:
        counts[i] += 1
    return [int(count) for count in counts]


def _count_doubled(groups: Sequence[_Group], size: int) -> int:
    if not any(len(path) > 1 for group in groups for path in group.paths):
        return 0
    return min(max(round(_DOUBLED * size), _FEWEST_DOUBLED), size // 4)


def _draw(group: _Group, count: int, doubled: int, seed: int) -> Stratum:
    """`count` episodes of a group, of which about `doubled` are further episodes of paths that are drawn."""
    name = " + ".join(group.names)
    rng = generator(seed, "subset", name)
    order = [group.paths[i] for i in rng.permutation(len(group.paths))]
    sizes = np.cumsum([len(path) for path in order])
    # Enough paths to have so many episodes, which they may not where few have several.
    drawn = max(count - doubled, min(2, len(order)), int(np.searchsorted(sizes, count)) + 1)
    paths = [[path[i] for i in rng.permutation(len(path))] for path in order[:drawn]]
    taken = np.ones(len(paths), dtype=int)
    left = count - len(paths)
    while left > 0:  # one more of every path that has more, in random order, until there are enough
        more = rng.permutation(np.flatnonzero(taken < [len(path) for path in paths]))[:left]
        taken[more] += 1
        left -= len(more)
    sample = tuple(SampledPath(len(path), tuple(path[:k])) for path, k in zip(paths, taken.tolist(), strict=True))
    return Stratum(name, len(group.paths), group.size, sample)


def _expect(groups: Sequence[_Group], design: SampleDesign, subset: Subset, reference: ScoreTable) -> dict[str, float]:
    """By metric, the half-width of the 95 % interval of an agent with the rows of the reference."""
    require_whole(subset, reference, "The reference")
    row = {name: i for i, name in enumerate(reference.episode_ids)}
    every = [path for group in groups for path in group.paths]
    rows = np.array([row[name] for path in every for name in path])
    paths = np.repeat(np.arange(len(every)), list(map(len, every)))
    strata = np.repeat(np.arange(len(groups)), [len(group.paths) for group in groups])
    return {
        metric: NORMAL_QUANTILE * expected_error(reference[metric][rows], paths, strata, design)
        for metric in main_metrics(reference)
    }
