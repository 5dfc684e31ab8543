"""A step of all robots of a stage: motion, distance to the goal, reward and ending.

The grounds of all houses lie one after the other; cells, links and turning points count from the first of their own
house. Arrays by robot have n rows, by house h, by goal g.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit

from itinera.simulators._vectorized_kernels import Bools, Longs, move_one, place_body, wrap
from itinera.worlds._distance_field_kernels import Records
from itinera.worlds._goal_table_kernels import Bytes, Codes, cell_distance, goal_distance
from itinera.worlds._surface_kernels import Floats, Ints, Singles, line_length, widened

_NEAR = 2.0  # cells, by which the distance of a point and that of its cell may differ


@njit(cache=True, nogil=True)
def step_robots(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    first_cell: Longs,
    origins: Floats,
    sizes: Floats,
    codes: Codes,
    first_code: Longs,
    bends: Records,
    first_bend: Longs,
    rising: Ints,
    rising_distances: Floats,
    first_rising: Longs,
    house: Longs,
    goal_places: Floats,
    maps: Bytes,
    first_map: Longs,
    map_sizes: Longs,
    columns: Longs,
    storeys: Bytes,
    sliding: bool,
    chords: Floats,
    pieces: Longs,
    turns: Floats,
    turn: float,
    period: int,
    radius: float,
    slack: float,
    success_reward: float,
    decay: float,
    taken: float,
    actions: Longs,
    idle: Bools,
    goals: Longs,
    limits: Longs,
    cells: Ints,
    across: Floats,
    starts: Floats,
    turned: Longs,
    headings: Floats,
    places: Floats,
    distances: Floats,
    lengths: Floats,
    steps: Longs,
    contacts: Longs,
    collided: Singles,
    pointgoal: Singles,
    rewards: Floats,
    terminated: Bools,
    truncated: Bools,
    success: Bools,
    bent: Bools,
) -> int:
    """One action of each robot that is not idle; returns how many episodes ended.

    `house` is that of each goal. Progress is weighted by 1 - (taken + k) / decay for robot k, at least 0; by 1 if decay
    is 0. Action 0 is STOP. bent <- whether a robot slid around a corner, so that its way was longer than was added.
    """
    ended = 0
    for k in range(len(actions)):
        rewards[k], terminated[k], truncated[k], success[k], bent[k] = 0.0, False, False, False, False
        if idle[k]:
            continue
        goal, action = goals[k], actions[k]
        h = house[goal]
        own = slice(first_cell[h], first_cell[h + 1])
        near_links, near_slopes, size = links[own], slopes[own], sizes[h]
        steps[k] += 1
        collided[k] = 0.0
        progress = 0.0
        if action == 0:
            terminated[k] = True
            success[k] = distances[k] <= radius
        else:
            n, u, v = widened(cells[k]), across[k, 0], across[k, 1]
            clear = move_one(
                near_links, near_slopes, heights[own], origins[h], size, sliding, chords, pieces, turns, turn, period,
                k, action, cells, across, starts, turned, headings, places,
            )  # fmt: skip
            if not clear:
                collided[k] = 1.0
                contacts[k] += 1
            m, x, y = widened(cells[k]), across[k, 0], across[k, 1]
            if m != n or x != u or y != v:
                length = line_length(near_links, near_slopes, n, u, v, m, x, y)
                bent[k] = length == np.inf
                lengths[k] += size * (np.sqrt((x - u) ** 2 + (y - v) ** 2) if bent[k] else length)
                before = distances[k]
                distances[k] = size * goal_distance(
                    near_links, near_slopes, codes[first_code[goal] : first_code[goal + 1]],
                    bends[first_bend[goal] : first_bend[goal + 1]], rising[first_rising[goal] : first_rising[goal + 1]],
                    rising_distances[first_rising[goal] : first_rising[goal + 1]], maps, storeys[own], first_map[h],
                    map_sizes[h], columns[h], m, x, y,
                )  # fmt: skip
                if before < np.inf and distances[k] < np.inf:
                    progress = before - distances[k]
            truncated[k] = steps[k] >= limits[k]
            point_to_goal(goal_places[goal], places[k], headings[k], pointgoal[k])
        share = max(0.0, 1.0 - (taken + k) / decay) if decay > 0.0 else 1.0
        rewards[k] = share * progress - slack + (success_reward if success[k] else 0.0)
        ended += terminated[k] or truncated[k]
    return ended


@njit(cache=True, nogil=True)
def begin_episodes(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    first_cell: Longs,
    origins: Floats,
    sizes: Floats,
    codes: Codes,
    first_code: Longs,
    bends: Records,
    first_bend: Longs,
    rising: Ints,
    rising_distances: Floats,
    first_rising: Longs,
    house: Longs,
    goal_places: Floats,
    maps: Bytes,
    first_map: Longs,
    map_sizes: Longs,
    columns: Longs,
    storeys: Bytes,
    which: Longs,
    goals: Longs,
    cells: Ints,
    across: Floats,
    headings: Floats,
    places: Floats,
    distances: Floats,
    pointgoal: Singles,
) -> None:
    """places, distances, pointgoal <- those of the robots `which` at their starts."""
    for k in which:
        goal = goals[k]
        h = house[goal]
        own = slice(first_cell[h], first_cell[h + 1])
        place_body(links[own], slopes[own], heights[own], origins[h], sizes[h], k, cells, across, places)
        distances[k] = sizes[h] * goal_distance(
            links[own], slopes[own], codes[first_code[goal] : first_code[goal + 1]],
            bends[first_bend[goal] : first_bend[goal + 1]], rising[first_rising[goal] : first_rising[goal + 1]],
            rising_distances[first_rising[goal] : first_rising[goal + 1]], maps, storeys[own], first_map[h],
            map_sizes[h], columns[h], widened(cells[k]), across[k, 0], across[k, 1],
        )  # fmt: skip
        point_to_goal(goal_places[goal], places[k], headings[k], pointgoal[k])


@njit(cache=True, nogil=True)
def point_to_goal(goal: Floats, place: Floats, heading: float, out: Singles) -> None:
    """out <- metres to the goal and radians to the left, in the horizontal plane."""
    dx, dy = goal[0] - place[0], goal[1] - place[1]
    out[0], out[1] = np.sqrt(dx * dx + dy * dy), wrap(np.arctan2(dy, dx) - heading)


@njit(cache=True, nogil=True)
def choose_start(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    codes: Codes,
    bends: Records,
    rising: Ints,
    rising_distances: Floats,
    level: float,
    min_cells: float,
    max_cells: float,
    floor: float,
    drawn: Floats,
    out: Floats,
) -> int:
    """The cell of the first drawn point `min_cells` to `max_cells` from the goal, on its floor; -1 if none is.

    drawn: (k, 3) numbers below 1: which cell, and where in it. out <- u, v and the distance in cells.
    """
    none = np.empty(0, np.uint8)
    for row in range(len(drawn)):
        n = int(drawn[row, 0] * len(links))
        if abs(heights[n] - level) > floor:
            continue
        about = cell_distance(links, codes, bends, rising, rising_distances, n)
        if not min_cells - _NEAR <= about <= max_cells + _NEAR:
            continue
        # Away from the borders, where rounding could move a point into the next cell.
        u, v = links[n, 8] + 0.001 + 0.998 * drawn[row, 1], links[n, 9] + 0.001 + 0.998 * drawn[row, 2]
        far = goal_distance(links, slopes, codes, bends, rising, rising_distances, none, none, 0, 0, 0, n, u, v)
        if min_cells <= far <= max_cells:
            out[0], out[1], out[2] = u, v, far
            return n
    return -1


@njit(cache=True, nogil=True)
def pool_depth(images: Singles, rows: int, columns: int, max_range: float, which: Longs, out: Singles) -> None:
    """out[which] <- the least of each block of rows x columns pixels of the images, at most `max_range`."""
    most = np.float32(max_range)
    for k in range(len(which)):
        image, pooled = images[k], out[which[k]]
        pooled[:] = most
        for y in range(image.shape[0]):
            line, into = image[y], pooled[y // rows]
            for x in range(pooled.shape[1]):
                least = into[x]
                for at in range(x * columns, (x + 1) * columns):
                    least = min(least, line[at])
                into[x] = least
