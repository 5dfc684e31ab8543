"""Walks beside their tasks as a replay shows them: a pure function of what was asked, what was done, and where.

Start with `replay_of`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.metrics.alignment import aligned_places
from itinera.metrics.attempts import Attempts, of_pairs
from itinera.metrics.matching import Pairs, Rules, pair
from itinera.metrics.suites import ALL_SUITES, Suite, usual_suite
from itinera.metrics.tours import Legs
from itinera.records import Predictions, Trajectory
from itinera.records.trajectory import PLACED, Phase
from itinera.reports.replay.data import (
    ACTING,
    GUIDED_TO_GOAL,
    GUIDED_TO_START,
    Attempt,
    Frame,
    Replay,
    Task,
    Track,
    Word,
)
from itinera.reports.replay.places import Levels, place_of, positions_of, whole
from itinera.tasks import Episode, Protocol, Split
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array, Places, Ragged, World

if TYPE_CHECKING:
    from itinera.hearth.build import House

Look = Callable[[World, Array, Array], Sequence[str]]
"""Pictures, JPEG in base64, of what is seen of a world from places (n, 3) of a walk along headings (n,); none where it
cannot be seen."""

PHASES = {Phase.ACTING: ACTING, Phase.GUIDED_TO_GOAL: GUIDED_TO_GOAL, Phase.GUIDED_TO_START: GUIDED_TO_START}
SHOWN = ("NE", "SPL", "nDTW")  # metrics beside whether it arrived
DENSE = ("nDTW",)  # of them those that on the ground compare step by step, with references a page does not have
ANY = Rules(jumps="measure", starts="measure")  # a replay also shows what a score would refuse
SOON = 20  # letters
_NONE = Track([], [], [])


@dataclass(frozen=True, eq=False)
class More:
    """What is not always known: houses of ours, fastest drives and times, and a camera."""

    houses: Mapping[str, House] = field(default_factory=dict)  # by world
    drives: Mapping[str, Array] = field(default_factory=dict)  # by episode, (n, 3) metres
    times: FastestTimes | None = None
    look: Look | None = None
    pictures: int = 1000  # taken by the camera, at most


def replay_of(
    prediction_sets: Mapping[str, Predictions],
    split: Split,
    worlds: Mapping[str, World],
    *,
    protocol: Protocol,
    title: str = "Replay",
    more: More | None = None,
) -> Replay:
    """The walks of these agents through all episodes of the split, in its order, those of its tour if it has one.

    An agent without a walk for an episode is left out there. Where goals or references are withheld, what needs them
    is left out.
    """
    more = more or More()
    walked = {name: _walked(predictions, split) for name, predictions in prediction_sets.items()}
    if not any(walked.values()):
        raise BadArgument("None of these walks is of an episode asked for.")
    judged = {name: _judged(book, walked[name], split, worlds, protocol) for name, book in prediction_sets.items()}
    places, levels = {}, {}
    for world_id in split.world_ids:
        world, house = worlds[world_id], more.houses.get(world_id)
        shown = _shown(world, [e for e in split.episodes if e.world_id == world_id], list(walked.values()))
        levels[world_id] = Levels.of(world, house, shown)
        places[world_id] = place_of(world, levels[world_id], house=house, walked=shown)
    timed = all(t.times is not None for found in walked.values() for t in found.values())
    camera = _Camera(more, sum(map(len, walked.values())))
    tasks = []
    for episode in split.episodes:
        world, level = worlds[episode.world_id], levels[episode.world_id]
        attempts = [
            _attempt(k, found[episode.id], judged[name].get(episode.id), world, level, timed, camera)
            for k, (name, found) in enumerate(walked.items())
            if episode.id in found
        ]
        tasks.append(_task(episode, list(places).index(episode.world_id), world, level, more, attempts))
    return Replay(
        title=title,
        agents=list(prediction_sets),
        unit="s" if timed else "steps",
        radius=round(100 * protocol.success_radius),
        tour=split.tours[0].id if len(split.tours) == 1 else "",
        tour_measures=[_touring(judged[name], split) for name in prediction_sets],
        places=list(places.values()),
        tasks=tasks,
    )


def _walked(predictions: Predictions, split: Split) -> dict[str, Trajectory]:
    return {t.episode_id: t for t in predictions.trajectories if t.episode_id in split.by_id and len(t.places)}


def _shown(world: World, episodes: Sequence[Episode], books: Sequence[Mapping[str, Trajectory]]) -> Array:
    """(n, 3) everything of these episodes that is drawn."""
    rows: list[Places] = [e.reference for e in episodes] + [e.goals for e in episodes]
    rows += [book[e.id].places for book in books for e in episodes if e.id in book]
    return np.concatenate([np.empty((0, 3)), *(positions_of(world, row) for row in rows if len(row))])


@dataclass(frozen=True, eq=False)
class _Judgement:
    """One attempt's row of everything measured."""

    attempts: Attempts
    row: int
    suite: Suite
    pairs: NDArray[np.int64]  # (k, 2) walked and reference places that meet
    arrived: bool
    measures: list[tuple[str, str]]


