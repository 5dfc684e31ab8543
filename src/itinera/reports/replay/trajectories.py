"""Replays made from predictions: a pure function of predictions, tasks and worlds. Start with `make_replay`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.metrics.alignment import align_places
from itinera.metrics.attempts import Attempts
from itinera.metrics.matching import MatchingRules, match
from itinera.metrics.suites import SUITES, Suite, default_suite
from itinera.metrics.tours import TourGroups
from itinera.records import Predictions, Trajectory
from itinera.records.map_recording import MapRecording
from itinera.records.trajectory import NO_ACTION, Phase
from itinera.reports.replay.data import (
    ACTING,
    GUIDED_TO_GOAL,
    GUIDED_TO_START,
    HeldMaps,
    Replay,
    ReplayEpisode,
    ReplayFrame,
    ReplayTrajectory,
    Track,
)
from itinera.reports.replay.held_maps import draw_maps, share_maps
from itinera.reports.replay.scene_map import StoreyLevels, make_scene_map, to_centimeters, to_positions
from itinera.reports.replay.words import split_instruction
from itinera.tasks import Episode, Protocol, Split
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array, Places, Ragged, World

if TYPE_CHECKING:
    from itinera.hearth.build import House

ViewRenderer = Callable[[World, Array, Array], Sequence[str]]
"""Renders first-person views (JPEG, base64) of a world from positions (n, 3) along headings (n,); may be empty."""

PHASES = {Phase.ACTING: ACTING, Phase.GUIDED_TO_GOAL: GUIDED_TO_GOAL, Phase.GUIDED_TO_START: GUIDED_TO_START}
METRICS = ("NE", "SPL", "nDTW")  # shown besides success
NEEDS_DENSE_REFERENCE = ("nDTW",)  # on the ground it compares step by step, with references a replay does not have
ACCEPT_ALL = MatchingRules(jumps="measure", starts="measure")  # a replay also shows trajectories a score would refuse
MAX_VIEWS = 1000  # first-person views of a replay
_EMPTY = Track([], [], [])


def make_replay(
    predictions: Mapping[str, Predictions],
    split: Split,
    worlds: Mapping[str, World],
    *,
    protocol: Protocol,
    title: str = "Replay",
    houses: Mapping[str, House] = MappingProxyType({}),
    drives: Mapping[str, Array] = MappingProxyType({}),
    times: FastestTimes | None = None,
    view_renderer: ViewRenderer | None = None,
    max_views: int = MAX_VIEWS,
    maps: Mapping[str, Mapping[str, MapRecording]] = MappingProxyType({}),
) -> Replay:
    """A replay of these agents, by name, in all episodes of the split, in its order; of its tour if it has one.

    An agent without a trajectory for an episode is left out there. Metrics are left out where goals or references are
    withheld. `houses` of Hearth, by world id, are drawn with rooms and furniture; `drives` are the fastest drives by
    episode id, (n, 3) metres; `times` their bounds; `view_renderer` makes at most `max_views` first-person views;
    `maps` are recorded ones by agent and episode.
    """
    found = {name: _by_episode(one, split) for name, one in predictions.items()}
    if not any(found.values()):
        raise BadArgument(
            "No trajectory of these predictions is of a selected episode. Check --episodes, or the tasks."
        )
    scores = {name: _score(one, found[name], split, worlds, protocol) for name, one in predictions.items()}
    scenes, levels = {}, {}
    for world_id in split.world_ids:
        world, house = worlds[world_id], houses.get(world_id)
        drawn = _drawn_positions(world, [e for e in split.episodes if e.world_id == world_id], list(found.values()))
        levels[world_id] = StoreyLevels.of(world, house, drawn)
        scenes[world_id] = make_scene_map(world, levels[world_id], house=house, drawn=drawn)
    timed = all(t.times is not None for by_episode in found.values() for t in by_episode.values())
    views = _Views(view_renderer, max_views, sum(map(len, found.values())))
    shown = {name: {e.id: found[e.id] for e in split.episodes if e.id in found} for name, found in maps.items()}
    map_limit = share_maps(shown)
    episodes = []
    for episode in split.episodes:
        world, level = worlds[episode.world_id], levels[episode.world_id]
        trajectories = [
            _trajectory(
                k,
                by_episode[episode.id],
                scores[name].get(episode.id),
                world,
                level,
                timed,
                views,
                _draw_maps(shown.get(name, {}).get(episode.id), map_limit),
            )
            for k, (name, by_episode) in enumerate(found.items())
            if episode.id in by_episode
        ]
        scene, drive = list(scenes).index(episode.world_id), drives.get(episode.id)
        episodes.append(_episode(episode, scene, world, level, drive, times, trajectories))
    return Replay(
        title=title,
        agents=list(predictions),
        unit="s" if timed else "steps",
        success_radius=round(100 * protocol.success_radius),
        tour=split.tours[0].id if len(split.tours) == 1 else "",
        tour_metrics=[_tour_metrics(scores[name], split) for name in predictions],
        scenes=list(scenes.values()),
        episodes=episodes,
    )


def _by_episode(predictions: Predictions, split: Split) -> dict[str, Trajectory]:
    return {t.episode_id: t for t in predictions.trajectories if t.episode_id in split.by_id and len(t.places)}


def _drawn_positions(world: World, episodes: Sequence[Episode], agents: Sequence[Mapping[str, Trajectory]]) -> Array:
    """(n, 3) all positions of these episodes that are drawn."""
    rows: list[Places] = [e.reference for e in episodes] + [e.goals for e in episodes]
    rows += [by_episode[e.id].places for by_episode in agents for e in episodes if e.id in by_episode]
    return np.concatenate([np.empty((0, 3)), *(to_positions(world, row) for row in rows if len(row))])


@dataclass(frozen=True, eq=False)
class _Score:
    """The metrics of one trajectory: a row of the attempts they were measured on."""

    attempts: Attempts
    row: int
    suite: Suite
    alignment: NDArray[np.int64]  # (k, 2) aligned path and reference indices
    success: bool
    metrics: list[tuple[str, str]]


def _format_value(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    return f"{value:.2f} {unit}".strip()


def _score(
    predictions: Predictions,
    by_episode: Mapping[str, Trajectory],
    split: Split,
    worlds: Mapping[str, World],
    protocol: Protocol,
) -> dict[str, _Score]:
    """The metrics of every trajectory, by episode; empty if goals are withheld."""
    episodes = tuple(e for e in split.episodes if e.id in by_episode)
    if not episodes or any(e.goals_withheld for e in episodes):
        return {}
    selected = Predictions.from_trajectories(predictions.source, tuple(by_episode[e.id] for e in episodes))
    has_reference = all(len(e.reference) for e in episodes)
    suite = SUITES[default_suite(protocol) if has_reference else "pointnav"](protocol)
    if suite.add_targets is not None:  # a replay shows distances, not objects
        suite = SUITES["paper"](protocol)
    scores: dict[str, _Score] = {}
    tasks = replace(split, episodes=episodes, tours=())
    for attempts in match(selected, tasks, worlds, rules=ACCEPT_ALL, reference=has_reference):
        scores |= _score_attempts(attempts, tasks, suite, has_reference)
    return scores


def _score_attempts(attempts: Attempts, split: Split, suite: Suite, has_reference: bool) -> dict[str, _Score]:
    success = next(metric for metric in suite.metrics if metric.name == "SR").measure(attempts)
    on_graph = isinstance(split.episodes[0].start.place, str)
    names = [name for name in METRICS if on_graph or name not in NEEDS_DENSE_REFERENCE]
    values = [(metric, metric.measure(attempts)) for metric in suite.metrics if metric.name in names]
    unaligned = np.empty((0, 2), dtype=np.int64)
    alignments = _rows(align_places(attempts)) if has_reference else [unaligned] * len(attempts)
    scores = {}
    for k, episode_id in enumerate(attempts.episode_ids):
        metrics = [(metric.name, _format_value(float(row[k]), metric.unit)) for metric, row in values]
        scores[episode_id] = _Score(attempts, k, suite, alignments[k], bool(success[k]), metrics)
    return scores


def _rows(ragged: Ragged) -> list[NDArray[np.int64]]:
    return [ragged[k] for k in range(len(ragged))]


def _tour_metrics(scores: Mapping[str, _Score], split: Split) -> list[tuple[str, str]]:
    """The tour metrics of a single tour, if every episode of it has a score."""
    if len(split.tours) != 1 or len(scores) != len(split.episodes):
        return []
    first = next(iter(scores.values()))
    count = len(first.attempts)
    if count != len(scores) or not first.suite.tour_metrics:
        return []
    groups = TourGroups(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))
    return [
        (metric.name, _format_value(float(metric.measure(first.attempts, groups)[0]), ""))
        for metric in first.suite.tour_metrics
    ]


def _episode(
    episode: Episode,
    scene: int,
    world: World,
    levels: StoreyLevels,
    drive: Array | None,
    times: FastestTimes | None,
    trajectories: list[ReplayTrajectory],
) -> ReplayEpisode:
    return ReplayEpisode(
        id=episode.id,
        scene=scene,
        language=episode.instruction.language,
        instruction=split_instruction(episode),
        reference=levels.track(to_positions(world, episode.reference)) if len(episode.reference) else _EMPTY,
        shortest=_shortest_path(episode, world, levels),
        fastest=_EMPTY if drive is None else levels.track(drive),
        fastest_seconds=_format_fastest_time(episode.id, times),
        goals=levels.track(to_positions(world, episode.goals)) if len(episode.goals) else _EMPTY,
        trajectories=trajectories,
    )


def _format_fastest_time(episode_id: str, times: FastestTimes | None) -> str:
    row = None if times is None else times.rows.get(episode_id)
    if times is None or row is None:
        return ""
    low, high = times.lower[row], times.upper[row]
    return "unreachable" if math.isinf(low) else f"{low:.1f} – {'∞' if math.isinf(high) else f'{high:.1f}'} s"


def _shortest_path(episode: Episode, world: World, levels: StoreyLevels) -> Track:
    """A shortest path from the start to the nearest goal."""
    if episode.goals_withheld:
        return _EMPTY
    start = cast(Places, [episode.start.place])
    nearest = int(np.argmin(world.space.between(start, episode.goals)[0]))
    try:
        return levels.track(to_positions(world, world.space.route(episode.start.place, episode.goals[nearest])))
    except NoRoute:
        return _EMPTY


class _Views:
    """Renders first-person views, the same number for every trajectory and no more than allowed in all."""

    def __init__(self, renderer: ViewRenderer | None, max_views: int, trajectories: int) -> None:
        self._render = renderer
        self._each = max(2, max_views // max(trajectories, 1)) if max_views else 0

    def render(self, world: World, trajectory: Trajectory) -> list[ReplayFrame]:
        if self._render is None or not self._each:
            return []
        positions, headings = to_positions(world, trajectory.places), _headings(world, trajectory)
        moved = _pose_changes(positions, headings)
        steps = moved[np.unique(np.linspace(0, len(moved) - 1, min(self._each, len(moved))).round().astype(np.int64))]
        images = self._render(world, positions[steps], headings[steps])
        return [ReplayFrame(step, image) for step, image in zip(steps.tolist(), images, strict=bool(images))]


def _pose_changes(positions: Array, headings: Array) -> NDArray[np.int64]:
    """The steps at which the pose differs from that of the step before."""
    poses = np.column_stack([positions, headings])
    return np.flatnonzero(np.append(True, (poses[1:] != poses[:-1]).any(axis=1)))


def _headings(world: World, trajectory: Trajectory) -> Array:
    """(n,) the recorded headings, or else the direction of motion."""
    if trajectory.headings is not None:
        return trajectory.headings
    positions = to_positions(world, trajectory.places)
    if len(positions) < 2:
        return np.zeros(len(positions))
    motion = np.diff(positions, axis=0)
    headings = np.arctan2(motion[:, 1], motion[:, 0])
    return np.append(headings, headings[-1])


def _trajectory(
    agent: int,
    trajectory: Trajectory,
    score: _Score | None,
    world: World,
    levels: StoreyLevels,
    timed: bool,
    views: _Views,
    maps: HeldMaps | None,
) -> ReplayTrajectory:
    phases = [] if trajectory.phases is None else [PHASES[phase] for phase in trajectory.phases]
    acted = np.flatnonzero(np.array(phases, dtype=np.int64) == ACTING) if phases else np.arange(len(trajectory.places))
    alignment, distances = np.empty((0, 2), dtype=np.int64), np.full(len(trajectory.places), -1)
    if score is not None:
        alignment = np.column_stack([acted[score.alignment[:, 0]], score.alignment[:, 1]])
        to_goal = score.attempts.goal_distances[score.row]
        finite = np.isfinite(to_goal)
        distances[acted] = np.where(finite, to_centimeters(np.where(finite, to_goal, 0.0)), -1)
    jumps = [] if trajectory.actions is None else (np.flatnonzero(trajectory.actions == NO_ACTION) + 1).tolist()
    return ReplayTrajectory(
        agent=agent,
        track=levels.track(to_positions(world, trajectory.places)),
        headings=np.degrees(_headings(world, trajectory)).round().astype(np.int64).tolist(),
        phases=phases if any(phases) else [],
        jumps=jumps,
        times=_elapsed(trajectory) if timed else [],
        alignment=alignment.ravel().tolist(),
        goal_distances=distances.tolist() if (distances >= 0).any() else [],
        success=None if score is None else score.success,
        ending=trajectory.ending.value,
        metrics=[] if score is None else score.metrics,
        frames=views.render(world, trajectory),
        maps=maps,
    )


def _draw_maps(recording: MapRecording | None, limit: int) -> HeldMaps | None:
    return None if recording is None else draw_maps(recording, limit)


def _elapsed(trajectory: Trajectory) -> list[float]:
    """Seconds since the start, to a hundredth."""
    assert trajectory.times is not None
    seconds: list[float] = (trajectory.times - trajectory.times[0]).round(2).tolist()
    return seconds
