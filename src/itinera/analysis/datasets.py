"""Statistics of a data set: paths, words, turns, overlap of paths, and tours. Start with `describe`.

Paths and instructions are counted separately: several instructions describe one path, so a mean over instructions
weighs each path by the number of its instructions. Papers print either without saying which.
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.metrics.attempts import Attempts
from itinera.tasks import Episode, Split
from itinera.worlds import Array, NavGraph, Ragged, World

STRAIGHT = math.radians(15)  # the largest turn that counts as straight on
SECTORS = 12  # of 30 degrees each, the first of them straight on
MIN_MOVE = 1e-6  # metres; a shorter horizontal move has no heading


@dataclass(frozen=True)
class SummaryStatistics:
    """The mean, standard deviation, minimum and maximum of some values."""

    mean: float
    sd: float  # of the population, as all values are known
    min: float
    max: float

    @classmethod
    def from_values(
        cls, values: NDArray[np.generic], weights: NDArray[np.int64] | None = None
    ) -> SummaryStatistics | None:
        """The statistics of the values, weighted if weights are given; None without values.

        >>> SummaryStatistics.from_values(np.array([2.0, 5.0]), np.array([2, 1]))
        Spread(mean=3.0, sd=1.4142135623730951, min=2.0, max=5.0)
        """
        numbers = np.asarray(values, dtype=np.float64)
        if not len(numbers):
            return None
        mean = float(np.average(numbers, weights=weights))
        finite = math.isfinite(mean)  # an unreachable goal is infinitely far
        sd = math.sqrt(float(np.average((numbers - mean) ** 2, weights=weights))) if finite else math.inf
        return cls(mean, sd, float(numbers.min()), float(numbers.max()))


@dataclass(frozen=True, eq=False)
class TourStatistics:
    """Statistics of a split's tours."""

    scenes: int  # with at least one tour
    lengths: NDArray[np.int64]  # (tours,) episodes of each

    @property
    def episodes(self) -> int:
        return int(self.lengths.sum())

    @property
    def per_scene(self) -> float:
        return len(self.lengths) / self.scenes


@dataclass(frozen=True, eq=False)
class DatasetDescription:
    """Statistics of a data set. Arrays over paths leave out paths whose goal is withheld."""

    name: str
    scenes: int
    paths: int
    withheld: int  # paths whose goal is withheld
    instructions_per_path: NDArray[np.int64]  # (known paths,)
    edges: NDArray[np.int64]  # (known paths,) number of moves
    lengths: Array  # (known paths,) metres along the reference, PL(R)
    distances: Array  # (known paths,) metres from the start to the nearest goal by the shortest way, d(r1, r|R|)
    stated: Array  # (known paths,) metres as stated in the file, NaN if not: a length or a distance, by format
    overlaps: Array  # (known paths,) the share of its places that another path of the scene visits too
    turns: Array  # (turns,) radians between consecutive moves of a path, left positive, in (-pi, pi]
    words: NDArray[np.int64]  # (instructions,) number of words in each
    vocabulary: int  # distinct words
    tours: TourStatistics | None = None  # None if the split has no tours

    @property
    def instructions(self) -> int:
        return len(self.words)


def describe(split: Split, worlds: Mapping[str, World]) -> DatasetDescription:
    """The statistics of a split, distances measured in its worlds.

    Episodes with the same path id in one world share a path. Overlap compares the distinct places of a path with those
    of all other paths of its scene in this split; the only path of a scene has overlap 0.
    """
    paths = _paths(split)
    known = [path for path in paths if not path.episode.goals_withheld]
    measured = _measure_paths(split.name, known, worlds)
    words, vocabulary = count_words([episode.instruction.text for episode in split.episodes])
    return DatasetDescription(
        name=split.name,
        scenes=len(split.world_ids),
        paths=len(paths),
        withheld=len(paths) - len(known),
        instructions_per_path=np.array([path.instructions for path in known], dtype=np.int64),
        edges=measured.edges,
        lengths=measured.lengths,
        distances=measured.distances,
        stated=np.array([_stated_distance(path.episode) for path in known], dtype=np.float64),
        overlaps=measured.overlaps,
        turns=measured.turns,
        words=words,
        vocabulary=vocabulary,
        tours=describe_tours(split),
    )


def describe_tours(split: Split) -> TourStatistics | None:
    """The statistics of the split's tours; None if it has none."""
    if not split.tours:
        return None
    lengths = np.array([len(tour.episode_ids) for tour in split.tours], dtype=np.int64)
    return TourStatistics(len({tour.world_id for tour in split.tours}), lengths)


# Apostrophes are kept, in either form, so that "don't" is one word.
_SEPARATORS = {ord(mark): " " for mark in string.punctuation.replace("'", "") + "“”„«»…–—¿¡।॥、。，"} | {ord("’"): "'"}


def split_words(text: str) -> list[str]:
    """The words of an instruction in lower case, split at white space and punctuation.

    Apostrophes within a word are kept, hyphens split words, and punctuation is not a word.

    >>> split_words("Don't enter the T-shaped hall.Turn 'left' ...")
    ["don't", 'enter', 'the', 't', 'shaped', 'hall', 'turn', 'left']
    """
    plain = text.lower().translate(_SEPARATORS)
    if "'" not in plain:
        return plain.split()
    return [word for marked in plain.split() if (word := marked.strip("'"))]


