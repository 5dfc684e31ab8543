"""RRT*-Unicycle in plain Python: the rules of `grow`, written for reading, and drawing the same random numbers."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np

NEAR = 1.5


def xorshift(state: int):
    """Numbers in [0, 1) from xorshift64*."""
    while True:
        state ^= state >> 12
        state = (state ^ (state << 25)) & (2**64 - 1)
        state ^= state >> 27
        yield ((state * 2685821657736338717) % 2**64 >> 11) / 2**53


def wrapped(angle: float) -> float:
    return (angle + math.pi) % (2 * math.pi) - math.pi


def leg(pose, point, vmax, wmax):
    """Seconds and moves of a unicycle's fastest leg."""
    x, y, heading = pose
    r, far = vmax / wmax, math.dist((x, y), point)
    bearing = wrapped(math.atan2(point[1] - y, point[0] - x) - heading)
    side, bearing = math.copysign(1.0, bearing), abs(bearing)
    ahead, aside = far * math.cos(bearing), far * math.sin(bearing)
    pivot, turn, squared = 0.0, math.inf, far**2 - 2 * aside * r
    if squared >= 0:
        straight = math.sqrt(squared)
        turn = (math.atan2(aside - r, ahead) + math.atan2(r, straight)) % (2 * math.pi)
        turn = 0.0 if turn > 2 * math.pi - 1e-12 else turn
    if turn > math.pi / 2:
        if far >= math.sqrt(2) * r:
            turn, straight = math.pi / 2, math.sqrt(far**2 - r**2) - r
            pivot = bearing - math.atan2(r + straight, r)
        else:
            turn, straight = 2 * math.asin(far / (2 * r)), 0.0
            pivot = bearing - turn / 2
    moves = [(0.0, side * pivot), (r * turn, side * turn), (straight, 0.0)]
    return (pivot + turn) / wmax + straight / vmax, moves


def single_arc(pose, point, vmax, wmax):
    """Seconds and moves of the released steering: a pivot and one arc, its half-angle found by closing in on it."""
    x, y, heading = pose
    far = math.dist((x, y), point)
    bearing = wrapped(math.atan2(point[1] - y, point[0] - x) - heading)
    most = min(abs(bearing), math.asin(min(1.0, far * wmax / (2 * vmax))))

    def seconds(half: float) -> float:
        return (abs(bearing) - half) / wmax + far / vmax * (half / math.sin(half) if half else 1.0)

    low, high = 0.0, most
    while high - low > 1e-9:
        third = (high - low) / 3
        low, high = (low, high - third) if seconds(low + third) < seconds(high - third) else (low + third, high)
    half = min((low, high, most), key=seconds)
    side = math.copysign(1.0, bearing)
    arc = far * (half / math.sin(half) if half else 1.0)
    return seconds(half), [(0.0, side * (abs(bearing) - half)), (arc, side * 2 * half)]


def after(pose, move):
    x, y, heading = pose
    metres, turn = move
    chord = metres * (math.sin(turn / 2) / (turn / 2) if abs(turn) > 1e-9 else 1.0)
    return x + chord * math.cos(heading + turn / 2), y + chord * math.sin(heading + turn / 2), heading + turn


def shares_at_borders(pose, move, resolution):
    """The shares of a move after which it crosses borders of cells."""
    x, y, heading = pose
    metres, turn = move
    if abs(turn) < 1e-9:
        steps = ((x, metres * math.cos(heading)), (y, metres * math.sin(heading)))
        for low, step in steps:
            first, last = sorted((low / resolution, (low + step) / resolution))
            yield from ((k * resolution - low) / step for k in range(math.ceil(first), math.floor(last) + 1) if step)
        return
    radius = metres / turn
    for middle, beginning in (
        (x - radius * math.sin(heading), heading - math.pi / 2),
        (y + radius * math.cos(heading), heading - math.pi),
    ):
        # Along either axis the arc is middle + radius cos(beginning + share turn).
        low, high = (middle - abs(radius)) / resolution, (middle + abs(radius)) / resolution
        for k in range(math.ceil(low), math.floor(high) + 1):
            angle = math.acos(max(-1.0, min(1.0, (k * resolution - middle) / radius)))
            for crossing in (angle, -angle):
                gone = (crossing - beginning) * math.copysign(1.0, turn) % (2 * math.pi)
                if gone < abs(turn):
                    yield gone / abs(turn)