def _told(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    return f"{value:.2f} {unit}".strip()


def _judged(
    predictions: Predictions,
    walked: Mapping[str, Trajectory],
    split: Split,
    worlds: Mapping[str, World],
    protocol: Protocol,
) -> dict[str, _Judgement]:
    """What is measured of every attempt, by episode; nothing where goals are withheld."""
    episodes = tuple(e for e in split.episodes if e.id in walked)
    if not episodes or any(e.goals_withheld for e in episodes):
        return {}
    book = replace(
        Predictions.from_trajectories(predictions.source, tuple(walked[e.id] for e in episodes)),
        protocol=predictions.protocol,
    )
    followed = all(len(e.reference) for e in episodes)
    suite = ALL_SUITES[usual_suite(protocol) if followed else "pointnav"](protocol)
    told: dict[str, _Judgement] = {}
    asked = replace(split, episodes=episodes, tours=())
    for group in pair(book, asked, worlds, rules=ANY, reference=followed):
        told |= _of_group(group, suite, followed)
    return told


def _of_group(group: Pairs, suite: Suite, followed: bool) -> dict[str, _Judgement]:
    attempts = of_pairs(group)
    success = next(metric for metric in suite.metrics if metric.name == "SR").measure(attempts)
    on_graph = isinstance(group.episodes[0].start.place, str)
    shown = [name for name in SHOWN if on_graph or name not in DENSE]
    values = [(metric, metric.measure(attempts)) for metric in suite.metrics if metric.name in shown]
    pairs = _rows(aligned_places(attempts)) if followed else [np.empty((0, 2), dtype=np.int64)] * len(attempts)
    told = {}
    for k, episode in enumerate(group.episodes):
        measures = [(metric.name, _told(float(of_all[k]), metric.unit)) for metric, of_all in values]
        told[episode.id] = _Judgement(attempts, k, suite, pairs[k], bool(success[k]), measures)
    return told


def _rows(ragged: Ragged) -> list[NDArray[np.int64]]:
    return [ragged[k] for k in range(len(ragged))]


def _touring(judged: Mapping[str, _Judgement], split: Split) -> list[tuple[str, str]]:
    """The tour's own measures, where every episode of a single tour was walked and can be judged."""
    if len(split.tours) != 1 or len(judged) != len(split.episodes):
        return []
    first = next(iter(judged.values()))
    count = len(first.attempts)
    if count != len(judged) or not first.suite.tour_metrics:
        return []
    legs = Legs(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))
    return [
        (metric.name, _told(float(metric.measure(first.attempts, legs)[0]), "")) for metric in first.suite.tour_metrics
    ]


def _task(episode: Episode, place: int, world: World, levels: Levels, more: More, attempts: list[Attempt]) -> Task:
    drive = more.drives.get(episode.id)
    return Task(
        id=episode.id,
        place=place,
        language=episode.instruction.language,
        words=_words(episode),
        reference=levels.track(positions_of(world, episode.reference)) if len(episode.reference) else _NONE,
        shortest=_shortest(episode, world, levels),
        fastest=_NONE if drive is None else levels.track(drive),
        fastest_seconds=_fastest_seconds(episode.id, more.times),
        goals=levels.track(positions_of(world, episode.goals)) if len(episode.goals) else _NONE,
        attempts=attempts,
    )


def _fastest_seconds(episode_id: str, times: FastestTimes | None) -> str:
    row = None if times is None else times.rows.get(episode_id)
    if times is None or row is None:
        return ""
    low, high = times.low[row], times.high[row]
    return "no way leads there" if math.isinf(low) else f"{low:.1f} – {'∞' if math.isinf(high) else f'{high:.1f}'} s"


def _shortest(episode: Episode, world: World, levels: Levels) -> Track:
    """A shortest way from the start to the nearest goal."""
    if episode.goals_withheld:
        return _NONE
    start = cast(Places, [episode.start.place])
    nearest = int(np.argmin(world.space.between(start, episode.goals)[0]))
    try:
        return levels.track(positions_of(world, world.space.route(episode.start.place, episode.goals[nearest])))
    except NoRoute:
        return _NONE


