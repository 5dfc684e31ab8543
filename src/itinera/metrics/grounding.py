"""Metrics of tasks that name an object (REVERIE, SOON): arriving where it is visible, and naming or pointing at it.

`match_objects` and `match_directions` add to attempts what these metrics read: the viewpoints of the target object and
whether the agent's answer is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import oracle_error, path_length, ratio, select_optimum
from itinera.records.predictions import Predictions
from itinera.tasks import Episode, Split
from itinera.worlds import Array, NavGraph, Ragged, World


def object_success(attempts: Attempts, *, goals_count: bool = True) -> Array:
    """1 where the target object is visible from the last place, else 0 (REVERIE's SR).

    `goals_count` also accepts the annotated goal, whatever the boxes list there. Without it, an object that is visible
    from nowhere makes the value undefined.
    Reference: Qi et al. 2020, REVERIE: Remote Embodied Visual Referring Expression in Real Indoor Environments.
    """
    return _where_visible(attempts, _arrivals(attempts, goals_count).lasts().astype(float), goals_count)


def oracle_object_success(attempts: Attempts, *, goals_count: bool = True) -> Array:
    """1 where the target object is visible from any place of the path, the start included, else 0 (REVERIE's OSR)."""
    arrived = _arrivals(attempts, goals_count)
    seen = np.bincount(arrived.owners, weights=arrived.values, minlength=len(attempts)) > 0
    return _where_visible(attempts, seen.astype(float), goals_count)


def object_spl(
    attempts: Attempts,
    *,
    goals_count: bool = True,
    optimum: Literal["shortest", "reference"] = "shortest",
    floor: float = 0.0,
    standing_still: float = 1.0,
) -> Array:
    """`object_success` weighted by path length (REVERIE's SPL); the other options are those of `spl`.

    The path is compared with the distance to the annotated goal, not with that to the nearest viewpoint of the object.
    """
    arrived = object_success(attempts, goals_count=goals_count)
    return arrived * _efficiency(attempts, optimum, floor, standing_still)


def grounding_success(attempts: Attempts, *, needs_arrival: bool = True) -> Array:
    """1 where the agent named, or pointed at, the target object, else 0 (RGS, det-SR).

    `needs_arrival` requires that the object is visible from the last place: an id can be guessed from anywhere.
    """
    if attempts.grounded is None:
        raise _no_objects()
    named = attempts.grounded.astype(float)
    return named * object_success(attempts) if needs_arrival else named


def grounding_spl(
    attempts: Attempts,
    *,
    needs_arrival: bool = True,
    optimum: Literal["shortest", "reference"] = "shortest",
    floor: float = 0.0,
    standing_still: float = 1.0,
) -> Array:
    """`grounding_success` weighted by path length (RGSPL, det-SPL); the other options are those of `spl`."""
    named = grounding_success(attempts, needs_arrival=needs_arrival)
    return named * _efficiency(attempts, optimum, floor, standing_still)


def released_oracle_error(attempts: Attempts) -> Array:
    """DUET's ONE on SOON, metres: the place of the path nearest to the end of the reference is chosen first, then its
    distance to the goal is taken, which may be another place."""
    one_each = np.ones(len(attempts), dtype=np.int64)
    ends = Ragged.from_counts(attempts.reference.lasts(), one_each)
    distances = replace(attempts, goals=ends).goal_distances
    nearest = np.array([np.argmin(distances[k]) for k in range(len(attempts))], dtype=np.int64)
    places = attempts.path.values[attempts.path.starts[:-1] + nearest]
    return oracle_error(replace(attempts, path=Ragged.from_counts(places, one_each)))


def released_oracle_success(attempts: Attempts, *, radius: float) -> Array:
    """1 where `released_oracle_error` is less than the radius, else 0 (DUET's OSR on SOON)."""
    return (released_oracle_error(attempts) < radius).astype(float)


def _efficiency(
    attempts: Attempts, optimum: Literal["shortest", "reference"], floor: float, standing_still: float
) -> Array:
    best, length = select_optimum(attempts, optimum), path_length(attempts)
    best = np.where(np.isfinite(best), best, 0.0)  # an unreachable goal earns nothing
    return ratio(best, np.maximum(np.maximum(length, best), floor), standing_still)


def _arrivals(attempts: Attempts, goals_count: bool) -> Ragged:
    """Whether each place of the path is a viewpoint of the target object, or one of the goals if these count."""
    if attempts.viewpoints is None:
        raise _no_objects()
    if not isinstance(attempts.space, NavGraph):
        raise BadArgument("Object boxes belong to viewpoints: these metrics are for tasks on navigation graphs.")
    size = len(attempts.space.nodes)
    accepted = [_keys(attempts.viewpoints, size), *([_keys(attempts.goals, size)] if goals_count else [])]
    found = np.isin(_keys(attempts.path, size), np.concatenate(accepted))
    return Ragged(found, attempts.path.starts)


def _keys(places: Ragged, size: int) -> NDArray[np.int64]:
    """A number for each pair of row and node."""
    return places.owners * size + places.values.astype(np.int64)


def _where_visible(attempts: Attempts, values: Array, goals_count: bool) -> Array:
    if goals_count or attempts.viewpoints is None:
        return values
    return np.where(attempts.viewpoints.counts == 0, np.nan, values)


def _no_objects() -> BadArgument:
    return BadArgument("These attempts have no target object. itinera.score(…, objects=…) adds it.")


def match_objects(
    groups: Sequence[Attempts], split: Split, predictions: Predictions, worlds: Mapping[str, World]
) -> tuple[Attempts, ...]:
    """REVERIE's attempts with the viewpoints their object is visible from, and whether the agent named it.

    An object is visible from a viewpoint whose boxes list it with at least one view. Raises BadFile for tasks that
    name no object, and BadArgument for worlds without boxes.
    """
    named = {trajectory.episode_id: trajectory.object_id for trajectory in predictions}
    without = [episode.id for episode in split.episodes if "objId" not in episode.notes]
    if without:
        remedy = "Suites of REVERIE need tasks with objId; choose suite paper for others."
        raise BadFile(split.name, [Fault(f'episode "{name}"', "names no target object.", remedy) for name in without])
    matched = []
    for group in groups:
        episodes = [split.episodes[i] for i in group.rows]
        world = worlds[episodes[0].world_id]
        if not world.objects:
            raise BadArgument(f"World {world.id} has no object boxes: give REVERIE's BBox folder (--objects).")
        viewpoints = _viewpoints_by_object(world)
        targets = [str(episode.notes["objId"]) for episode in episodes]
        matched.append(
            replace(
                group,
                viewpoints=Ragged.from_rows([viewpoints.get(target, []) for target in targets], dtype=np.int64),
                grounded=np.array([named.get(e.id) == t for e, t in zip(episodes, targets, strict=True)], dtype=bool),
            )
        )
    return tuple(matched)


def _viewpoints_by_object(world: World) -> dict[str, list[int]]:
    if not isinstance(world.space, NavGraph):
        raise BadArgument("Object boxes belong to viewpoints: these suites are for tasks on navigation graphs.")
    found: dict[str, list[int]] = {}
    for viewpoint, visible in world.objects.items():
        node = world.space.index.get(viewpoint)
        for item in visible if node is not None else ():
            if len(item.views):
                found.setdefault(item.id, []).append(node)  # type: ignore[arg-type]
    return found


def match_directions(
    groups: Sequence[Attempts],
    split: Split,
    predictions: Predictions,
    worlds: Mapping[str, World],
    *,
    released: bool = False,
) -> tuple[Attempts, ...]:
    """SOON's attempts with the viewpoints of their target and whether the agent pointed into its box there.

    `released` decides as DUET's scorer does: a point on the outline of a box is outside, boxes across heading 0 are
    not closed there, and the goal is the last place if it has a box, else the end of the reference.
    """
    if not any("boxes" in episode.notes for episode in split.episodes):
        remedy = "Suites of SOON need the tasks of its release; choose suite paper for others."
        raise BadFile(split.name, [Fault("", "has no boxes of target objects.", remedy)])
    pointed = {trajectory.episode_id: trajectory.object_direction for trajectory in predictions}
    matched = []
    for group in groups:
        episodes = [split.episodes[i] for i in group.rows]
        space = worlds[episodes[0].world_id].space
        if not isinstance(space, NavGraph):
            raise BadArgument("SOON's boxes belong to viewpoints: its suites are for tasks on navigation graphs.")
        boxes = [_boxes(episode) for episode in episodes]
        nodes = [[space.index[name] for name in box if name in space.index] for box in boxes]
        last = group.path.lasts()
        grounded = [
            _points_at(box.get(space.nodes[int(node)]), pointed.get(episode.id), released)
            for box, node, episode in zip(boxes, last, episodes, strict=True)
        ]
        found = replace(
            group,
            viewpoints=Ragged.from_rows(nodes, dtype=np.int64),
            grounded=np.array(grounded, dtype=bool),
        )
        if released:
            ends = zip(last.tolist(), nodes, group.reference.lasts().tolist(), strict=True)
            goals = np.array([node if node in known else end for node, known, end in ends], dtype=np.int64)
            found = replace(found, goals=Ragged.from_counts(goals, np.ones(len(goals), dtype=np.int64)))
        matched.append(found)
    return tuple(matched)


Corner = tuple[float, float]  # heading and elevation, radians


def _boxes(episode: Episode) -> dict[str, list[Corner]]:
    """The corners of the target's box at each viewpoint that has one."""
    boxes = episode.notes.get("boxes", {})
    return {name: [(float(h), float(e)) for h, e in corners] for name, corners in boxes.items()}


def _points_at(corners: Sequence[Corner] | None, direction: Corner | None, released: bool) -> bool:
    if not corners or direction is None:
        return False
    if released:
        # Headings clockwise from +y: those of a box as the file has them, that of the agent within one turn.
        flat = [(math.pi / 2 - h, e) for h, e in corners]
        return _is_inside(((math.pi / 2 - direction[0]) % math.tau, direction[1]), flat, outline=False)
    first = corners[0][0]
    unrolled = [(first + math.remainder(h - first, math.tau), e) for h, e in corners]
    center = sum(h for h, _ in unrolled) / len(unrolled)
    return _is_inside((center + math.remainder(direction[0] - center, math.tau), direction[1]), unrolled, outline=True)


def _is_inside(point: Corner, corners: Sequence[Corner], *, outline: bool) -> bool:
    """Whether a point lies in a polygon; `outline` is the answer on its edges."""
    if any(_is_on_edge(point, a, b) for a, b in _edges(corners)):
        return outline
    x, y = point
    crossed = [(ax, ay, bx, by) for (ax, ay), (bx, by) in _edges(corners) if (ay > y) != (by > y)]
    return sum(x < ax + (y - ay) * (bx - ax) / (by - ay) for ax, ay, bx, by in crossed) % 2 == 1


def _edges(corners: Sequence[Corner]) -> Iterator[tuple[Corner, Corner]]:
    return zip(corners, (*corners[1:], corners[0]), strict=True)


def _is_on_edge(point: Corner, a: Corner, b: Corner) -> bool:
    along, across = (b[0] - a[0], b[1] - a[1]), (point[0] - a[0], point[1] - a[1])
    length = math.hypot(*along)
    if abs(along[0] * across[1] - along[1] * across[0]) > 1e-9 * max(length, 1e-9):
        return False
    dot = along[0] * across[0] + along[1] * across[1]
    return -1e-12 <= dot <= length**2 + 1e-12


def count_answers(predictions: Predictions) -> int:
    """The number of trajectories that name an object or point at one."""
    return sum(t.object_id is not None or t.object_direction is not None for t in predictions)