def clear(allowed, resolution, pose, move):
    """Whether every piece of a move between two borders lies in an allowed cell."""
    shares = sorted({0.0, 1.0, *shares_at_borders(pose, move, resolution)})
    for a, b in itertools.pairwise(shares):
        x, y, _ = after(pose, ((a + b) / 2 * move[0], (a + b) / 2 * move[1]))
        row, column = math.floor(y / resolution), math.floor(x / resolution)
        inside = 0 <= row < len(allowed) and 0 <= column < len(allowed[0])
        if (b - a) * move[0] > 1e-9 and not (inside and allowed[row][column]):
            return False
    return True


class PlainTree:
    """A tree from a start pose, grown in `allowed`, lists of rows."""

    def __init__(self, allowed, resolution, start, goal, hints, floor, *, vmax, wmax, released, state):
        self.allowed, self.resolution, self.goal, self.hints, self.floor = allowed, resolution, goal, hints, floor
        self.vmax, self.wmax, self.released = vmax, wmax, released
        self.random = xorshift(state)
        self.poses, self.seconds, self.parents, self.children = [tuple(start)], [0.0], [-1], [[]]
        self.path, self.history = [], []
        self.spread = self.area = len(floor) * resolution**2

    def grow(self, most, draws):
        self.side = min(0.25, self.shrinking(most) / 2)
        self.squares = defaultdict(list, {self.square(self.poses[0]): [0]})
        due = 1
        for draw in range(draws):
            if len(self.poses) >= due or draw == draws - 1:
                self.look()
                due = min(len(self.poses) + max(50, len(self.poses) // 20), most)
            if len(self.poses) == most:
                return
            self.extend(self.pulled(self.sample()))

    def square(self, place):
        return math.floor(place[1] / self.side), math.floor(place[0] / self.side)

    def steer(self, pose, point):
        seconds, moves = (single_arc if self.released else leg)(pose, point, self.vmax, self.wmax)
        arrival = pose[2] + sum(turn for _, turn in moves)
        return seconds, moves, arrival

    def drivable(self, pose, moves):
        for move in moves:
            if move[0] and not clear(self.allowed, self.resolution, pose, move):
                return False
            pose = after(pose, move)
        return True

    def free(self, place):
        row, column = (math.floor(v / self.resolution) for v in place[1::-1])
        return 0 <= row < len(self.allowed) and 0 <= column < len(self.allowed[0]) and self.allowed[row][column]

    def sample(self):
        across, up, pick = next(self.random), next(self.random), next(self.random)
        if next(self.random) < 0.2:
            row, column = divmod(self.floor[int(pick * len(self.floor))], len(self.allowed[0]))
            return (column + across) * self.resolution, (row + up) * self.resolution
        around = [self.goal, *(self.poses[node] for node in self.path)] if self.path else self.hints
        x, y = around[int(pick * len(around))][:2]
        away, towards = NEAR * math.sqrt(across), 2 * math.pi * up
        return x + away * math.cos(towards), y + away * math.sin(towards)

    def nearest(self, place):
        return min(range(len(self.poses)), key=lambda node: math.dist(self.poses[node][:2], place))

    def pulled(self, place):
        if self.squares.get(self.square(place)):
            return place
        x, y, _ = self.poses[self.nearest(place)]
        far = math.dist((x, y), place)
        share = min(1.0, NEAR / far)
        return x + share * (place[0] - x), y + share * (place[1] - y)

    def shrinking(self, count):
        return 2 * math.sqrt(1.5 * self.spread / math.pi * math.log(count + 1) / count)

    def within(self, place, reach):
        """The nodes in reach, from square to square, youngest first: their order decides who is rewired first."""
        low, high = (self.square((place[0] + sign * reach, place[1] + sign * reach)) for sign in (-1, 1))
        squares = ((i, j) for i in range(low[0], high[0] + 1) for j in range(low[1], high[1] + 1))
        nodes = (node for square in squares for node in reversed(self.squares.get(square, ())))
        return [node for node in nodes if math.dist(self.poses[node][:2], place) <= reach]

    def extend(self, place):
        if not self.free(place):
            return
        reach = NEAR if self.released else min(NEAR, self.shrinking(len(self.poses)))
        near = self.within(place, reach) or [self.nearest(place)]
        best, soonest, heading = -1, math.inf, 0.0
        for node in near:
            if self.seconds[node] + math.dist(self.poses[node][:2], place) / self.vmax < soonest:
                seconds, moves, arrival = self.steer(self.poses[node], place)
                if self.seconds[node] + seconds < soonest and self.drivable(self.poses[node], moves):
                    best, soonest, heading = node, self.seconds[node] + seconds, arrival
        if best >= 0:
            self.add((*place, heading), best, soonest)
            self.rewire(len(self.poses) - 1, near)

    def add(self, pose, parent, seconds):
        self.children[parent].append(len(self.poses))
        self.squares[self.square(pose)].append(len(self.poses))
        self.poses.append(pose)
        self.seconds.append(seconds)
        self.parents.append(parent)
        self.children.append([])

    def rewire(self, new, near):
        for node in near:
            x, y, heading = self.poses[node]
            if self.seconds[new] + math.dist(self.poses[new][:2], (x, y)) / self.vmax >= self.seconds[node] - 1e-3:
                continue
            seconds, moves, arrival = self.steer(self.poses[new], (x, y))
            total = self.seconds[new] + seconds + abs(wrapped(heading - arrival)) / self.wmax
            if total < self.seconds[node] - 1e-3 and self.drivable(self.poses[new], moves):
                self.children[self.parents[node]].remove(node)
                self.children[new].append(node)
                self.parents[node] = new
                self.save(node, self.seconds[node] - total)

    def save(self, root, saved):
        below = [root]
        while below:
            node = below.pop()
            self.seconds[node] -= saved
            below += self.children[node]

    def look(self):
        best, soonest = -1, math.inf
        for node in self.within(self.goal, NEAR):
            if self.seconds[node] + math.dist(self.poses[node][:2], self.goal) / self.vmax < soonest:
                seconds, moves, _ = self.steer(self.poses[node], self.goal)
                if self.seconds[node] + seconds < soonest and self.drivable(self.poses[node], moves):
                    best, soonest = node, self.seconds[node] + seconds
        self.history.append((len(self.poses), soonest))
        self.path = []
        while best >= 0:
            self.path.append(best)
            best = self.parents[best]
        if self.path:
            places = [self.poses[node][:2] for node in self.path]
            length = NEAR + sum(math.dist(a, b) for a, b in itertools.pairwise(places))
            self.spread = min(self.area, 2 * NEAR * length + math.pi * NEAR**2) / 0.8


def plain_tree(allowed, resolution, start, goal, hints, *, vmax, wmax, state, most, draws, released=False):
    """The tree with `most` nodes; everywhere allowed must be connected."""
    floor = [int(cell) for cell in np.flatnonzero(allowed)]
    rows = [[bool(cell) for cell in row] for row in allowed]
    places = [tuple(map(float, hint)) for hint in hints]
    tree = PlainTree(
        rows, resolution, tuple(map(float, start)), tuple(map(float, goal)), places, floor,
        vmax=vmax, wmax=wmax, released=released, state=state,
    )  # fmt: skip
    tree.grow(most, draws)
    return tree