def _words(episode: Episode) -> list[Word]:
    """The instruction cut into the words that are tied to places, and what stands between them."""
    text, aligned = episode.instruction.text, episode.alignment
    if aligned is None or not len(episode.reference) or not (aligned.first >= 0).any():
        return [Word(text, -1, -1)] if text else []
    pieces: list[Word] = []
    at = 0
    for word, first, last in zip(aligned.words, aligned.first.tolist(), aligned.last.tolist(), strict=True):
        begin, end = _found(text, word, at)
        if begin == end:
            continue  # spoken otherwise than it was written
        if begin > at:
            pieces.append(Word(text[at:begin], -1, -1))
        pieces.append(Word(text[begin:end], first, last))
        at = end
    return [*pieces, Word(text[at:], -1, -1)] if at < len(text) else pieces


def _found(text: str, word: str, at: int) -> tuple[int, int]:
    """Where a word begins and ends in the text from a letter on, the same where it is not there.

    The words of Fine-Grained R2R are without capitals and endings, so a longer one that begins so will do, unless the
    word itself comes soon.
    """
    if not word.isascii() or not word:
        begin = text.find(word, at)
        return (begin, begin + len(word)) if begin >= 0 else (at, at)
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(text, at, at + len(word) + SOON)
    longer = whole or re.compile(rf"(?<!\w){re.escape(word)}\w*", re.IGNORECASE).search(text, at)
    return longer.span() if longer else (at, at)


class _Camera:
    """Takes no more pictures than are allowed, the same number of every walk."""

    def __init__(self, more: More, walks: int) -> None:
        self._look = more.look
        self._each = max(2, more.pictures // max(walks, 1)) if more.pictures else 0

    def frames(self, world: World, trajectory: Trajectory) -> list[Frame]:
        if self._look is None or not self._each:
            return []
        at, headings = positions_of(world, trajectory.places), _headings(world, trajectory)
        moved = _changes(at, headings)
        steps = moved[np.unique(np.linspace(0, len(moved) - 1, min(self._each, len(moved))).round().astype(np.int64))]
        seen = self._look(world, at[steps], headings[steps])
        return [Frame(step, picture) for step, picture in zip(steps.tolist(), seen, strict=bool(seen))]


def _changes(at: Array, headings: Array) -> NDArray[np.int64]:
    """Where something else is seen than a step before."""
    poses = np.column_stack([at, headings])
    return np.flatnonzero(np.append(True, (poses[1:] != poses[:-1]).any(axis=1)))


def _headings(world: World, trajectory: Trajectory) -> Array:
    """(n,) where one faces at each place; as it walks on, where it is not told."""
    if trajectory.headings is not None:
        return trajectory.headings
    at = positions_of(world, trajectory.places)
    if len(at) < 2:
        return np.zeros(len(at))
    ahead = np.diff(at, axis=0)
    facing = np.arctan2(ahead[:, 1], ahead[:, 0])
    return np.append(facing, facing[-1])


def _attempt(
    agent: int,
    trajectory: Trajectory,
    judged: _Judgement | None,
    world: World,
    levels: Levels,
    timed: bool,
    camera: _Camera,
) -> Attempt:
    phases = [] if trajectory.phases is None else [PHASES[phase] for phase in trajectory.phases]
    acted = np.flatnonzero(np.array(phases, dtype=np.int64) == ACTING) if phases else np.arange(len(trajectory.places))
    pairs, away = np.empty((0, 2), dtype=np.int64), np.full(len(trajectory.places), -1)
    if judged is not None:
        pairs = np.column_stack([acted[judged.pairs[:, 0]], judged.pairs[:, 1]])
        to_goal = judged.attempts.to_goal[judged.row]
        away[acted] = np.where(np.isfinite(to_goal), whole(np.where(np.isfinite(to_goal), to_goal, 0.0)), -1)
    jumped = [] if trajectory.actions is None else (np.flatnonzero(trajectory.actions == PLACED) + 1).tolist()
    return Attempt(
        agent=agent,
        track=levels.track(positions_of(world, trajectory.places)),
        headings=np.degrees(_headings(world, trajectory)).round().astype(np.int64).tolist(),
        phases=phases if any(phases) else [],
        jumps=jumped,
        clock=_clock(trajectory) if timed else [],
        pairs=pairs.ravel().tolist(),
        away=away.tolist() if (away >= 0).any() else [],
        arrived=None if judged is None else judged.arrived,
        ending=trajectory.ending.value,
        measures=[] if judged is None else judged.measures,
        frames=camera.frames(world, trajectory),
    )


def _clock(trajectory: Trajectory) -> list[float]:
    assert trajectory.times is not None
    told: list[float] = (trajectory.times - trajectory.times[0]).round(2).tolist()
    return told