def count_words(texts: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """(texts,) the number of words in each, and the number of distinct words in all."""
    counts = np.empty(len(texts), dtype=np.int64)
    vocabulary: set[str] = set()
    for i, text in enumerate(texts):
        words = split_words(text)
        counts[i] = len(words)
        vocabulary.update(words)
    return counts, len(vocabulary)


def turn_angles(points: Ragged) -> Array:
    """(turns,) the change of heading from each move to the next within each row of (n, 3) points: radians, left
    positive, in (-pi, pi]. Moves without horizontal displacement have no heading, and turns from or to them are left
    out.
    """
    joints = points.joints
    moves = points.values[joints + 1] - points.values[joints]
    headings = np.arctan2(moves[:, 1], moves[:, 0])
    moving = np.hypot(moves[:, 0], moves[:, 1]) > MIN_MOVE
    first = np.flatnonzero(np.diff(joints) == 1)  # moves whose next one is of the same row
    first = first[moving[first] & moving[first + 1]]
    change = headings[first + 1] - headings[first]
    turns = np.pi - (np.pi - change) % (2 * np.pi)
    return np.where(turns > -np.pi, turns, np.pi)  # the remainder of a tiny negative number is rounded to 2 pi


def straight_fraction(turns: Array, *, within: float = STRAIGHT) -> float:
    """The fraction of turns of at most `within` radians to either side; NaN without turns."""
    return float(np.mean(np.abs(turns) <= within + 1e-9)) if len(turns) else math.nan


def count_turn_sectors(turns: Array, *, sectors: int = SECTORS) -> NDArray[np.int64]:
    """(sectors,) the number of turns in each of equal sectors: straight on in the middle of the first, then leftward.

    >>> count_turn_sectors(np.radians([0.0, -10.0, 90.0, 180.0, -90.0]), sectors=4)
    array([2, 1, 1, 1])
    """
    numbers = np.rint(turns / (2 * np.pi / sectors)).astype(np.int64) % sectors
    return np.bincount(numbers, minlength=sectors)


@dataclass(frozen=True)
class _Path:
    episode: Episode  # one of its episodes
    instructions: int


def _paths(split: Split) -> list[_Path]:
    """The paths of a split in file order."""
    first: dict[tuple[str, str], Episode] = {}
    counts: dict[tuple[str, str], int] = {}
    for episode in split.episodes:
        key = episode.world_id, episode.path_id or episode.id
        first.setdefault(key, episode)
        counts[key] = counts.get(key, 0) + 1
    return [_Path(episode, counts[key]) for key, episode in first.items()]


def _stated_distance(episode: Episode) -> float:
    return math.nan if episode.stated_distance is None else episode.stated_distance


@dataclass(frozen=True)
class _Measurements:
    edges: NDArray[np.int64]
    lengths: Array
    distances: Array
    overlaps: Array
    turns: Array


def _measure_paths(source: str, paths: Sequence[_Path], worlds: Mapping[str, World]) -> _Measurements:
    """The measurements of each path in its world, in the order of the paths."""
    rows: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        rows.setdefault(path.episode.world_id, []).append(i)
    edges = np.zeros(len(paths), dtype=np.int64)
    lengths, distances, overlaps = (np.zeros(len(paths)) for _ in range(3))
    turns = [np.empty(0)]
    faults: list[Fault] = []
    for world_id, numbers in rows.items():
        attempts = _as_attempts(world_id, [paths[i].episode for i in numbers], worlds, faults)
        if attempts is None:
            continue
        edges[numbers] = attempts.path.counts - 1
        lengths[numbers] = attempts.lengths
        distances[numbers] = attempts.shortest
        overlaps[numbers] = overlap_fractions(attempts.place_indices[0])
        turns.append(turn_angles(attempts.straight.path))
    if faults:
        raise BadFile(source, faults)
    return _Measurements(edges, lengths, distances, overlaps, np.concatenate(turns))


def overlap_fractions(rows: Ragged) -> Array:
    """(rows,) the share of each row's distinct places that another row contains too. Places are integers.

    >>> overlap_fractions(Ragged.from_rows([[0, 1, 0], [1, 2], [3]])).tolist()
    [0.5, 0.5, 0.0]
    """
    span = int(rows.values.max(initial=0)) + 1
    distinct = np.unique(rows.owners * span + rows.values)
    owners, places = distinct // span, distinct % span
    shared = np.bincount(places)[places] > 1
    counts = np.bincount(owners, minlength=len(rows))
    return np.bincount(owners, shared, minlength=len(rows)) / np.maximum(counts, 1)


def _as_attempts(
    world_id: str, episodes: Sequence[Episode], worlds: Mapping[str, World], faults: list[Fault]
) -> Attempts | None:
    """The reference paths as attempts, so that the metrics measure them; None if they do not fit their world."""
    world = worlds.get(world_id)
    if world is None:
        faults.append(Fault("", f"world {world_id} is missing.", "Check --worlds (worlds=)."))
        return None
    space = world.space
    try:
        references = Ragged.from_rows([space.locate(episode.reference) for episode in episodes])
        goals = Ragged.from_rows([space.locate(episode.goals) for episode in episodes])
    except BadArgument:
        faults.extend(_find_unknown_places(world, episodes))
        return None
    return Attempts(space, references, references, goals)


def _find_unknown_places(world: World, episodes: Sequence[Episode]) -> list[Fault]:
    remedy = "Check that tasks and worlds belong together."
    faults = []
    for episode in episodes:
        where = f'path "{episode.path_id or episode.id}"'
        if isinstance(world.space, NavGraph):
            places = (*episode.reference, *episode.goals)
            unknown = next((p for p in places if not isinstance(p, str) or p not in world.space.index), None)
            if unknown is not None:
                faults.append(Fault(where, f"node {unknown} is not in world {world.id}.", remedy))
            continue
        try:
            world.space.locate(episode.reference), world.space.locate(episode.goals)
        except BadArgument as error:
            faults.append(Fault(where, str(error), remedy))
    return faults
